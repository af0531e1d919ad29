/* A token goes once round all PEs: p to the next, who waits for it; next to a futex that is handed round. x: PEs.
 *
 *     oshcc -O2 -std=gnu11 bench/micro/ring.c -o ring && oshrun -n 8 ./ring
 */
#include "bench_shmem.h"
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static long *token, turn;
static int *shared_turn; /* PE 0's, as mapped here */

static void token_ring(long n)
{
    LOOP
    {
        turn++;
        if (me == 0) shmem_long_p(token, turn, next);
        shmem_long_wait_until(token, SHMEM_CMP_EQ, turn);
        if (me != 0) shmem_long_p(token, turn, next);
    }
}

static void futex_ring(long n)
{
    LOOP
    {
        int seen;
        while ((seen = __atomic_load_n(shared_turn, __ATOMIC_ACQUIRE)) % npes != me)
            syscall(SYS_futex, shared_turn, FUTEX_WAIT, seen, NULL, NULL, 0);
        __atomic_store_n(shared_turn, seen + 1, __ATOMIC_RELEASE);
        syscall(SYS_futex, shared_turn, FUTEX_WAKE, npes, NULL, NULL, 0);
    }
}

int main(void)
{
    bench_start();
    token = bench_heap(64);
    int *turns = bench_heap(64);
    *token = 0;
    *turns = 0;
    shared_turn = shmem_ptr(turns, 0);
    bench_at("token ring", "heap", (size_t)npes, bench_together(token_ring), "ns");
    if (bench_all_have(shared_turn))
        bench_at("token ring", "limit", (size_t)npes, bench_together(futex_ring), "ns");
    shmem_finalize();
    return 0;
}
