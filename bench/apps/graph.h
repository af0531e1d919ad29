/* What the graph benchmark reports. Included behind pes.h or ranks.h. */
#ifndef GRAPH_H
#define GRAPH_H

#include "powerlaw.h"

static inline void graph_set_up(int argc, char **argv)
{
    choose_block(size_argument(argc, argv, 1, "vertices of the whole graph", 1 << 14, 1 << 28));
    make_edges();
    uint64_t edges = job_sum(first[owned]);
    if (me == 0)
        printf("# graph: %s, %d PEs, %zu vertices, %llu edges, rows of %zu bytes, %d hops\n", JOB_MODEL, npes, vertices,
               (unsigned long long)edges, sizeof(row_t), HOPS);
}

/* hops() begins with the own rows in rows[0] and leaves what comes
 * out of the last hop in rows[HOPS % 2]; it returns how many rows it brought here. */
static inline void aggregate_in_rounds(const char *series, row_t *const rows[2], size_t (*hops)(void))
{
    struct rounds rounds = {.n = 0};
    size_t moved = 0;
    while (another_round(&rounds)) {
        make_rows(rows[0]);
        double begin = job_clock();
        moved = hops();
        add_round(&rounds, job_took(begin));
        must_be_serial_rows(series, rows[HOPS % 2]);
    }
    uint64_t all = job_sum(moved);
    if (me != 0) return;
    print_row("graph", series, (size_t)npes, median_round(&rounds) * 1e3, "ms");
    print_row("graph, moved", series, (size_t)npes, (double)all * sizeof(row_t), "bytes");
}

#endif
