/* A lock by compare-and-swap: whoever turns the 0 into a 1 holds it.
 *
 * Every PE makes 10000 deposits into one account. Reading, adding and writing are three steps, so without the
 * lock deposits of others would be lost. The PE that owns lock and account does nothing for it. */
#include <sched.h>
#include <shmem.h>
#include <stdio.h>

enum { DEPOSITS = 10000 };

static int lock; /* 0: free, 1: held; the one at the owner counts */
static long account;

static void lock_acquire(int owner)
{
    while (shmem_int_atomic_compare_swap(&lock, 0, 1, owner) != 0)
        sched_yield(); /* held: give the core to others, perhaps to the holder */
}

static void lock_release(int owner)
{
    shmem_quiet(); /* what was written under the lock is visible before the lock is free */
    shmem_int_atomic_set(&lock, 0, owner);
}

int main(void)
{
    shmem_init();
    int n_pes = shmem_n_pes(), owner = n_pes - 1;

    shmem_barrier_all(); /* all begin at once, so that they do get in each other's way */
    for (int i = 0; i < DEPOSITS; i++) {
        lock_acquire(owner);
        shmem_long_p(&account, shmem_long_g(&account, owner) + 1, owner);
        lock_release(owner);
    }
    shmem_barrier_all();

    if (shmem_my_pe() == owner)
        printf("%d PEs, %d deposits each: the account holds %ld\n", n_pes, DEPOSITS, account);
    shmem_finalize();
    return 0;
}
