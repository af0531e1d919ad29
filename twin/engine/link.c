/* The way to the driver: found, or started; asked; and watched, since with it the devices are gone. */
#define _GNU_SOURCE
#include "engine.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
struct tw_shared *tw_shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* one request at a time */
static int wire = -1, bell = -1, own_pid;
static _Atomic int gone, forked;
static pthread_t watchman;
static _Thread_local char reason[400];

int tw_fail(enum tw_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof reason, fmt, args);
    va_end(args);
    return (int)status;
}

const char *tw_reason(void) { return reason; }
bool tw_forked(void) { return atomic_load_explicit(&forked, memory_order_relaxed); }
int tw_pid(void) { return own_pid; }

int tw_alive(int device)
{
    if (__builtin_expect(tw_forked(), 0))
        return tw_fail(TW_FORKED, "a child of fork cannot use the devices of its parent, nor any other without exec");
    if (__builtin_expect(atomic_load_explicit(&gone, memory_order_relaxed), 0))
        return tw_fail(TW_GONE, "the driver of the devices is gone");
    if (device >= 0 && __builtin_expect(atomic_load_explicit(&tw_shared->device[device].lost, memory_order_relaxed), 0))
        return tw_fail(TW_LOST, "device %d is lost", device);
    return TW_OK;
}

/* --- starting it --- */

static socklen_t address(struct sockaddr_un *a, const char *name)
{
    size_t n = strnlen(name, sizeof a->sun_path - 1);
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(a->sun_path + 1, name, n);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

static int knock(const char *name)
{
    struct sockaddr_un a;
    socklen_t n = address(&a, name);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&a, n)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* The driver lies beside this library. */
static int helper_path(char *path, size_t size)
{
    Dl_info info;
    const char *given = getenv("HBMESH_TWIN_DRIVER");
    if (given && *given) return snprintf(path, size, "%s", given) < (int)size ? 0 : -1;
    if (!dladdr((void *)tw_attach, &info) || !info.dli_fname) return -1;
    const char *slash = strrchr(info.dli_fname, '/');
    int folder = slash ? (int)(slash - info.dli_fname) + 1 : 0;
    return snprintf(path, size, "%.*shbmesh-twin-driver", folder, info.dli_fname) < (int)size ? 0 : -1;
}

static int start_driver(char *name)
{
    char path[4096];
    pid_t pid;
    int status = 0;
    if (helper_path(path, sizeof path)) return tw_fail(TW_START, "the driver is not found beside the library");
    char *argv[] = {path, name, NULL};
    posix_spawnattr_t attr;
    sigset_t none;
    posix_spawnattr_init(&attr);
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
    /* What is preloaded into the program is not meant for the driver. */
    int rc = posix_spawn(&pid, path, NULL, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    if (rc) return tw_fail(TW_START, "%s cannot be started: %s", path, strerror(rc));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status)) return tw_fail(TW_START, "%s did not start", path);
    return TW_OK;
}

static int receive(int fd, struct tw_reply *r, int *passed)
{
    char control[CMSG_SPACE(sizeof(int))];
    struct iovec iov = {r, sizeof *r};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t n;
    *passed = -1;
    while ((n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
    }
    if (n != sizeof *r) return -1;
    struct cmsghdr *h = CMSG_FIRSTHDR(&m);
    if (h && h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS) memcpy(passed, CMSG_DATA(h), sizeof *passed);
    return 0;
}

static int exchange(int fd, const struct tw_request *q, struct tw_reply *r, int *passed)
{
    ssize_t n;
    while ((n = send(fd, q, sizeof *q, MSG_NOSIGNAL)) < 0 && errno == EINTR) {
    }
    return n == sizeof *q ? receive(fd, r, passed) : -1;
}

int tw_request(struct tw_request *q, struct tw_reply *r, int *fd)
{
    int passed = -1, rc = tw_alive(-1);
    if (rc) return rc;
    pthread_mutex_lock(&lock);
    rc = wire >= 0 ? exchange(wire, q, r, &passed) : -1;
    pthread_mutex_unlock(&lock);
    if (rc) {
        atomic_store(&gone, 1);
        return tw_alive(-1);
    }
    if (fd) *fd = passed;
    else if (passed >= 0) close(passed);
    return r->status ? tw_fail((enum tw_status)r->status, "%.*s", (int)sizeof r->why, r->why) : TW_OK;
}

/* --- attaching --- */

static int greet(int fd, const char *text)
{
    struct tw_request q = {.op = TW_HELLO, .device = TW_VERSION};
    struct tw_reply r;
    int passed;
    snprintf(q.text, sizeof q.text, "%s", text ? text : "");
    if (exchange(fd, &q, &r, &passed)) return -1; /* it was just leaving */
    if (r.status) return tw_fail((enum tw_status)r.status, "%.*s", (int)sizeof r.why, r.why);
    void *at = mmap(NULL, sizeof *tw_shared, PROT_READ | PROT_WRITE, MAP_SHARED, passed, 0);
    close(passed);
    if (at == MAP_FAILED)
        return tw_fail(TW_NO_HOST_MEMORY, "the state of the devices cannot be mapped: %s", strerror(errno));
    tw_shared = at;
    own_pid = r.pid > 0 ? r.pid : getpid();
    return TW_OK;
}

/* Nobody answers: start one, again and again, since another may have come first, or be leaving. */
static int find_driver(const char *text)
{
    char name[108];
    tw_node_name(name, sizeof name);
    for (int tries = 0; tries < 200; tries++) {
        int fd = knock(name), rc = fd >= 0 ? greet(fd, text) : -1;
        if (rc == TW_OK) {
            wire = fd;
            return TW_OK;
        }
        if (fd >= 0) close(fd);
        if (rc == TW_START && tries < 20) { /* with another configuration: perhaps it is about to leave */
            nanosleep(&(struct timespec){0, 5000000}, NULL);
            continue;
        }
        if (rc > 0) return rc;
        if ((rc = start_driver(name)) != TW_OK) return rc;
        if (tries > 2) nanosleep(&(struct timespec){0, tries * 200000}, NULL);
    }
    return tw_fail(TW_START, "no driver answers under the name %s", name);
}

/* The driver says nothing of its own accord: whatever there is to read is its end. */
static void *watch(void *arg)
{
    struct pollfd p[2] = {{wire, POLLRDHUP, 0}, {bell, POLLIN, 0}};
    while (poll(p, 2, -1) < 0 && errno == EINTR) {
    }
    if (!p[1].revents) atomic_store(&gone, 1);
    return arg;
}

/* Threads of the engine leave signals to the program's. */
static int start_watch(void)
{
    sigset_t all, before;
    sigfillset(&all);
    bell = eventfd(0, EFD_CLOEXEC);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = bell < 0 ? errno : pthread_create(&watchman, NULL, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc ? tw_fail(TW_NO_HOST_MEMORY, "no thread to watch the driver: %s", strerror(rc)) : TW_OK;
}

/* A child of fork has the descriptors, but not the right to them: what it held open would keep its parent alive. */
static void in_child(void)
{
    if (wire < 0 && !tw_shared) return;
    atomic_store(&forked, 1);
    if (wire >= 0) close(wire);
    if (bell >= 0) close(bell);
    wire = bell = -1;
}

int tw_attach(void)
{
    static bool registered;
    struct tw_config probe;
    char why[300];
    const char *text = getenv("HBMESH_TWIN");
    if (tw_shared) return tw_fail(TW_IN_USE, "initialised already");
    if (tw_config_read(&probe, text, why, sizeof why)) return tw_fail(TW_INVALID, "%s", why);
    if (tw_forked()) return tw_alive(-1);
    atomic_store(&gone, 0);
    int rc = find_driver(text);
    if (rc == TW_OK) rc = start_watch();
    if (rc == TW_OK) rc = tw_memory_open();
    if (rc != TW_OK) {
        tw_detach();
        return rc;
    }
    if (!registered) pthread_atfork(NULL, NULL, in_child);
    registered = true;
    return TW_OK;
}

void tw_detach(void)
{
    uint64_t one = 1;
    if (tw_forked()) return;
    if (watchman && write(bell, &one, sizeof one) == sizeof one) pthread_join(watchman, NULL);
    watchman = 0;
    tw_memory_close();
    if (wire >= 0) close(wire);
    if (bell >= 0) close(bell);
    wire = bell = -1;
    if (tw_shared) munmap(tw_shared, sizeof *tw_shared);
    tw_shared = NULL;
}
