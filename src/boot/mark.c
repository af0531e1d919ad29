#define _GNU_SOURCE
#include "boot/mark.h"

#include "base/log.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int held = -1;

uint64_t hm_hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
    return (hash ^ 0xff) * 0x100000001b3ull; /* "ab", "c" is not "a", "bc" */
}

static socklen_t address_of(const char *job, int pe, struct sockaddr_un *at)
{
    *at = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(at->sun_path + 1, sizeof at->sun_path - 1, "hbmesh-pe-%u-%016llx-%d",
                     (unsigned)geteuid(), (unsigned long long)hm_hash_text(HM_HASH_START, job), pe);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* That the connection is queued says enough; links.c takes them from the queue. */
static bool ask_owner(const struct sockaddr_un *at, socklen_t length, struct ucred *owner)
{
    socklen_t size = sizeof *owner;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return false;
    bool there = connect(fd, (const void *)at, length) == 0 &&
                 getsockopt(fd, SOL_SOCKET, SO_PEERCRED, owner, &size) == 0;
    close(fd);
    return there;
}

bool hm_mark_is_taken(const char *job, int pe, int *pid)
{
    struct sockaddr_un at;
    struct ucred owner = {0};
    int saved = errno;
    socklen_t length = address_of(job, pe, &at);
    bool there = ask_owner(&at, length, &owner);
    errno = saved;
    if (!there || owner.uid != geteuid() || owner.pid == getpid()) return false;
    *pid = owner.pid;
    return true;
}

/* A name that a child of the last owner holds for the moment between its birth and its exec becomes free soon. */
int hm_mark_take(const char *job, int pe)
{
    struct sockaddr_un at;
    int pid = 0, error = 0;
    socklen_t length = address_of(job, pe, &at);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) error = errno;
    for (int i = 0; i < 200 && !error; i++) {
        if (bind(fd, (void *)&at, length) == 0) {
            listen(fd, 4096);
            held = fd;
            static bool forks_seen; /* a child that kept it would be taken for its PE */
            if (!forks_seen && pthread_atfork(NULL, NULL, hm_mark_drop) == 0) forks_seen = true;
            return 0;
        }
        if (errno != EADDRINUSE) error = errno;
        if (i > 20 && hm_mark_is_taken(job, pe, &pid)) break;
        usleep(5000);
    }
    if (fd >= 0) close(fd);
    if (error)
        hm_log_line(NULL, "cannot mark this process as PE %d: %s", pe, strerror(error));
    else
        hm_log_line(NULL, "another process (%d) is PE %d of this job already", pid, pe);
    return error ? -error : -EEXIST;
}

void hm_mark_answer(void)
{
    for (int fd; held >= 0 && (fd = accept4(held, NULL, NULL, SOCK_CLOEXEC)) >= 0;)
        close(fd);
}

void hm_mark_drop(void)
{
    if (held >= 0) close(held);
    held = -1;
}

int hm_mark_fd(void)
{
    return held;
}
