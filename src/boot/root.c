/* The contract stands in root.h. */
#define _GNU_SOURCE
#include "boot/root.h"

#include "base/log.h"
#include "base/option.h"
#include "base/os.h"
#include "base/version.h"
#include "boot/boot.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MS 1000000ull
#define NEAR_FIRST (3000 * MS) /* what a PE 0 that ought to be here gets before it is looked for elsewhere */

/* What goes before the bytes of an exchange: upwards of one PE, downwards of all. */
struct frame {
    uint32_t round, len;
};
#define REFUSED UINT32_MAX /* a round: the job cannot be, and PE 0 has said why */

static struct {
    const struct hm_root_plan *plan;
    int *fd; /* by PE: PE 0 has one to each, the others have fd[0]; -1: none */
    int npes;
    uint32_t round;
    uint64_t since;
    int missing;
    bool impossible; /* a PE came with other ideas of the job, and that is said */
    struct hm_gate gate;
} root;

static bool is_late(void)
{
    return hm_options.boot_timeout &&
           hm_os_now() - root.since > (uint64_t)hm_options.boot_timeout * 1000 * MS;
}

static socklen_t unix_address(struct sockaddr_un *at)
{
    *at = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(at->sun_path + 1, sizeof at->sun_path - 1, "%s", root.plan->name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* --- PE 0 --- */

static int say_cannot_listen(int error)
{
    hm_log_line(NULL, "cannot listen for the other PEs: %s",
                error == EADDRINUSE ? "another process that says it is PE 0 of this job listens already"
                                    : strerror(error));
    return -error;
}

static int open_unix_door(void)
{
    struct sockaddr_un at;
    socklen_t length = unix_address(&at);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return say_cannot_listen(errno);
    while (bind(fd, (void *)&at, length) != 0) {
        int error = errno;
        if (error == EADDRINUSE && !is_late()) { /* another job of this name meets: its turn is soon over */
            if (hm_boot_idle) hm_boot_idle();
            usleep(10000);
            continue;
        }
        close(fd);
        return say_cannot_listen(error);
    }
    if (listen(fd, 4096) == 0) return fd;
    int error = errno;
    close(fd);
    return say_cannot_listen(error);
}

/* A claim that does not fit the job as PE 0 knows it ends the job: the PEs were started with different ideas of it. */
static bool is_possible(const struct hm_shake_hello *h)
{
    if (h->job_version != HM_JOB_VERSION || strncmp(h->library, HM_VERSION, sizeof h->library) != 0)
        hm_log_line(NULL, "PE %d has library version %.24s, PE 0 has %s: have all use the same", h->pe,
                    h->library, HM_VERSION);
    else if (h->npes != root.npes)
        hm_log_line(NULL, "PE %d was told that the job has %d PEs, PE 0 that it has %d", h->pe, h->npes,
                    root.npes);
    else
        return true;
    root.impossible = true;
    return false;
}

static enum hm_shake_verdict admit(int fd, const struct hm_shake_hello *h)
{
    if (h->purpose != HM_SHAKE_ROOT || h->job != root.plan->job) return HM_SHAKE_ELSEWHERE;
    if (root.impossible || !is_possible(h)) return HM_SHAKE_NO_JOB;
    if (h->pe < 1 || h->pe >= root.npes || root.fd[h->pe] >= 0) return HM_SHAKE_THERE_ALREADY;
    root.fd[h->pe] = fd;
    root.missing--;
    return HM_SHAKE_WELCOME;
}

/* "1, 3-5" */
static void list_missing(char *text, size_t size)
{
    size_t n = 0;
    *text = 0;
    for (int i = 1; i < root.npes && n + 32 < size; i++) {
        if (root.fd[i] >= 0) continue;
        int last = i;
        while (last + 1 < root.npes && root.fd[last + 1] < 0)
            last++;
        n += (size_t)snprintf(text + n, size - n, last > i ? "%s%d-%d" : "%s%d", n ? ", " : "", i, last);
        i = last;
    }
}

/* Said when nobody can come from elsewhere. */
static const char *only_here(void)
{
    bool elsewhere = root.plan->pe ? root.plan->find != NULL : root.plan->door >= 0;
    return elsewhere ? "" : "; for PEs on other machines set SHMEM_SECRET or SHMEM_SECRET_FILE";
}

static int say_missing(void)
{
    char text[400];
    list_missing(text, sizeof text);
    hm_log_line(NULL, "PE%s %s of %d %s not come within %ld s (SHMEM_BOOT_TIMEOUT); %s%s",
                root.missing > 1 ? "s" : "", text, root.npes, root.missing > 1 ? "have" : "has",
                hm_options.boot_timeout, root.plan->what, only_here());
    return -ETIMEDOUT;
}

static int let_all_in(void)
{
    root.missing = root.npes - 1;
    hm_gate_init(&root.gate, root.plan->key, admit);
    int rc = open_unix_door();
    if (rc < 0) return rc;
    root.gate.door[0] = rc;
    root.gate.local[0] = true;
    root.gate.door[1] = root.plan->door;
    root.gate.local[1] = false;
    for (rc = 0; root.missing && !rc;) {
        hm_gate_serve(&root.gate, 25);
        if (hm_boot_idle) hm_boot_idle();
        if (root.impossible) rc = -EPROTO;
        if (!rc && root.missing && is_late()) rc = say_missing();
    }
    root.gate.door[1] = -1;
    hm_gate_close(&root.gate);
    return rc;
}

/* --- the others --- */

struct search {
    struct hm_shake_hello hello;
    struct hm_shake near; /* at the unix socket; fd -1: it is not there yet */
    bool foreign, other_key;
    struct hm_reach reach;
    uint64_t look_again; /* for addresses */
};

static int take_verdict(uint32_t verdict)
{
    if (verdict == HM_SHAKE_THERE_ALREADY)
        hm_log_line(NULL, "PE 0 of the job refuses this process: PE %d is there already", root.plan->pe);
    return verdict == HM_SHAKE_NO_JOB ? -ECANCELED : -EPERM; /* PE 0 has said it */
}

static void try_near(struct search *s)
{
    struct sockaddr_un at;
    struct ucred peer;
    socklen_t length = unix_address(&at), size = sizeof peer;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return;
    if (connect(fd, (void *)&at, length) == 0) {
        s->foreign = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid();
        if (!s->foreign) {
            hm_shake_ask(&s->near, fd, true, root.plan->key, &s->hello);
            return;
        }
    }
    close(fd);
}

/* The one here: its name is that of the job, so what it says counts. A connection, -EAGAIN, or -errno. */
static int hear_near(struct search *s, int milliseconds)
{
    struct pollfd p = {.fd = s->near.fd, .events = hm_shake_events(&s->near)};
    poll(&p, 1, milliseconds);
    int fd = s->near.fd, rc = p.fd >= 0 && p.revents ? hm_shake_step(&s->near) : 0;
    if (rc == 0) return -EAGAIN;
    if (rc == 1 && s->near.verdict == HM_SHAKE_WELCOME) return fd;
    close(fd);
    s->near.fd = -1;
    if (rc == -EACCES) {
        hm_log_line(NULL, "PE 0 of the job refuses this process: it does not know the secret of the job");
        return -EPERM;
    }
    if (rc == 1 && s->near.verdict != HM_SHAKE_ELSEWHERE) return take_verdict(s->near.verdict);
    usleep(1000);
    return -EAGAIN;
}

static int hear_far(struct search *s, int milliseconds)
{
    struct hm_reach *r = &s->reach;
    if (!root.plan->find || (root.plan->near && hm_os_now() - root.since < NEAR_FIRST)) return -EAGAIN;
    if (!r->count && hm_os_now() >= s->look_again) {
        root.plan->find(r);
        s->look_again = hm_os_now() + 1000 * MS;
    }
    int rc = hm_reach_step(r, milliseconds);
    if (rc == -EPERM) return take_verdict(r->verdict);
    return rc;
}

static int say_no_root(const struct search *s)
{
    const struct hm_reach *r = &s->reach;
    char where[200] = "", at[80];
    if (r->count) {
        hm_address_print(&r->at[0], at, sizeof at);
        snprintf(where, sizeof where, " and cannot be reached at %s%s: %s", at,
                 r->count > 1 ? " and the like" : "",
                 r->error == EACCES ? "what answers has another secret"
                                    : strerror(r->error ? r->error : ETIMEDOUT));
    }
    if (s->foreign)
        hm_log_line(
            NULL,
            "what listens for the PEs of this job is a process of another user; all PEs must be of one user");
    else
        hm_log_line(NULL, "PE 0 of %d has not come on this machine within %ld s (SHMEM_BOOT_TIMEOUT)%s; %s%s",
                    root.npes, hm_options.boot_timeout, where, root.plan->what, only_here());
    return -ETIMEDOUT;
}

static int search_root(struct search *s)
{
    int pause = 1;
    for (;;) {
        if (s->near.fd < 0) try_near(s);
        int rc = s->near.fd >= 0 ? hear_near(s, pause) : -EAGAIN;
        if (rc == -EAGAIN && s->near.fd < 0) {
            rc = hear_far(s, pause);
            if (!s->reach.count) usleep((useconds_t)pause * 1000);
        }
        if (rc != -EAGAIN) return rc;
        if (hm_boot_idle) hm_boot_idle();
        if (is_late()) return say_no_root(s);
        if (pause < 10) pause++;
    }
}

static int reach_root(void)
{
    struct search *s = calloc(1, sizeof *s);
    if (!s) return -ENOMEM;
    hm_shake_hello(&s->hello, HM_SHAKE_ROOT, root.plan->job, root.plan->pe, root.npes, 0);
    s->near.fd = -1;
    hm_reach_init(&s->reach, root.plan->key, &s->hello);
    int rc = root.plan->find && !root.plan->near ? hm_crypto_open() : 0;
    if (!rc) rc = search_root(s);
    if (s->near.fd >= 0 && s->near.fd != rc) close(s->near.fd);
    hm_reach_stop(&s->reach);
    free(s);
    if (rc < 0) return rc;
    root.fd[0] = rc;
    return 0;
}

/* --- both --- */

static void let_go_in_child(void)
{
    hm_root_close();
}

int hm_root_open(const struct hm_root_plan *plan)
{
    static bool forks_seen;
    if (!forks_seen && pthread_atfork(NULL, NULL, let_go_in_child) == 0) forks_seen = true;
    root.plan = plan;
    root.npes = plan->npes;
    root.round = 0;
    root.impossible = false;
    root.since = hm_os_now();
    root.fd = malloc((size_t)plan->npes * sizeof *root.fd);
    if (!root.fd) return -ENOMEM;
    for (int i = 0; i < plan->npes; i++)
        root.fd[i] = -1;
    int rc = plan->pe ? reach_root() : let_all_in();
    if (rc && plan->pe == 0) hm_root_refuse();
    if (rc) hm_root_close();
    return rc;
}

void hm_root_refuse(void)
{
    const struct frame f = {.round = REFUSED};
    for (int i = 0; root.fd && root.plan->pe == 0 && i < root.npes; i++)
        if (root.fd[i] >= 0) send(root.fd[i], &f, sizeof f, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void hm_root_close(void)
{
    for (int i = 0; root.fd && i < root.npes; i++)
        if (root.fd[i] >= 0) close(root.fd[i]);
    free(root.fd);
    root.fd = NULL;
}

/* --- exchanges --- */

static int write_all(int fd, const void *bytes, size_t size)
{
    for (const char *at = bytes; size;) {
        ssize_t n = send(fd, at, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -errno;
        at += n;
        size -= (size_t)n;
    }
    return 0;
}

static int await(int fd, void (*serve)(void))
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (poll(&p, 1, serve ? 1 : 25) <= 0) {
        if (hm_boot_idle) hm_boot_idle();
        if (root.plan->pe == 0 && is_late()) return -ETIMEDOUT; /* the others hear from PE 0, or of its end */
        if (serve) serve();
    }
    return 0;
}

static int read_all(int fd, void *bytes, size_t size, void (*serve)(void))
{
    for (char *at = bytes; size;) {
        int rc = await(fd, serve);
        if (rc) return rc;
        ssize_t n = recv(fd, at, size, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? -errno : -EPIPE;
        at += n;
        size -= (size_t)n;
    }
    return 0;
}

static int read_frame(int fd, size_t len, void *bytes, size_t size, void (*serve)(void))
{
    struct frame f;
    int rc = read_all(fd, &f, sizeof f, serve);
    if (rc) return rc;
    if (f.round == REFUSED) return -ECANCELED;
    if (f.round != root.round || f.len != len) return -EPROTO;
    return read_all(fd, bytes, size, serve);
}

static int write_frame(int fd, size_t len, const void *bytes, size_t size)
{
    const struct frame f = {root.round, (uint32_t)len};
    int rc = write_all(fd, &f, sizeof f);
    return rc ? rc : write_all(fd, bytes, size);
}

static int say_gone(int pe, int rc)
{
    if (rc != -ECANCELED) hm_log_line(NULL, "PE %d has gone while the PEs met (%s)", pe, strerror(-rc));
    return rc;
}

static int carry(const void *mine, size_t len, char *all, void (*serve)(void))
{
    int rc = 0;
    memcpy(all, mine, len);
    for (int i = 1; i < root.npes && !rc; i++) {
        rc = read_frame(root.fd[i], len, all + (size_t)i * len, len, serve);
        if (rc) say_gone(i, rc);
    }
    for (int i = 1; i < root.npes && !rc; i++) {
        rc = write_frame(root.fd[i], len, all, (size_t)root.npes * len);
        if (rc) say_gone(i, rc);
    }
    if (rc) hm_root_refuse();
    return rc;
}

int hm_root_exchange(const void *mine, size_t len, void *all, void (*serve)(void))
{
    int rc;
    root.since = hm_os_now();
    if (root.plan->pe == 0) {
        rc = carry(mine, len, all, serve);
    } else {
        rc = write_frame(root.fd[0], len, mine, len);
        if (!rc) rc = read_frame(root.fd[0], len, all, (size_t)root.npes * len, serve);
        if (rc) say_gone(0, rc);
    }
    root.round++;
    return rc;
}
