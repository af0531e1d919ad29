/* The job as OpenSHMEM has it: who is here, sums and maxima over all, a clock that starts and stops at barriers. The
 * calls are those of OpenSHMEM 1.4; ranks.h gives the same functions on MPI. */
#ifndef PES_H
#define PES_H

#include "work.h"
#include <shmem.h>
#include <stdarg.h>

#define JOB_MODEL "OpenSHMEM"

static int me, npes;
static uint64_t *job_words; /* one for each PE */

static inline void job_barrier(void) { shmem_barrier_all(); }

/* Ends the job with a sentence. */
static inline void job_fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "PE %d: ", me);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    shmem_global_exit(1);
}

static inline void *job_memory(size_t bytes, const char *what)
{
    void *memory = shmem_calloc((bytes + 63) / 64, 64);
    if (!memory)
        job_fail("shmem_calloc: no room for %zu bytes of %s: raise SHMEM_SYMMETRIC_SIZE or ask for less", bytes, what);
    return memory;
}

static inline void job_begin(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    job_words = job_memory((size_t)npes * sizeof *job_words, "totals");
}

static inline void job_end(void)
{
    fflush(stdout);
    shmem_finalize();
}

/* Each PE's word becomes known to all, in job_words until the next of these calls. */
static inline void job_share(uint64_t word)
{
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        shmem_ulong_p((unsigned long *)&job_words[me], word, pe);
    shmem_barrier_all();
}

static inline uint64_t job_sum(uint64_t word)
{
    uint64_t sum = 0;
    job_share(word);
    for (int pe = 0; pe < npes; pe++)
        sum += job_words[pe];
    return sum;
}

static inline uint64_t job_xor(uint64_t word)
{
    uint64_t all = 0;
    job_share(word);
    for (int pe = 0; pe < npes; pe++)
        all ^= job_words[pe];
    return all;
}

/* By PE: where plain C reaches its copy of the block. NULL, at all PEs, where one of them does not reach all. */
static inline void **job_reach(void *block)
{
    void **reach = need(malloc((size_t)npes * sizeof *reach), "addresses");
    int all = 1;
    for (int pe = 0; pe < npes; pe++)
        all &= (reach[pe] = shmem_ptr(block, pe)) != NULL;
    if (job_sum((uint64_t)all) == (uint64_t)npes) return reach;
    free(reach);
    return NULL;
}

static inline double job_max(double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    job_share(word);
    for (int pe = 0; pe < npes; pe++) {
        double other;
        memcpy(&other, &job_words[pe], sizeof other);
        if (other > value) value = other;
    }
    return value;
}

static inline double job_clock(void)
{
    shmem_barrier_all();
    return seconds_now();
}

/* Seconds since job_clock, of the last to come. */
static inline double job_took(double begin)
{
    shmem_barrier_all();
    return job_max(seconds_now() - begin);
}

#endif
