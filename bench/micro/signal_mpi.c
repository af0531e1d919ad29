/* A block goes there and back between two ranks by MPI_Send and MPI_Recv.
 *
 *     mpicc -O2 -std=gnu11 bench/micro/signal_mpi.c -o signal && mpirun -n 2 ./signal
 */
#include "bench_mpi.h"

enum { MOST = 4 << 20 };

static char *own, *in;
static size_t bytes;

static void there_and_back(long n)
{
    LOOP
    {
        if (me == 0) MPI_Send(own, (int)bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(in, (int)bytes, MPI_BYTE, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (me == 1) MPI_Send(own, (int)bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
}

int main(void)
{
    bench_start();
    own = bench_private(MOST);
    in = bench_private(MOST);
    if (npes != 2) {
        fprintf(stderr, "signal: for 2 ranks, not %d\n", npes);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (bytes = 8; bytes && !bench_over_together(); bytes = bench_next_size(bytes, 8, MOST))
        bench_at("put with signal, there and back", "heap", bytes, bench_together(there_and_back), "ns");
    MPI_Finalize();
    return 0;
}
