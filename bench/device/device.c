/* What puts, gets, atomics and signals on a device heap cost on the software NPU: in the modelled time of its links,
 * next to the runtime's own calls on the same memory, and in this machine's time. PE 0 measures, PE 1 has the memory.
 *
 *     oshrun --twin -n 2 ./device > table.csv    (plot.py makes tables and a picture of it)
 *
 * Modelled time, copies, waits and calls are what the software NPU has counted, and are the same each time. The CPU's
 * time is that of the calling thread; it and the wall time are the least of some tries. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "twin/twin.h"

enum { H2D = 1, D2H = 2, D2D = 3, MOST = 64 << 20, BATCH = 16 };

static struct {
    void (*counts)(struct twin_counts *counts);
    uint64_t (*now)(void);
    int (*copy)(void *to, size_t most, const void *from, size_t bytes, int kind);
    int (*copy_async)(void *to, size_t most, const void *from, size_t bytes, int kind, void *stream);
    int (*stream_make)(void **stream);
    int (*stream_wait)(void *stream);
} acl;

static char *here, *there; /* this PE's device memory; the same of PE 1 as the runtime knows it */
static char *host, *part;  /* of the CPU: a buffer of the size that is sent; the front of a large one */
static void *stream;

static void fail(const char *why)
{
    fprintf(stderr, "device: %s\n", why);
    shmem_global_exit(1);
    abort();
}

static void find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    if (!symbol) fail("this runs on the software NPU only: oshrun --twin");
    memcpy(function, &symbol, sizeof symbol);
}

static void find_runtime(void)
{
    void *library = dlopen("libascendcl.so", RTLD_LAZY | RTLD_NOLOAD);
    find(library, "twin_counts", &acl.counts);
    find(library, "twin_now", &acl.now);
    find(library, "aclrtMemcpy", &acl.copy);
    find(library, "aclrtMemcpyAsync", &acl.copy_async);
    find(library, "aclrtCreateStream", &acl.stream_make);
    find(library, "aclrtSynchronizeStream", &acl.stream_wait);
}

static void good(int code)
{
    if (code) fail("a call of the runtime failed");
}

/* ---- what is measured: the library's call, and the runtime's own that do the same ---- */

static void put(size_t n) { shmem_putmem(here + MOST, here, n, 1); }
static void get(size_t n) { shmem_getmem(here, here + MOST, n, 1); }
static void put_host(size_t n) { shmem_putmem(here, host, n, 1); }
static void get_host(size_t n) { shmem_getmem(host, here, n, 1); }
static void put_part(size_t n) { shmem_putmem(here, part, n, 1); }
static void put_many(size_t n)
{
    for (int i = 0; i < BATCH; i++) shmem_putmem_nbi(here + MOST, here, n, 1);
    shmem_quiet();
}

static void bare_put(size_t n)
{
    good(acl.copy_async(there + MOST, n, here, n, D2D, stream));
    good(acl.stream_wait(stream));
}
static void bare_get(size_t n)
{
    good(acl.copy_async(here, n, there + MOST, n, D2D, stream));
    good(acl.stream_wait(stream));
}
static void bare_put_host(size_t n) { good(acl.copy(there, n, host, n, H2D)); }
static void bare_get_host(size_t n) { good(acl.copy(host, n, there, n, D2H)); }
static void bare_put_part(size_t n) { good(acl.copy(there, n, part, n, H2D)); }
static void bare_put_many(size_t n)
{
    for (int i = 0; i < BATCH; i++) good(acl.copy_async(there + MOST, n, here, n, D2D, stream));
    good(acl.stream_wait(stream));
}

static const struct copy {
    const char *name;
    void (*ours)(size_t), (*bare)(size_t);
    int each; /* transfers in a call */
} copies[] = {
    {"put", put, bare_put, 1},
    {"get", get, bare_get, 1},
    {"put of host memory", put_host, bare_put_host, 1},
    {"get to host memory", get_host, bare_get_host, 1},
    {"put of a part of 64 MiB of host memory", put_part, bare_put_part, 1},
    {"16 put_nbi, quiet", put_many, bare_put_many, BATCH},
};

/* ---- measuring ---- */

struct cost { /* of one call */
    double modelled, cpu, wall; /* ns */
    double copies, waits, calls;
};

static double seconds(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double all_copies(const struct twin_counts *c)
{
    uint64_t n = 0;
    for (int i = 0; i < TWIN_WAYS; i++) n += c->sync_copies[i] + c->async_copies[i];
    return (double)n;
}

static double all_waits(const struct twin_counts *c)
{
    return (double)(c->stream_waits + c->event_waits + c->device_waits);
}

static struct cost measure(void (*call)(size_t), size_t bytes, int reps)
{
    struct twin_counts before, after;
    acl.counts(&before);
    double modelled = (double)acl.now(), cpu = seconds(CLOCK_THREAD_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
    for (int i = 0; i < reps; i++) call(bytes);
    struct cost c = {.wall = seconds(CLOCK_MONOTONIC) - wall, .cpu = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu};
    c.modelled = (double)acl.now() - modelled;
    acl.counts(&after);
    c.copies = all_copies(&after) - all_copies(&before);
    c.waits = all_waits(&after) - all_waits(&before);
    c.calls = (double)(after.calls - before.calls);
    double *all[] = {&c.modelled, &c.cpu, &c.wall, &c.copies, &c.waits, &c.calls};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) *all[i] /= reps;
    return c;
}

static void keep_least(struct cost *least, struct cost c)
{
    if (c.cpu < least->cpu) least->cpu = c.cpu;
    if (c.wall < least->wall) least->wall = c.wall;
}

static void measure_copy(const struct copy *w, size_t bytes)
{
    size_t fit = ((size_t)32 << 20) / (bytes * (size_t)w->each);
    int reps = fit > 200 ? 200 : fit < 1 ? 1 : (int)fit, tries = bytes <= 65536 ? 40 : 6;
    host = malloc(bytes);
    if (!host) fail("no memory");
    memset(host, 1, bytes);
    w->ours(bytes); /* the first use makes streams and pages */
    w->bare(bytes);
    struct cost ours = measure(w->ours, bytes, reps), bare = measure(w->bare, bytes, reps);
    for (int i = 1; i < tries; i++) {
        keep_least(&ours, measure(w->ours, bytes, reps));
        keep_least(&bare, measure(w->bare, bytes, reps));
    }
    printf("copy,\"%s\",%zu,%d,%.1f,%.1f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.0f,%.0f,%.0f,%.0f\n", w->name, bytes, w->each,
           ours.modelled, bare.modelled, ours.copies, bare.copies, ours.waits, bare.waits, ours.calls, bare.calls,
           ours.cpu, bare.cpu, ours.wall, bare.wall);
    fflush(stdout);
    free(host);
}

static void measure_copies(void)
{
    printf("copy,what,bytes,transfers,modelled_ns,bare_modelled_ns,copies,bare_copies,waits,bare_waits,calls,"
           "bare_calls,cpu_ns,bare_cpu_ns,wall_ns,bare_wall_ns\n");
    for (unsigned i = 0; i < sizeof copies / sizeof *copies; i++)
        for (size_t bytes = 8; bytes <= MOST; bytes *= bytes < 64 ? 8 : 4) measure_copy(&copies[i], bytes);
}

/* ---- words: what the owner's device is asked to do counts, too ---- */

static long host_word; /* symmetric, in the memory of the hosts */
static uint64_t host_signal, *device_signal;
static long *device_word;
static double owner_modelled, owner_copies; /* PE 1's, told to PE 0 */

static void add_device(size_t n) { (void)n, shmem_long_atomic_add(device_word, 1, 1), shmem_quiet(); }
static void fetch_device(size_t n) { (void)n, (void)shmem_long_atomic_fetch_add(device_word, 1, 1); }
static void swap_device(size_t n) { (void)n, (void)shmem_long_atomic_compare_swap(device_word, 0, 1, 1); }
static void fetch_host(size_t n) { (void)n, (void)shmem_long_atomic_fetch_add(&host_word, 1, 1); }
static void signal_host(size_t n) { shmem_putmem_signal(here + MOST, here, n, &host_signal, 1, SHMEM_SIGNAL_ADD, 1); }
static void signal_device(size_t n)
{
    shmem_putmem_signal(here + MOST, here, n, device_signal, 1, SHMEM_SIGNAL_ADD, 1);
    shmem_quiet();
}

static const struct word {
    const char *name;
    void (*call)(size_t);
    size_t bytes;
} words[] = {
    {"atomic_fetch_add, word in HBM", fetch_device, 0},
    {"atomic_compare_swap that finds another value, word in HBM", swap_device, 0},
    {"atomic_add and quiet, word in HBM", add_device, 0},
    {"atomic_fetch_add, word in host memory", fetch_host, 0},
    {"put_signal of 4 KiB, signal in HBM", signal_device, 4096},
    {"put_signal of 4 KiB, signal in host memory", signal_host, 4096},
};

/* Collective. */
static void measure_word(const struct word *w)
{
    enum { REPS = 500 };
    struct twin_counts before, after;
    struct cost c = {0};
    if (shmem_my_pe() == 0) w->call(w->bytes);
    shmem_barrier_all();
    acl.counts(&before);
    double start = (double)acl.now();
    shmem_barrier_all();
    if (shmem_my_pe() == 0) c = measure(w->call, w->bytes, REPS);
    shmem_barrier_all();
    acl.counts(&after);
    if (shmem_my_pe() == 1) {
        shmem_double_p(&owner_modelled, ((double)acl.now() - start) / REPS, 0);
        shmem_double_p(&owner_copies, (all_copies(&after) - all_copies(&before)) / REPS, 0);
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        printf("word,\"%s\",%.1f,%.1f,%.2f,%.2f,%.0f,%.0f\n", w->name, c.modelled, owner_modelled, c.copies,
               owner_copies, c.cpu, c.wall);
}

int main(void)
{
    void *table[64];
    shmem_init();
    if (shmem_n_pes() != 2) fail("it takes two PEs");
    here = shmem_malloc(2 * (size_t)MOST);
    device_word = shmem_malloc(sizeof *device_word);
    device_signal = shmem_malloc(sizeof *device_signal);
    part = malloc(MOST);
    if (!here || !device_word || !device_signal || !part) fail("no memory; set SHMEM_SYMMETRIC_SIZE to 256M at least");
    find_runtime();
    memset(part, 1, MOST);
    shmem_putmem(here, part, MOST, shmem_my_pe());
    shmem_putmem(here + MOST, part, MOST, shmem_my_pe());
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        shmemx_peer_table(here, table);
        there = table[1];
        good(acl.stream_make(&stream));
        measure_copies();
        printf("word,what,modelled_ns,owner_modelled_ns,copies,owner_copies,cpu_ns,wall_ns\n");
    }
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) measure_word(&words[i]);
    shmem_finalize();
    free(part);
    return 0;
}
