/* Neighbour aggregation by one-sided push: who needs rows says so once to their owners; then, in every hop, owners put
 * them where they are needed, and a signal behind them.
 *
 *     oshcc -O2 neighbours_push.c -o n && oshrun -n 2 n [vertices-of-the-whole-graph]
 */
#include "../apps/pes.h"
#include "../apps/tell.h"
#include "neighbours.h"

/* model: begin */
/* What a PE needs of another: it stands in the owner's memory. */
struct wish {
    uint64_t n, first_slot;
};

static struct needed needed;
static struct wish *wishes;         /* symmetric, by PE: how many of our rows it needs, and where they go */
static uint32_t *wished;            /* symmetric, by PE: room for as many vertices as a PE can own */
static row_t *fetched;              /* symmetric: rows come here */
static flag_t *has_asked, *has_put; /* symmetric, by PE: rounds of wishes, and hops */
static flag_t round_number, hop_number;

static void tell_owner(int pe, size_t from, size_t n)
{
    struct wish wish = {n, from};
    moved(n * sizeof(uint32_t));
    moved(sizeof wish);
    shmem_putmem(wished + (size_t)me * block, needed.vertex + from, n * sizeof(uint32_t), pe);
    shmem_putmem(&wishes[me], &wish, sizeof wish, pe);
    shmem_fence();
    tell(&has_asked[me], round_number, pe);
}

static void tell_owners(void)
{
    needed = find_needed();
    round_number++;
    for (size_t i = 0, pe = 0; pe < (size_t)npes; pe++) {
        size_t from = i;
        while (i < needed.n && owner_of(needed.vertex[i]) == (int)pe)
            i++;
        if ((int)pe != me) tell_owner((int)pe, from, i - from);
    }
    for (int pe = 0; pe < npes; pe++)
        if (pe != me) wait_for(&has_asked[pe], round_number);
}

static void push_rows(const row_t *own)
{
    hop_number++;
    for (int i = 1; i < npes; i++) {
        int pe = (me + i) % npes;
        const uint32_t *vertex = wished + (size_t)pe * block;
        for (uint64_t k = 0; k < wishes[pe].n; k++) {
            moved(sizeof(row_t));
            shmem_putmem_nbi(&fetched[wishes[pe].first_slot + k], &own[place_of(vertex[k])], sizeof(row_t), pe);
        }
        shmem_fence();
        moved(sizeof(flag_t));
        tell(&has_put[me], hop_number, pe);
    }
    for (int pe = 0; pe < npes; pe++)
        if (pe != me) wait_for(&has_put[pe], hop_number);
}

static const row_t *own_rows;
static const row_t *row_of(size_t e)
{
    return needed.slot[e] < 0 ? &own_rows[place_of(neighbours[e])] : &fetched[needed.slot[e]];
}

static void aggregate(void)
{
    tell_owners();
    for (int hop = 0; hop < HOPS; hop++) {
        own_rows = rows[hop % 2];
        push_rows(own_rows);
        sum_rows(own_rows, rows[(hop + 1) % 2], row_of);
        shmem_barrier_all(); /* the rows of the next hop overwrite these */
    }
    free_needed(&needed);
}

static void make_room(void)
{
    size_t n = (size_t)npes;
    wishes = job_memory(n * sizeof *wishes, "wishes");
    wished = job_memory(n * block * sizeof *wished, "wishes");
    fetched = job_memory(vertices * sizeof *fetched, "rows of others");
    has_asked = job_memory(n * sizeof *has_asked, "flags");
    has_put = job_memory(n * sizeof *has_put, "flags");
}
/* model: end */

int main(int argc, char **argv)
{
    job_begin(&argc, &argv);
    neighbours_set_up(argc, argv);
    make_room();
    run_neighbours("push", aggregate);
    job_end();
    return 0;
}
