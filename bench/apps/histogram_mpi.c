/* A histogram in the manner of bale with MPI: indices sorted by owner, exchanged with MPI_Alltoallv, counted by the
 * owner.
 *
 *     mpicc -O2 histogram_mpi.c -o histogram_mpi && mpirun -n 2 histogram_mpi [indices [counters]] # of each rank
 */
#include "ranks.h"
#include "spread.h"
#include "histogram.h"
#include "alltoallv.h"

static void by_alltoallv(void)
{
    exchange_places();
    for (int i = 0; i < asked; i++)
        counters[from_others[i]]++;
}

int main(int argc, char **argv)
{
    job_begin(&argc, &argv);
    spread_set_up("histogram", argc, argv);
    histogram_set_up();
    exchange_set_up();
    counters = job_memory(elements * sizeof *counters, "counters");
    count_in_rounds("alltoallv", by_alltoallv);
    job_end();
    return 0;
}
