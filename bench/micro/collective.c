/* Collectives of doubles against size, next to a memcpy of as much by every PE at the same time.
 *
 *     oshcc -O2 -std=gnu11 bench/micro/collective.c -o collective && oshrun -n 8 ./collective
 *
 * x: the bytes of one PE's result; a PE gives as much to broadcast, reduce and scan, to the others one nth of it.
 */
#include "bench_shmem.h"

enum { MOST = 16 << 20 };

static double *to, *from;
static size_t all, part; /* doubles of a result; of one PE's share of it */

/* The root moves on each time, so that nobody runs ahead of those who wait for it. */
static void broadcast(long n)
{
    LOOP bench_broadcast(to, from, all, (int)(i % npes));
}

static void reduce(long n)
{
    LOOP bench_reduce(to, from, all);
}

static void collect(long n)
{
    LOOP bench_collect(to, from, part);
}

static void fcollect(long n)
{
    LOOP bench_fcollect(to, from, part);
}

static void alltoall(long n)
{
    LOOP bench_alltoall(to, from, part);
}
#if BENCH_HAS(1, 6)
/* With a barrier: nothing else keeps PE 0, who waits for nobody in a scan, from running ahead. */
static void scan(long n)
{
    LOOP
    {
        shmem_double_sum_inscan(SHMEM_TEAM_WORLD, to, from, all);
        shmem_barrier_all();
    }
}
#endif

static void copy(long n)
{
    LOOP
    {
        memcpy(to, from, all * sizeof *to);
        KEEP(to);
    }
}

static void fill(void)
{
    for (size_t i = 0; i < all; i++)
        from[i] = (double)(me + 1) + (double)(i % 7);
    shmem_barrier_all();
}

/* First and last elements of each, against what they must be. */
static void check(void)
{
    fill();
    double ranks = npes * (npes + 1) / 2.0;
    bench_reduce(to, from, all);
    for (size_t i = 0; i < all; i += all - 1)
        bench_must(to[i] == ranks + npes * (double)(i % 7), "a sum");
    shmem_barrier_all();
    bench_broadcast(to, from, all, npes - 1);
    bench_must(me == npes - 1 || to[all - 1] == npes + (double)((all - 1) % 7), "what was broadcast");
    shmem_barrier_all();
    bench_fcollect(to, from, part);
    for (int pe = 0; pe < npes; pe++)
        bench_must(to[(size_t)pe * part] == pe + 1, "what was collected");
    shmem_barrier_all();
    bench_alltoall(to, from, part);
    for (int pe = 0; pe < npes; pe++)
        bench_must(to[(size_t)pe * part] == pe + 1 + (double)((size_t)me * part % 7), "what was exchanged");
    shmem_barrier_all();
}

static void row(const char *table, const char *series, size_t bytes, bench_work *work)
{
    if (!bench_over_together()) bench_at(table, series, bytes, bench_together(work), "ns");
}

static void measure_size(size_t bytes)
{
    all = bytes / sizeof *to;
    part = all / (size_t)npes;
    row("broadcast", "heap", bytes, broadcast);
    row("reduce", "heap", bytes, reduce);
    if (part) {
        row("fcollect", "heap", bytes, fcollect);
        row("collect", "heap", bytes, collect);
        row("alltoall", "heap", bytes, alltoall);
    }
#if BENCH_HAS(1, 6)
    row("scan", "heap", bytes, scan);
#endif
    row("collectives", "limit", bytes, copy);
}

int main(void)
{
    bench_start();
    bench_collectives_begin();
    to = bench_heap(MOST);
    from = bench_heap(MOST);
    all = 4096;
    part = all / (size_t)npes;
    check();
    for (int k = 0; k < BENCH_RESULT_SIZES && bench_result_sizes[k] <= bench_bytes; k++)
        measure_size(bench_result_sizes[k]);
    shmem_finalize();
    return 0;
}
