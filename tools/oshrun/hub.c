#define _GNU_SOURCE
#include "hub.h"

#include "base/version.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void close_fd(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static void close_all(const int *fds, size_t n)
{
    for (size_t i = 0; i < n; i++)
        close(fds[i]);
}

/* Local numbers ascend with PE numbers. */
static void place_members(struct hm_hub *hub, const int *machine_of)
{
    for (int i = 0; i < hub->nmachines; i++)
        hub->machines[i].npes = 0;
    for (int pe = 0; pe < hub->npes; pe++) {
        struct hm_member *m = &hub->members[pe];
        m->machine = machine_of ? machine_of[pe] : 0;
        m->local = hub->machines[m->machine].npes++;
    }
}

int hm_hub_open(struct hm_hub *hub, int npes, struct hm_machine *machines, int nmachines, const int *machine_of)
{
    *hub = (struct hm_hub){.npes = npes, .machines = machines, .nmachines = nmachines};
    hub->members = calloc((size_t)npes, sizeof *hub->members);
    hub->bytes = malloc((size_t)npes * HM_GATHER_MAX);
    hub->fds = malloc((size_t)npes * 4 * sizeof *hub->fds);
    if (!hub->members || !hub->bytes || !hub->fds) {
        hm_hub_close(hub);
        return -ENOMEM;
    }
    for (int pe = 0; pe < npes; pe++) {
        struct hm_member *m = &hub->members[pe];
        m->wire = m->pidfd = m->lifeline = m->segment = -1;
        m->sent = npes;
    }
    place_members(hub, machine_of);
    return 0;
}

static void part_drop(struct hm_gather *part)
{
    if (part->waiting) close_all(part->fds, part->nfds);
    part->waiting = false;
}

static void result_drop(struct hm_hub *hub)
{
    close_all(hub->fds, (size_t)hub->npes * hub->nfds);
    hub->nfds = 0;
}

void hm_hub_close(struct hm_hub *hub)
{
    for (int pe = 0; hub->members && pe < hub->npes; pe++) {
        hm_hub_forget(hub, pe);
        close_fd(&hub->members[pe].segment);
        close_fd(&hub->members[pe].wire);
    }
    if (hub->fds) result_drop(hub);
    free(hub->members);
    free(hub->bytes);
    free(hub->fds);
    *hub = (struct hm_hub){0};
}

void hm_hub_stopping(struct hm_hub *hub, uint32_t stopping)
{
    for (int i = 0; i < hub->nmachines; i++)
        if (hub->machines[i].job) __atomic_store_n(&hub->machines[i].job->stopping, stopping, __ATOMIC_RELEASE);
}

int hm_hub_wire(struct hm_hub *hub, int pe, int *theirs)
{
    int fds[2], on = 1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) return -errno;
    setsockopt(fds[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    hub->members[pe].wire = fds[0];
    *theirs = fds[1];
    return 0;
}

void hm_hub_forget(struct hm_hub *hub, int pe)
{
    struct hm_member *m = &hub->members[pe];
    part_drop(&m->part);
    close_fd(&m->pidfd);
    close_fd(&m->lifeline);
    m->pid = 0;
    if (m->sent < hub->npes) {
        m->sent = hub->npes;
        if (--hub->receivers == 0) result_drop(hub);
    }
}

static enum hm_hub_event trouble(struct hm_hub *hub, const char *fmt, ...) HM_PRINTF(2, 3);
static enum hm_hub_event trouble(struct hm_hub *hub, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(hub->trouble, sizeof hub->trouble, fmt, args);
    va_end(args);
    return HM_HUB_TROUBLE;
}

/* --- one packet --- */

struct packet {
    struct hm_msg head;
    unsigned char body[HM_MSG_MAX];
    int fds[HM_MSG_FDS];
    pid_t pid; /* of the sender; 0: not known */
};

/* 0, or -errno. A packet that does not fit in here is none: HM_MSG_MAX is agreed. */
static int packet_send(int wire, enum hm_msg_type type, int arg, const void *body, size_t len, const int *fds,
                       size_t nfds)
{
    struct hm_msg head = {.type = type, .arg = arg, .len = (uint32_t)len, .nfds = (uint32_t)nfds};
    struct iovec iov[2] = {{&head, sizeof head}, {(void *)body, len}};
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(HM_MSG_FDS * sizeof(int))];
    } control;
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = len ? 2 : 1};
    if (nfds) {
        memset(&control, 0, sizeof control);
        msg.msg_control = &control;
        msg.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(nfds * sizeof(int));
        memcpy(CMSG_DATA(c), fds, nfds * sizeof(int));
    }
    return sendmsg(wire, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0 ? 0 : -errno;
}

static void take_control(struct msghdr *msg, struct packet *p, uint32_t *nfds)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level != SOL_SOCKET) continue;
        if (c->cmsg_type == SCM_CREDENTIALS) {
            struct ucred who;
            memcpy(&who, CMSG_DATA(c), sizeof who);
            p->pid = who.pid;
        } else if (c->cmsg_type == SCM_RIGHTS) {
            size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            memcpy(p->fds + *nfds, CMSG_DATA(c), n * sizeof(int));
            *nfds += (uint32_t)n;
        }
    }
}

/* 1: a whole packet; 0: none there; -EPIPE: end; -EPROTO: not a packet of ours; -EMFILE. */
static int packet_receive(int wire, struct packet *p)
{
    struct iovec iov[2] = {{&p->head, sizeof p->head}, {p->body, sizeof p->body}};
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(HM_MSG_FDS * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(64)];
    } control;
    struct msghdr msg = {
        .msg_iov = iov, .msg_iovlen = 2, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t n = recvmsg(wire, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (n < 0) return errno == EAGAIN || errno == EINTR ? 0 : -EPIPE;
    uint32_t got = 0;
    p->pid = 0;
    take_control(&msg, p, &got);
    if (n == 0 && !msg.msg_controllen) return -EPIPE; /* an empty packet comes with credentials */
    int rc = 1;
    if (msg.msg_flags & MSG_CTRUNC)
        rc = -EMFILE;
    else if ((size_t)n < sizeof p->head || (msg.msg_flags & MSG_TRUNC))
        rc = -EPROTO;
    else if ((size_t)n - sizeof p->head != p->head.len || p->head.nfds != got)
        rc = -EPROTO;
    if (rc < 0) close_all(p->fds, got);
    return rc;
}

/* --- hello --- */

/* What tells one program image from another that runs in the same process: 0 when it cannot be known. */
static uint64_t image_hash(pid_t pid)
{
    char path[64];
    unsigned char block[1024];
    uint64_t hash = 0xcbf29ce484222325u;
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t n, total = 0;
    while ((n = read(fd, block, sizeof block)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            hash = (hash ^ block[i]) * 0x100000001b3u;
        total += n;
    }
    close(fd);
    return n == 0 && total > 0 ? hash : 0;
}

bool hm_hub_executed(struct hm_hub *hub, int pe)
{
    struct hm_member *m = &hub->members[pe];
    uint64_t now = m->pid ? image_hash(m->pid) : 0;
    return m->image && now && now != m->image;
}

static enum hm_hub_event refuse(struct hm_hub *hub, int pe, const char *fmt, ...) HM_PRINTF(3, 4);
static enum hm_hub_event refuse(struct hm_hub *hub, int pe, const char *fmt, ...)
{
    char why[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    packet_send(hub->members[pe].wire, HM_MSG_REFUSED, 0, why, strlen(why) + 1, NULL, 0);
    return HM_HUB_PACKET;
}

static bool is_alive(struct hm_member *m)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)m->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return false;
    text[n] = 0;
    char *state = strrchr(text, ')');
    return state && state[1] == ' ' && state[2] != 'Z' && state[2] != 'X';
}

static int welcome(struct hm_hub *hub, int pe, pid_t pid)
{
    struct hm_member *m = &hub->members[pe];
    const struct hm_machine *machine = &hub->machines[m->machine];
    int life[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, life) != 0) return -errno;
    struct hm_pe_page *page = hm_hub_page(hub, pe);
    page->pid = pid;
    page->status = 0;
    memset(page->blocked, 0, sizeof page->blocked);
    __atomic_store_n(&page->state, HM_PE_STARTED, __ATOMIC_RELEASE);
    struct hm_welcome w = {pe, hub->npes, m->machine, hub->nmachines, m->local, machine->npes};
    int fds[2] = {machine->job_fd, life[1]};
    int rc = packet_send(m->wire, HM_MSG_WELCOME, 0, &w, sizeof w, fds, 2);
    close(life[1]);
    if (rc) {
        close(life[0]);
        return rc;
    }
    m->lifeline = life[0];
    m->pid = pid;
    m->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    m->image = image_hash(pid);
    m->exec = false;
    m->joins++;
    m->round = 0;
    return 0;
}

static enum hm_hub_event on_hello(struct hm_hub *hub, int pe, const struct packet *p)
{
    struct hm_member *m = &hub->members[pe];
    struct hm_hello hello;
    if (p->head.len != sizeof hello)
        return refuse(hub, pe,
                      "its hello has %u bytes instead of %zu: library and oshrun "
                      "are not of the same version",
                      p->head.len, sizeof hello);
    memcpy(&hello, p->body, sizeof hello);
    if (hello.version != HM_JOB_VERSION)
        return refuse(hub, pe,
                      "library %.*s speaks version %u of the job protocol, oshrun " HM_VERSION
                      " speaks version "
                      "%u: use the oshrun that belongs to the library",
                      (int)sizeof hello.library, hello.library, hello.version, HM_JOB_VERSION);
    pid_t pid = p->pid ? p->pid : hello.pid;
    if (m->pid == pid)
        return trouble(hub, "PE %d (process %d) executed another program before shmem_finalize", pe,
                       (int)pid);
    if (m->pid && is_alive(m))
        return refuse(hub, pe,
                      "process %d runs as PE %d already, so process %d cannot be it too; a program that a PE "
                      "starts needs its own oshrun",
                      (int)m->pid, pe, (int)pid);
    if (m->pid) /* it died a moment ago, and the guard is about to hear of it */
        return refuse(hub, pe, "process %d, which ran as PE %d, ended before shmem_finalize", (int)m->pid,
                      pe);
    int rc = welcome(hub, pe, pid);
    if (rc) return refuse(hub, pe, "cannot welcome it: %s", strerror(-rc));
    return HM_HUB_JOINED;
}

/* --- gather --- */

/* A PE's first segment is kept: after an out-of-memory kill its size is part of the answer. */
static void keep_segment(struct hm_member *m, const struct hm_gather *part)
{
    if (!part->nfds || m->segment >= 0) return;
    m->segment = fcntl(part->fds[0], F_DUPFD_CLOEXEC, 3);
}

/* When the last part has come: is it a gather? */
static enum hm_hub_event check_parts(struct hm_hub *hub)
{
    const struct hm_gather *first = &hub->members[0].part;
    for (int pe = 1; pe < hub->npes; pe++) {
        const struct hm_gather *part = &hub->members[pe].part;
        if (part->len != first->len || part->nfds != first->nfds || part->round != first->round)
            return trouble(
                hub,
                "PE %d gives %u bytes and %u descriptors in round %d of its start, PE 0 %u and %u in "
                "round %d: do all PEs run the same version of the library?",
                pe, part->len, part->nfds, part->round, first->len, first->nfds, first->round);
    }
    return HM_HUB_PACKET;
}

static enum hm_hub_event complete(struct hm_hub *hub)
{
    for (int pe = 0; pe < hub->npes; pe++) {
        struct hm_member *m = &hub->members[pe];
        if (!m->part.waiting || m->joins != hub->members[0].joins) return HM_HUB_PACKET;
    }
    enum hm_hub_event event = check_parts(hub);
    if (event == HM_HUB_TROUBLE) return event;
    hub->len = hub->members[0].part.len;
    hub->nfds = hub->members[0].part.nfds;
    for (int pe = 0; pe < hub->npes; pe++) {
        struct hm_gather *part = &hub->members[pe].part;
        memcpy(hub->bytes + (size_t)pe * hub->len, part->bytes, hub->len);
        memcpy(hub->fds + (size_t)pe * hub->nfds, part->fds, hub->nfds * sizeof(int));
        part->waiting = false;
        hub->members[pe].sent = 0;
    }
    hub->receivers = hub->npes;
    hm_hub_send(hub);
    return HM_HUB_PACKET;
}

static enum hm_hub_event on_gather(struct hm_hub *hub, int pe, const struct packet *p)
{
    struct hm_member *m = &hub->members[pe];
    struct hm_gather *part = &m->part;
    if (!m->pid || part->waiting || m->sent < hub->npes || p->head.arg != m->round ||
        p->head.len > HM_GATHER_MAX || p->head.nfds > 4) {
        close_all(p->fds, p->head.nfds);
        return trouble(hub, "PE %d sent a gather that makes no sense (round %d, %u bytes, %u descriptors)",
                       pe, p->head.arg, p->head.len, p->head.nfds);
    }
    part->waiting = true;
    part->round = m->round++;
    part->len = p->head.len;
    part->nfds = p->head.nfds;
    memcpy(part->bytes, p->body, part->len);
    memcpy(part->fds, p->fds, part->nfds * sizeof(int));
    keep_segment(m, part);
    return complete(hub);
}

/* How many PEs' parts fit in one packet. */
static int batch(const struct hm_hub *hub, int left)
{
    int n = left;
    if (hub->len && n > (int)(HM_MSG_MAX / hub->len)) n = (int)(HM_MSG_MAX / hub->len);
    if (hub->nfds && n > (int)(HM_MSG_FDS / hub->nfds)) n = (int)(HM_MSG_FDS / hub->nfds);
    return n;
}

static void send_to(struct hm_hub *hub, int pe)
{
    struct hm_member *m = &hub->members[pe];
    while (m->sent < hub->npes) {
        int n = batch(hub, hub->npes - m->sent);
        int rc =
            packet_send(m->wire, HM_MSG_GATHERED, m->sent, hub->bytes + (size_t)m->sent * hub->len,
                        (size_t)n * hub->len, hub->fds + (size_t)m->sent * hub->nfds, (size_t)n * hub->nfds);
        if (rc == -EAGAIN || rc == -ETOOMANYREFS || rc == -ENOBUFS || rc == -ENOMEM || rc == -EINTR) return;
        m->sent = rc ? hub->npes : m->sent + n; /* an error: it is dead, which comes another way */
    }
    if (--hub->receivers == 0) result_drop(hub);
}

bool hm_hub_send(struct hm_hub *hub)
{
    for (int pe = 0; hub->receivers && pe < hub->npes; pe++)
        if (hub->members[pe].sent < hub->npes) send_to(hub, pe);
    return hub->receivers > 0;
}

/* --- all --- */

static enum hm_hub_event on_finalized(struct hm_hub *hub, int pe)
{
    if (!hub->members[pe].pid) return HM_HUB_PACKET;
    uint32_t state = HM_PE_READY; /* unless the PE has gone on and said something newer */
    __atomic_compare_exchange_n(&hm_hub_page(hub, pe)->state, &state, HM_PE_FINALIZED, false,
                                __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    hm_hub_forget(hub, pe);
    close_fd(&hub->members[pe].segment);
    return HM_HUB_FINALIZED;
}

static enum hm_hub_event dispatch(struct hm_hub *hub, int pe, const struct packet *p)
{
    if (p->head.type == HM_MSG_GATHER) return on_gather(hub, pe, p);
    close_all(p->fds, p->head.nfds);
    switch (p->head.type) {
    case HM_MSG_HELLO:
        return on_hello(hub, pe, p);
    case HM_MSG_EXIT_ALL:
        hub->status = p->head.arg & 0xff;
        return HM_HUB_EXIT_ALL;
    case HM_MSG_FINALIZED:
        return on_finalized(hub, pe);
    default:
        return trouble(
            hub,
            "PE %d sent message %u, which oshrun does not know: are library and oshrun of the same "
            "version?",
            pe, p->head.type);
    }
}

enum hm_hub_event hm_hub_read(struct hm_hub *hub, int pe)
{
    static struct packet p;
    if (hub->members[pe].wire < 0) return HM_HUB_NOTHING;
    switch (packet_receive(hub->members[pe].wire, &p)) {
    case 1:
        return dispatch(hub, pe, &p);
    case 0:
        return HM_HUB_NOTHING;
    case -EMFILE:
        return trouble(hub,
                       "oshrun cannot open enough files to pass on those of PE %d: raise the limit "
                       "(ulimit -n)",
                       pe);
    case -EPROTO:
        return trouble(hub,
                       "PE %d sent a packet that makes no sense: are library and oshrun of the same "
                       "version?",
                       pe);
    default:
        return HM_HUB_ENDED;
    }
}
