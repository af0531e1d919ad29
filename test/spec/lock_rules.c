/* timeout: 120 */
/* Locks: one holder at a time over many locks, static and on the heap, in arrays, several held at once; what the last
 * holder wrote is seen by loads and gets; test_lock takes a free lock, does not wait, and does not overtake. */
#include <sched.h>

#include "check.h"

enum { LOCKS = 5, ROUNDS = TIMES(400) };

static long static_locks[LOCKS], one_lock;
static long *heap_locks;
static long shared[4 * LOCKS]; /* on PE 0, under the locks */

/* Reads, thinks, writes: two holders at once lose a count. */
static void add_under(long *lock, int which, int where)
{
    long was = shmem_long_g(&shared[which], where);
    long again;
    shmem_getmem(&again, &shared[which], sizeof again, where);
    CHECK_NUM(again, was, "under lock %p", (void *)lock);
    if (which % 2) sched_yield();
    shmem_long_p(&shared[which], was + 1, where);
}

static void exclude(void)
{
    struct random r = {(uint64_t)me + 5};
    for (int k = 0; k < ROUNDS; k++) {
        int i = (int)random_below(&r, LOCKS);
        long *lock = random_below(&r, 2) ? &static_locks[i] : &heap_locks[i];
        int which = i + (lock == &heap_locks[i]) * LOCKS;
        if (random_below(&r, 2))
            shmem_set_lock(lock);
        else
            while (shmem_test_lock(lock)) continue;
        add_under(lock, which, npes - 1);
        shmem_clear_lock(lock); /* quiets the put above */
    }
    shmem_barrier_all();
    long sum = 0;
    for (int i = 0; i < 2 * LOCKS; i++) sum += shmem_long_g(&shared[i], npes - 1);
    CHECK_NUM(sum, (long)npes * ROUNDS, "holders");
    shmem_barrier_all();
}

/* A row of locks, taken in order and released in another one. */
static void rows(void)
{
    for (int k = 0; k < ROUNDS / 8; k++) {
        for (int i = 0; i < LOCKS; i++) shmem_set_lock(&heap_locks[i]);
        for (int i = 0; i < LOCKS; i++) add_under(&heap_locks[i], 2 * LOCKS + i, 0);
        for (int i = 0; i < LOCKS; i++) shmem_clear_lock(&heap_locks[(i + k) % LOCKS]);
    }
    shmem_barrier_all();
    for (int i = 0; i < LOCKS; i++)
        CHECK_NUM(shmem_long_g(&shared[2 * LOCKS + i], 0), (long)npes * (ROUNDS / 8), "row %d", i);
    shmem_barrier_all();
}

/* One holds it, all others test: nobody gets it, nobody waits; then the first to test has it. */
static void tests(void)
{
    for (int holder = 0; holder < npes; holder++) {
        if (me == holder) CHECK_NUM(shmem_test_lock(&one_lock), 0, "a free lock");
        shmem_barrier_all();
        for (int k = 0; k < 20; k++)
            if (me != holder) CHECK_NUM(shmem_test_lock(&one_lock), 1, "held by %d", holder);
        shmem_barrier_all();
        if (me == holder) shmem_clear_lock(&one_lock);
        shmem_barrier_all();
        static long got, total;
        got = !shmem_test_lock(&one_lock);
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &total, &got, 1);
        CHECK_NUM(total, 1L, "how many got the free lock at once");
        if (got) shmem_clear_lock(&one_lock);
        shmem_barrier_all();
    }
}

int main(void)
{
    check_start();
    heap_locks = shmem_calloc(LOCKS, sizeof *heap_locks);
    exclude();
    rows();
    tests();
    shmem_free(heap_locks);
    heap_locks = shmem_calloc(LOCKS, sizeof *heap_locks); /* the same memory: new locks */
    memset(shared, 0, sizeof shared);
    shmem_barrier_all();
    rows();
    return check_end();
}
