/* What must work whatever the kernel denies: static data and the heap shared, all ways of waiting, asleep too, locks,
 * collectives, allocation; with values checked. Prints OK. */
#include "../spec/check.h"

#include <unistd.h>

static long flag, lock, counted;
static uint64_t signal_word;

static void sleepers(void)
{
    for (long round = 1; round <= 5; round++) {
        if (me == round % npes) usleep(20000); /* the others sleep meanwhile */
        shmem_barrier_all();
        if (me == 0) usleep(5000);
        shmem_long_p(&flag, round, right);
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, round);
        if (me == npes - 1) usleep(5000);
        shmem_signal_add(&signal_word, 1, left);
        CHECK(shmem_signal_wait_until(&signal_word, SHMEM_CMP_GE, (uint64_t)round) >= (uint64_t)round, "signal");
        shmem_set_lock(&lock);
        usleep(2000);
        shmem_long_p(&counted, shmem_long_g(&counted, 0) + 1, 0);
        shmem_clear_lock(&lock);
        shmem_barrier_all();
    }
    CHECK_NUM(shmem_long_g(&counted, 0), 5L * npes, "holders of the lock");
}

int main(void)
{
    check_start();
    sleepers();
    long *block = shmem_calloc(1 << 18, sizeof *block);
    for (int i = 0; i < 1 << 18; i += 5000) CHECK_NUM(block[i], 0L, "calloc");
    block[0] = me + 1;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, block + 1, block, 1);
    CHECK_NUM(block[1], (long)npes * (npes + 1) / 2, "sum");
    shmem_free(block);
    block = shmem_calloc(1 << 18, sizeof *block);
    for (int i = 0; i < 1 << 18; i += 5000) CHECK_NUM(block[i], 0L, "calloc of memory that was used");
    if (me == 0) printf("OK\n");
    return check_end();
}
