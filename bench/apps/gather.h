/* What the index gather brings, and what it must be. Included behind spread.h. */
#ifndef GATHER_H
#define GATHER_H

static uint64_t *table, *got;

static inline void fill_table(void)
{
    for (size_t i = 0; i < elements; i++)
        table[i] = mix((uint64_t)i * (uint64_t)npes + (uint64_t)me);
    got = need(malloc(indices * sizeof *got), "what is gathered");
    job_barrier();
}

static inline void must_be_gathered(const char *series)
{
    for (size_t k = 0; k < indices; k++)
        if (got[k] != mix(index_number(me, k)))
            job_fail("gather, %s: element %zu of PE %d came as %016llx", series, place[k], owner[k],
                     (unsigned long long)got[k]);
}

static inline void gather_in_rounds(const char *series, void (*gather)(void))
{
    struct rounds rounds = {.n = 0};
    while (another_round(&rounds)) {
        memset(got, 0, indices * sizeof *got);
        double begin = job_clock();
        gather();
        add_round(&rounds, job_took(begin));
        must_be_gathered(series);
    }
    report_spread("gather", series, &rounds);
}

#endif
