/* What all PEs do together with little or no data, against their number: barrier, sync, and collectives of one double.
 *
 *     oshcc -O2 -std=gnu11 bench/micro/meet.c -o meet && for n in 1 2 4 8 16; do oshrun -n $n ./meet; done
 *
 * Beside it a pthread barrier in PE 0's memory, and with two PEs a cache line that goes there and back.
 */
#include "bench_spin.h"
#include <pthread.h>

static pthread_barrier_t *barrier; /* PE 0's, as mapped here */
static double *to, *from;

static void barrier_all(long n)
{
    LOOP shmem_barrier_all();
}

static void sync_all(long n)
{
    LOOP shmem_sync_all();
}

static void barrier_pthread(long n)
{
    LOOP pthread_barrier_wait(barrier);
}

static void reduce(long n)
{
    LOOP bench_reduce(to, from, 1);
}

static void fcollect(long n)
{
    LOOP bench_fcollect(to, from, 1);
}

static void alltoall(long n)
{
    LOOP bench_alltoall(to, from, 1);
}

/* The root moves on each time, so that nobody runs ahead of those who wait for it. */
static void broadcast(long n)
{
    LOOP bench_broadcast(to, from, 1, (int)(i % npes));
}

static void barrier_begin(void)
{
    pthread_barrier_t *block = bench_heap(sizeof *block);
    if (me == 0) {
        pthread_barrierattr_t shared;
        pthread_barrierattr_init(&shared);
        pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
        pthread_barrier_init(block, &shared, (unsigned)npes);
    }
    barrier = shmem_ptr(block, 0);
    shmem_barrier_all();
}

static void row(const char *table, const char *series, bench_work *work)
{
    if (!bench_over_together()) bench_at(table, series, (size_t)npes, bench_together(work), "ns");
}

int main(void)
{
    bench_start();
    bench_collectives_begin();
    barrier_begin();
    bench_pair_begin();
    to = bench_heap((size_t)npes * sizeof *to);
    from = bench_heap((size_t)npes * sizeof *from);
    row("barrier", "all PEs", barrier_all);
    row("sync", "all PEs", sync_all);
    row("collectives of one double", "reduce", reduce);
    row("collectives of one double", "broadcast", broadcast);
    row("collectives of one double", "fcollect", fcollect);
    row("collectives of one double", "alltoall", alltoall);
    if (bench_all_have(barrier)) {
        row("barrier", "limit", barrier_pthread);
        row("sync", "limit", barrier_pthread);
    }
    if (bench_has_pair()) row("limits", "a cache line there and back between two PEs", bench_line_round_trip);
    shmem_finalize();
    return 0;
}
