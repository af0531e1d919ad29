/* What all ranks do together with little or no data, against their number, with MPI.
 *
 *     mpicc -O2 -std=gnu11 bench/micro/meet_mpi.c -o meet && for n in 1 2 4 8 16; do mpirun -n $n ./meet; done
 */
#include "bench_mpi.h"

static double *to, *from;

static void barrier(long n)
{
    LOOP MPI_Barrier(MPI_COMM_WORLD);
}

static void reduce(long n)
{
    LOOP MPI_Allreduce(from, to, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void broadcast(long n)
{
    LOOP MPI_Bcast(to, 1, MPI_DOUBLE, (int)(i % npes), MPI_COMM_WORLD);
}

static void gather(long n)
{
    LOOP MPI_Allgather(from, 1, MPI_DOUBLE, to, 1, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void alltoall(long n)
{
    LOOP MPI_Alltoall(from, 1, MPI_DOUBLE, to, 1, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void row(const char *table, const char *series, bench_work *work)
{
    if (!bench_over_together()) bench_at(table, series, (size_t)npes, bench_together(work), "ns");
}

int main(void)
{
    bench_start();
    to = bench_private((size_t)npes * sizeof *to);
    from = bench_private((size_t)npes * sizeof *from);
    row("barrier", "all PEs", barrier);
    row("sync", "all PEs", barrier);
    row("collectives of one double", "reduce", reduce);
    row("collectives of one double", "broadcast", broadcast);
    row("collectives of one double", "fcollect", gather);
    row("collectives of one double", "alltoall", alltoall);
    MPI_Finalize();
    return 0;
}
