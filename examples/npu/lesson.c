/* Arrival is not yet visibility: a put and a flag, without quiet between them and with it.
 *
 *     oshcc -O2 lesson.c clock.c -o lesson
 *     HBMESH_TWIN_LATE=1000000:2000000 oshrun --twin -n 2 ./lesson
 *
 * PE 0 puts a batch of numbers from its HBM into that of PE 1, then raises a flag there. PE 1 waits for the flag
 * and looks at the numbers. With HBMESH_TWIN_LATE the software NPU shows what an NPU may do: a copy that nobody has
 * waited for is seen late. */
#include "npu.h"

#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 256 };

enum way { WITHOUT_QUIET, WITH_QUIET, WITH_FENCE, WITH_SIGNAL };
static const char *const says[] = {
    "put_nbi,        atomic_inc of the flag",
    "put_nbi, quiet, atomic_inc of the flag",
    "put_nbi, fence, atomic_inc of the flag",
    "put_signal_nbi, the flag is the signal",
};

/* Static data is symmetric, and lies in the memory of the hosts: so the flag takes another way than the numbers. */
static int flag, seen;
static uint64_t signal_word;
static long stale; /* at PE 0: how often the flag was there before the numbers */

static void send(double *dest, double *source, enum way way, int round)
{
    double numbers[BATCH];

    for (int i = 0; i < BATCH; i++)
        numbers[i] = round + i;
    shmem_double_put(source, numbers, BATCH, 0); /* to itself: a CPU cannot store into HBM */
    if (way == WITH_SIGNAL) {
        shmem_double_put_signal_nbi(dest, source, BATCH, &signal_word, (uint64_t)round, SHMEM_SIGNAL_SET, 1);
    } else {
        shmem_double_put_nbi(dest, source, BATCH, 1);
        if (way == WITH_QUIET) shmem_quiet();
        if (way == WITH_FENCE) shmem_fence();
        shmem_int_atomic_inc(&flag, 1);
    }
    shmem_int_wait_until(&seen, SHMEM_CMP_GE, round);
    shmem_quiet();
}

static bool receive(double *dest, enum way way, int round)
{
    double numbers[BATCH];
    bool fresh = true;

    if (way == WITH_SIGNAL)
        shmem_signal_wait_until(&signal_word, SHMEM_CMP_GE, (uint64_t)round);
    else
        shmem_int_wait_until(&flag, SHMEM_CMP_GE, round);
    shmem_double_get(numbers, dest, BATCH, 1);
    for (int i = 0; i < BATCH; i++)
        fresh = fresh && numbers[i] == round + i;
    shmem_int_atomic_inc(&seen, 0);
    return fresh;
}

/* Collective: how often PE 1 saw the flag and not the numbers. Right at PE 0. */
static long run(double *dest, double *source, enum way way, int rounds)
{
    double nothing[BATCH] = {0};

    flag = seen = 0;
    signal_word = 0;
    stale = 0;
    shmem_double_put(dest, nothing, BATCH, shmem_my_pe());
    shmem_barrier_all();
    for (int round = 1; round <= rounds; round++)
        if (shmem_my_pe() == 0)
            send(dest, source, way, round);
        else if (shmem_my_pe() == 1 && !receive(dest, way, round))
            shmem_long_atomic_inc(&stale, 0);
    shmem_barrier_all();
    return stale;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 10000, failed = 0;

    shmem_init();
    double *dest = shmem_malloc(2 * BATCH * sizeof *dest), *source = dest + BATCH;
    if (shmem_n_pes() < 2 || rounds < 1 || !dest || strcmp(shmemx_kind_of(dest), "host") == 0) {
        if (shmem_my_pe() == 0)
            fprintf(stderr, "usage: lesson [ROUNDS], on two PEs, with SHMEM_HEAP_KIND=ascend\n");
        shmem_finalize();
        return 2;
    }
    const char *late = getenv("HBMESH_TWIN_LATE");
    bool every_time = npu_is_modelled() && late && *late && strcmp(late, "0") != 0;
    for (enum way way = WITHOUT_QUIET; way <= WITH_SIGNAL; way++) {
        long count = run(dest, source, way, rounds);
        if (shmem_my_pe()) continue;
        printf("  %s:  %5ld of %d times the flag came before the numbers\n", says[way], count, rounds);
        fflush(stdout);
        if (way == WITHOUT_QUIET ? every_time && count != rounds : count != 0) failed = 1;
    }
    shmem_free(dest);
    shmem_finalize();
    return failed;
}
