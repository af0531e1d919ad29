/* A 2-D stencil: each PE puts its edges to its neighbours and tells them by a signal; nobody waits for all.
 *
 *     oshcc -O2 stencil.c -o stencil && oshrun -n 2 stencil [side-of-the-grid [steps]]
 */
#include "pes.h"
#include "stencil.h"
#include "tell.h"

/* Edges that came, two for each side: a neighbour may be one step ahead, and not two, as it needs an edge from here. */
static double *arrived[2][SIDES];
static flag_t *here; /* for each side: the steps whose edges are here */
static double *packed;

static void make_inbox(void)
{
    size_t edge = side + 8;
    double *all = job_memory(2 * SIDES * edge * sizeof *all, "edges");
    for (int i = 0; i < 2 * SIDES; i++)
        arrived[i / SIDES][i % SIDES] = all + (size_t)i * edge;
    here = job_memory(SIDES * sizeof *here, "signals");
    packed = need(malloc(edge * sizeof *packed), "an edge");
}

/* What goes north comes from the south. */
static void send_edges(size_t step)
{
    for (enum side s = NORTH; s < SIDES; s++) {
        if (neighbour[s] < 0) continue;
        const double *edge = own_edge(s);
        if (edge_step(s) != 1) pack_edge(s, packed), edge = packed;
        put_and_tell(arrived[step % 2][opposite[s]], edge, edge_cells(s) * sizeof *edge, &here[opposite[s]], step + 1,
                     neighbour[s]);
    }
}

static void take_edges(size_t step)
{
    for (enum side s = NORTH; s < SIDES; s++) {
        if (neighbour[s] < 0) continue;
        wait_for(&here[s], (flag_t)step + 1);
        unpack_edge(s, arrived[step % 2][s]);
    }
}

static void exchange_edges(size_t step)
{
    send_edges(step);
    take_edges(step);
}

int main(int argc, char **argv)
{
    job_begin(&argc, &argv);
    stencil_set_up(argc, argv);
    make_inbox();
    step_in_rounds(PUT_AND_TELL, exchange_edges);
    job_end();
    return 0;
}
