/* What the counters of the histogram must be. Included behind spread.h. */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

static long *counters;
static int *expected;

/* Everybody's indices once more, counted here as far as they are this PE's. */
static inline void histogram_set_up(void)
{
    expected = need(calloc(elements, sizeof *expected), "what is expected");
    for (int pe = 0; pe < npes; pe++)
        for (size_t k = 0; k < indices; k++) {
            uint64_t i = index_number(pe, k);
            if ((int)(i % (uint64_t)npes) == me) expected[i / (uint64_t)npes]++;
        }
}

/* As if all places were of the own counters. */
static inline void expect_own_places(void)
{
    memset(expected, 0, elements * sizeof *expected);
    for (size_t k = 0; k < indices; k++)
        expected[place[k]]++;
}

static inline void must_be_counted(const char *series)
{
    for (size_t i = 0; i < elements; i++)
        if (counters[i] != expected[i])
            job_fail("histogram, %s: counter %zu is %ld and should be %d", series, i, counters[i], expected[i]);
}

static inline void count_in_rounds(const char *series, void (*count)(void))
{
    struct rounds rounds = {.n = 0};
    while (another_round(&rounds)) {
        memset(counters, 0, elements * sizeof *counters);
        double begin = job_clock();
        count();
        add_round(&rounds, job_took(begin));
        must_be_counted(series);
    }
    report_spread("histogram", series, &rounds);
}

#endif
