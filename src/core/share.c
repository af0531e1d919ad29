#include "core/share.h"

#include <sched.h>

#include "base/os.h"

enum {
    COMMON_YIELD_NS = 500,    /* nobody else has run, to begin with */
    MOVE_NS = 1000000,        /* after so much time for others it sleeps; ... */
    MOVE_MAX_NS = 256000000,  /* ... then after twice as much each time, up to this: perhaps no core is idle */
};

/* The time of a yield that nobody else has run in: the least that was seen. Where somebody has, there were two yields, his and
 * ours, and two switches. */
static uint64_t least_ns = COMMON_YIELD_NS;
static bool shared;
static uint64_t given, move_at = MOVE_NS; /* time for others since the core has been shared; how much is too much */

bool hm_share_any(void) { return __atomic_load_n(&shared, __ATOMIC_RELAXED); }

static void give(uint64_t ns)
{
    __atomic_store_n(&given, __atomic_load_n(&given, __ATOMIC_RELAXED) + ns, __ATOMIC_RELAXED);
}

static void note(bool any)
{
    __atomic_store_n(&shared, any, __ATOMIC_RELAXED);
    if (any) return;
    __atomic_store_n(&given, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&move_at, MOVE_NS, __ATOMIC_RELAXED);
}

bool hm_share_tell(uint64_t took)
{
    uint64_t least = __atomic_load_n(&least_ns, __ATOMIC_RELAXED);
    bool any = took > 2 * least;
    if (took < least) __atomic_store_n(&least_ns, took, __ATOMIC_RELAXED);
    if (any != hm_share_any()) note(any);
    if (any) give(took);
    return any;
}

bool hm_share_yield(void)
{
    uint64_t began = hm_os_now();
    sched_yield();
    return hm_share_tell(hm_os_now() - began);
}

bool hm_share_moves(void)
{
    uint64_t at = __atomic_load_n(&move_at, __ATOMIC_RELAXED), ns = __atomic_load_n(&given, __ATOMIC_RELAXED);
    if (hm_likely(ns < at)) return false;
    __atomic_store_n(&given, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&move_at, at < MOVE_MAX_NS ? at * 2 : at, __ATOMIC_RELAXED);
    return true;
}
