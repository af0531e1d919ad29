/* What put and get are, with MPI: MPI_Put and MPI_Get into a window, each complete before the next, or 16 at once.
 *
 *     mpicc -O2 -std=gnu11 bench/micro/copy_mpi.c -o copy && mpirun -n 2 ./copy
 */
#include "bench_mpi.h"

enum { BIG = 64 << 20, PLACES = 64, BATCH = 16 };

static char in_static[BIG];
static char *own;
static MPI_Win of_heap, of_static, window;
static size_t bytes, mask;

static size_t at(long i)
{
    return ((size_t)(bench_done + i) & mask) * bytes;
}

static void start_put(long i)
{
    MPI_Put(own + at(i), (int)bytes, MPI_BYTE, next, (MPI_Aint)at(i), (int)bytes, MPI_BYTE, window);
}

static void start_get(long i)
{
    MPI_Get(own + at(i), (int)bytes, MPI_BYTE, next, (MPI_Aint)at(i), (int)bytes, MPI_BYTE, window);
}

static void put(long n)
{
    LOOP
    {
        start_put(i);
        MPI_Win_flush_local(next, window);
    }
    MPI_Win_flush(next, window);
}

static void get(long n)
{
    LOOP
    {
        start_get(i);
        MPI_Win_flush(next, window);
    }
}

static void put_nbi(long n)
{
    LOOP
    {
        start_put(i);
        if (i % BATCH == BATCH - 1) MPI_Win_flush(next, window);
    }
    MPI_Win_flush(next, window);
}

static void get_nbi(long n)
{
    LOOP
    {
        start_get(i);
        if (i % BATCH == BATCH - 1) MPI_Win_flush(next, window);
    }
    MPI_Win_flush(next, window);
}

/* Whoever is the first to walk through larger blocks, or through others, finds them in no cache. */
static void warm(void)
{
    bench_alone(put);
}

static void measure_size(void)
{
    window = of_heap;
    warm();
    bench_at("put", "heap", bytes, bench_alone(put), "ns");
    bench_at("put", "heap, nbi", bytes, bench_alone(put_nbi), "ns");
    bench_at("get", "heap", bytes, bench_alone(get), "ns");
    bench_at("get", "heap, nbi", bytes, bench_alone(get_nbi), "ns");
    window = of_static;
    warm();
    bench_at("put", "static data", bytes, bench_alone(put), "ns");
    bench_at("get", "static data", bytes, bench_alone(get), "ns");
}

static void measure(void)
{
    bench_touch(of_heap, own, BIG, next);
    bench_touch(of_static, own, BIG, next);
    for (bytes = 8; bytes && !bench_over(); bytes = bench_next_size(bytes, bytes == 8 ? 8 : 4, BIG)) {
        size_t places = BIG / bytes < PLACES ? BIG / bytes : PLACES;
        mask = places - 1;
        measure_size();
    }
}

int main(void)
{
    void *part;
    bench_start();
    own = bench_private(BIG);
    of_heap = bench_window(BIG, &part);
    of_static = bench_window_over(in_static, BIG);
    bench_by_first(measure);
    bench_close(of_static);
    bench_close(of_heap);
    MPI_Finalize();
    return 0;
}
