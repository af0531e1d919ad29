/* What memory that others reach costs with MPI: a window allocated and freed, by all ranks. x: bytes.
 *
 *     mpicc -O2 -std=gnu11 bench/micro/heap_mpi.c -o heap && mpirun -n 2 ./heap
 */
#include "bench_mpi.h"

enum { MOST = 4 << 20 };

static size_t bytes;

static void windows(long n)
{
    LOOP
    {
        MPI_Win window;
        void *block;
        MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &block, &window);
        MPI_Win_free(&window);
    }
}

int main(void)
{
    bench_start();
    for (bytes = 64; bytes && !bench_over_together(); bytes = bench_next_size(bytes, 16, MOST))
        bench_at("malloc and free", "heap", bytes, bench_together(windows), "ns");
    MPI_Finalize();
    return 0;
}
