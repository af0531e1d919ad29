/* The limit of what two do with each other: a cache line that goes there and back between two that only spin. */
#ifndef BENCH_SPIN_H
#define BENCH_SPIN_H

#include "bench_shmem.h"

static struct bench_line_pair {
    _Alignas(64) int there;
    _Alignas(64) int back;
} * bench_pair; /* PE 0's, as mapped here; NULL where it is not */

static BENCH_UNUSED void bench_pair_begin(void)
{
    struct bench_line_pair *pair = bench_heap(sizeof *pair);
    memset(pair, 0, sizeof *pair);
    bench_pair = shmem_ptr(pair, 0);
    shmem_barrier_all();
}

static BENCH_UNUSED void bench_line_round_trip(long n)
{
    static int turn;
    LOOP
    {
        turn++;
        if (me == 0) {
            __atomic_store_n(&bench_pair->there, turn, __ATOMIC_RELEASE);
            while (__atomic_load_n(&bench_pair->back, __ATOMIC_ACQUIRE) != turn)
                continue;
        } else {
            while (__atomic_load_n(&bench_pair->there, __ATOMIC_ACQUIRE) != turn)
                continue;
            __atomic_store_n(&bench_pair->back, turn, __ATOMIC_RELEASE);
        }
    }
}

static BENCH_UNUSED bool bench_has_pair(void)
{
    return npes == 2 && bench_all_have(bench_pair);
}

#endif
