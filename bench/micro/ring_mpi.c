/* A token goes once round all ranks, by MPI_Send and MPI_Recv. x: ranks.
 *
 *     mpicc -O2 -std=gnu11 bench/micro/ring_mpi.c -o ring && mpirun -n 8 ./ring
 */
#include "bench_mpi.h"

static void token_ring(long n)
{
    long token = 0;
    int before = (me + npes - 1) % npes;
    LOOP
    {
        if (me == 0) MPI_Send(&token, 1, MPI_LONG, next, 0, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_LONG, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (me != 0) MPI_Send(&token, 1, MPI_LONG, next, 0, MPI_COMM_WORLD);
    }
}

int main(void)
{
    bench_start();
    bench_at("token ring", "heap", (size_t)npes, bench_together(token_ring), "ns");
    MPI_Finalize();
    return 0;
}
