/* What p and g are, with MPI: MPI_Put until the source is free, MPI_Get until the value is there.
 *
 *     mpicc -O2 -std=gnu11 bench/micro/element_mpi.c -o element && mpirun -n 2 ./element
 */
#include "bench_mpi.h"

enum { WINDOW = 512 };

static MPI_Win window;

#define ELEMENT(bits)                                                                                     \
    static int##bits##_t static##bits[WINDOW], value##bits;                                               \
    static MPI_Aint at##bits(long i)                                                                      \
    {                                                                                                     \
        return (MPI_Aint)(i % WINDOW * (bits / 8));                                                       \
    }                                                                                                     \
    static void p##bits(long n)                                                                           \
    {                                                                                                     \
        LOOP                                                                                              \
        {                                                                                                 \
            value##bits = (int##bits##_t)i;                                                               \
            MPI_Put(&value##bits, 1, MPI_INT##bits##_T, next, at##bits(i), 1, MPI_INT##bits##_T, window); \
            MPI_Win_flush_local(next, window);                                                            \
        }                                                                                                 \
    }                                                                                                     \
    static void p_quiet##bits(long n)                                                                     \
    {                                                                                                     \
        LOOP                                                                                              \
        {                                                                                                 \
            MPI_Put(&value##bits, 1, MPI_INT##bits##_T, next, at##bits(i), 1, MPI_INT##bits##_T, window); \
            MPI_Win_flush(next, window);                                                                  \
        }                                                                                                 \
    }                                                                                                     \
    static void g##bits(long n)                                                                           \
    {                                                                                                     \
        LOOP                                                                                              \
        {                                                                                                 \
            MPI_Get(&value##bits, 1, MPI_INT##bits##_T, next, at##bits(i), 1, MPI_INT##bits##_T, window); \
            MPI_Win_flush(next, window);                                                                  \
            KEEP(value##bits);                                                                            \
        }                                                                                                 \
    }                                                                                                     \
    static void measure##bits(const char *series)                                                         \
    {                                                                                                     \
        bench_at("p", series, bits / 8, bench_alone(p##bits), "ns");                                      \
        bench_at("g", series, bits / 8, bench_alone(g##bits), "ns");                                      \
        bench_at("p and quiet", series, bits / 8, bench_alone(p_quiet##bits), "ns");                      \
    }

ELEMENT(32)
ELEMENT(64)

static MPI_Win of_heap, of_static32, of_static64;

static void measure(void)
{
    window = of_heap;
    measure32("heap");
    measure64("heap");
    window = of_static32;
    measure32("static data");
    window = of_static64;
    measure64("static data");
}

int main(void)
{
    void *part;
    bench_start();
    of_heap = bench_window(WINDOW * sizeof(int64_t), &part);
    of_static32 = bench_window_over(static32, sizeof static32);
    of_static64 = bench_window_over(static64, sizeof static64);
    bench_by_first(measure);
    bench_close(of_static64);
    bench_close(of_static32);
    bench_close(of_heap);
    MPI_Finalize();
    return 0;
}
