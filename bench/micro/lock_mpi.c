/* What a lock is with MPI: an exclusive epoch on rank 0's window, by one rank alone, then by all at once. x: ranks.
 *
 *     mpicc -O2 -std=gnu11 bench/micro/lock_mpi.c -o lock && mpirun -n 8 ./lock
 */
#include "bench_mpi.h"

static MPI_Win window;

static void lock_alone(long n)
{
    LOOP
    {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Win_unlock(0, window);
    }
}

static void lock_all(long n)
{
    LOOP
    {
        long value = 0;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
        MPI_Win_flush(0, window);
        value++;
        MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
        MPI_Win_unlock(0, window);
    }
}

static void measure(void)
{
    bench_line("lock", "alone", "set and clear", bench_alone(lock_alone), "ns");
}

int main(void)
{
    void *part;
    bench_start();
    window = bench_window(64, &part);
    MPI_Win_unlock_all(window);
    bench_by_first(measure);
    bench_at("lock handed over", "heap", (size_t)npes, bench_together(lock_all) / npes, "ns");
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
