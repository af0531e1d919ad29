/* MPI's part of bench.h, and windows. */
#ifndef BENCH_MPI_H
#define BENCH_MPI_H

#include <mpi.h>
#include "bench.h"

static void bench_meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static double bench_agree(double value)
{
    MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return value;
}

static double bench_span(double begin, double end)
{
    double own[2] = {-begin, end}, all[2];
    MPI_Allreduce(own, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all[1] + all[0];
}

static BENCH_UNUSED void bench_start(void)
{
    int rank, size;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    bench_begin(rank, size);
}

static BENCH_UNUSED void *bench_private(size_t bytes)
{
    void *block = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);
    if (!block) MPI_Abort(MPI_COMM_WORLD, 1);
    return memset(block, 2, bytes);
}

/* A window that every rank may use at any time, and this rank's part of it. */
static BENCH_UNUSED MPI_Win bench_window(size_t bytes, void *part)
{
    MPI_Win window;
    void *block;
    MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &block, &window);
    memset(block, 1, bytes);
    *(void **)part = block;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    MPI_Barrier(MPI_COMM_WORLD);
    return window;
}

/* The same over memory that is there already. */
static BENCH_UNUSED MPI_Win bench_window_over(void *block, size_t bytes)
{
    MPI_Win window;
    memset(block, 1, bytes);
    MPI_Win_create(block, (MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    MPI_Barrier(MPI_COMM_WORLD);
    return window;
}

/* Once there and back: whoever reaches over finds each page mapped by the time that it is measured. */
static BENCH_UNUSED void bench_touch(MPI_Win window, void *own, size_t bytes, int rank)
{
    MPI_Put(own, (int)bytes, MPI_BYTE, rank, 0, (int)bytes, MPI_BYTE, window);
    MPI_Win_flush(rank, window);
    MPI_Get(own, (int)bytes, MPI_BYTE, rank, 0, (int)bytes, MPI_BYTE, window);
    MPI_Win_flush(rank, window);
}

static BENCH_UNUSED void bench_close(MPI_Win window)
{
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

/* Rank 0 works, everybody else waits in a barrier. */
static BENCH_UNUSED void bench_by_first(void (*work)(void))
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) work();
    MPI_Barrier(MPI_COMM_WORLD);
}

#endif
