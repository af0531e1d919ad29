/* npes: 2 3 */
/* args: 100000 */
/* timeout: 300 */
/* env: SHMEM_POLL=off SHMEM_SLEEP_AFTER=0 */
/* Lost wake-ups: a token goes round among the PEs, each waiting for its own word, by turns of put, atomics and signals,
 * with meetings of two, barriers and a lock in between. SHMEM_POLL=off: who is not woken sleeps for ever, so that one
 * wake-up lost is a hang. Here every wait sleeps at once; test/launch/wakeup.sh has the other modes. */
#include <shmemx.h>
#include <time.h>

#include "../spec/check.h"

static long token_put, token_add;
static uint64_t token_signal;

static void pass(long round)
{
    switch (round % 4) {
    case 0: shmem_long_p(&token_put, round, right); break;
    case 1: shmem_long_atomic_set(&token_add, round, right); break;
    case 2: shmem_signal_set(&token_signal, (uint64_t)round, right); break;
    case 3: shmem_long_atomic_add(&token_add, 2, right); break; /* round - 2 was set there before */
    }
}

static void await(long round)
{
    switch (round % 4) {
    case 0: shmem_long_wait_until(&token_put, SHMEM_CMP_EQ, round); break;
    case 2: CHECK_NUM(shmem_signal_wait_until(&token_signal, SHMEM_CMP_EQ, (uint64_t)round), (uint64_t)round, "signal"); break;
    default: shmem_long_wait_until(&token_add, SHMEM_CMP_EQ, round);
    }
}

/* The other things one can sleep in. */
static void others(long round)
{
    static long lock, counted;
    switch (round / 16 % 8) {
    case 0: shmem_barrier_all(); return;
    case 1: shmem_sync_all(); return;
    case 2: shmem_team_sync(SHMEM_TEAM_SHARED); return;
    case 3:
        shmem_set_lock(&lock);
        shmem_long_p(&counted, shmem_long_g(&counted, 0) + 1, 0);
        shmem_clear_lock(&lock);
        return;
    default:
        if ((me ^ 1) < npes) shmemx_sync_pe(me ^ 1);
    }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 100000;
    check_start();
    double begin = now();
    for (long round = 1; round <= rounds; round++) {
        if (me == 0) pass(round);
        await(round);
        if (me) pass(round);
        if (round % 16 == 0) others(round);
    }
    shmem_barrier_all();
    if (me == 0) printf("%ld rounds of %d PEs, %.3f us each\n", rounds, npes, (now() - begin) / (double)rounds * 1e6);
    return check_end();
}
