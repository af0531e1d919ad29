#include "core/huge.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/option.h"
#include "core/symm.h"
#include "core/team.h"
#include "core/world.h"
#include "memkind/memkind.h"

#define EXTENT ((size_t)2 << 20)
enum {
    WORTH = 1 << 19,      /* so many accesses cost in walks about what making a huge page costs: 1 to 3 ms */
    AGAIN = -64 * WORTH,  /* where the count goes on from: freed and allocated again, the extent is of small pages again */
};

/* Accesses seen, for each extent of each PE's heap. Threads may lose some: it is an estimate. */
static int32_t *seen;
static size_t extents;
static bool off;

void hm_huge_start(void)
{
    extents = hm_symm.heap_size / EXTENT;
    off = !hm_options.huge || !extents || !hm_symm.heap_kind->merge;
}

void hm_huge_stop(void)
{
    free(seen);
    seen = NULL;
}

static void count(int pe, size_t extent)
{
    int32_t *n = &seen[(size_t)pe * extents + extent], now = __atomic_load_n(n, __ATOMIC_RELAXED) + HM_HUGE_SAMPLE;
    bool worth = now >= WORTH;
    __atomic_store_n(n, worth ? AGAIN : now, __ATOMIC_RELAXED);
    if (!worth) return;
    int e = hm_symm.heap_kind->merge(hm_symm.peer[pe].heap + extent * EXTENT, EXTENT);
    if (e) hm_debug("no huge page in the heap of PE %d at offset %zu: %s", pe, extent * EXTENT, strerror(-e));
}

static bool have_table(void)
{
    if (__atomic_load_n(&seen, __ATOMIC_ACQUIRE)) return true;
    int32_t *mine = calloc((size_t)hm_world.npes * extents, sizeof *mine), *none = NULL;
    if (mine && !__atomic_compare_exchange_n(&seen, &none, mine, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) free(mine);
    return mine != NULL;
}

void hm_huge_count(const struct hm_ctx *ctx, const void *base, const size_t *index, const int *pe, size_t n, size_t size)
{
    if (off || !have_table()) return;
    for (size_t i = 0; i < n; i += HM_HUGE_SAMPLE) {
        int world = ctx->team ? hm_team_world_pe(ctx->team, pe[i], "gather") : pe[i];
        size_t extent = ((uintptr_t)base + index[i] * size - hm_symm.heap_base) / EXTENT;
        if (extent < extents && hm_symm.peer[world].heap) count(world, extent);
    }
}
