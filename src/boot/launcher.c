/* Started by oshrun: the PE's end of the wire that boot/job.h describes. */
#define _GNU_SOURCE
#include "boot/boot.h"

#include "base/log.h"
#include "base/version.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int wire = -1;     /* the socket named in the environment; -1 until a probe found it */
static int lifeline = -1; /* held while this process is a PE */
static int round_next;    /* number of the next gather */
static int npes;

static const char *find_variable(char *const envp[], const char *name)
{
    size_t n = strlen(name);
    for (; envp && *envp; envp++)
        if (!strncmp(*envp, name, n) && (*envp)[n] == '=') return *envp + n + 1;
    return NULL;
}

/* "<fd>:<inode>"; -1 when it names no socket that is open here. */
static int parse_wire(const char *text)
{
    char *end;
    errno = 0;
    long fd = strtol(text, &end, 10);
    if (errno || end == text || *end != ':' || fd < 0 || fd > INT_MAX) return -1;
    const char *digits = end + 1;
    unsigned long long inode = strtoull(digits, &end, 10);
    if (errno || end == digits || *end) return -1;
    struct stat st;
    if (fstat((int)fd, &st) != 0 || !S_ISSOCK(st.st_mode) || st.st_ino != inode) return -1;
    return (int)fd;
}

static bool launcher_probe(char *const envp[])
{
    int saved = errno;
    const char *text = find_variable(envp, HM_LAUNCH_VAR);
    int fd = text ? parse_wire(text) : -1;
    if (fd >= 0) wire = fd;
    errno = saved;
    return fd >= 0;
}

/* Whoever has joined says so where all who hold the wire can read it. */
static void wire_set_owner(pid_t pid) { fcntl(wire, F_SETOWN, pid); }

static pid_t wire_owner(int fd)
{
    pid_t pid = fcntl(fd, F_GETOWN);
    return pid > 0 && kill(pid, 0) != 0 && errno == ESRCH ? 0 : pid;
}

/* A PE's wire is closed in the programs it starts, and often in those that are started before it joins. */
static bool launcher_descends(char *const envp[], int *pe, int *pid)
{
    int saved = errno;
    const char *text = find_variable(envp, HM_LAUNCH_VAR), *number = find_variable(envp, "SHMEM_PE");
    int fd = text ? parse_wire(text) : -1;
    pid_t owner = fd >= 0 ? wire_owner(fd) : 0;
    errno = saved;
    if (!text || (fd >= 0 && (owner <= 0 || owner == getpid()))) return false;
    *pe = number ? atoi(number) : -1;
    *pid = owner;
    return true;
}

/* --- one packet --- */

struct packet {
    struct hm_msg head;
    unsigned char body[HM_MSG_MAX];
    int fds[HM_MSG_FDS];
};

static int launcher_gone(int error)
{
    if (error == EPIPE || error == ECONNRESET || error == 0)
        hm_log_line(NULL, "the launcher (oshrun) of this job has gone; this PE cannot go on");
    else
        hm_log_line(NULL, "cannot talk to the launcher (oshrun) of this job: %s", strerror(error));
    return error ? -error : -EPIPE;
}

static int packet_send(enum hm_msg_type type, int arg, const void *body, size_t len, const int *fds, int nfds)
{
    struct hm_msg head = {.type = type, .arg = arg, .len = (uint32_t)len, .nfds = (uint32_t)nfds};
    struct iovec iov[2] = {{&head, sizeof head}, {(void *)body, len}};
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(4 * sizeof(int))];
    } control = {0};
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = len ? 2 : 1};
    if (nfds) {
        msg.msg_control = &control;
        msg.msg_controllen = CMSG_SPACE((size_t)nfds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN((size_t)nfds * sizeof(int));
        memcpy(CMSG_DATA(c), fds, (size_t)nfds * sizeof(int));
    }
    for (;;) {
        if (sendmsg(wire, &msg, MSG_NOSIGNAL) >= 0) return 0;
        if (errno == EINTR) continue;
        if (errno != ETOOMANYREFS) return -errno;
        usleep(
            1000); /* too many descriptors of this user are on their way: others are about to take theirs */
    }
}

static void close_all(const int *fds, int n)
{
    for (int i = 0; i < n; i++)
        close(fds[i]);
}

static int take_fds(struct msghdr *msg, int *fds)
{
    int n = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
        int k = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(fds + n, CMSG_DATA(c), (size_t)k * sizeof(int));
        n += k;
    }
    return n;
}

static void say_too_many_files(void)
{
    struct rlimit limit = {0};
    getrlimit(RLIMIT_NOFILE, &limit);
    hm_log_line(
        NULL,
        "this PE may open only %llu files and needs about 4 for each of the %d PEs to reach them: raise "
        "the limit (ulimit -n)",
        (unsigned long long)limit.rlim_cur, npes);
}

static void await_packet(void)
{
    struct pollfd p = {.fd = wire, .events = POLLIN};
    while (hm_boot_idle && poll(&p, 1, 25) <= 0) hm_boot_idle();
}

/* Blocks until a packet is there. On success `p->fds` are the caller's. */
static int packet_receive(struct packet *p)
{
    struct iovec iov[2] = {{&p->head, sizeof p->head}, {p->body, sizeof p->body}};
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(HM_MSG_FDS * sizeof(int)) + CMSG_SPACE(64)];
    } control;
    struct msghdr msg;
    ssize_t n;
    do {
        await_packet();
        msg = (struct msghdr){
            .msg_iov = iov, .msg_iovlen = 2, .msg_control = &control, .msg_controllen = sizeof control};
        n = recvmsg(wire, &msg, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n <= 0) return launcher_gone(n < 0 ? errno : 0);
    int got = take_fds(&msg, p->fds);
    if (msg.msg_flags & MSG_CTRUNC) {
        close_all(p->fds, got);
        say_too_many_files();
        return -EMFILE;
    }
    if ((size_t)n < sizeof p->head || (size_t)n - sizeof p->head != p->head.len ||
        (uint32_t)got != p->head.nfds) {
        close_all(p->fds, got);
        hm_log_line(NULL,
                    "the launcher sent a packet that makes no sense (%zd bytes, %d descriptors): are library "
                    "and oshrun of the same version?",
                    n, got);
        return -EPROTO;
    }
    return 0;
}

/* --- joining --- */

/* The heaps of all PEs arrive as descriptors: take what the hard limit allows. */
static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static int refused(const struct packet *p)
{
    int len = (int)p->head.len;
    hm_log_line(NULL, "the launcher refuses this process: %.*s", len, (const char *)p->body);
    return -EPERM;
}

static int welcome(const struct packet *p, struct hm_boot_world *world)
{
    struct hm_welcome w;
    if (p->head.type != HM_MSG_WELCOME || p->head.len != sizeof w || p->head.nfds != 2) {
        close_all(p->fds, (int)p->head.nfds);
        if (p->head.type == HM_MSG_REFUSED) return refused(p);
        hm_log_line(
            NULL,
            "the launcher answers with message %u instead of a welcome: are library and oshrun of the "
            "same version?",
            p->head.type);
        return -EPROTO;
    }
    memcpy(&w, p->body, sizeof w);
    *world = (struct hm_boot_world){w.pe, w.npes, w.local_pe, w.local_npes, p->fds[0]};
    lifeline = p->fds[1];
    npes = w.npes;
    return 0;
}

static void wire_close_on_exec(bool on)
{
    int flags = fcntl(wire, F_GETFD);
    if (flags >= 0) fcntl(wire, F_SETFD, on ? flags | FD_CLOEXEC : flags & ~FD_CLOEXEC);
}

static int launcher_start(struct hm_boot_world *world)
{
    raise_file_limit();
    wire_close_on_exec(true); /* the programs this one starts are not this PE */
    struct hm_hello hello = {.version = HM_JOB_VERSION, .pid = getpid()};
    snprintf(hello.library, sizeof hello.library, "%s", HM_VERSION);
    struct packet *p = malloc(sizeof *p);
    if (!p) return -ENOMEM;
    round_next = 0;
    int rc = packet_send(HM_MSG_HELLO, 0, &hello, sizeof hello, NULL, 0);
    if (rc)
        launcher_gone(-rc);
    else
        rc = packet_receive(p);
    if (!rc) rc = welcome(p, world);
    if (!rc) wire_set_owner(getpid());
    free(p);
    return rc;
}

/* --- gathering --- */

/* Copies one packet of answers into its place; how many PEs it held, or -errno. */
static int gathered(struct packet *p, int have, size_t len, char *all, int nfds, int *all_fds)
{
    int left = npes - have, count = 0;
    if (p->head.type == HM_MSG_GATHERED && p->head.arg == have) {
        if (nfds)
            count = (int)p->head.nfds / nfds;
        else
            count = len ? (int)(p->head.len / len) : left;
    }
    if (count < 1 || count > left || (size_t)count * len != p->head.len ||
        (uint32_t)(count * nfds) != p->head.nfds) {
        close_all(p->fds, (int)p->head.nfds);
        if (p->head.type == HM_MSG_REFUSED) return refused(p);
        hm_log_line(
            NULL,
            "the launcher answers a gather with message %u for PE %d: are library and oshrun of the same "
            "version?",
            p->head.type, p->head.arg);
        return -EPROTO;
    }
    if (len) memcpy(all + (size_t)have * len, p->body, p->head.len);
    for (int i = 0; i < count * nfds; i++)
        all_fds[have * nfds + i] = p->fds[i];
    return count;
}

static int launcher_gather(const void *mine, size_t len, void *all, const int *fds, int nfds, int *all_fds)
{
    int have = 0;
    struct packet *p = malloc(sizeof *p);
    if (!p) return -ENOMEM;
    int rc = packet_send(HM_MSG_GATHER, round_next++, mine, len, fds, nfds);
    if (rc) launcher_gone(-rc);
    while (!rc && have < npes) {
        rc = packet_receive(p);
        if (rc) break;
        int count = gathered(p, have, len, all, nfds, all_fds);
        if (count < 0)
            rc = count;
        else
            have += count;
    }
    if (rc && nfds) close_all(all_fds, have * nfds);
    free(p);
    return rc;
}

/* --- leaving --- */

static void launcher_exit_all(int status)
{
    packet_send(HM_MSG_EXIT_ALL, status, NULL, 0, NULL, 0);
}

static void launcher_stop(void)
{
    if (lifeline < 0) return;
    if (fcntl(wire, F_GETOWN) == getpid()) wire_set_owner(0); /* the number may be that of a file of the program's */
    packet_send(HM_MSG_FINALIZED, 0, NULL, 0, NULL, 0);
    close(lifeline);
    lifeline = -1;
    wire_close_on_exec(false); /* what runs in this process after an exec may join again */
}

const struct hm_boot hm_boot_launcher = {
    .name = "launcher",
    .probe = launcher_probe,
    .descends = launcher_descends,
    .start = launcher_start,
    .gather = launcher_gather,
    .exit_all = launcher_exit_all,
    .stop = launcher_stop,
};
