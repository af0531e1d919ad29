/* A histogram in the manner of bale: every PE counts what it has in counters that are spread over all PEs.
 *
 *     oshcc -O2 histogram.c -o histogram && oshrun -n 2 histogram [indices-of-each-PE [counters-of-each-PE]]
 *
 * By atomic_inc, by atomic_fetch_add, and by buckets: places go to their owner in one put for many, and the owner counts;
 * with hbmesh also by one scatter_add for all indices. The limits are the same by plain C at the addresses that shmem_ptr
 * gives, and for buckets, that every PE counts what it has in its own counters. */
#include "pes.h"
#include "spread.h"
#include "histogram.h"
#include "buckets.h"
#ifdef SHMEMX_HBMESH_MAJOR
#include <shmemx.h>
#endif

static void by_atomic_inc(void)
{
    for (size_t k = 0; k < indices; k++)
        shmem_long_atomic_inc(&counters[place[k]], owner[k]);
    shmem_quiet();
}

static void by_fetch_add(void)
{
    for (size_t k = 0; k < indices; k++)
        shmem_long_atomic_fetch_add(&counters[place[k]], 1, owner[k]);
}

static void count_places(const uint64_t *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        counters[word[i]]++;
}

static size_t fill_buckets(size_t from)
{
    for (; from < indices && bucket_has_room(owner[from], 1); from++)
        add_to_bucket(owner[from], place[from]);
    return from;
}

static void by_buckets(void)
{
    size_t done = 0;
    do
        done = fill_buckets(done);
    while (exchange_buckets(done == indices, count_places) < npes);
}

/* Limits. */
static void **reach;

static void by_bare_add(void)
{
    for (size_t k = 0; k < indices; k++)
        __atomic_fetch_add((long *)reach[owner[k]] + place[k], 1, __ATOMIC_SEQ_CST);
}

static void by_own_counters(void)
{
    for (size_t k = 0; k < indices; k++)
        counters[place[k]]++;
}

static void limits(void)
{
    count_in_rounds("limit atomic_inc", by_bare_add);
    count_in_rounds("limit atomic_fetch_add", by_bare_add);
    expect_own_places();
    count_in_rounds("limit buckets by put", by_own_counters);
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
    buckets_set_up();
    counters = job_memory(elements * sizeof *counters, "counters");
    count_in_rounds("atomic_inc", by_atomic_inc);
    count_in_rounds("atomic_fetch_add", by_fetch_add);
    count_in_rounds("buckets by put", by_buckets);
#ifdef SHMEMX_HBMESH_MAJOR
    ones = need(malloc(indices * sizeof *ones), "ones");
    for (size_t k = 0; k < indices; k++)
        ones[k] = 1;
    count_in_rounds("scatter_add", by_scatter_add);
#endif
    if ((reach = job_reach(counters))) limits();
    job_end();
    return 0;
}
