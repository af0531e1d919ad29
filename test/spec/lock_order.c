/* timeout: 120 */
/* args: 2000 */
/* First come, first served: in each round the PEs queue up at a held lock one by one, in a random order, and must be given
 * it in that order; a test_lock in between gets nothing. The word of the lock changes when somebody has queued up,
 * which is how the holder knows that the next one may. */
#include <sched.h>

#include "check.h"

enum { MOST = 64 };

static long lock, turn, finished, granted, order[MOST];

static void shuffle(int *pes, uint64_t round)
{
    struct random r = {round * 1000};
    for (int i = 0; i < npes; i++) pes[i] = i;
    for (int i = npes - 1; i > 0; i--) {
        int k = (int)random_below(&r, i + 1), t = pes[i];
        pes[i] = pes[k];
        pes[k] = t;
    }
}

/* Lets PE `who` queue up and waits until it has. */
static void let_queue(int who, long round)
{
    long before = shmem_long_atomic_fetch(&lock, 0);
    shmem_long_atomic_set(&turn, round, who);
    while (shmem_long_atomic_fetch(&lock, 0) == before) sched_yield();
}

static void lead(const int *pes, long round)
{
    shmem_set_lock(&lock);
    shmem_long_p(&granted, 0, 0);
    for (int i = 1; i < npes; i++) {
        let_queue(pes[i], round);
        if (i == npes / 2) CHECK_NUM(shmem_test_lock(&lock), 1, "round %ld", round);
    }
    shmem_clear_lock(&lock);
    shmem_long_wait_until(&finished, SHMEM_CMP_EQ, npes - 1);
    finished = 0;
    for (int i = 1; i < npes; i++)
        CHECK_NUM(shmem_long_g(&order[i - 1], 0), (long)pes[i], "round %ld: place %d", round, i - 1);
}

static void follow(int leader, long round)
{
    shmem_long_wait_until(&turn, SHMEM_CMP_EQ, round);
    shmem_set_lock(&lock);
    long place = shmem_long_g(&granted, 0);
    shmem_long_p(&order[place], me, 0);
    shmem_long_p(&granted, place + 1, 0);
    shmem_clear_lock(&lock);
    shmem_long_atomic_inc(&finished, leader);
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 2000;
    int pes[MOST];
    check_start();
    for (long round = 1; round <= rounds; round++) {
        shuffle(pes, (uint64_t)round);
        if (pes[0] == me)
            lead(pes, round);
        else
            follow(pes[0], round);
    }
    shmem_barrier_all();
    if (me == 0) CHECK_NUM(shmem_test_lock(&lock), 0, "free at the end");
    return check_end();
}
