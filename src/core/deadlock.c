/* Meetings that can never happen: PE 0 waits in one collective for PE 1, which waits in another for PE 0. Who sleeps in
 * a meeting looks now and then along the published waits; a circle that stands at two looks in a row is reported. Only
 * while one thread at most is inside the library: a second thread of a PE could still come. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "core/order.h"
#include "core/place.h"
#include "core/sync.h"
#include "core/symm.h"
#include "core/wait.h"
#include "core/world.h"

enum { THREAD_MULTIPLE = 3, CHAIN_MAX = 16 };

struct chain {
    int pe[CHAIN_MAX];
    struct hm_blocked at[CHAIN_MAX];
    int length;
};

static bool is_blocked(int pe, struct hm_blocked *b)
{
    for (int i = 0; i < HM_BLOCKED_SLOTS; i++) {
        const struct hm_blocked *slot = &hm_symm.peer[pe].page->blocked[i];
        uint32_t kind = __atomic_load_n(&slot->kind, __ATOMIC_ACQUIRE);
        if (kind != HM_BLOCKED_TEAM && kind != HM_BLOCKED_PAIR) continue;
        *b = *slot;
        b->call[sizeof b->call - 1] = 0;
        return true;
    }
    return false;
}

static uint32_t epoch_of(uint32_t slot, int member)
{
    int npes = hm_world.job->npes;
    const char *at = (const char *)hm_world.job + hm_job_slots_at(npes) + slot * hm_job_slot_bytes(npes);
    const struct hm_member *m = (const void *)(at + HM_TEAM_HEAD_BYTES + (size_t)member * HM_TEAM_MEMBER_BYTES);
    return (uint32_t)(__atomic_load_n(&m->arrival, __ATOMIC_ACQUIRE) >> 32);
}

/* Has PE `pe`, blocked as `b` says, really nobody to meet there yet? What it published may be a moment old. */
static bool waits_for(int pe, const struct hm_blocked *b, int member)
{
    if (b->kind == HM_BLOCKED_PAIR) return hm_pair_is_ahead(pe, b->pe);
    return (int32_t)(epoch_of(b->team_slot, member) - b->epoch) < 0;
}

/* Does a chain of waits lead from `pe`, blocked as `b` says, back to this PE? */
static bool leads_back(int pe, const struct hm_blocked *b, struct chain *c)
{
    if (c->length == CHAIN_MAX) return false;
    for (int i = 0; i < c->length; i++)
        if (c->pe[i] == pe) return false;
    int here = c->length++;
    c->pe[here] = pe;
    c->at[here] = *b;
    int n = b->kind == HM_BLOCKED_PAIR ? 1 : b->team_size;
    if (b->kind == HM_BLOCKED_TEAM && (b->team_slot >= HM_TEAM_SLOTS || n > hm_world.npes)) n = 0; /* torn */
    for (int i = 0, member = 0; i < n; i++) { /* member: among those of this machine */
        int next = b->kind == HM_BLOCKED_PAIR ? b->pe : b->team_start + i * b->team_stride;
        struct hm_blocked theirs;
        if ((unsigned)next >= (unsigned)hm_world.npes || hm_place_is_far(next)) continue; /* nobody can tell */
        if (!waits_for(pe, b, member++)) continue;
        if (next == hm_world.pe && here) return true;
        if (next != hm_world.pe && is_blocked(next, &theirs) && leads_back(next, &theirs, c)) return true;
    }
    c->length--;
    return false;
}

static void report(const struct chain *c, const char *call)
{
    char text[1024];
    size_t n = 0;
    if (!hm_world_claim_report()) return;
    for (int i = 0; i < c->length && n < sizeof text - 80; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%sPE %d waits in %s for PE %d", i ? ", " : "", c->pe[i],
                              i ? c->at[i].call : call, c->pe[(i + 1) % c->length]);
    hm_die(call, "deadlock: %s; all PEs must make the calls in which they meet others in the same order", text);
}

void hm_deadlock_look(struct hm_wait *w)
{
    struct chain c = {.length = 0};
    if (hm_world.thread_level == THREAD_MULTIPLE || !leads_back(hm_world.pe, &w->about, &c)) {
        w->looks = 0;
        return;
    }
    if (++w->looks >= 3) report(&c, w->call);
}
