/* put, get: blocks of 8 bytes to 64 MiB, in the heap and in static data, blocking and not, next to memcpy.
 *
 *     oshcc -O2 -std=gnu11 bench/micro/copy.c -o copy && oshrun -n 2 ./copy
 *
 * Small blocks go to 64 places in turn. "nbi": in windows of 16, each ended by a quiet; the time is that of one. Blocking
 * puts end in a quiet, too, many of them in one: what a library only has begun is no bandwidth.
 */
#include "bench_shmem.h"

enum { BIG = 64 << 20, PLACES = 64, BATCH = 16 };

static char in_static[BIG];    /* symmetric */
static char *heap, *far, *own; /* symmetric; the neighbour's as plain C reaches it; private */
static char *there;            /* heap or in_static, by series */
static size_t bytes, mask;

static size_t at(long i)
{
    return ((size_t)(bench_done + i) & mask) * bytes;
}

static void put(long n)
{
    LOOP shmem_putmem(there + at(i), own + at(i), bytes, next);
    shmem_quiet();
}

static void get(long n)
{
    LOOP shmem_getmem(own + at(i), there + at(i), bytes, next);
}

static void put_nbi(long n)
{
    LOOP
    {
        shmem_putmem_nbi(there + at(i), own + at(i), bytes, next);
        if (i % BATCH == BATCH - 1) shmem_quiet();
    }
    shmem_quiet();
}

static void get_nbi(long n)
{
    LOOP
    {
        shmem_getmem_nbi(own + at(i), there + at(i), bytes, next);
        if (i % BATCH == BATCH - 1) shmem_quiet();
    }
    shmem_quiet();
}

static void copy_to(long n)
{
    LOOP
    {
        memcpy(far + at(i), own + at(i), bytes);
        KEEP(far);
    }
}

static void copy_from(long n)
{
    LOOP
    {
        memcpy(own + at(i), far + at(i), bytes);
        KEEP(own);
    }
}

/* Whoever is the first to walk through larger blocks, or through others, finds them in no cache. */
static void warm(void)
{
    bench_alone(put);
}

static void measure_size(void)
{
    there = heap;
    warm();
    bench_at("put", "heap", bytes, bench_alone(put), "ns");
    bench_at("put", "limit", bytes, bench_alone(copy_to), "ns");
    bench_at("put", "heap, nbi", bytes, bench_alone(put_nbi), "ns");
    bench_at("get", "heap", bytes, bench_alone(get), "ns");
    bench_at("get", "limit", bytes, bench_alone(copy_from), "ns");
    bench_at("get", "heap, nbi", bytes, bench_alone(get_nbi), "ns");
    there = in_static;
    warm();
    bench_at("put", "static data", bytes, bench_alone(put), "ns");
    bench_at("get", "static data", bytes, bench_alone(get), "ns");
}

/* What was put is what is got, first and last bytes. */
static void check(void)
{
    for (size_t i = 0; i < BIG; i += BIG - 8) {
        uint64_t value = 0x0123456789abcdef ^ i, back = 0;
        shmem_putmem(heap + i, &value, sizeof value, next);
        shmem_quiet();
        shmem_getmem(&back, heap + i, sizeof back, next);
        bench_must(back == value, "get after put");
    }
}

static void measure(void)
{
    bench_touch(heap, own, BIG, next);
    bench_touch(in_static, own, BIG, next);
    check();
    for (bytes = 8; bytes && !bench_over(); bytes = bench_next_size(bytes, bytes == 8 ? 8 : 4, BIG)) {
        size_t places = BIG / bytes < PLACES ? BIG / bytes : PLACES;
        mask = places - 1;
        measure_size();
    }
}

int main(void)
{
    bench_start();
    heap = bench_heap(BIG);
    own = bench_private(BIG);
    memset(in_static, 3, BIG);
    far = bench_reach(heap, next);
    bench_by_first(measure);
    shmem_finalize();
    return 0;
}
