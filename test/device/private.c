/* The private side of a put or get may be any memory: what the library knows to be the CPU's, for which it asks the runtime
 * nothing, and what it does not, for which it does: blocks that malloc maps, stacks of other threads and of the program's own
 * making, memory of the device. */
/* npes: 1 2 */
#define _GNU_SOURCE
#include "../spec/check.h"
#include "twin/twin.h"
#include <dlfcn.h>
#include <pthread.h>
#include <shmemx.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { N = 3000, LARGE = 8 << 20 };

static unsigned char *heap; /* on the device */
static unsigned char in_data[N];
static void (*counts)(struct twin_counts *);
static int (*device_malloc)(void **, size_t, int), (*device_free)(void *);

static void find_runtime(void)
{
    void *library = dlopen(getenv("SHMEM_ASCEND_LIBRARY"), RTLD_NOW);
    if (!library) printf("%s\n", dlerror()), exit(1);
    *(void **)&counts = dlsym(library, "twin_counts");
    *(void **)&device_malloc = dlsym(library, "aclrtMalloc");
    *(void **)&device_free = dlsym(library, "aclrtFree");
    if (!counts || !device_malloc || !device_free) printf("this is not the twin\n"), exit(1);
}

static uint64_t calls_so_far(void)
{
    struct twin_counts c;
    counts(&c);
    return c.calls;
}

/* There and back, by way of the neighbour; how many calls of the runtime that took. */
static uint64_t through(unsigned char *memory, const char *name)
{
    static unsigned char seed;
    unsigned char first = ++seed;
    for (int i = 0; i < N; i++) memory[i] = (unsigned char)(first + i * 7);
    uint64_t before = calls_so_far();
    shmem_putmem(heap, memory, N, right);
    uint64_t after = calls_so_far();
    memset(memory, 0, N);
    shmem_getmem(memory, heap, N, right);
    int wrong = 0;
    for (int i = 0; i < N; i++) wrong += memory[i] != (unsigned char)(first + i * 7);
    CHECK_NUM(wrong, 0, "bytes of memory %s", name);
    return after - before;
}

/* One call for the thread, one that copies. */
static void unasked(unsigned char *memory, const char *name) { CHECK_NUM(through(memory, name), 2, "calls for memory %s", name); }

static void *in_thread(void *theirs)
{
    unsigned char mine[N];
    through(theirs, "on the stack of another thread");
    through(mine, "on the stack of a thread");
    unasked(mine, "on the stack of a thread that was there before");
    return NULL;
}

static ucontext_t outside, inside;
static unsigned char *of_main;
static void on_own_stack(void)
{
    unsigned char mine[N];
    through(mine, "on a stack of the program's making");
    through(of_main, "on the thread's stack, from another one");
}

static void with_own_stack(void)
{
    static char stack[1 << 16];
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    inside.uc_link = &outside;
    makecontext(&inside, on_own_stack, 0);
    swapcontext(&outside, &inside);
}

/* As the side that is private, and from it back. */
static void of_device(void)
{
    unsigned char want[N], got[N];
    void *private;
    CHECK_NUM(device_malloc(&private, N, 0), 0, "aclrtMalloc");
    for (int i = 0; i < N; i++) want[i] = (unsigned char)(i * 3 + me);
    shmem_putmem(heap, want, N, me);
    shmem_getmem(private, heap, N, me);
    memset(got, 0, N);
    shmem_putmem(heap, got, N, me);
    shmem_putmem(heap, private, N, me);
    shmem_getmem(got, heap, N, me);
    CHECK(!memcmp(got, want, N), "private memory of the device");
    CHECK_NUM(device_free(private), 0, "aclrtFree");
}

int main(void)
{
    unsigned char on_stack[N];
    pthread_t thread;
    check_start();
    find_runtime();
    heap = shmem_malloc(N);
    unsigned char *small = malloc(N), *large = malloc(LARGE), *host = shmemx_malloc_on("host", N);
    unsigned char *mapped = mmap(NULL, N, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(small && large && host && mapped != MAP_FAILED, "memory");
    through(on_stack, "on the stack"); /* the first one makes the context's stream */
    unasked(on_stack, "on the stack");
    unasked(in_data, "of the program");
    unasked(small, "from malloc");
    unasked(host, "of the host's heap");
    through(large, "that malloc maps");
    through(large + LARGE - N, "that malloc maps, its end");
    through(mapped, "from mmap");
    of_main = on_stack;
    pthread_create(&thread, NULL, in_thread, on_stack);
    pthread_join(thread, NULL);
    with_own_stack();
    shmem_barrier_all(); /* up to here this PE's heap was the left one's */
    of_device();
    shmem_barrier_all();
    munmap(mapped, N);
    free(large);
    free(small);
    shmem_free(host);
    shmem_free(heap);
    return check_end();
}
