/* Meetings that can never happen: PE 0 waits in one collective for PE 1, which waits in another for PE 0. Who sleeps in
 * a meeting looks now and then along the published waits; a circle that stands at two looks in a row is reported. Only
 * while one thread at most is inside the library: a second thread of a PE could still come. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/os.h"
#include "core/order.h"
#include "core/place.h"
#include "core/span.h"
#include "core/sync.h"
#include "core/symm.h"
#include "core/wait.h"
#include "core/work.h"
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
        if (!hm_blocked_read(&hm_symm.peer[pe].page->blocked[i], b)) continue;
        if (b->kind != HM_BLOCKED_TEAM && b->kind != HM_BLOCKED_PAIR) continue;
        b->call[sizeof b->call - 1] = 0;
        return true;
    }
    return false;
}

static const struct hm_member *member_of(uint32_t slot, int member)
{
    int npes = hm_world.job->npes;
    const char *at = (const char *)hm_world.job + hm_job_slots_at(npes) + slot * hm_job_slot_bytes(npes);
    return (const void *)(at + HM_TEAM_HEAD_BYTES + (size_t)member * HM_TEAM_MEMBER_BYTES);
}

static bool has_met(const struct hm_member *m, uint32_t epoch)
{
    return (int32_t)((uint32_t)(__atomic_load_n(&m->arrival, __ATOMIC_ACQUIRE) >> 32) - epoch) >= 0;
}

/* Who waits in a broadcast waits for its root, or as the root for all to be through with it (coll/ring.c). */
static bool waits_in_ring(const struct hm_blocked *b, const struct hm_member *m)
{
    if (b->cmp && b->pe != (int)m->world_pe) return false;
    return __atomic_load_n(&m->ring.taken, __ATOMIC_ACQUIRE) < (uint64_t)b->want;
}

/* Has PE `pe`, blocked as `b` says, really nobody to meet there yet? What it published may be a moment old. */
static bool waits_for(int pe, const struct hm_blocked *b, int member)
{
    if (b->kind == HM_BLOCKED_PAIR) return hm_pair_is_ahead(pe, b->pe);
    const struct hm_member *m = member_of(b->team_slot, member);
    return b->want ? waits_in_ring(b, m) : !has_met(m, b->epoch);
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
    if (hm_places.machines > 1 ? !hm_span_claim_report() : !hm_world_claim_report()) return;
    for (int i = 0; i < c->length && n < sizeof text - 80; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%sPE %d waits in %s for PE %d", i ? ", " : "", c->pe[i],
                              i ? c->at[i].call : call, c->pe[(i + 1) % c->length]);
    hm_die(call, "deadlock: %s; all PEs must make the calls in which they meet others in the same order", text);
}

/* --- across machines ---
 *
 * Who sleeps shows in its work memory in which meeting, and for whom. The circle goes from PE to PE along the first that each
 * misses. Members of one meeting that miss each other may be about to hear of it: a circle within one meeting is none.
 */
struct circle {
    struct chain chain;
    uint64_t since[CHAIN_MAX], beat[CHAIN_MAX];
};

static void show(const struct hm_wait *w)
{
    struct hm_stuck *mine = &((struct hm_work *)hm_symm.peer[hm_world.pe].work)->stuck;
    uint64_t beat = mine->beat + 1;
    *mine = (struct hm_stuck){.since = w->since, .kind = w->about.kind, .team_slot = w->about.team_slot,
                              .epoch = w->about.epoch, .pe = w->about.pe};
    snprintf(mine->call, sizeof mine->call, "%s", w->call);
    __atomic_store_n(&mine->beat, beat, __ATOMIC_RELEASE);
}

static void read_work(int pe, size_t at, void *to, size_t bytes)
{
    if (hm_symm.peer[pe].work)
        memcpy(to, hm_symm.peer[pe].work + at, bytes);
    else
        hm_far_get_at(to, (struct hm_place){pe, HM_SEGMENT_WORK, at}, bytes, false);
}

static struct hm_stuck shown_by(int pe)
{
    struct hm_stuck s;
    read_work(pe, offsetof(struct hm_work, stuck), &s, sizeof s);
    s.call[sizeof s.call - 1] = 0;
    return s;
}

/* Has PE `pe` come to that meeting all the same? It leads its machine then, and its word is on the way. */
static bool has_come(int pe, const struct hm_stuck *to)
{
    uint32_t arrived;
    if (to->kind != HM_BLOCKED_TEAM || to->team_slot >= HM_TEAM_SLOTS) return false;
    read_work(pe, hm_work_slot_at(hm_world.npes, (int)to->team_slot) + offsetof(struct hm_span_slot, arrived), &arrived,
              sizeof arrived);
    return (int32_t)(arrived - to->epoch) >= 0;
}

static bool same_meeting(const struct hm_stuck *a, const struct hm_stuck *b)
{
    if (a->kind != b->kind) return false;
    return a->kind == HM_BLOCKED_PAIR || (a->team_slot == b->team_slot && a->epoch == b->epoch);
}

/* Follows who waits for whom from this PE on: true when that leads back, through another meeting. */
static bool follow(struct circle *c)
{
    struct hm_stuck first = shown_by(hm_world.pe), at = first;
    bool other = false;
    int pe = hm_world.pe;
    for (c->chain.length = 0; c->chain.length < CHAIN_MAX; at = shown_by(pe)) {
        int i = c->chain.length++;
        if (at.kind != HM_BLOCKED_TEAM && at.kind != HM_BLOCKED_PAIR) return false;
        if ((unsigned)at.pe >= (unsigned)hm_world.npes || has_come(at.pe, &at)) return false;
        other |= !same_meeting(&first, &at);
        c->chain.pe[i] = pe;
        memcpy(c->chain.at[i].call, at.call, sizeof at.call);
        c->since[i] = at.since;
        c->beat[i] = at.beat;
        pe = at.pe;
        if (pe == hm_world.pe) return other;
    }
    return false;
}

static bool is_same(const struct circle *a, const struct circle *b)
{
    if (a->chain.length != b->chain.length) return false;
    for (int i = 0; i < a->chain.length; i++)
        if (a->chain.pe[i] != b->chain.pe[i] || a->since[i] != b->since[i]) return false;
    return true;
}

/* All of them have looked again, more than once, and still sleep where they did. */
static bool stands(const struct circle *before, const struct circle *now)
{
    for (int i = 0; i < now->chain.length; i++)
        if (now->beat[i] < before->beat[i] + 3) return false;
    return true;
}

/* Not when it has just fallen asleep, which is a normal meeting; often then, and ever less: it is traffic. */
static bool is_time(const struct hm_wait *w)
{
    enum { OFTEN = 20, SELDOM = 10, YOUNG_NS = 50000000 };
    static uint64_t since;
    static unsigned turn;
    if (hm_os_now() - w->since < YOUNG_NS) return false;
    if (since != w->since) turn = 0;
    since = w->since;
    return turn++ < OFTEN || turn % SELDOM == 0;
}

static void look_across(struct hm_wait *w)
{
    static struct circle before; /* one thread at most is inside the library */
    struct circle now;
    show(w);
    if (!is_time(w)) return;
    if (!follow(&now))
        before.chain.length = 0;
    else if (!is_same(&before, &now))
        before = now;
    else if (stands(&before, &now))
        report(&now.chain, w->call);
}

void hm_deadlock_look(struct hm_wait *w)
{
    if (hm_places.machines > 1 && hm_world.thread_level != THREAD_MULTIPLE) look_across(w);
    struct chain c = {.length = 0};
    if (hm_world.thread_level == THREAD_MULTIPLE || !leads_back(hm_world.pe, &w->about, &c)) {
        w->looks = 0;
        return;
    }
    if (++w->looks >= 3) report(&c, w->call);
}
