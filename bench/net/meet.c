/* A barrier of all PEs next to what it is made of: one round trip to another machine, and a barrier of one machine.
 *
 *     mpirun --host a:4,b:4 meet */
#include <shmem.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 2000, TRIES = 9 };

static long word;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static void all(void) { shmem_sync(SHMEM_TEAM_WORLD); }
static void here(void) { shmem_sync(SHMEM_TEAM_SHARED); }
static void there(void)
{
    if (shmem_my_pe() == 0) shmem_long_atomic_fetch_add(&word, 1, shmem_n_pes() - 1);
}

/* The shortest of some tries: what it costs when nothing else wants the cores. */
static double cost(void (*what)(void))
{
    double best = 0;
    for (int t = 0; t < TRIES; t++) {
        shmem_barrier_all();
        double begin = now();
        for (int i = 0; i < ROUNDS; i++) what();
        double took = (now() - begin) / ROUNDS;
        if (!t || took < best) best = took;
    }
    shmem_barrier_all();
    return best;
}

int main(void)
{
    shmem_init();
    double trip = cost(there), machine = cost(here), job = cost(all);
    if (shmem_my_pe() == 0)
        printf("round trip %.2f us, barrier of %d PEs of one machine %.2f us, of all %d PEs %.2f us: ratio %.2f\n", trip,
               shmem_team_n_pes(SHMEM_TEAM_SHARED), machine, shmem_n_pes(), job, job / (trip + machine));
    shmem_finalize();
    return 0;
}
