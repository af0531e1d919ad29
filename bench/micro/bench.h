/* What every program here shares, whatever library it is for: time, medians, budgets, and the lines run.py reads.
 *
 * A data line is "table <tab> series <tab> x <tab> value <tab> unit", from PE 0; x is bytes, a number of PEs or a word.
 * The series "limit", or "limit SERIES", is the same work without a library. Lines that begin with # are remarks.
 *
 * A program is given time, never a count, since the slowest peer may be ten thousand times slower than the fastest:
 *   BENCH_ROW_MS    what one row may take (30)       BENCH_SECONDS   after this no further row begins (6)
 *   BENCH_BYTES     the largest size                 (as much as the table has)
 *
 * The header of a library (bench_shmem.h, bench_mpi.h) defines bench_meet, bench_agree and bench_span.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int me, npes, next; /* next: the PE that is worked on */

static void bench_meet(void);            /* a barrier of all */
static double bench_agree(double value); /* what PE 0 passes, for everybody */

/* From the earliest begin of all PEs to the latest end, for everybody: with more PEs than cores some are through before
 * others have begun. The clock is one for all, since they are on one machine. */
static double bench_span(double begin, double end);

#define BENCH_UNUSED __attribute__((unused))
#define KEEP(x) __asm__ volatile("" : : "r"(x) : "memory")
#define LOOP for (long i = 0; i < n; i++)

typedef void bench_work(long n); /* the same thing n times */

enum { BENCH_ROUNDS = 9, BENCH_MOST = 1 << 24 };
static double bench_began, bench_seconds, bench_row_ns;
static size_t bench_bytes;

/* How many times the work has been done before, with rounds that are no measurement. Who walks through memory goes on where he
 * was, so that how many times fit a round does not set how much memory it is. */
static long bench_done;

static double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double bench_setting(const char *name, double otherwise)
{
    const char *text = getenv(name);
    return text && *text ? atof(text) : otherwise;
}

/* Right after the library is set up. */
static void bench_begin(int rank, int size)
{
    me = rank;
    npes = size;
    next = (me + 1) % npes;
    bench_began = bench_now();
    bench_seconds = bench_setting("BENCH_SECONDS", 6);
    bench_row_ns = bench_setting("BENCH_ROW_MS", 30) * 1e6;
    bench_bytes = (size_t)bench_setting("BENCH_BYTES", 1e18);
}

static BENCH_UNUSED void bench_line(const char *table, const char *series, const char *x, double value,
                                    const char *unit)
{
    if (me != 0) return;
    printf("%s\t%s\t%s\t%.6g\t%s\n", table, series, x, value, unit);
    fflush(stdout); /* what a program that is ended later has found is kept */
}

static BENCH_UNUSED void bench_at(const char *table, const char *series, size_t x, double value,
                                  const char *unit)
{
    char text[32];
    snprintf(text, sizeof text, "%zu", x);
    bench_line(table, series, text, value, unit);
}

/* A result that is wrong is not worth its time. */
static BENCH_UNUSED void bench_must(bool right, const char *what)
{
    if (right) return;
    fprintf(stderr, "PE %d: wrong result: %s\n", me, what);
    abort();
}

static int bench_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double bench_took(bench_work *work, long n, bool together)
{
    if (together) bench_meet();
    double begin = bench_now();
    work(n);
    double end = bench_now();
    bench_done += n;
    return together ? bench_span(begin, end) : end - begin;
}

/* As many times as fill a round. What touches pages or connects for the first time fills one too soon: each number is
 * tried a second time before it is believed, unless there is no time for that. */
static long bench_fitting(bench_work *work, bool together, double round_ns, double *took)
{
    for (long n = 1;;) {
        *took = bench_took(work, n, together);
        if (*took >= round_ns && *took < 8 * bench_row_ns) *took = bench_took(work, n, together);
        if (*took >= round_ns || n >= BENCH_MOST) return n;
        double factor = *took > 0 ? 1.2 * round_ns / *took : 10;
        n = factor > 10 ? n * 10 : factor > 2 ? (long)((double)n * factor) : n * 2;
    }
}

/* Nanoseconds for once: the median of rounds, fewer where one takes long. */
static double bench_measure(bench_work *work, bool together)
{
    double t[BENCH_ROUNDS], took;
    long n = bench_fitting(work, together, bench_row_ns / (BENCH_ROUNDS + 3), &took);
    double spent = took;
    int rounds = 0;
    t[rounds++] = took / (double)n;
    while (rounds < BENCH_ROUNDS && spent + took <= bench_row_ns * (rounds < 3 ? 3 : 1)) {
        took = bench_took(work, n, together);
        spent += took;
        t[rounds++] = took / (double)n;
    }
    qsort(t, (size_t)rounds, sizeof t[0], bench_ascending);
    return t[rounds / 2];
}

static BENCH_UNUSED double bench_alone(bench_work *work)
{
    return bench_measure(work, false);
}
static BENCH_UNUSED double bench_together(bench_work *work)
{
    return bench_measure(work, true);
}

/* Whether time is up: asked by PE 0 on its own, or by all together. */
static BENCH_UNUSED bool bench_over(void)
{
    static bool said;
    bool over = bench_now() - bench_began > bench_seconds * 1e9;
    if (over && !said && me == 0)
        printf("# out of time\n"); /* so run.py knows why the other rows are missing */
    said = said || over;
    return over;
}

static BENCH_UNUSED bool bench_over_together(void)
{
    return bench_agree(bench_over()) != 0;
}

/* The next size of a table; 0 when there is none. */
static BENCH_UNUSED size_t bench_next_size(size_t bytes, size_t factor, size_t most)
{
    bytes *= factor;
    return bytes <= most && bytes <= bench_bytes ? bytes : 0;
}

/* The sizes of collectives' results: fewer than for copies, since there are six of them and three numbers of PEs. */
static const size_t bench_result_sizes[] BENCH_UNUSED = {8, 64, 1024, 16384, 131072, 1 << 20, 16 << 20};
enum { BENCH_RESULT_SIZES = sizeof bench_result_sizes / sizeof bench_result_sizes[0] };

#endif
