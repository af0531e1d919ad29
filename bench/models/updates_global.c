/* Updates in global memory: each PE adds to the element where it is.
 *
 *     oshcc -O2 updates_global.c -o u && oshrun -n 2 u [updates-of-each-PE [elements-of-each-PE]]
 *
 * With hbmesh also by one scatter_add for 256 updates, which a network can carry together. */
#include "../apps/pes.h"
#include "updates.h"
#ifdef SHMEMX_HBMESH_MAJOR
#include <shmemx.h>
#endif

/* model: begin */
static void update_all(void)
{
    for (size_t k = 0; k < updates; k++) {
        struct update u = update(k);
        if (owner(k) != me) moved(sizeof u.value);
        shmem_ulong_atomic_add(&table[u.place], u.value, owner(k));
    }
    shmem_quiet();
}
/* model: end */

#ifdef SHMEMX_HBMESH_MAJOR
/* model: begin scatter_add */
enum { BATCH = 256 };

static void update_by_scatter_add(void)
{
    unsigned long value[BATCH];
    size_t place[BATCH];
    int pe[BATCH];
    for (size_t done = 0, n; done < updates; done += n) {
        for (n = 0; n < BATCH && done + n < updates; n++) {
            struct update u = update(done + n);
            value[n] = u.value;
            place[n] = u.place;
            pe[n] = owner(done + n);
            if (pe[n] != me) moved(sizeof u.value);
        }
        shmemx_ulong_scatter_add(table, value, place, pe, n);
    }
    shmem_quiet();
}
/* model: end */
#endif

int main(int argc, char **argv)
{
    job_begin(&argc, &argv);
    updates_set_up(argc, argv);
    run_updates("global memory", update_all);
#ifdef SHMEMX_HBMESH_MAJOR
    run_updates("global memory, scatter_add", update_by_scatter_add);
#endif
    job_end();
    return 0;
}
