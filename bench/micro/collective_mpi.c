/* Collectives of doubles against size, with MPI; what each is next to is in collective.c.
 *
 *     mpicc -O2 -std=gnu11 bench/micro/collective_mpi.c -o collective && mpirun -n 8 ./collective
 */
#include "bench_mpi.h"

enum { MOST = 16 << 20 };

static double *to, *from;
static int all, part, *parts, *places;

static void broadcast(long n)
{
    LOOP MPI_Bcast(to, all, MPI_DOUBLE, (int)(i % npes), MPI_COMM_WORLD);
}

static void reduce(long n)
{
    LOOP MPI_Allreduce(from, to, all, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void gather(long n)
{
    LOOP MPI_Allgather(from, part, MPI_DOUBLE, to, part, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void alltoall(long n)
{
    LOOP MPI_Alltoall(from, part, MPI_DOUBLE, to, part, MPI_DOUBLE, MPI_COMM_WORLD);
}

/* With a barrier: nothing else keeps rank 0, who waits for nobody in a scan, from running ahead. */
static void scan(long n)
{
    LOOP
    {
        MPI_Scan(from, to, all, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Like shmem_collect, everybody finds out how much the others give. */
static void collect(long n)
{
    LOOP
    {
        MPI_Allgather(&part, 1, MPI_INT, parts, 1, MPI_INT, MPI_COMM_WORLD);
        for (int r = 1; r < npes; r++)
            places[r] = places[r - 1] + parts[r - 1];
        MPI_Allgatherv(from, part, MPI_DOUBLE, to, parts, places, MPI_DOUBLE, MPI_COMM_WORLD);
    }
}

static void row(const char *table, size_t bytes, bench_work *work)
{
    if (!bench_over_together()) bench_at(table, "heap", bytes, bench_together(work), "ns");
}

static void measure_size(size_t bytes)
{
    all = (int)(bytes / sizeof *to);
    part = all / npes;
    row("broadcast", bytes, broadcast);
    row("reduce", bytes, reduce);
    if (part) {
        row("fcollect", bytes, gather);
        row("collect", bytes, collect);
        row("alltoall", bytes, alltoall);
    }
    row("scan", bytes, scan);
}

int main(void)
{
    bench_start();
    to = bench_private(MOST);
    from = bench_private(MOST);
    parts = bench_private((size_t)npes * sizeof *parts);
    places = bench_private((size_t)npes * sizeof *places);
    places[0] = 0;
    for (int k = 0; k < BENCH_RESULT_SIZES && bench_result_sizes[k] <= bench_bytes; k++)
        measure_size(bench_result_sizes[k]);
    MPI_Finalize();
    return 0;
}
