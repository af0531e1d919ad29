/* A block with a signal goes there and back between two PEs, next to a cache line that does the same.
 *
 *     oshcc -O2 -std=gnu11 bench/micro/signal.c -o signal && oshrun -n 2 ./signal
 *
 * Before OpenSHMEM 1.5 there is no put with signal: there it is put, fence, and an atomic set.
 */
#include "bench_spin.h"

enum { MOST = 4 << 20 };

static char *heap, *own;
#if BENCH_HAS(1, 5)
static uint64_t *flag, turn;
#else
static long *flag, turn;
#endif
static size_t bytes;

static void send_signalled(int pe)
{
#if BENCH_HAS(1, 5)
    shmem_putmem_signal(heap, own, bytes, flag, turn, SHMEM_SIGNAL_SET, pe);
#else
    shmem_putmem(heap, own, bytes, pe);
    shmem_fence();
    shmem_long_atomic_set(flag, turn, pe);
#endif
}

static void wait_signal(void)
{
#if BENCH_HAS(1, 5)
    shmem_signal_wait_until(flag, SHMEM_CMP_EQ, turn);
#else
    shmem_long_wait_until(flag, SHMEM_CMP_EQ, turn);
#endif
}

static void there_and_back(long n)
{
    LOOP
    {
        turn++;
        if (me == 0) send_signalled(1);
        wait_signal();
        if (me == 1) send_signalled(0);
    }
}

/* The last byte is there when its signal is. */
static void check(void)
{
    bytes = MOST;
    turn++;
    own[MOST - 1] = 77;
    if (me == 0) send_signalled(1);
    if (me == 1) {
        wait_signal();
        bench_must(heap[MOST - 1] == 77, "the last byte, once its signal was seen");
    }
    shmem_barrier_all();
}

int main(void)
{
    bench_start();
    heap = bench_heap(MOST);
    own = bench_private(MOST);
    flag = bench_heap(64);
    *flag = 0;
    bench_pair_begin();
    if (npes != 2) {
        fprintf(stderr, "signal: for 2 PEs, not %d\n", npes);
        shmem_global_exit(2);
    }
    check();
    if (bench_has_pair())
        bench_at("put with signal, there and back", "limit", 8, bench_together(bench_line_round_trip), "ns");
    for (bytes = 8; bytes && !bench_over_together(); bytes = bench_next_size(bytes, 8, MOST))
        bench_at("put with signal, there and back", "heap", bytes, bench_together(there_and_back), "ns");
    shmem_finalize();
    return 0;
}
