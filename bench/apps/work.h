/* What all applications share, whatever they communicate by: the clock, random numbers, sizes from the command line,
 * and the lines that bench/run.py reads: table, series, x, value and unit, with tabs between; comments begin with #. */
#ifndef WORK_H
#define WORK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A number as good as random for each x: programs compare with it what came out, without having kept what went in. */
static inline uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

/* Argument number `at`, or `standard` where there is none. */
static inline size_t size_argument(int argc, char **argv, int at, const char *what, size_t standard, size_t most)
{
    if (at >= argc) return standard;
    char *end;
    unsigned long long value = strtoull(argv[at], &end, 10);
    if (*argv[at] >= '0' && *argv[at] <= '9' && !*end && value >= 1 && value <= most) return (size_t)value;
    fprintf(stderr, "%s: argument %d, %s, is '%s': give a whole number from 1 to %zu\n", argv[0], at, what, argv[at],
            most);
    exit(2);
}

static inline void print_row(const char *table, const char *series, size_t x, double value, const char *unit)
{
    printf("%s\t%s\t%zu\t%.6g\t%s\n", table, series, x, value, unit);
    fflush(stdout);
}

static inline int ascending_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double median_of(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, ascending_doubles);
    return values[n / 2];
}

/* Rounds of the same work, as one of them can be unlucky: so many, or until they have taken so long. What a round took is
 * the same at all PEs (job_took), so they agree when it is enough. */
enum { MOST_ROUNDS = 11 };
static const double most_of_rounds = 0.25;

struct rounds {
    double took[MOST_ROUNDS], spent;
    int n;
};

static inline int another_round(const struct rounds *r) { return r->n < MOST_ROUNDS && r->spent < most_of_rounds; }

/* Of a round that does as much as comes into its time: what each piece of the work took. */
static inline void add_round_of(struct rounds *r, double took, uint64_t pieces)
{
    r->took[r->n++] = took / (double)pieces;
    r->spent += took;
}

static inline void add_round(struct rounds *r, double took) { add_round_of(r, took, 1); }

static inline double median_round(struct rounds *r) { return median_of(r->took, r->n); }

static inline void *need(void *memory, const char *what)
{
    if (memory) return memory;
    fprintf(stderr, "no memory for %s: ask for smaller sizes\n", what);
    exit(1);
}

#endif
