/* The job "neighbours": sums over the neighbours in a graph whose degrees follow a power law (../apps/powerlaw.h).
 *
 *     PROGRAM [vertices-of-the-whole-graph]
 *
 * Included behind pes.h or ranks.h, before the model. */
#ifndef NEIGHBOURS_H
#define NEIGHBOURS_H

#include "model.h"
#include "../apps/powerlaw.h"

static row_t *rows[2]; /* own rows before and after a hop */

static inline void neighbours_set_up(int argc, char **argv)
{
    choose_block(size_argument(argc, argv, 1, "vertices of the whole graph", 1 << 13, 1 << 28));
    make_edges();
    for (int i = 0; i < 2; i++)
        rows[i] = job_memory(block * sizeof(row_t), "rows");
    uint64_t edges = job_sum(first[owned]);
    if (me == 0)
        printf("# neighbours: %s, %d PEs, %zu vertices, %llu edges, rows of %zu bytes, %d hops\n", JOB_MODEL, npes,
               vertices, (unsigned long long)edges, sizeof(row_t), HOPS);
}

static inline uint64_t digest_rows(const row_t *own)
{
    uint64_t sum = 0;
    for (size_t v = 0; v < owned; v++)
        for (size_t i = 0; i < FEATURES; i++)
            sum += mix(own[v].feature[i] ^ (begin_own + v) << 40 ^ i << 32);
    return sum;
}

/* The work ends with the sums in rows[HOPS % 2]. */
static inline void run_neighbours(const char *model, void (*work)(void))
{
    struct rounds rounds = {.n = 0};
    while (another_round(&rounds)) {
        all_moved = (struct moved){0, 0};
        make_rows(rows[0]);
        double begin = job_clock();
        work();
        add_round(&rounds, job_took(begin));
    }
    must_be_serial_rows(model, rows[HOPS % 2]);
    report_model("neighbours", model, median_round(&rounds), digest_rows(rows[HOPS % 2]));
    job_barrier();
}

#endif
