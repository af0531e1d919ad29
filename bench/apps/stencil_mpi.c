/* A 2-D stencil with MPI: four times MPI_Sendrecv in a step.
 *
 *     mpicc -O2 stencil_mpi.c -o stencil_mpi && mpirun -n 2 stencil_mpi [side-of-the-grid [steps]]
 */
#include "ranks.h"
#include "stencil.h"

static double *packed, *arrived;

/* What goes to one side leaves on it and comes in from the opposite one. */
static void shift_edges(enum side to)
{
    enum side from = opposite[to];
    int out = neighbour[to] < 0 ? MPI_PROC_NULL : neighbour[to],
        in = neighbour[from] < 0 ? MPI_PROC_NULL : neighbour[from];
    int n = (int)edge_cells(to);
    if (edge_step(to) == 1) {
        MPI_Sendrecv(own_edge(to), n, MPI_DOUBLE, out, to, frame_edge(from), n, MPI_DOUBLE, in, to, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        return;
    }
    pack_edge(to, packed);
    MPI_Sendrecv(packed, n, MPI_DOUBLE, out, to, arrived, n, MPI_DOUBLE, in, to, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (in != MPI_PROC_NULL) unpack_edge(from, arrived);
}

static void exchange_edges(size_t step)
{
    (void)step;
    for (enum side to = NORTH; to < SIDES; to++)
        shift_edges(to);
}

int main(int argc, char **argv)
{
    job_begin(&argc, &argv);
    stencil_set_up(argc, argv);
    packed = need(malloc(2 * side * sizeof *packed), "edges");
    arrived = packed + side;
    step_in_rounds("sendrecv", exchange_edges);
    job_end();
    return 0;
}
