/* What the twin's tests share: checks, processes that meet, and little words around the runtime's calls.
 *
 * Processes are forked before the runtime is used, as the documents want it. */
#ifndef TWIN_TEST_H
#define TWIN_TEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../../twin/acl.h"
#include "../../twin/twin.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MIB = 1 << 20, PAGE = 2 << 20 };

/* Memory that all processes of the test share. */
struct board {
    _Atomic int failures, arrived, turn;
    _Atomic uint64_t word[64];
    char text[64][160];
};
extern struct board *board;
struct board *board;

#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            board->failures++;                                                                                         \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #what);                                       \
        }                                                                                                              \
    } while (0)
#define OK(call)                                                                                                       \
    do {                                                                                                               \
        aclError e_ = (call);                                                                                          \
        if (e_) {                                                                                                      \
            const char *m_ = aclGetRecentErrMsg();                                                                     \
            board->failures++;                                                                                         \
            fprintf(stderr, "%s:%d: %s: %d: %s\n", __FILE__, __LINE__, #call, e_, m_ ? m_ : "");                       \
        }                                                                                                              \
    } while (0)
/* The call is refused with the code, in a sentence that names code and call. */
#define REFUSED(code, call) refused(__FILE__, __LINE__, #call, code, call)
static inline void refused(const char *file, int line, const char *text, aclError code, aclError got)
{
    char number[24], name[64];
    const char *message = aclGetRecentErrMsg();
    snprintf(number, sizeof number, "ret = %d", code);
    snprintf(name, sizeof name, "%.*s failed", (int)strcspn(text, "("), text);
    if (got == code && message && strstr(message, number) && strstr(message, name)) return;
    board->failures++;
    fprintf(stderr, "%s:%d: %s: %d instead of %d: %s\n", file, line, text, got, code,
            message ? message : "(no message)");
}

static inline double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline void test_begin(void)
{
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (getenv("HBMESH_TWIN_NODE")) return;
    char node[64]; /* alone with the devices, whatever else runs */
    snprintf(node, sizeof node, "test-%d-%lld", (int)getpid(), (long long)(seconds() * 1e6));
    setenv("HBMESH_TWIN_NODE", node, 1);
}

static inline int test_end(void)
{
    if (board->failures) printf("%d checks failed\n", board->failures);
    return board->failures != 0;
}

/* All n processes come here before one leaves. */
static inline void meet(int n)
{
    int turn = board->turn;
    if (++board->arrived == n) {
        board->arrived = 0;
        board->turn++;
        return;
    }
    while (board->turn == turn) usleep(100);
}

/* fn(rank, n) in n processes. */
static inline void processes(int n, void (*fn)(int rank, int n))
{
    pid_t pids[64];
    for (int i = 0; i < n; i++) {
        if ((pids[i] = fork())) continue;
        fn(i, n);
        fflush(NULL);
        _exit(0);
    }
    for (int i = 0; i < n; i++) {
        int status;
        waitpid(pids[i], &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

/* Is a driver of this node there? Its socket is in a table of the network namespace. */
static inline bool driver_is_there(void)
{
    char line[512], name[200];
    snprintf(name, sizeof name, "@hbmesh-twin.%d.n-%s", (int)getuid(), getenv("HBMESH_TWIN_NODE"));
    FILE *f = fopen("/proc/net/unix", "r");
    bool there = false;
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        size_t n = strlen(line), k = strlen(name);
        there |= n > k && !strcmp(line + n - k, name);
    }
    if (f) fclose(f);
    return there;
}

/* Its process: the one that has this node's name as its argument. */
static inline pid_t driver_pid(void)
{
    char path[64], text[512], name[200];
    snprintf(name, sizeof name, "hbmesh-twin.%d.n-%s", (int)getuid(), getenv("HBMESH_TWIN_NODE"));
    for (pid_t pid = 2; pid < 4194304; pid++) {
        snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
        FILE *f = fopen(path, "r");
        if (!f) continue;
        size_t n = fread(text, 1, sizeof text - 1, f);
        fclose(f);
        text[n] = 0;
        char *argument = text + strlen(text) + 1;
        if (n && argument < text + n && !strcmp(argument, name)) return pid;
    }
    return -1;
}

static inline bool driver_ends(void)
{
    for (int i = 0; i < 500 && driver_is_there(); i++) usleep(10000);
    return !driver_is_there();
}

/* Does a load from this address fault? */
static inline bool faults(const void *p)
{
    pid_t pid = fork();
    if (!pid) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        _exit(*(volatile const char *)p == 0 ? 0 : 1);
    }
    int status;
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) && (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS);
}

static inline aclrtPhysicalMemProp device_memory(int device)
{
    return (aclrtPhysicalMemProp){.memAttr = ACL_HBM_MEM_HUGE,
                                  .location = {(uint32_t)device, ACL_MEM_LOCATION_TYPE_DEVICE}};
}

/* A mapping of `bytes` on the device, with its handle. */
static inline void *mapped(int device, size_t bytes, aclrtDrvMemHandle *handle)
{
    aclrtPhysicalMemProp prop = device_memory(device);
    void *p = NULL;
    OK(aclrtMallocPhysical(handle, bytes, &prop, 0));
    OK(aclrtReserveMemAddress(&p, bytes, 0, NULL, 0));
    OK(aclrtMapMem(p, bytes, 0, *handle, 0));
    return p;
}

static inline void unmapped(void *p, aclrtDrvMemHandle handle)
{
    OK(aclrtUnmapMem(p));
    OK(aclrtFreePhysical(handle));
    OK(aclrtReleaseMemAddress(p));
}

static inline void begin_on(int device)
{
    int before = board->failures;
    OK(aclInit(NULL));
    OK(aclrtSetDevice(device));
    if (board->failures != before) _exit(1); /* nothing else can be right */
}

static inline void end_on(int device)
{
    OK(aclrtResetDevice(device));
    OK(aclFinalize());
}

#endif
