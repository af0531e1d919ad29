/* What it takes to be a rank: the time of MPI_Init, and the memory of a process after it. x: ranks.
 *
 *     mpicc -O2 -std=gnu11 bench/micro/start_mpi.c -o start && mpirun -n 8 ./start
 */
#include "bench_mpi.h"
#include "bench_memory.h"

static double over_all(double value, MPI_Op op)
{
    double result = 0;
    MPI_Reduce(&value, &result, 1, MPI_DOUBLE, op, 0, MPI_COMM_WORLD);
    return result;
}

int main(void)
{
    double begin = bench_now();
    bench_start();
    double took = bench_now() - begin, memory = bench_memory();
    bench_at("init", "shmem_init", (size_t)npes, over_all(took, MPI_MAX), "ns");
    bench_at("memory of a PE", "after init", (size_t)npes, over_all(memory, MPI_SUM) / npes, "KiB");
    for (int shift = 0; shift < npes; shift++) {
        int word = me, other = -1, to = (me + shift) % npes, from = (me + npes - shift) % npes;
        MPI_Sendrecv(&word, 1, MPI_INT, to, 0, &other, 1, MPI_INT, from, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        bench_must(other == from, "a word of each rank");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    bench_at("memory of a PE", "after a word to everybody", (size_t)npes,
             over_all(bench_memory(), MPI_SUM) / npes, "KiB");
    MPI_Finalize();
    return 0;
}
