/* Neighbour aggregation in global memory: each PE reads the rows it needs from where they are. Nobody else acts.
 *
 *     oshcc -O2 neighbours_global.c -o n && oshrun -n 2 n [vertices-of-the-whole-graph]
 *
 * Written plainly, with a read for each edge; and with each row read once in a hop, all of them under way together. */
#include "../apps/pes.h"
#include "neighbours.h"

/* model: begin */
static void aggregate(void)
{
    for (int hop = 0; hop < HOPS; hop++) {
        const row_t *is = rows[hop % 2];
        row_t *out = rows[(hop + 1) % 2], row;
        for (size_t v = 0; v < owned; v++) {
            out[v] = is[v];
            for (size_t e = first[v]; e < first[v + 1]; e++) {
                if (owner_of(neighbours[e]) != me) moved(sizeof row);
                shmem_getmem(&row, &is[place_of(neighbours[e])], sizeof row, owner_of(neighbours[e]));
                add_row(&out[v], &row);
            }
        }
        shmem_barrier_all(); /* all have their sums: the next hop overwrites what they came from */
    }
}
/* model: end */

/* model: begin each row once */
static struct needed needed;
static row_t *fetched;
static const row_t *own_rows;

static const row_t *row_of(size_t e)
{
    return needed.slot[e] < 0 ? &own_rows[place_of(neighbours[e])] : &fetched[needed.slot[e]];
}

static void fetch_rows(const row_t *is)
{
    for (size_t i = 0; i < needed.n; i++) {
        moved(sizeof(row_t));
        shmem_getmem_nbi(&fetched[i], &is[place_of(needed.vertex[i])], sizeof(row_t), owner_of(needed.vertex[i]));
    }
    shmem_quiet();
}

static void aggregate_once(void)
{
    needed = find_needed();
    fetched = need(malloc(needed.n * sizeof *fetched + 1), "rows of others");
    for (int hop = 0; hop < HOPS; hop++) {
        own_rows = rows[hop % 2];
        fetch_rows(own_rows);
        sum_rows(own_rows, rows[(hop + 1) % 2], row_of);
        shmem_barrier_all();
    }
    free(fetched);
    free_needed(&needed);
}
/* model: end */

int main(int argc, char **argv)
{
    job_begin(&argc, &argv);
    neighbours_set_up(argc, argv);
    run_neighbours("global memory", aggregate);
    run_neighbours("global memory, each row once", aggregate_once);
    job_end();
    return 0;
}
