/* Neighbour aggregation on a graph with MPI: MPI_Allgather of all rows in every hop.
 *
 *     mpicc -O2 graph_mpi.c -o graph_mpi && mpirun -n 2 graph_mpi [vertices]
 */
#include "ranks.h"
#include "graph.h"

static row_t *rows[2], *all;

static const row_t *row_of_all(size_t e) { return &all[neighbours[e]]; }

static size_t by_gather(void)
{
    int n = (int)(block * sizeof(row_t));
    for (int hop = 0; hop < HOPS; hop++) {
        MPI_Allgather(rows[hop % 2], n, MPI_BYTE, all, n, MPI_BYTE, MPI_COMM_WORLD);
        sum_rows(rows[hop % 2], rows[(hop + 1) % 2], row_of_all);
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
    aggregate_in_rounds("gather of all", rows, by_gather);
    job_end();
    return 0;
}
