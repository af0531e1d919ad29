/* The job as MPI has it: the same functions as pes.h. */
#ifndef RANKS_H
#define RANKS_H

#include "work.h"
#include <mpi.h>
#include <stdarg.h>

#define JOB_MODEL "MPI"

static int me, npes;

static inline void job_barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

/* Ends the job with a sentence. */
static inline void job_fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "rank %d: ", me);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static inline void *job_memory(size_t bytes, const char *what)
{
    void *memory = calloc((bytes + 63) / 64, 64);
    if (!memory) job_fail("calloc: no room for %zu bytes of %s: ask for less", bytes, what);
    return memory;
}

static inline void job_begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &npes);
}

static inline void job_end(void)
{
    fflush(stdout);
    MPI_Finalize();
}

static inline uint64_t job_total(uint64_t word, MPI_Op op)
{
    uint64_t all;
    MPI_Allreduce(&word, &all, 1, MPI_UINT64_T, op, MPI_COMM_WORLD);
    return all;
}

static inline uint64_t job_sum(uint64_t word) { return job_total(word, MPI_SUM); }
static inline uint64_t job_xor(uint64_t word) { return job_total(word, MPI_BXOR); }

static inline double job_max(double value)
{
    double all;
    MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static inline double job_clock(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return seconds_now();
}

/* Seconds since job_clock, of the last to come. */
static inline double job_took(double begin)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return job_max(seconds_now() - begin);
}

#endif
