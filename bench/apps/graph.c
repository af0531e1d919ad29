/* Neighbour aggregation on a graph: rows read on demand, next to a gather of all rows by everybody.
 *
 *     oshcc -O2 graph.c -o graph && oshrun -n 2 graph [vertices]
 *
 * examples/graph does the same work on a real graph. */
#include "pes.h"
#include "graph.h"

static row_t *rows[2]; /* symmetric: own rows before and after a hop */
static row_t *all;     /* symmetric: the rows of all, for the gather */
static const row_t *own_rows, *fetched;
static struct needed needed;

static const row_t *row_on_demand(size_t e)
{
    return needed.slot[e] < 0 ? &own_rows[place_of(neighbours[e])] : &fetched[needed.slot[e]];
}

static const row_t *row_of_all(size_t e) { return &all[neighbours[e]]; }

static void hop_on_demand(const row_t *is, row_t *out, row_t *memory)
{
    for (size_t i = 0; i < needed.n; i++)
        shmem_getmem_nbi(&memory[i], &is[place_of(needed.vertex[i])], sizeof *is, owner_of(needed.vertex[i]));
    shmem_quiet();
    own_rows = is;
    sum_rows(is, out, row_on_demand);
    shmem_barrier_all();
}

static size_t on_demand(void)
{
    needed = find_needed();
    row_t *memory = need(malloc(needed.n * sizeof *memory + 1), "rows of others");
    fetched = memory;
    for (int hop = 0; hop < HOPS; hop++)
        hop_on_demand(rows[hop % 2], rows[(hop + 1) % 2], memory);
    free(memory);
    free_needed(&needed);
    return HOPS * needed.n;
}

static void gather_all(const row_t *own)
{
#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
    shmem_fcollectmem(SHMEM_TEAM_WORLD, all, own, block * sizeof *own);
#else
    static long p_sync[SHMEM_COLLECT_SYNC_SIZE];
    for (int i = 0; i < SHMEM_COLLECT_SYNC_SIZE; i++)
        p_sync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    shmem_fcollect32(all, own, block * FEATURES, 0, 0, npes, p_sync);
#endif
}

static size_t by_gather(void)
{
    for (int hop = 0; hop < HOPS; hop++) {
        gather_all(rows[hop % 2]);
        sum_rows(rows[hop % 2], rows[(hop + 1) % 2], row_of_all);
        shmem_barrier_all(); /* the next gather overwrites what others may still read */
    }
    return HOPS * (vertices - owned);
}

int main(int argc, char **argv)
{
    job_begin(&argc, &argv);
    graph_set_up(argc, argv);
    for (int i = 0; i < 2; i++)
        rows[i] = job_memory(block * sizeof(row_t), "rows");
    all = job_memory((size_t)npes * block * sizeof(row_t), "all rows");
    aggregate_in_rounds("on demand", rows, on_demand);
    aggregate_in_rounds("gather of all", rows, by_gather);
    job_end();
    return 0;
}
