#define _GNU_SOURCE
#include "boot/packet.h"

#include "base/log.h"
#include "base/os.h"
#include "boot/boot.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

const char *hm_boot_variable(char *const envp[], const char *name)
{
    size_t n = strlen(name);
    for (; envp && *envp; envp++)
        if (!strncmp(*envp, name, n) && (*envp)[n] == '=') return *envp + n + 1;
    return NULL;
}

int hm_boot_leave_to_first(void)
{
    sleep(1);
    return -ECANCELED;
}

/* --- descriptors --- */

void hm_fds_close(const int *fds, int n)
{
    for (int i = 0; i < n; i++)
        close(fds[i]);
}

void hm_fds_raise_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

void hm_fds_say_too_many(int npes)
{
    struct rlimit limit = {0};
    getrlimit(RLIMIT_NOFILE, &limit);
    hm_log_line(
        NULL,
        "this PE may open only %llu files and needs about 4 for each of the %d PEs to reach them: raise the "
        "limit (ulimit -n)",
        (unsigned long long)limit.rlim_cur, npes);
}

int hm_fds_duplicate(const int *fds, int n, int *copies)
{
    for (int i = 0; i < n; i++) {
        copies[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 3);
        if (copies[i] >= 0) continue;
        int error = errno;
        hm_log_line(NULL, "cannot duplicate a descriptor: %s%s", strerror(error),
                    error == EMFILE ? " (raise the limit: ulimit -n)" : "");
        hm_fds_close(copies, i);
        return -error;
    }
    return 0;
}

/* --- one packet --- */

int hm_packet_send(int wire, enum hm_msg_type type, int arg, const void *body, size_t len, const int *fds,
                   int nfds)
{
    struct hm_msg head = {.type = type, .arg = arg, .len = (uint32_t)len, .nfds = (uint32_t)nfds};
    struct iovec iov[2] = {{&head, sizeof head}, {(void *)body, len}};
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(HM_MSG_FDS * sizeof(int))];
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

static void await_packet(int wire)
{
    struct pollfd p = {.fd = wire, .events = POLLIN};
    while (hm_boot_idle && poll(&p, 1, 25) <= 0)
        hm_boot_idle();
}

static int take(int wire, struct hm_packet *p, bool with_idle)
{
    struct iovec iov[2] = {{&p->head, sizeof p->head}, {p->body, sizeof p->body}};
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(HM_MSG_FDS * sizeof(int)) + CMSG_SPACE(64)];
    } control;
    struct msghdr msg;
    ssize_t n;
    do {
        if (with_idle) await_packet(wire);
        msg = (struct msghdr){
            .msg_iov = iov, .msg_iovlen = 2, .msg_control = &control, .msg_controllen = sizeof control};
        n = recvmsg(wire, &msg, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n <= 0) return n < 0 && errno != ECONNRESET ? -errno : -EPIPE;
    int got = take_fds(&msg, p->fds);
    bool whole = (size_t)n >= sizeof p->head && (size_t)n - sizeof p->head == p->head.len &&
                 (uint32_t)got == p->head.nfds;
    if (whole && !(msg.msg_flags & MSG_CTRUNC)) return 0;
    hm_fds_close(p->fds, got);
    return msg.msg_flags & MSG_CTRUNC ? -EMFILE : -EPROTO;
}

int hm_packet_receive(int wire, struct hm_packet *p)
{
    return take(wire, p, true);
}

int hm_packet_take(int wire, struct hm_packet *p)
{
    return take(wire, p, false);
}

/* --- the answers to a gather --- */

int hm_packet_gathered(struct hm_packet *p, int have, int npes, size_t len, char *all, int nfds, int *all_fds)
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
        hm_fds_close(p->fds, (int)p->head.nfds);
        return -EPROTO;
    }
    if (len) memcpy(all + (size_t)have * len, p->body, p->head.len);
    for (int i = 0; i < count * nfds; i++)
        all_fds[have * nfds + i] = p->fds[i];
    return count;
}

int hm_packet_send_gathered(int wire, int npes, size_t len, const char *all, int nfds, const int *all_fds)
{
    int batch = npes;
    if (len && batch > (int)(HM_MSG_MAX / len)) batch = (int)(HM_MSG_MAX / len);
    if (nfds && batch > HM_MSG_FDS / nfds) batch = HM_MSG_FDS / nfds;
    for (int at = 0; at < npes; at += batch) {
        int count = npes - at < batch ? npes - at : batch;
        int rc = hm_packet_send(wire, HM_MSG_GATHERED, at, len ? all + (size_t)at * len : NULL,
                                (size_t)count * len, nfds ? all_fds + at * nfds : NULL, count * nfds);
        if (rc) return rc;
    }
    return 0;
}

/* --- job memory --- */

int hm_job_make(int npes)
{
    size_t bytes = hm_job_bytes(npes), known = offsetof(struct hm_job, stopping);
    int fd = hm_os_memfd("hbmesh-job", bytes);
    if (fd < 0) {
        hm_log_line(NULL, "cannot make the job memory of %zu bytes: %s", bytes, strerror(-fd));
        return fd;
    }
    struct hm_job head = {.magic = HM_JOB_MAGIC, .version = HM_JOB_VERSION, .npes = npes, .bytes = bytes};
    if (pwrite(fd, &head, known, 0) == (ssize_t)known) return fd;
    int error = errno ? errno : EIO;
    hm_log_line(NULL, "cannot write the job memory: %s", strerror(error));
    close(fd);
    return -error;
}
