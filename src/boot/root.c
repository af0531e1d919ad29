/* The contract stands in root.h. */
#define _GNU_SOURCE
#include "boot/root.h"

#include "base/log.h"
#include "base/option.h"
#include "base/os.h"
#include "base/version.h"
#include "boot/boot.h"
#include "boot/packet.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MS 1000000ull
#define NEAR_FIRST (3000 * MS) /* what a root that ought to be here gets before it is looked for elsewhere */
#define NEAR_ONLY (2000 * MS)  /* and one that most likely is elsewhere, where this PE cannot follow */
#define LINGER (1000 * MS)     /* what others get to hear that the job cannot be */
#define BRINGS_DOOR 1          /* in a hello's `spare`: behind the welcome comes a door */

/* What goes before the bytes of an exchange: upwards of one PE, downwards of all. */
struct frame {
    uint32_t round, len;
};
#define REFUSED UINT32_MAX /* a round: the job cannot be, and the root has said why */

static struct {
    const struct hm_root_plan *plan;
    int *fd; /* by PE: the root has one to each, the others have fd[0], to the root; -1: none */
    int npes;
    bool is_root;
    int bringer;   /* who has been let in with a door to hand over; -1: nobody */
    int lent_door; /* what it has brought */
    uint32_t round;
    uint64_t since;
    int missing;
    bool impossible; /* a PE came with other ideas of the job, and that is said */
    int turned_away; /* how many have been told so */
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

/* --- the root --- */

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
        if (error == EADDRINUSE && root.plan->others) {
            close(fd);
            return -EADDRINUSE;
        }
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

/* A claim that does not fit the job as the root knows it ends the job: the PEs were started with different ideas of it. */
static bool is_possible(const struct hm_shake_hello *h)
{
    if (h->job_version != HM_JOB_VERSION || strncmp(h->library, HM_VERSION, sizeof h->library) != 0)
        hm_log_line(NULL, "PE %d has library version %.24s, PE %d has %s: have all use the same", h->pe,
                    h->library, root.plan->pe, HM_VERSION);
    else if (h->npes != root.npes)
        hm_log_line(NULL, "PE %d was told that the job has %d PEs, PE %d that it has %d", h->pe, h->npes,
                    root.plan->pe, root.npes);
    else
        return true;
    root.impossible = true;
    return false;
}

static enum hm_shake_verdict admit(int fd, const struct hm_shake_hello *h)
{
    if (h->purpose != HM_SHAKE_ROOT || h->job != root.plan->job) return HM_SHAKE_ELSEWHERE;
    if (root.impossible || !is_possible(h)) {
        root.turned_away++;
        return HM_SHAKE_NO_JOB;
    }
    if (h->pe < 0 || h->pe >= root.npes || h->pe == root.plan->pe || root.fd[h->pe] >= 0)
        return HM_SHAKE_THERE_ALREADY;
    if (h->spare == BRINGS_DOOR && root.bringer >= 0) return HM_SHAKE_ELSEWHERE; /* one after the other */
    root.fd[h->pe] = fd;
    root.missing--;
    if (h->spare == BRINGS_DOOR) root.bringer = h->pe;
    return HM_SHAKE_WELCOME;
}

/* The socket that others have been told of. It stays with whoever has opened it as well: what is queued is not lost. Of the
 * stream nothing is taken that comes behind a descriptor. */
static void take_door(void)
{
    struct timeval patience = {.tv_sec = 2}, none = {0};
    int fd = root.fd[root.bringer];
    struct hm_packet *p = malloc(sizeof *p);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    int rc = p ? hm_packet_take(fd, p) : -ENOMEM;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
    if (!rc && p->head.nfds == 1 && root.lent_door < 0) {
        root.lent_door = root.gate.door[1] = p->fds[0];
    } else if (!rc) {
        hm_fds_close(p->fds, (int)p->head.nfds);
    }
    free(p);
    root.bringer = -1;
}

static bool is_missing(int pe)
{
    return pe != root.plan->pe && root.fd[pe] < 0;
}

/* "1, 3-5" */
static void list_missing(char *text, size_t size)
{
    size_t n = 0;
    *text = 0;
    for (int i = 0; i < root.npes && n + 32 < size; i++) {
        if (!is_missing(i)) continue;
        int last = i;
        while (last + 1 < root.npes && is_missing(last + 1))
            last++;
        n += (size_t)snprintf(text + n, size - n, last > i ? "%s%d-%d" : "%s%d", n ? ", " : "", i, last);
        i = last;
    }
}

/* Said when nobody can come from elsewhere. */
static const char *only_here(void)
{
    bool elsewhere = root.is_root ? root.gate.door[1] >= 0 : root.plan->find != NULL;
    return elsewhere ? "" : root.plan->hint;
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

/* Those who come a little later would else wait in vain. */
static void tell_the_rest(void)
{
    uint64_t end = hm_os_now() + LINGER;
    while (root.turned_away < root.missing && hm_os_now() < end)
        hm_gate_serve(&root.gate, 25);
}

/* A lent door is a duplicate of its owner's. */
static void close_gate(void)
{
    root.gate.door[1] = root.lent_door;
    root.lent_door = -1;
    hm_gate_close(&root.gate);
}

static int let_all_in(void)
{
    int rc = open_unix_door();
    if (rc < 0) return rc;
    root.is_root = true;
    root.missing = root.npes - 1;
    root.gate.door[0] = rc;
    root.gate.local[0] = true;
    root.gate.door[1] = root.plan->door;
    root.gate.local[1] = false;
    for (rc = 0; root.missing && !rc;) {
        hm_gate_serve(&root.gate, 25);
        if (root.bringer >= 0) take_door();
        if (hm_boot_idle) hm_boot_idle();
        if (root.impossible) {
            tell_the_rest();
            rc = -EPROTO;
        }
        if (!rc && root.missing && is_late()) rc = say_missing();
    }
    close_gate();
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
        hm_log_line(NULL, "the job refuses this process: PE %d is there already", root.plan->pe);
    return verdict == HM_SHAKE_NO_JOB ? -ECANCELED : -EPERM; /* the root has said it */
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

/* The root here: its name is that of the job, so what it says counts. A connection, -EAGAIN, or -errno. */
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
        hm_log_line(NULL, "the job refuses this process: it does not know the secret of the job");
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
    else if (root.plan->absent)
        hm_log_line(NULL, "%s has not come within %ld s (SHMEM_BOOT_TIMEOUT)%s; %s%s", root.plan->absent,
                    hm_options.boot_timeout, where, root.plan->what, root.plan->hint);
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
        if (root.plan->only_near && !s->foreign && s->near.fd < 0 && hm_os_now() - root.since > NEAR_ONLY) {
            hm_log_line(NULL, "%s", root.plan->only_near);
            return -EPERM;
        }
        if (pause < 10) pause++;
    }
}

/* `pe`: the own one, if the root has gone. */
static int say_gone(int pe, int rc)
{
    if (rc == -ECANCELED) return rc;
    if (pe == root.plan->pe && root.plan->others)
        hm_log_line(NULL, "the PE that brings the others together has gone while they met (%s)", strerror(-rc));
    else
        hm_log_line(NULL, "PE %d has gone while the PEs met (%s)", pe == root.plan->pe ? 0 : pe, strerror(-rc));
    return rc;
}

/* It is welcome at a socket of this machine: its own door it has not tried. */
static int hand_over_door(void)
{
    int rc = hm_packet_send(root.fd[0], HM_MSG_HELLO, 0, NULL, 0, &root.plan->door, 1);
    return rc ? say_gone(root.plan->pe, rc) : 0;
}

static int reach_root(void)
{
    struct search *s = calloc(1, sizeof *s);
    if (!s) return -ENOMEM;
    hm_shake_hello(&s->hello, HM_SHAKE_ROOT, root.plan->job, root.plan->pe, root.npes, 0);
    if (root.plan->root && root.plan->door >= 0) s->hello.spare = BRINGS_DOOR;
    s->near.fd = -1;
    hm_reach_init(&s->reach, root.plan->key, &s->hello);
    int rc = root.plan->find && !root.plan->near ? hm_crypto_open() : 0;
    if (!rc) rc = search_root(s);
    if (s->near.fd >= 0 && s->near.fd != rc) close(s->near.fd);
    hm_reach_stop(&s->reach);
    free(s);
    if (rc < 0) return rc;
    root.fd[0] = rc;
    return root.plan->root && root.plan->door >= 0 ? hand_over_door() : 0;
}

/* --- both --- */

static void let_go_in_child(void)
{
    if (root.fd) close_gate();
    hm_root_close();
}

int hm_root_open(const struct hm_root_plan *plan)
{
    static bool forks_seen;
    if (!forks_seen && pthread_atfork(NULL, NULL, let_go_in_child) == 0) forks_seen = true;
    root.plan = plan;
    root.npes = plan->npes;
    root.round = 0;
    root.impossible = root.is_root = false;
    root.bringer = root.lent_door = -1;
    root.turned_away = 0;
    root.since = hm_os_now();
    hm_gate_init(&root.gate, plan->key, admit);
    root.fd = malloc((size_t)plan->npes * sizeof *root.fd);
    if (!root.fd) return -ENOMEM;
    for (int i = 0; i < plan->npes; i++)
        root.fd[i] = -1;
    int rc = plan->root ? let_all_in() : reach_root();
    if (plan->root && plan->others && rc == -EADDRINUSE) rc = reach_root();
    if (rc) hm_root_refuse();
    if (rc) hm_root_close();
    return rc;
}

void hm_root_refuse(void)
{
    const struct frame f = {.round = REFUSED};
    for (int i = 0; root.fd && root.is_root && i < root.npes; i++)
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
        ssize_t n = send(fd, at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN) {
            struct pollfd p = {.fd = fd, .events = POLLOUT};
            if (poll(&p, 1, 25) <= 0 && hm_boot_idle) hm_boot_idle();
            if (root.is_root && is_late()) return -ETIMEDOUT;
            continue;
        }
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
        if (root.is_root && is_late()) return -ETIMEDOUT; /* the others hear from the root, or of its end */
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

static int carry(const void *mine, size_t len, char *all, void (*serve)(void))
{
    int rc = 0;
    memcpy(all + (size_t)root.plan->pe * len, mine, len);
    for (int i = 0; i < root.npes && !rc; i++) {
        if (i == root.plan->pe) continue;
        rc = read_frame(root.fd[i], len, all + (size_t)i * len, len, serve);
        if (rc) say_gone(i, rc);
    }
    for (int i = 0; i < root.npes && !rc; i++) {
        if (i == root.plan->pe) continue;
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
    if (root.is_root) {
        rc = carry(mine, len, all, serve);
    } else {
        rc = write_frame(root.fd[0], len, mine, len);
        if (!rc) rc = read_frame(root.fd[0], len, all, (size_t)root.npes * len, serve);
        if (rc) say_gone(root.plan->pe, rc);
    }
    root.round++;
    return rc;
}
