/* The contract stands in links.h. Here: the meeting, and gathers; lifeline.c has what comes after. */
#define _GNU_SOURCE
#include "boot/links.h"

#include "base/log.h"
#include "base/option.h"
#include "base/os.h"
#include "base/version.h"
#include "boot/lifeline.h"
#include "boot/packet.h"

#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define MS 1000000ull

/* What a PE says to PE 0. */
struct join {
    uint32_t job_version;
    int32_t pe, npes;
    char library[24];
    unsigned char secret[HM_SECRET_BYTES];
};

static const struct hm_links_plan *plan; /* while the PEs meet */
static int pe_here, npes_here;
static int *wires; /* by PE: PE 0 has one to each, the others have the one to PE 0; -1: none */
static int gathers;

/* --- places and times --- */

static socklen_t address_of(const struct hm_meeting_place *place, struct sockaddr_un *at)
{
    *at = (struct sockaddr_un){.sun_family = AF_UNIX};
    size_t n = strnlen(place->name, sizeof place->name);
    memcpy(at->sun_path + 1, place->name, n);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

static bool is_late(uint64_t since)
{
    return hm_options.boot_timeout && hm_os_now() - since > (uint64_t)hm_options.boot_timeout * 1000 * MS;
}

static void idle(int milliseconds)
{
    if (hm_boot_idle) hm_boot_idle();
    if (milliseconds) usleep((useconds_t)milliseconds * 1000);
}

static int open_socket(void)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), error = errno;
    if (fd >= 0) return fd;
    hm_log_line(NULL, "cannot open a socket to meet the other PEs: %s", strerror(error));
    return -error;
}

static bool is_own_user(int fd, pid_t *pid)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid()) return false;
    *pid = peer.pid;
    return true;
}

/* Takes as long whatever the difference. */
static bool is_same_secret(const unsigned char *a, const unsigned char *b)
{
    unsigned char different = 0;
    for (int i = 0; i < HM_SECRET_BYTES; i++)
        different |= a[i] ^ b[i];
    return !different;
}

/* --- PE 0 --- */

static int open_listener(const struct hm_meeting_place *place, uint64_t since)
{
    struct sockaddr_un at;
    socklen_t length = address_of(place, &at);
    int fd = open_socket();
    if (fd < 0) return fd;
    while (bind(fd, (void *)&at, length) != 0) {
        int error = errno;
        if (error == EADDRINUSE &&
            !is_late(since)) { /* another job of this name meets: its turn is soon over */
            idle(10);
            continue;
        }
        close(fd);
        hm_log_line(NULL, "cannot listen for the other PEs: %s",
                    error == EADDRINUSE ? "another process that says it is PE 0 of this job listens already"
                                        : strerror(error));
        return -error;
    }
    if (listen(fd, 4096) == 0) return fd;
    int error = errno;
    close(fd);
    hm_log_line(NULL, "cannot listen for the other PEs: %s", strerror(error));
    return -error;
}

static HM_PRINTF(2, 3) void refuse(int wire, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    hm_packet_send(wire, HM_MSG_REFUSED, 0, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1, NULL,
                   0);
}

/* Those who wait end without a word of their own: this PE has said why. */
static void refuse_all(void)
{
    for (int i = 1; i < npes_here; i++)
        if (wires[i] >= 0) refuse(wires[i], "%s", "");
}

/* "1, 3-5" */
static void list_missing(char *text, size_t size)
{
    size_t n = 0;
    *text = 0;
    for (int i = 1; i < npes_here && n + 32 < size; i++) {
        if (wires[i] >= 0) continue;
        int last = i;
        while (last + 1 < npes_here && wires[last + 1] < 0)
            last++;
        n += (size_t)snprintf(text + n, size - n, last > i ? "%s%d-%d" : "%s%d", n ? ", " : "", i, last);
        i = last;
    }
}

static int say_missing(int missing)
{
    char text[400];
    list_missing(text, sizeof text);
    hm_log_line(NULL, "PE%s %s of %d %s not come within %ld s (SHMEM_BOOT_TIMEOUT); %s",
                missing > 1 ? "s" : "", text, npes_here, missing > 1 ? "have" : "has",
                hm_options.boot_timeout, plan->what);
    return -ETIMEDOUT;
}

/* A claim that does not fit the job as PE 0 knows it ends the job: the PEs were started with different ideas of it. */
static int check_claim(int wire, const struct join *j)
{
    char text[256] = "";
    if (j->job_version != HM_JOB_VERSION || strncmp(j->library, HM_VERSION, sizeof j->library) != 0)
        snprintf(text, sizeof text, "PE %d has library version %.24s, PE 0 has %s: have all use the same",
                 j->pe, j->library, HM_VERSION);
    else if (j->npes != npes_here)
        snprintf(text, sizeof text, "PE %d was told that the job has %d PEs, PE 0 that it has %d", j->pe,
                 j->npes, npes_here);
    if (!*text) return 0;
    hm_log_line(NULL, "%s", text);
    refuse(wire, "%s", "");
    return -EPROTO;
}

/* One that has connected says who it is. 1: it is another PE; 0: it is none; -errno: the job cannot be. */
static int admit(int wire, const struct hm_meeting_place *place, pid_t *pids)
{
    struct timeval patience = {.tv_sec = 2};
    struct join j;
    struct hm_msg head;
    struct iovec iov[2] = {{&head, sizeof head}, {&j, sizeof j}};
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};
    pid_t pid;
    if (!is_own_user(wire, &pid)) return 0;
    setsockopt(wire, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (recvmsg(wire, &msg, MSG_CMSG_CLOEXEC) != (ssize_t)(sizeof head + sizeof j) ||
        head.type != HM_MSG_HELLO)
        return 0;
    if (!is_same_secret(j.secret, place->secret)) {
        refuse(wire, "it does not know the secret of the job");
        return 0;
    }
    int rc = check_claim(wire, &j);
    if (rc) return rc;
    if (j.pe < 1 || j.pe >= npes_here || wires[j.pe] >= 0) {
        refuse(wire, "PE %d is there already (process %d)", j.pe,
               j.pe > 0 && j.pe < npes_here ? (int)pids[j.pe] : (int)getpid());
        return 0;
    }
    patience.tv_sec = 0;
    setsockopt(wire, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    wires[j.pe] = wire;
    pids[j.pe] = pid;
    return 1;
}

/* Until all are there. One that came and has gone again is noticed when it is welcomed. */
static int await_all(int listener, const struct hm_meeting_place *place, pid_t *pids, uint64_t since)
{
    struct pollfd p = {.fd = listener, .events = POLLIN};
    for (int missing = npes_here - 1; missing > 0;) {
        if (poll(&p, 1, 25) <= 0) {
            idle(0);
            if (is_late(since)) return say_missing(missing);
            continue;
        }
        int wire = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (wire < 0) continue;
        int rc = admit(wire, place, pids);
        if (rc <= 0) close(wire);
        if (rc < 0) return rc;
        missing -= rc;
    }
    return 0;
}

static int welcome_one(int pe, int job_fd)
{
    struct hm_welcome w = {pe, npes_here, 0, 1, pe, npes_here};
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return -errno;
    int fds[2] = {job_fd, pair[1]};
    int rc = hm_packet_send(wires[pe], HM_MSG_WELCOME, 0, &w, sizeof w, fds, 2);
    close(pair[1]);
    if (rc) {
        close(pair[0]);
        return rc;
    }
    return pair[0];
}

static int welcome_all(int job_fd, const pid_t *pids)
{
    int *lifelines = calloc((size_t)npes_here, sizeof *lifelines), rc = lifelines ? 0 : -ENOMEM;
    for (int i = 0; lifelines && i < npes_here; i++)
        lifelines[i] = -1;
    for (int i = 1; i < npes_here && !rc; i++) {
        lifelines[i] = welcome_one(i, job_fd);
        if (lifelines[i] >= 0) continue;
        rc = lifelines[i];
        if (rc == -EMFILE)
            hm_fds_say_too_many(npes_here);
        else
            hm_log_line(NULL, "PE %d (process %d) has gone while the PEs met: %s", i, (int)pids[i],
                        strerror(-rc));
    }
    if (!rc) rc = hm_lifelines_start(0, npes_here, lifelines, pids, job_fd);
    if (rc) hm_fds_close(lifelines + 1, lifelines ? npes_here - 1 : 0);
    free(lifelines);
    return rc;
}

static int gather_in(int *job_fd, pid_t *pids, uint64_t since)
{
    struct hm_meeting_place place = {0};
    int rc = plan->find(&place);
    if (rc) return rc;
    int listener = open_listener(&place, since);
    if (listener < 0) return listener;
    rc = await_all(listener, &place, pids, since);
    close(listener);
    if (rc) goto refuse_those_there;
    *job_fd = hm_job_make(npes_here);
    rc = *job_fd < 0 ? *job_fd : welcome_all(*job_fd, pids);
    if (!rc) return 0;
    if (*job_fd >= 0) close(*job_fd);
refuse_those_there:
    refuse_all();
    return rc;
}

/* --- the others --- */

/* 1 connected, 0 not yet, -errno. */
static int try_connect(int *wire, struct hm_meeting_place *place, bool *foreign)
{
    struct sockaddr_un at;
    pid_t pid;
    int rc = plan->find(place);
    if (rc) return rc == -EAGAIN ? 0 : rc;
    int fd = open_socket();
    if (fd < 0) return fd;
    if (connect(fd, (void *)&at, address_of(place, &at)) == 0) {
        if (is_own_user(fd, &pid)) {
            *wire = fd;
            return 1;
        }
        *foreign = true;
    }
    close(fd);
    return 0;
}

static int say_no_root(bool foreign)
{
    if (foreign)
        hm_log_line(
            NULL,
            "what listens for the PEs of this job is a process of another user; all PEs must be of one user");
    else
        hm_log_line(
            NULL,
            "PE 0 of %d has not come on this machine within %ld s (SHMEM_BOOT_TIMEOUT); %s; a job on several "
            "machines needs a transport that is not there yet",
            npes_here, hm_options.boot_timeout, plan->what);
    return -ETIMEDOUT;
}

static int reach_root(int *wire, struct hm_meeting_place *place, uint64_t since)
{
    bool foreign = false;
    for (int pause = 1;; pause = pause < 10 ? pause + 1 : pause) {
        int rc = try_connect(wire, place, &foreign);
        if (rc) return rc < 0 ? rc : 0;
        if (is_late(since)) return say_no_root(foreign);
        idle(pause);
    }
}

static int refused(const struct hm_packet *p)
{
    if (!p->head.len) return -ECANCELED; /* PE 0 has said it */
    hm_log_line(NULL, "PE 0 of the job refuses this process: %.*s", (int)p->head.len, (const char *)p->body);
    return -EPERM;
}

static int say_root_gone(int rc)
{
    if (rc == -EMFILE)
        hm_fds_say_too_many(npes_here);
    else
        hm_log_line(NULL, "PE 0 of the job has gone while the PEs met (%s)", strerror(-rc));
    return rc;
}

static int take_welcome(struct hm_packet *p, int *job_fd)
{
    int rc = hm_packet_receive(wires[0], p);
    if (rc) return say_root_gone(rc);
    if (p->head.type == HM_MSG_REFUSED) return refused(p);
    if (p->head.type != HM_MSG_WELCOME || p->head.nfds != 2) {
        hm_fds_close(p->fds, (int)p->head.nfds);
        return say_root_gone(-EPROTO);
    }
    pid_t root = 0;
    is_own_user(wires[0], &root);
    rc = hm_lifelines_start(pe_here, npes_here, &p->fds[1], &root, p->fds[0]);
    if (rc) hm_fds_close(p->fds, 2);
    if (!rc) *job_fd = p->fds[0];
    return rc;
}

static int join_root(int *job_fd, uint64_t since)
{
    struct hm_meeting_place place = {0};
    int rc = reach_root(&wires[0], &place, since);
    if (rc) return rc;
    struct join j = {.job_version = HM_JOB_VERSION, .pe = pe_here, .npes = npes_here};
    snprintf(j.library, sizeof j.library, "%s", HM_VERSION);
    memcpy(j.secret, place.secret, sizeof j.secret);
    rc = hm_packet_send(wires[0], HM_MSG_HELLO, 0, &j, sizeof j, NULL, 0);
    if (rc) return say_root_gone(rc);
    struct hm_packet *p = malloc(sizeof *p);
    rc = p ? take_welcome(p, job_fd) : -ENOMEM;
    free(p);
    return rc;
}

/* --- both --- */

static void drop_wires(void)
{
    for (int i = 0; wires && i < npes_here; i++)
        if (wires[i] >= 0) close(wires[i]);
    free(wires);
    wires = NULL;
}

/* A child of fork must hold no link: its PE could die unseen. */
static void let_go_in_child(void)
{
    drop_wires();
    hm_lifelines_forget();
}

int hm_links_open(const struct hm_links_plan *with, int *job_fd)
{
    static bool forks_seen;
    uint64_t since = hm_os_now();
    hm_fds_raise_limit();
    plan = with;
    pe_here = with->pe;
    npes_here = with->npes;
    gathers = 0;
    pid_t *pids = calloc((size_t)npes_here, sizeof *pids);
    wires = calloc((size_t)npes_here, sizeof *wires);
    int rc = wires && pids ? 0 : -ENOMEM;
    for (int i = 0; wires && i < npes_here; i++)
        wires[i] = -1;
    if (!forks_seen && pthread_atfork(NULL, NULL, let_go_in_child) == 0) forks_seen = true;
    if (!rc) rc = pe_here == 0 ? gather_in(job_fd, pids, since) : join_root(job_fd, since);
    free(pids);
    if (rc) drop_wires();
    plan = NULL;
    return rc;
}

void hm_links_close(void)
{
    hm_lifelines_stop();
    drop_wires();
}

void hm_links_exit_all(int status)
{
    hm_lifelines_end(status);
}

/* --- gathering --- */

/* A wire that has closed means a PE that has died, and the watch of the lifelines ends this process with a better
 * sentence. */
static int lost(int rc)
{
    if (rc == -EMFILE) hm_fds_say_too_many(npes_here);
    if (rc == -EPIPE) sleep(5);
    return rc;
}

static int take_part(int pe, struct hm_packet *p, size_t len, char *all, int nfds, int *all_fds)
{
    int rc = hm_packet_receive(wires[pe], p);
    if (rc) return lost(rc);
    if (p->head.type != HM_MSG_GATHER || p->head.arg != gathers || p->head.len != len ||
        (int)p->head.nfds != nfds) {
        hm_fds_close(p->fds, (int)p->head.nfds);
        hm_log_line(NULL, "PE %d gathers something else than PE 0", pe);
        return -EPROTO;
    }
    if (len) memcpy(all + (size_t)pe * len, p->body, len);
    for (int i = 0; i < nfds; i++)
        all_fds[pe * nfds + i] = p->fds[i];
    return 0;
}

/* The own part; the descriptors as duplicates. */
static int take_own(const void *mine, size_t len, char *all, const int *fds, int nfds, int *all_fds)
{
    if (len) memcpy(all, mine, len);
    return hm_fds_duplicate(fds, nfds, all_fds);
}

static int gather_root(const void *mine, size_t len, char *all, const int *fds, int nfds, int *all_fds,
                       struct hm_packet *p)
{
    int have = 0, rc = take_own(mine, len, all, fds, nfds, all_fds);
    if (!rc) have = 1;
    while (!rc && have < npes_here) {
        rc = take_part(have, p, len, all, nfds, all_fds);
        if (!rc) have++;
    }
    for (int i = 1; !rc && i < npes_here; i++) {
        rc = hm_packet_send_gathered(wires[i], npes_here, len, all, nfds, all_fds);
        if (rc) lost(rc);
    }
    if (rc && nfds) hm_fds_close(all_fds, have * nfds);
    return rc;
}

static int gather_other(const void *mine, size_t len, char *all, const int *fds, int nfds, int *all_fds,
                        struct hm_packet *p)
{
    int have = 0, rc = hm_packet_send(wires[0], HM_MSG_GATHER, gathers, mine, len, fds, nfds);
    while (!rc && have < npes_here) {
        rc = hm_packet_receive(wires[0], p);
        if (rc) break;
        int count = hm_packet_gathered(p, have, npes_here, len, all, nfds, all_fds);
        if (count < 0)
            rc = count;
        else
            have += count;
    }
    if (rc && nfds) hm_fds_close(all_fds, have * nfds);
    return rc ? lost(rc) : 0;
}

int hm_links_gather(const void *mine, size_t len, void *all, const int *fds, int nfds, int *all_fds)
{
    struct hm_packet *p = malloc(sizeof *p);
    if (!p) return -ENOMEM;
    int rc = pe_here == 0 ? gather_root(mine, len, all, fds, nfds, all_fds, p)
                          : gather_other(mine, len, all, fds, nfds, all_fds, p);
    gathers++;
    free(p);
    return rc;
}
