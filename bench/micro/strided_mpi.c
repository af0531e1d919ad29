/* What iput and iget are, with MPI: MPI_Put and MPI_Get with a vector type on both sides.
 *
 *     mpicc -O2 -std=gnu11 bench/micro/strided_mpi.c -o strided && mpirun -n 2 ./strided
 */
#include "bench_mpi.h"

enum { MOST = 64 << 20, STRIDE = 2 };

static long *own;
static MPI_Win window;
static MPI_Datatype strided;

static void iput(long n)
{
    LOOP
    {
        MPI_Put(own, 1, strided, next, 0, 1, strided, window);
        MPI_Win_flush_local(next, window);
    }
}

static void iget(long n)
{
    LOOP
    {
        MPI_Get(own, 1, strided, next, 0, 1, strided, window);
        MPI_Win_flush(next, window);
    }
}

static void measure(void)
{
    for (size_t bytes = 8; bytes && !bench_over(); bytes = bench_next_size(bytes, bytes == 8 ? 8 : 4, MOST)) {
        MPI_Type_vector((int)(bytes / sizeof(long)), 1, STRIDE, MPI_LONG, &strided);
        MPI_Type_commit(&strided);
        bench_at("iput", "heap", bytes, bench_alone(iput), "ns");
        bench_at("iget", "heap", bytes, bench_alone(iget), "ns");
        MPI_Type_free(&strided);
    }
}

int main(void)
{
    void *part;
    bench_start();
    own = bench_private(MOST * STRIDE);
    window = bench_window(MOST * STRIDE, &part);
    bench_by_first(measure);
    bench_close(window);
    MPI_Finalize();
    return 0;
}
