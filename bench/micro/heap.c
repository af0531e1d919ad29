/* What symmetric memory costs: a block taken and freed, by all PEs; next to malloc and free. x: bytes.
 *
 *     oshcc -O2 -std=gnu11 bench/micro/heap.c -o heap && oshrun -n 2 ./heap
 *
 * The standard puts two barriers into the pair. 16 blocks are alive at once and go in another order than they came.
 */
#include "bench_shmem.h"

enum { BATCH = 16, MOST = 4 << 20 };

static size_t bytes;

static void symmetric(long n)
{
    void *block[BATCH];
    LOOP
    {
        for (int k = 0; k < BATCH; k++)
            block[k] = shmem_malloc(bytes);
        for (int k = 0; k < BATCH; k++)
            shmem_free(block[k * 7 % BATCH]);
    }
}

static void private(long n)
{
    void *block[BATCH];
    LOOP
    {
        for (int k = 0; k < BATCH; k++) {
            block[k] = malloc(bytes);
            KEEP(block[k]);
        }
        for (int k = 0; k < BATCH; k++)
            free(block[k * 7 % BATCH]);
    }
}

int main(void)
{
    bench_start();
    for (bytes = 64; bytes && !bench_over_together(); bytes = bench_next_size(bytes, 16, MOST)) {
        bench_at("malloc and free", "heap", bytes, bench_together(symmetric) / BATCH, "ns");
        bench_at("malloc and free", "limit", bytes, bench_together(private) / BATCH, "ns");
    }
    shmem_finalize();
    return 0;
}
