/* timeout: 120 */
/* layouts: 1+1 2+1 */
/* Locks whose word is in the default heap, which the CPU may not be able to touch: one holder at a time, first come first
 * served, test_lock gets nothing that is held, and a lock that nobody holds is all zero again. */
#include <sched.h>

#include "../spec/check.h"

enum { EACH = 40, ROUNDS = 10, MOST = 64 };

static long *lock, *count, *turn, *finished, *granted, *order;

static long *zeroed(size_t n)
{
    long *block = shmem_malloc(n * sizeof *block), zero = 0;
    for (size_t i = 0; i < n; i++) shmem_long_p(&block[i], zero, me);
    shmem_barrier_all();
    return block;
}

static void exclude(void)
{
    for (int i = 0; i < EACH; i++) {
        if (i % 4 == 3)
            while (shmem_test_lock(lock)) continue;
        else
            shmem_set_lock(lock);
        shmem_long_p(count, shmem_long_g(count, npes - 1) + 1, npes - 1);
        shmem_clear_lock(lock);
    }
    shmem_barrier_all();
    CHECK_NUM(shmem_long_g(count, npes - 1), (long)EACH * npes, "what was counted under the lock");
    CHECK_NUM(shmem_long_g(lock, 0), 0L, "the word of a free lock");
    shmem_barrier_all();
}

/* Lets PE `who` queue up and waits until it has. */
static void let_queue(int who, long round)
{
    long before = shmem_long_atomic_fetch(lock, 0);
    shmem_long_atomic_set(turn, round, who);
    while (shmem_long_atomic_fetch(lock, 0) == before) sched_yield();
}

static int queued(int i, long round) { return 1 + (int)((i - 1 + round) % (npes - 1)); }

static void lead(long round)
{
    shmem_set_lock(lock);
    shmem_long_p(granted, 0, 0);
    for (int i = 1; i < npes; i++) {
        let_queue(queued(i, round), round);
        if (i == npes / 2) CHECK_NUM(shmem_test_lock(lock), 1, "round %ld", round);
    }
    shmem_clear_lock(lock);
    shmem_long_wait_until(finished, SHMEM_CMP_EQ, (npes - 1) * round);
    for (int i = 1; i < npes; i++)
        CHECK_NUM(shmem_long_g(&order[i - 1], 0), (long)queued(i, round), "round %ld: place %d", round, i - 1);
}

static void follow(long round)
{
    shmem_long_wait_until(turn, SHMEM_CMP_EQ, round);
    shmem_set_lock(lock);
    long place = shmem_long_g(granted, 0);
    shmem_long_p(&order[place], me, 0);
    shmem_long_p(granted, place + 1, 0);
    shmem_clear_lock(lock);
    shmem_long_atomic_inc(finished, 0);
}

int main(void)
{
    check_start();
    lock = zeroed(1), count = zeroed(1), turn = zeroed(1), finished = zeroed(1), granted = zeroed(1), order = zeroed(MOST);
    exclude();
    for (long round = 1; round <= ROUNDS; round++) {
        if (me == 0)
            lead(round);
        else
            follow(round);
        shmem_barrier_all();
    }
    long *blocks[] = {lock, count, turn, finished, granted, order};
    for (int i = 0; i < 6; i++) shmem_free(blocks[i]);
    return check_end();
}
