/* What it takes to be a PE: the time of shmem_init, and the memory of a process after it. x: PEs.
 *
 *     oshcc -O2 -std=gnu11 bench/micro/start.c -o start && oshrun -n 8 ./start
 *
 * The time is that of the slowest PE, the memory the mean; "after a word to everybody": connections are made by then.
 */
#include "bench_shmem.h"
#include "bench_memory.h"

static double values[2];
static long words[1024];

static double gather(double (*take)(double, double), int which)
{
    double result = 0;
    shmem_barrier_all();
    if (me == 0)
        for (int pe = 0; pe < npes; pe++)
            result = take(result, shmem_double_g(&values[which], pe));
    shmem_barrier_all();
    return result;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double sum(double a, double b)
{
    return a + b;
}

int main(void)
{
    double begin = bench_now();
    bench_start();
    values[0] = bench_now() - begin;
    values[1] = bench_memory();
    bench_at("init", "shmem_init", (size_t)npes, gather(larger, 0), "ns");
    bench_at("memory of a PE", "after init", (size_t)npes, gather(sum, 1) / npes, "KiB");
    for (int pe = 0; pe < npes; pe++)
        shmem_long_p(&words[me], me + 1, pe);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        bench_must(words[pe] == pe + 1, "a word of each PE");
    values[1] = bench_memory();
    bench_at("memory of a PE", "after a word to everybody", (size_t)npes, gather(sum, 1) / npes, "KiB");
    shmem_finalize();
    return 0;
}
