/* A histogram in the manner of bale: every PE counts what it has in counters that are spread over all PEs.
 *
 *     oshcc -O2 histogram.c -o histogram && oshrun -n 2 histogram [indices-of-each-PE [counters-of-each-PE]]
 *
 * By atomic_inc and by atomic_fetch_inc; with hbmesh also by one scatter_add for all indices. */
#include "pes.h"
#include "spread.h"
#include "histogram.h"
#ifdef SHMEMX_HBMESH_MAJOR
#include <shmemx.h>
#endif

static void by_atomic_inc(void)
{
    for (size_t k = 0; k < indices; k++)
        shmem_long_atomic_inc(&counters[place[k]], owner[k]);
    shmem_quiet();
}

static void by_fetch_inc(void)
{
    for (size_t k = 0; k < indices; k++)
        shmem_long_atomic_fetch_add(&counters[place[k]], 1, owner[k]);
}

#ifdef SHMEMX_HBMESH_MAJOR
static long *ones;

static void by_scatter_add(void)
{
    shmemx_long_scatter_add(counters, ones, place, owner, indices);
    shmem_quiet();
}
#endif

int main(int argc, char **argv)
{
    job_begin(&argc, &argv);
    spread_set_up("histogram", argc, argv);
    histogram_set_up();
    counters = job_memory(elements * sizeof *counters, "counters");
    count_in_rounds("atomic_inc", by_atomic_inc);
    count_in_rounds("atomic_fetch_add", by_fetch_inc);
#ifdef SHMEMX_HBMESH_MAJOR
    ones = need(malloc(indices * sizeof *ones), "ones");
    for (size_t k = 0; k < indices; k++)
        ones[k] = 1;
    count_in_rounds("scatter_add", by_scatter_add);
#endif
    job_end();
    return 0;
}
