/* OpenSHMEM's part of bench.h, and collectives by one name, whichever version of the standard the library has. */
#ifndef BENCH_SHMEM_H
#define BENCH_SHMEM_H

#include <shmem.h>
#include "bench.h"

#define BENCH_HAS(major, minor) \
    (SHMEM_MAJOR_VERSION > (major) || (SHMEM_MAJOR_VERSION == (major) && SHMEM_MINOR_VERSION >= (minor)))

static void bench_meet(void)
{
    shmem_barrier_all();
}

static double bench_agree(double value)
{
    static double word; /* symmetric */
    if (me == 0) word = value;
    shmem_barrier_all();
    value = shmem_double_g(&word, 0);
    shmem_barrier_all();
    return value;
}

enum { BENCH_PES = 1024 };

static double bench_span(double begin, double end)
{
    static double begins[BENCH_PES], ends[BENCH_PES]; /* symmetric; PE 0's are the ones that count */
    shmem_double_p(&begins[me], begin, 0);
    shmem_double_p(&ends[me], end, 0);
    shmem_barrier_all();
    double all_begins[BENCH_PES], all_ends[BENCH_PES];
    shmem_double_get(all_begins, begins, (size_t)npes, 0);
    shmem_double_get(all_ends, ends, (size_t)npes, 0);
    for (int pe = 0; pe < npes; pe++) {
        /* All began behind a barrier of this round: else a put was lost, or wrote what it was not given. */
        bench_must(all_begins[pe] >= bench_began && all_ends[pe] >= all_begins[pe], "the times that all PEs put");
        begin = all_begins[pe] < begin ? all_begins[pe] : begin;
        end = all_ends[pe] > end ? all_ends[pe] : end;
    }
    shmem_barrier_all();
    return end - begin;
}

static BENCH_UNUSED void bench_start(void)
{
    shmem_init();
    if (shmem_n_pes() > BENCH_PES) {
        fprintf(stderr, "%d PEs are too many: at most %d\n", shmem_n_pes(), BENCH_PES);
        shmem_global_exit(2);
    }
    bench_begin(shmem_my_pe(), shmem_n_pes());
}

static BENCH_UNUSED void *bench_no_memory(const char *call, size_t bytes)
{
    fprintf(stderr, "PE %d: %s(%zu) has no memory: raise SHMEM_SYMMETRIC_SIZE\n", me, call, bytes);
    shmem_global_exit(1);
    return NULL;
}

/* Blocks that are there: written once, so that no page is first touched while time is taken. */
static BENCH_UNUSED void *bench_heap(size_t bytes)
{
    void *block = shmem_align(4096, bytes);
    return block ? memset(block, 1, bytes) : bench_no_memory("shmem_align", bytes);
}

static BENCH_UNUSED void *bench_private(size_t bytes)
{
    void *block = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);
    return block ? memset(block, 2, bytes) : bench_no_memory("aligned_alloc", bytes);
}

/* Where plain C reaches the block of a PE: the limit is measured there, or on the own one where nothing is mapped. */
static BENCH_UNUSED void *bench_reach(void *block, int pe)
{
    void *there = shmem_ptr(block, pe);
    return there ? there : block;
}

/* Once there and back: whoever reaches over finds each page mapped by the time that it is measured. */
static BENCH_UNUSED void bench_touch(void *block, void *own, size_t bytes, int pe)
{
    shmem_putmem(block, own, bytes, pe);
    shmem_quiet();
    shmem_getmem(own, block, bytes, pe);
}

/* Whether that is there for every PE: some libraries map a PE's memory for itself alone. */
static BENCH_UNUSED bool bench_all_have(const void *something)
{
    static long missing; /* symmetric; PE 0's is asked, and stays: what is mapped for one block is for the others */
    shmem_barrier_all();
    if (!something) shmem_long_p(&missing, 1, 0);
    shmem_barrier_all();
    return shmem_long_g(&missing, 0) == 0;
}

/* PE 0 works, everybody else waits in a barrier. */
static BENCH_UNUSED void bench_by_first(void (*work)(void))
{
    shmem_barrier_all();
    if (me == 0) work();
    shmem_barrier_all();
}

#if BENCH_HAS(1, 5)
#define BENCH_TEAMS 1
#define BENCH_COLLECTIVE(team_call, set_call) team_call
#else
/* An array for each of the last collectives: none is used again before everybody has left it, as the standard asks. */
enum { BENCH_SYNCS = 72, BENCH_WORK = 1 << 20 };
static long bench_syncs[BENCH_SYNCS]
                       [SHMEM_REDUCE_SYNC_SIZE + SHMEM_COLLECT_SYNC_SIZE + SHMEM_ALLTOALL_SYNC_SIZE];
static double bench_work_array[BENCH_WORK + SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static unsigned bench_turn;
static BENCH_UNUSED long *bench_sync(void)
{
    return bench_syncs[bench_turn++ % BENCH_SYNCS];
}
#define BENCH_COLLECTIVE(team_call, set_call) set_call
#endif

static BENCH_UNUSED void bench_collectives_begin(void)
{
#ifndef BENCH_TEAMS
    for (size_t i = 0; i < sizeof bench_syncs / sizeof(long); i++)
        ((long *)bench_syncs)[i] = SHMEM_SYNC_VALUE;
#endif
    shmem_barrier_all();
}

/* n: doubles that each PE gives; for alltoall, to each PE. */
static BENCH_UNUSED void bench_broadcast(double *to, double *from, size_t n, int root)
{
    BENCH_COLLECTIVE(shmem_double_broadcast(SHMEM_TEAM_WORLD, to, from, n, root),
                     shmem_broadcast64(to, from, n, root, 0, 0, npes, bench_sync()));
}

static BENCH_UNUSED void bench_reduce(double *to, double *from, size_t n)
{
    BENCH_COLLECTIVE(shmem_double_sum_reduce(SHMEM_TEAM_WORLD, to, from, n),
                     shmem_double_sum_to_all(to, from, (int)n, 0, 0, npes, bench_work_array, bench_sync()));
}

static BENCH_UNUSED void bench_collect(double *to, double *from, size_t n)
{
    BENCH_COLLECTIVE(shmem_double_collect(SHMEM_TEAM_WORLD, to, from, n),
                     shmem_collect64(to, from, n, 0, 0, npes, bench_sync()));
}

static BENCH_UNUSED void bench_fcollect(double *to, double *from, size_t n)
{
    BENCH_COLLECTIVE(shmem_double_fcollect(SHMEM_TEAM_WORLD, to, from, n),
                     shmem_fcollect64(to, from, n, 0, 0, npes, bench_sync()));
}

static BENCH_UNUSED void bench_alltoall(double *to, double *from, size_t n)
{
    BENCH_COLLECTIVE(shmem_double_alltoall(SHMEM_TEAM_WORLD, to, from, n),
                     shmem_alltoall64(to, from, n, 0, 0, npes, bench_sync()));
}

#endif
