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

#define ASCEND(X)                                                                   \
    X(int, aclrtCreateStream, (void **stream))                                      \
    X(int, aclrtDestroyStream, (void *stream))                                      \
    X(int, aclrtSynchronizeStream, (void *stream))                                  \
    X(int, aclrtCreateEvent, (void **event))                                        \
    X(int, aclrtDestroyEvent, (void *event))                                        \
    X(int, aclrtRecordEvent, (void *event, void *stream))                           \
    X(int, aclrtStreamWaitEvent, (void *stream, void *event))                       \
    X(int, twin_launch, (void *stream, uint64_t ns, void (*fn)(void *), void *arg)) \
    X(void *, twin_memory, (const void *device_address, size_t bytes))              \
    X(int, twin_fault, (const char *text))
#define CUDA(X)                                                                                \
    X(int, cuDeviceGet, (int *device, int ordinal))                                            \
    X(int, cuDevicePrimaryCtxRetain, (void **context, int device))                             \
    X(int, cuCtxSetCurrent, (void *context))                                                   \
    X(int, cuMemHostAlloc, (void **at, size_t bytes, unsigned flags))                          \
    X(int, cuStreamCreate, (void **stream, unsigned flags))                                    \
    X(int, cuStreamDestroy_v2, (void *stream))                                                 \
    X(int, cuStreamSynchronize, (void *stream))                                                \
    X(int, cuStreamWaitValue64_v2, (void *stream, uint64_t word, uint64_t value, unsigned flags))
#define DECLARE(result, name, arguments) static result(*name) arguments __attribute__((unused));
ASCEND(DECLARE)
CUDA(DECLARE)
#undef DECLARE

static const char *device_kind; /* SHMEM_HEAP_KIND */
static int is_cuda;             /* then there are no kernels */

static void *found(void *library, const char *name)
{
    void *at = dlsym(library, name);
    if (!at) printf("%s is missing\n", name), exit(1);
    return at;
}

static int new_cuda_stream(void **stream) { return cuStreamCreate(stream, 0); }

/* The program uses the device that the library has taken for this PE. */
static void cuda_find(void *library)
{
    const char *number = getenv("SHMEM_LOCAL_PE");
    void *context;
    int device;
#define FIND(result, name, arguments) *(void **)&name = found(library, #name);
    CUDA(FIND)
    *(void **)&twin_fault = found(library, "twin_fault");
    aclrtCreateStream = new_cuda_stream;
    aclrtDestroyStream = cuStreamDestroy_v2;
    aclrtSynchronizeStream = cuStreamSynchronize;
    if (cuDeviceGet(&device, number ? atoi(number) % 8 : 0) || cuDevicePrimaryCtxRetain(&context, device) ||
        cuCtxSetCurrent(context))
        printf("no device\n"), exit(1);
}

/* The job's own copy of the library, which is loaded already. */
static void runtime_find(void)
{
    device_kind = getenv("SHMEM_HEAP_KIND");
    is_cuda = device_kind && !strcmp(device_kind, "cuda");
    void *library = dlopen(getenv(is_cuda ? "SHMEM_CUDA_LIBRARY" : "SHMEM_ASCEND_LIBRARY"), RTLD_NOW);
    if (!library) printf("%s\n", dlerror()), exit(1);
    if (is_cuda) {
        cuda_find(library);
        return;
    }
    ASCEND(FIND)
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

__attribute__((unused)) static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A stream held back: by an event, which another stream records behind a kernel that runs until it is let go; on the second
 * twin by a wait for a word. */
struct hold {
    int go;
    void *other, *event;
    uint64_t *word;
};
static void hold_kernel(void *arg)
{
    struct hold *h = arg;
    while (!__atomic_load_n(&h->go, __ATOMIC_ACQUIRE)) usleep(1000);
}
static void hold_by_word(struct hold *h, void *stream)
{
    void *at;
    ACL(cuMemHostAlloc(&at, sizeof *h->word, 3));
    h->word = at;
    *h->word = 0;
    ACL(cuStreamWaitValue64_v2(stream, (uint64_t)(uintptr_t)at, 1, 0));
}
__attribute__((unused)) static void hold(struct hold *h, void *stream)
{
    h->go = 0;
    if (is_cuda) {
        hold_by_word(h, stream);
        return;
    }
    h->other = stream_new();
    ACL(aclrtCreateEvent(&h->event));
    ACL(twin_launch(h->other, 1000, hold_kernel, h));
    ACL(aclrtRecordEvent(h->event, h->other));
    ACL(aclrtStreamWaitEvent(stream, h->event));
}
__attribute__((unused)) static void let_go(struct hold *h, void *stream)
{
    if (is_cuda) __atomic_store_n(h->word, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&h->go, 1, __ATOMIC_RELEASE);
    ACL(aclrtSynchronizeStream(stream));
    if (is_cuda) return;
    ACL(aclrtSynchronizeStream(h->other));
    ACL(aclrtDestroyEvent(h->event));
    ACL(aclrtDestroyStream(h->other));
}

#endif
