#define _GNU_SOURCE
#include "core/even.h"

#include <sched.h>
#include <string.h>

#include "base/os.h"
#include "core/crowd.h"
#include "core/place.h"
#include "core/world.h"

enum {
    LOOK_NS = 2000000,  /* between two looks of PEs of a machine, ... */
    LOOK_PE_NS = 20000, /* ... and this for each of them, when they are many; ... */
    STALE = 10,         /* ... who has not yielded for a tenth of that computes */
    CORES = CPU_SETSIZE,
    CORE_BITS = 16,
    NONE = -1,
};

static uint64_t period_ns(void)
{
    uint64_t all = (uint64_t)hm_places.local_npes * LOOK_PE_NS;
    return all > LOOK_NS ? all : LOOK_NS;
}

/* In the page: when, and the number of the core and one, so that 0 is none. */
static void note(uint64_t now, int core)
{
    __atomic_store_n(&hm_world.page->yielded, now << CORE_BITS | (uint64_t)(core + 1), __ATOMIC_RELAXED);
}

void hm_even_rest(void) { __atomic_store_n(&hm_world.page->yielded, 0, __ATOMIC_RELAXED); }

/* Another one may have yielded since `now`. */
static bool computes(uint64_t yielded, uint64_t now)
{
    return (int64_t)((now << CORE_BITS) - yielded) > (int64_t)(period_ns() / STALE << CORE_BITS);
}

/* How many PEs of this machine are on each core. False when one computes, so that nobody knows where. */
static bool count_all(uint16_t *pes, uint64_t now)
{
    memset(pes, 0, CORES * sizeof *pes);
    for (int i = 0; i < hm_places.local_npes; i++) {
        uint64_t yielded = __atomic_load_n(&hm_job_page(hm_world.job, i)->yielded, __ATOMIC_RELAXED);
        if (!yielded) continue;
        if (computes(yielded, now)) return false;
        pes[(yielded & ((1u << CORE_BITS) - 1)) - 1]++;
    }
    return true;
}

/* The core near this one with the fewest PEs, if they are two less than here; or NONE. */
static int emptier_core(uint64_t now)
{
    uint16_t pes[CORES], near[CORES];
    int least = 0;
    if (!count_all(pes, now)) return NONE;
    int n = hm_os_near_cores(near, CORES);
    for (int i = 1; i < n; i++)
        if (pes[near[i]] < pes[near[least]]) least = i;
    return n > 0 && pes[near[least]] + 1 < pes[near[0]] ? near[least] : NONE;
}

/* For one of all PEs at a time. */
static bool is_time(uint64_t now)
{
    uint64_t *next = &hm_world.job->crowd.even_at, at = __atomic_load_n(next, __ATOMIC_RELAXED);
    if (hm_likely(now < at)) return false;
    return __atomic_compare_exchange_n(next, &at, now + period_ns(), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void hm_even_look(uint64_t now)
{
    int here = sched_getcpu(), to;
    if (here < 0 || here >= CORES) return;
    note(now, here);
    if (hm_likely(!is_time(now)) || (to = emptier_core(now)) == NONE) return;
    if (hm_crowd_any_strangers(&hm_world.job->crowd, hm_places.local_npes)) return; /* the kernel knows better */
    if (hm_os_go_to_core((unsigned)to) == 0) note(now, to);
}
