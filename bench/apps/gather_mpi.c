/* An index gather in the manner of bale with MPI: indices to their owners with MPI_Alltoallv, elements back with
 * another.
 *
 *     mpicc -O2 gather_mpi.c -o gather_mpi && mpirun -n 2 gather_mpi [indices-of-each-rank [elements-of-each-rank]]
 *
 * By MPI_Get and one flush, too. */
#include "ranks.h"
#include "spread.h"
#include "gather.h"
#include "alltoallv.h"

static MPI_Win window;

static void by_alltoallv(void)
{
    exchange_places();
    uint64_t *answer = need(malloc((size_t)asked * sizeof *answer + 1), "answers");
    uint64_t *sorted = need(malloc(indices * sizeof *sorted), "answers");
    for (int i = 0; i < asked; i++)
        answer[i] = table[from_others[i]];
    MPI_Alltoallv(answer, in, in_at, MPI_UINT64_T, sorted, out, out_at, MPI_UINT64_T, MPI_COMM_WORLD);
    for (size_t i = 0; i < indices; i++)
        got[position[i]] = sorted[i];
    free(answer);
    free(sorted);
}

static void by_get(void)
{
    for (size_t k = 0; k < indices; k++)
        MPI_Get(&got[k], 1, MPI_UINT64_T, owner[k], (MPI_Aint)place[k], 1, MPI_UINT64_T, window);
    MPI_Win_flush_all(window);
}

int main(int argc, char **argv)
{
    job_begin(&argc, &argv);
    spread_set_up("gather", argc, argv);
    exchange_set_up();
    position = need(malloc(indices * sizeof *position), "indices by owner");
    MPI_Win_allocate((MPI_Aint)(elements * sizeof *table), sizeof *table, MPI_INFO_NULL, MPI_COMM_WORLD, &table,
                     &window);
    fill_table();
    gather_in_rounds("alltoallv", by_alltoallv);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    gather_in_rounds("MPI_Get", by_get);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    job_end();
    return 0;
}
