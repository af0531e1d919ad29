/* iput, iget: every second long of a neighbour's and of the own, next to the loop in C. x: bytes moved.
 *
 *     oshcc -O2 -std=gnu11 bench/micro/strided.c -o strided && oshrun -n 2 ./strided
 */
#include "bench_shmem.h"

enum { MOST = 64 << 20, STRIDE = 2 };

static long *heap, *far, *own;
static size_t count;

static void iput(long n)
{
    LOOP shmem_long_iput(heap, own, STRIDE, STRIDE, count, next);
}

static void iget(long n)
{
    LOOP shmem_long_iget(own, heap, STRIDE, STRIDE, count, next);
}

static void copy_strided(long *to, const long *from)
{
    for (size_t k = 0; k < count; k++)
        to[k * STRIDE] = from[k * STRIDE];
    KEEP(to);
}

static void loop_to(long n)
{
    LOOP copy_strided(far, own);
}

static void loop_from(long n)
{
    LOOP copy_strided(own, far);
}

static void measure(void)
{
    for (size_t bytes = 8; bytes && !bench_over(); bytes = bench_next_size(bytes, bytes == 8 ? 8 : 4, MOST)) {
        count = bytes / sizeof(long);
        bench_at("iput", "heap", bytes, bench_alone(iput), "ns");
        bench_at("iput", "limit", bytes, bench_alone(loop_to), "ns");
        bench_at("iget", "heap", bytes, bench_alone(iget), "ns");
        bench_at("iget", "limit", bytes, bench_alone(loop_from), "ns");
    }
}

int main(void)
{
    bench_start();
    heap = bench_heap(MOST * STRIDE);
    own = bench_private(MOST * STRIDE);
    far = bench_reach(heap, next);
    bench_by_first(measure);
    shmem_finalize();
    return 0;
}
