/* An integer sort in the manner of ISx with MPI: keys to their owners by MPI_Alltoall of counts and MPI_Alltoallv.
 *
 *     mpicc -O2 isx_mpi.c -o isx_mpi && mpirun -n 2 isx_mpi [keys-of-each-rank]
 */
#include "ranks.h"
#include "isx.h"

static uint32_t *arrived;
static int *numbers; /* counts and starts, out and in */

static size_t exchange_keys(void)
{
    int n = npes, *out = numbers, *out_at = numbers + n, *in = numbers + 2 * n, *in_at = numbers + 3 * n;
    size_t all = 0;
    for (int r = 0; r < n; r++)
        out[r] = (int)count[r], out_at[r] = (int)start[r];
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < n; all += (size_t)in[r++])
        in_at[r] = (int)all;
    if (all > room) job_fail("isx: rank %d gets more than the %zu keys there is room for", me, room);
    MPI_Alltoallv(by_owner, out, out_at, MPI_UINT32_T, arrived, in, in_at, MPI_UINT32_T, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    struct rounds exchange = {.n = 0}, whole = {.n = 0};
    job_begin(&argc, &argv);
    isx_set_up(argc, argv);
    arrived = job_memory(room * sizeof *arrived, "keys that arrive");
    numbers = need(calloc(4 * (size_t)npes, sizeof *numbers), "counts");
    while (another_round(&whole)) {
        double begin = job_clock();
        sort_by_owner();
        double sorted = seconds_now();
        size_t n = exchange_keys();
        add_round(&exchange, seconds_now() - sorted);
        sort_own(arrived, n);
        add_round(&whole, job_took(begin));
        must_be_sorted(arrived, n);
    }
    report_isx("alltoallv", &exchange, &whole);
    job_end();
    return 0;
}
