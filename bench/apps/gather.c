/* An index gather in the manner of bale: every PE reads elements without order of a table that is spread over all PEs.
 *
 *     oshcc -O2 gather.c -o gather && oshrun -n 2 gather [indices-of-each-PE [elements-of-each-PE]]
 *
 * By g, by get_nbi and one quiet; with hbmesh also by one gather for all indices. */
#include "pes.h"
#include "spread.h"
#include "gather.h"
#ifdef SHMEMX_HBMESH_MAJOR
#include <shmemx.h>
#endif

static void by_g(void)
{
    for (size_t k = 0; k < indices; k++)
        got[k] = shmem_ulong_g((unsigned long *)&table[place[k]], owner[k]);
}

static void by_get_nbi(void)
{
    for (size_t k = 0; k < indices; k++)
        shmem_uint64_get_nbi(&got[k], &table[place[k]], 1, owner[k]);
    shmem_quiet();
}

#ifdef SHMEMX_HBMESH_MAJOR
static void by_gather(void) { shmemx_uint64_gather(got, table, place, owner, indices); }
#endif

int main(int argc, char **argv)
{
    job_begin(&argc, &argv);
    spread_set_up("gather", argc, argv);
    table = job_memory(elements * sizeof *table, "the table");
    fill_table();
    gather_in_rounds("g", by_g);
    gather_in_rounds("get_nbi", by_get_nbi);
#ifdef SHMEMX_HBMESH_MAJOR
    gather_in_rounds("gather", by_gather);
#endif
    job_end();
    return 0;
}
