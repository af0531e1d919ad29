/* What the tests of operations on streams share: streams, events and kernels of the twin, found as a program would
 * find those of the runtime, and streams that are held back until they are let go.
 */
#ifndef DEVICE_STREAM_H
#define DEVICE_STREAM_H

#include "../spec/check.h"
#include <dlfcn.h>
#include <pthread.h>
#include <shmemx.h>
#include <time.h>
#include <unistd.h>

#define RUNTIME(X)                                                                \
    X(int, aclrtCreateStream, (void **stream))                                    \
    X(int, aclrtDestroyStream, (void *stream))                                    \
    X(int, aclrtSynchronizeStream, (void *stream))                                \
    X(int, aclrtCreateEvent, (void **event))                                      \
    X(int, aclrtDestroyEvent, (void *event))                                      \
    X(int, aclrtRecordEvent, (void *event, void *stream))                         \
    X(int, aclrtStreamWaitEvent, (void *stream, void *event))                     \
    X(int, twin_launch, (void *stream, uint64_t ns, void (*fn)(void *), void *arg)) \
    X(void *, twin_memory, (const void *device_address, size_t bytes))            \
    X(int, twin_fault, (const char *text))
#define DECLARE(result, name, arguments) static result(*name) arguments __attribute__((unused));
RUNTIME(DECLARE)
#undef DECLARE

/* The job's own copy of the library, which is loaded already. */
static void runtime_find(void)
{
    const char *path = getenv("SHMEM_ASCEND_LIBRARY");
    void *library = dlopen(path ? path : "libascendcl.so", RTLD_NOW);
    if (!library) {
        printf("%s\n", dlerror());
        exit(1);
    }
#define FIND(result, name, arguments)                     \
    *(void **)&name = dlsym(library, #name);              \
    if (!name) printf("%s is missing\n", #name), exit(1);
    RUNTIME(FIND)
#undef FIND
}

/* ACL(call): it must succeed. */
#define ACL(what)                                    \
    do {                                             \
        int acl_e = (what);                          \
        CHECK(!acl_e, "%s gives %d", #what, acl_e);  \
    } while (0)
/* ON(call): the operation must be on the stream. */
#define ON(what)                                             \
    do {                                                     \
        int on_e = (what);                                   \
        CHECK(!on_e, "not on the stream: %d", on_e);         \
    } while (0)

static void *stream_new(void)
{
    void *stream = NULL;
    ACL(aclrtCreateStream(&stream));
    return stream;
}

/* Device memory through the library. */
__attribute__((unused)) static void lay(void *at, const void *from, size_t bytes) { shmem_putmem(at, from, bytes, me); }
__attribute__((unused)) static void look(void *to, const void *at, size_t bytes) { shmem_getmem(to, at, bytes, me); }

__attribute__((unused)) static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A stream held back by an event, which another stream records behind a kernel that runs until it is let go. */
struct hold {
    volatile int go;
    void *other, *event;
};
static void hold_kernel(void *arg)
{
    struct hold *h = arg;
    while (!h->go) usleep(1000);
}
__attribute__((unused)) static void hold(struct hold *h, void *stream)
{
    h->go = 0;
    h->other = stream_new();
    ACL(aclrtCreateEvent(&h->event));
    ACL(twin_launch(h->other, 1000, hold_kernel, h));
    ACL(aclrtRecordEvent(h->event, h->other));
    ACL(aclrtStreamWaitEvent(stream, h->event));
}
__attribute__((unused)) static void let_go(struct hold *h, void *stream)
{
    h->go = 1;
    ACL(aclrtSynchronizeStream(stream));
    ACL(aclrtSynchronizeStream(h->other));
    ACL(aclrtDestroyEvent(h->event));
    ACL(aclrtDestroyStream(h->other));
}

#endif
