#include "core/order.h"

#include "base/log.h"
#include "core/place.h"
#include "core/symm.h"
#include "core/wait.h"
#include "core/work.h"
#include "core/world.h"

static const struct hm_purpose barrier = {.kind = HM_COLL_BARRIER}, sync_only = {.kind = HM_COLL_SYNC};

/* One PE has nobody to meet. It sees its own stores in their order, and its other threads see them in that order: no full
 * fence, which would be all that its barrier costs. */
static void order_alone(void) { __atomic_thread_fence(__ATOMIC_ACQ_REL); }

void hm_barrier_all(const char *call)
{
    hm_world_need(call);
    if (hm_world.npes == 1) {
        order_alone();
        hm_quiet_beyond_stores(&hm_ctx_default);
        return;
    }
    hm_quiet(&hm_ctx_default);
    hm_sync_enter(&hm_team_world->sync, &barrier, call);
}

void hm_sync_all(const char *call)
{
    hm_world_need(call);
    if (hm_world.npes == 1) {
        order_alone();
        return;
    }
    hm_sync_enter(&hm_team_world->sync, &sync_only, call);
}

void hm_team_sync(struct hm_team *team, const char *call) { hm_sync_enter(&team->sync, &sync_only, call); }

void hm_set_barrier(struct hm_team *set, const char *call)
{
    hm_quiet(&hm_ctx_default);
    hm_sync_enter(&set->sync, &barrier, call);
}

void hm_set_sync(struct hm_team *set, const char *call) { hm_sync_enter(&set->sync, &sync_only, call); }

/* --- one with one --- */

/* How often PE `a` has come to meet PE `b`, both of this machine. */
static uint32_t *pair_here(int a, int b)
{
    int npes = hm_places.local_npes;
    char *row = (char *)hm_world.job + hm_job_pairs_at(npes) + (size_t)hm_place_local(a) * hm_job_pairs_row(npes);
    return (uint32_t *)row + hm_place_local(b);
}

/* The same where only `b` is: in its work memory. */
static uint32_t *pair_from_far(int a, int b) { return (uint32_t *)(hm_symm.peer[b].work + hm_work_pairs_at()) + a; }

static uint32_t *pair_count(int a, int b) { return hm_place_is_far(a) ? pair_from_far(a, b) : pair_here(a, b); }

bool hm_pair_is_ahead(int a, int b)
{
    if (hm_place_is_far(a) || hm_place_is_far(b)) return false; /* nobody can tell */
    uint32_t mine = __atomic_load_n(pair_count(a, b), __ATOMIC_ACQUIRE);
    return (int32_t)(__atomic_load_n(pair_count(b, a), __ATOMIC_ACQUIRE) - mine) < 0;
}

/* Tells the other one; gives how often this PE has come by now. */
static uint32_t come_to(int pe)
{
    if (hm_place_is_far(pe)) {
        size_t at = hm_work_pairs_at() + (size_t)hm_world.pe * sizeof(uint32_t);
        return (uint32_t)hm_far_amo_at(HM_AMO_FETCH_ADD, (struct hm_place){pe, HM_SEGMENT_WORK, at}, 4, 1, 0) + 1;
    }
    uint32_t turn = __atomic_add_fetch(pair_here(hm_world.pe, pe), 1, __ATOMIC_SEQ_CST);
    hm_bell_knock(&hm_symm.peer[pe].page->meet_bell);
    return turn;
}

void hm_sync_pe(int pe, const char *call)
{
    hm_world_need(call);
    if ((unsigned)pe >= (unsigned)hm_world.npes)
        hm_die(call, "pe: %d is not a PE of this job, whose PEs are 0 to %d", pe, hm_world.npes - 1);
    hm_quiet(&hm_ctx_default);
    if (pe == hm_world.pe) return;
    uint32_t turn = come_to(pe), *theirs = pair_count(pe, hm_world.pe);
    if ((int32_t)(__atomic_load_n(theirs, __ATOMIC_ACQUIRE) - turn) >= 0) return;
    struct hm_wait w;
    hm_wait_begin(&w, hm_wait_meet_bell(), false, call);
    w.about.kind = HM_BLOCKED_PAIR;
    w.about.pe = pe;
    w.stuck = hm_deadlock_look;
    while ((int32_t)(__atomic_load_n(theirs, __ATOMIC_ACQUIRE) - turn) < 0) hm_wait_pause(&w);
    hm_wait_end(&w);
}
