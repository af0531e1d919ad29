/* The contract stands in links.h. Here: the meeting, and gathers; lifeline.c has what comes after. */
#define _GNU_SOURCE
#include "boot/links.h"

#include "base/log.h"
#include "base/os.h"
#include "boot/lifeline.h"
#include "boot/packet.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* What a PE says to the middle, together with memory of a page that begins with TRIED. */
struct join {
    int32_t pe, spare;
    unsigned char secret[HM_SECRET_BYTES];
};
#define TRIED 0x68626d65736801ull

static int listener = -1;
static struct hm_meeting_place here;
static int world_npes;
static int
    *joined; /* the middle, while they meet: by world number, the wires of those that have joined; -1: none */
static pid_t *joined_pids; /* and their processes; 0: in a namespace that cannot be seen from here */
static int middle = -1;    /* another, while they meet: its wire */
static int pe_here, npes_here;
static int *wires; /* by local number: the middle has one to each, the others have the one to it; -1: none */
static int gathers;

/* --- the meeting --- */

static socklen_t address_of(const struct hm_meeting_place *place, struct sockaddr_un *at)
{
    *at = (struct sockaddr_un){.sun_family = AF_UNIX};
    size_t n = strnlen(place->name, sizeof place->name);
    memcpy(at->sun_path + 1, place->name, n);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

static int open_socket(int flags)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0), error = errno;
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
    volatile unsigned char different = 0;
    for (int i = 0; i < HM_SECRET_BYTES; i++)
        different |= a[i] ^ b[i];
    return !different;
}

static uint64_t *map_trial(int fd)
{
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void drop_all(int **fds, int n)
{
    for (int i = 0; *fds && i < n; i++)
        if ((*fds)[i] >= 0) close((*fds)[i]);
    free(*fds);
    *fds = NULL;
}

static void drop_one(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

/* A child of fork must hold no link: its PE could die unseen. */
static void let_go_in_child(void)
{
    drop_one(&listener);
    drop_one(&middle);
    drop_all(&joined, world_npes);
    drop_all(&wires, npes_here);
    hm_lifelines_forget();
}

static int *no_fds(int n)
{
    int *fds = malloc((size_t)n * sizeof *fds);
    for (int i = 0; fds && i < n; i++)
        fds[i] = -1;
    return fds;
}

int hm_links_listen(const struct hm_meeting_place *place, int npes)
{
    static bool forks_seen;
    struct sockaddr_un at;
    if (!forks_seen && pthread_atfork(NULL, NULL, let_go_in_child) == 0) forks_seen = true;
    hm_fds_raise_limit();
    here = *place;
    world_npes = npes;
    joined = no_fds(npes);
    joined_pids = calloc((size_t)npes, sizeof *joined_pids);
    if (!joined || !joined_pids) return -ENOMEM;
    listener = open_socket(SOCK_NONBLOCK);
    if (listener < 0) return listener;
    if (bind(listener, (void *)&at, address_of(place, &at)) == 0 && listen(listener, 4096) == 0) return 0;
    int error = errno;
    hm_log_line(NULL, "cannot listen for the other PEs: %s", strerror(error));
    return -error;
}

/* Can the two share memory? The other one looks for the answer in it. */
static bool answer_trial(int fd)
{
    uint64_t *at = map_trial(fd);
    bool well = at && *at == TRIED;
    if (well) *at = ~TRIED;
    if (at) munmap(at, 4096);
    return well;
}

/* One that has connected says who it is. */
static bool admit(int wire, struct hm_packet *p)
{
    struct timeval patience = {.tv_sec = 2}, none = {0};
    struct join j;
    pid_t pid;
    if (!is_own_user(wire, &pid)) return false;
    setsockopt(wire, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (hm_packet_take(wire, p)) return false;
    setsockopt(wire, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
    memcpy(&j, p->body, sizeof j);
    bool well = p->head.type == HM_MSG_HELLO && p->head.len == sizeof j && p->head.nfds == 1 &&
                is_same_secret(j.secret, here.secret) && j.pe >= 0 && j.pe < world_npes && joined[j.pe] < 0 &&
                answer_trial(p->fds[0]) && !hm_packet_send(wire, HM_MSG_HELLO, 0, NULL, 0, NULL, 0);
    hm_fds_close(p->fds, (int)p->head.nfds);
    if (!well) return false;
    joined[j.pe] = wire;
    joined_pids[j.pe] = pid;
    return true;
}

void hm_links_serve(void)
{
    int wire = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (wire < 0) return;
    struct hm_packet *p = malloc(sizeof *p);
    for (; wire >= 0; wire = accept4(listener, NULL, NULL, SOCK_CLOEXEC))
        if (!p || !admit(wire, p)) close(wire);
    free(p);
}

/* Shows the memory and waits for the answer in it. */
static bool try_memory(int wire, const struct join *j)
{
    int fd = hm_os_memfd("hbmesh-trial", 4096);
    uint64_t *at = fd < 0 ? NULL : map_trial(fd);
    struct hm_packet *p = malloc(sizeof *p);
    bool well = false;
    if (at && p) {
        *at = TRIED;
        well = !hm_packet_send(wire, HM_MSG_HELLO, 0, j, sizeof *j, &fd, 1) && !hm_packet_receive(wire, p);
        if (well) hm_fds_close(p->fds, (int)p->head.nfds);
        well = well && p->head.type == HM_MSG_HELLO && *(volatile uint64_t *)at == ~TRIED;
    }
    free(p);
    if (at) munmap(at, 4096);
    if (fd >= 0) close(fd);
    return well;
}

/* It may wait for room in the queue, and a signal of the program's is no answer. */
static bool connect_to(int wire, const struct hm_meeting_place *place)
{
    struct sockaddr_un at;
    socklen_t length = address_of(place, &at);
    int rc;
    do
        rc = connect(wire, (void *)&at, length);
    while (rc != 0 && errno == EINTR);
    return rc == 0;
}

int hm_links_join(const struct hm_meeting_place *place, int pe)
{
    struct join j = {.pe = pe};
    pid_t pid;
    int wire = open_socket(0);
    if (wire < 0) return wire;
    memcpy(j.secret, place->secret, sizeof j.secret);
    if (!connect_to(wire, place) || !is_own_user(wire, &pid) ||
        !try_memory(wire, &j)) {
        close(wire);
        return 0;
    }
    middle = wire;
    return 1;
}

static void forget_meeting(void)
{
    drop_one(&listener);
    drop_one(&middle);
    drop_all(&joined, world_npes);
    free(joined_pids);
    joined_pids = NULL;
    explicit_bzero(here.secret, sizeof here.secret);
}

void hm_links_refuse(void)
{
    for (int i = 0; joined && i < world_npes; i++)
        if (joined[i] >= 0) hm_packet_send(joined[i], HM_MSG_REFUSED, 0, NULL, 0, NULL, 0);
    forget_meeting();
}

/* --- the middle opens --- */

static int welcome_one(int local, int job_fd)
{
    struct hm_welcome w = {.local_pe = local, .local_npes = npes_here};
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return -errno;
    int fds[2] = {job_fd, pair[1]};
    int rc = hm_packet_send(wires[local], HM_MSG_WELCOME, 0, &w, sizeof w, fds, 2);
    close(pair[1]);
    if (rc) {
        close(pair[0]);
        return rc;
    }
    return pair[0];
}

static int say_gone(const struct hm_links_plan *plan, int local, pid_t pid, int rc)
{
    if (rc == -EMFILE)
        hm_fds_say_too_many(npes_here);
    else
        hm_log_line(NULL, "PE %d (process %d) has gone while the PEs met: %s", plan->world[local], (int)pid,
                    strerror(-rc));
    return rc;
}

static int watch(const struct hm_links_plan *plan, const int *fds, const pid_t *pids, int job_fd)
{
    const struct hm_lifelines_plan lines = {.pe = pe_here,
                                            .npes = npes_here,
                                            .world = plan->world,
                                            .fds = fds,
                                            .pids = pids,
                                            .job_fd = job_fd,
                                            .far = plan->far,
                                            .far_count = plan->far_count,
                                            .several = plan->several};
    return hm_lifelines_start(&lines);
}

static int welcome_all(const struct hm_links_plan *plan, const pid_t *pids, int job_fd)
{
    int *lifelines = no_fds(npes_here), rc = lifelines ? 0 : -ENOMEM;
    for (int i = 1; i < npes_here && !rc; i++) {
        lifelines[i] = welcome_one(i, job_fd);
        if (lifelines[i] < 0) rc = say_gone(plan, i, pids[i], lifelines[i]);
    }
    if (!rc) rc = watch(plan, lifelines, pids, job_fd);
    for (int i = 1; rc && lifelines && i < npes_here; i++)
        drop_one(&lifelines[i]);
    free(lifelines);
    return rc;
}

/* Only those of the machine count; the others find themselves elsewhere. */
static void take_wires(const struct hm_links_plan *plan, pid_t *pids)
{
    for (int i = 1; i < npes_here; i++) {
        wires[i] = joined[plan->world[i]];
        joined[plan->world[i]] = -1;
        pids[i] = joined_pids[plan->world[i]];
    }
    forget_meeting();
}

static int open_middle(const struct hm_links_plan *plan, int *job_fd)
{
    pid_t *pids = calloc((size_t)npes_here, sizeof *pids);
    if (!pids) return -ENOMEM;
    take_wires(plan, pids);
    *job_fd = hm_job_make(npes_here);
    int rc = *job_fd < 0 ? *job_fd : welcome_all(plan, pids, *job_fd);
    free(pids);
    if (rc && *job_fd >= 0) close(*job_fd);
    for (int i = 1; rc && i < npes_here;
         i++) /* those who wait end without a word of their own: this PE has said why */
        if (wires[i] >= 0) hm_packet_send(wires[i], HM_MSG_REFUSED, 0, NULL, 0, NULL, 0);
    return rc;
}

/* --- the others open --- */

static int say_middle_gone(const struct hm_links_plan *plan, int rc)
{
    if (rc == -EMFILE)
        hm_fds_say_too_many(npes_here);
    else
        hm_log_line(NULL, "PE %d of the job has gone while the PEs met (%s)", plan->world[0], strerror(-rc));
    return rc;
}

static int take_welcome(const struct hm_links_plan *plan, struct hm_packet *p, int *job_fd)
{
    pid_t pid = 0;
    int rc = hm_packet_receive(wires[0], p);
    if (rc) return say_middle_gone(plan, rc);
    if (p->head.type != HM_MSG_WELCOME || p->head.nfds != 2) {
        hm_fds_close(p->fds, (int)p->head.nfds);
        return p->head.type == HM_MSG_REFUSED ? -ECANCELED : say_middle_gone(plan, -EPROTO);
    }
    is_own_user(wires[0], &pid);
    rc = watch(plan, &p->fds[1], &pid, p->fds[0]);
    if (rc) hm_fds_close(p->fds, 2);
    if (!rc) *job_fd = p->fds[0];
    return rc;
}

static int open_other(const struct hm_links_plan *plan, int *job_fd)
{
    wires[0] = middle;
    middle = -1;
    forget_meeting();
    struct hm_packet *p = malloc(sizeof *p);
    int rc = p ? take_welcome(plan, p, job_fd) : -ENOMEM;
    free(p);
    return rc;
}

/* --- both --- */

int hm_links_open(const struct hm_links_plan *plan, int *job_fd)
{
    pe_here = plan->local_pe;
    npes_here = plan->local_npes;
    gathers = 0;
    wires = no_fds(npes_here);
    int rc = !wires ? -ENOMEM : pe_here == 0 ? open_middle(plan, job_fd) : open_other(plan, job_fd);
    if (rc) drop_all(&wires, npes_here);
    return rc;
}

void hm_links_close(void)
{
    hm_lifelines_stop();
    drop_all(&wires, npes_here);
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
        hm_log_line(NULL, "two PEs of this machine gather different things");
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

/* The others' part of a gather. */
static int receive_all(struct hm_packet *p, int npes, size_t len, char *all, int nfds, int *all_fds)
{
    int have = 0, rc = 0;
    while (!rc && have < npes) {
        rc = hm_packet_receive(wires[0], p);
        if (rc) break;
        int count = hm_packet_gathered(p, have, npes, len, all, nfds, all_fds);
        if (count < 0)
            rc = count;
        else
            have += count;
    }
    if (rc && nfds) hm_fds_close(all_fds, have * nfds);
    return rc;
}

static int gather_other(const void *mine, size_t len, char *all, const int *fds, int nfds, int *all_fds,
                        struct hm_packet *p)
{
    int rc = hm_packet_send(wires[0], HM_MSG_GATHER, gathers, mine, len, fds, nfds);
    if (!rc) rc = receive_all(p, npes_here, len, all, nfds, all_fds);
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

int hm_links_spread(int npes, size_t len, void *all)
{
    int rc = 0;
    if (!len) return 0;
    for (int i = 1; pe_here == 0 && !rc && i < npes_here; i++)
        rc = hm_packet_send_gathered(wires[i], npes, len, all, 0, NULL);
    if (pe_here) {
        struct hm_packet *p = malloc(sizeof *p);
        rc = p ? receive_all(p, npes, len, all, 0, NULL) : -ENOMEM;
        free(p);
    }
    return rc ? lost(rc) : 0;
}
