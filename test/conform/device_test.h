/* Processes that test a kind of device memory: each a child of a parent that never touches the runtime (who has used it may
 * not fork), with a page to meet in and sockets for descriptors.
 */
#ifndef DEVICE_TEST_H
#define DEVICE_TEST_H

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "memkind/device.h"
#include "memkind/memkind.h"

enum { PES_MAX = 8, LIMIT_S = 100 };

static struct shared {
    uint32_t arrived, epoch, gone;
    int32_t id[PES_MAX];
    struct hm_token token[PES_MAX];
    uint64_t word[64];
} *shared;

static int me, npes, failed, wires[PES_MAX][PES_MAX][2];
static const char *variant = "";
static const struct hm_memkind *kind;
static const struct hm_device_ops *ops;

#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what) && failed++ < 5) {                                                                                 \
            printf("%s%s: process %d: %s:%d: not true: %s (why: %s)\n", kind->name, variant, me, __FILE__, __LINE__, #what, \
                   ops->why());                                                                                        \
            fflush(stdout);                                                                                            \
        }                                                                                                              \
    } while (0)
/* What all that follows needs. */
#define NEED(what)                                                                                                     \
    do {                                                                                                               \
        CHECK(what);                                                                                                   \
        if (failed) exit(1);                                                                                           \
    } while (0)

static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Of those that are still there. */
static inline void meet(void)
{
    uint32_t epoch = __atomic_load_n(&shared->epoch, __ATOMIC_SEQ_CST);
    uint32_t n = __atomic_add_fetch(&shared->arrived, 1, __ATOMIC_SEQ_CST);
    if (n + shared->gone == (uint32_t)npes) {
        shared->arrived = 0;
        __atomic_add_fetch(&shared->epoch, 1, __ATOMIC_SEQ_CST);
    }
    while (__atomic_load_n(&shared->epoch, __ATOMIC_SEQ_CST) == epoch) usleep(100);
}

static inline void send_descriptor(int to, int fd)
{
    char byte = 0, control[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec io = {&byte, 1};
    struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    *c = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    NEED(sendmsg(wires[me][to][0], &m, 0) == 1);
}

static inline int receive_descriptor(int from)
{
    char byte, control[CMSG_SPACE(sizeof(int))];
    int fd = -1;
    struct iovec io = {&byte, 1};
    struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    NEED(recvmsg(wires[from][me][1], &m, 0) == 1 && CMSG_FIRSTHDR(&m));
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
    return fd;
}

/* --- a world of heaps --- */

static char *heap[PES_MAX]; /* of the others as they are attached here; [me]: this one's */
static int devices, device_of[PES_MAX];
static size_t heap_bytes;

static inline void open_world(size_t bytes, bool one_device)
{
    const char *why = "?";
    void *at = NULL;
    devices = kind->devices(&why);
    if (devices <= 0) printf("%s: %s\n", kind->name, why);
    NEED(devices > 0);
    for (int p = 0; p < npes; p++) device_of[p] = one_device ? 0 : p % devices;
    NEED(ops->begin(device_of[me]) == 0);
    NEED(ops->enter() == 0);
    heap_bytes = hm_round_up(bytes, ops->grain());
    NEED(ops->make(heap_bytes, &at) == 0 && at);
    heap[me] = at;
    NEED(ops->whoami(&shared->id[me]) == 0);
    meet();
    int32_t ids[PES_MAX];
    int n = 0;
    for (int p = 0; p < npes; p++)
        if (p != me) ids[n++] = shared->id[p];
    NEED(ops->share(at, ids, n, &shared->token[me]) == 0);
    meet();
    for (int p = 0; p < npes; p++)
        if (p != me && shared->token[me].descriptor >= 0) send_descriptor(p, shared->token[me].descriptor);
    for (int p = 0; p < npes; p++) {
        if (p == me) continue;
        struct hm_token token = shared->token[p];
        if (token.descriptor >= 0) token.descriptor = receive_descriptor(p);
        NEED(ops->attach(&token, device_of[p], heap_bytes, &at) == 0 && at);
        heap[p] = at;
        if (token.descriptor >= 0) close(token.descriptor);
    }
    meet();
}

static inline void close_world(void)
{
    meet();
    for (int p = 0; p < npes; p++)
        if (p != me) CHECK(ops->detach(heap[p]) == 0);
    meet();
    CHECK(ops->drop(heap[me]) == 0);
    ops->leave();
    ops->end();
}

static inline enum hm_side side(int p) { return p < 0 ? HM_SIDE_HOST : p == me ? HM_SIDE_OWN : HM_SIDE_PEER; }

/* --- running --- */

struct test {
    const char *name;
    int npes;
    void (*run)(void);
};

static inline int run_child(const struct test *t, int number)
{
    me = number;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(LIMIT_S);
    t->run();
    fflush(stdout);
    return failed ? 1 : 0;
}

/* A process that a test kills by SIGKILL says so in shared->gone. */
static inline bool run_test(const struct test *t)
{
    pid_t child[PES_MAX];
    int status, wrong = 0;
    double start = now();
    npes = t->npes;
    char node[64]; /* alone with the twin's devices, whatever else runs */
    snprintf(node, sizeof node, "conform-%d-%lld", (int)getpid(), (long long)(start * 1e6));
    setenv("HBMESH_TWIN_NODE", node, 1);
    memset(shared, 0, sizeof *shared);
    for (int i = 0; i < npes; i++)
        for (int j = 0; j < npes; j++) socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, wires[i][j]);
    fflush(stdout);
    for (int i = 0; i < npes; i++)
        if (!(child[i] = fork())) exit(run_child(t, i));
    for (int i = 0; i < npes; i++) {
        waitpid(child[i], &status, 0);
        bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && shared->gone;
        if (killed || (WIFEXITED(status) && !WEXITSTATUS(status))) continue;
        wrong++;
        printf("%s%s: %s: process %d: %s %d\n", kind->name, variant, t->name, i,
               WIFSIGNALED(status) ? "ended by signal" : "status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        for (int j = i + 1; j < npes; j++) kill(child[j], SIGTERM); /* they would wait for it */
    }
    for (int i = 0; i < npes; i++)
        for (int j = 0; j < npes; j++) close(wires[i][j][0]), close(wires[i][j][1]);
    printf("%s%s: %s: %s (%.1f s)\n", kind->name, variant, t->name, wrong ? "FAILED" : "passed", now() - start);
    return !wrong;
}

static inline void open_shared(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    setvbuf(stdout, NULL, _IOLBF, 0);
}

/* The twins of this build stand in where the machine has no runtime, or where the caller has not named another one. */
static inline void use_twin(const char *variable, const char *file)
{
    char path[4096];
    const char *build = getenv("BUILD");
    if (getenv(variable) || !build) return;
    snprintf(path, sizeof path, "%s/twin/%s", build, file);
    if (access(path, R_OK) == 0) setenv(variable, path, 1);
}

#endif
