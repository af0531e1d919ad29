/* 8 heaps of 32 GiB are one memory of 256 GiB: every PE writes both ends of every PE's block, and a word in between. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), bad = 0;
    size_t bytes = argc > 1 ? (size_t)atol(argv[1]) : 0, words = bytes / sizeof(long);
    long *x = shmem_malloc(bytes);
    if (!x) {
        fprintf(stderr, "no block of %zu bytes\n", bytes);
        return 1;
    }
    const size_t at[] = {0, words / 3, words - (size_t)n};
    for (int pe = 0; pe < n; pe++)
        for (int k = 0; k < 3; k++) shmem_long_p(x + at[k] + me, 1000000L * pe + 1000L * k + me, pe);
    shmem_barrier_all();
    for (int k = 0; k < 3; k++)
        for (int from = 0; from < n; from++) bad += x[at[k] + from] != 1000000L * me + 1000L * k + from;
    if (bad) fprintf(stderr, "PE %d: %d words are wrong\n", me, bad);
    shmem_barrier_all();
    shmem_finalize();
    return bad != 0;
}
