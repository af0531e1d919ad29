#define _GNU_SOURCE
#include "core/sync.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/futex.h"
#include "base/log.h"
#include "base/os.h"
#include "core/place.h"
#include "core/span.h"
#include "core/wait.h"
#include "core/world.h"

static const char *const kind_names[HM_COLL_KINDS] = {
    [HM_COLL_BARRIER] = "barrier",     [HM_COLL_SYNC] = "sync",           [HM_COLL_FINALIZE] = "finalize",
    [HM_COLL_MALLOC] = "malloc",       [HM_COLL_CALLOC] = "calloc",
    [HM_COLL_ALIGN] = "align",         [HM_COLL_HINTS] = "malloc_with_hints", [HM_COLL_REALLOC] = "realloc",
    [HM_COLL_FREE] = "free",           [HM_COLL_SPLIT] = "team_split_strided", [HM_COLL_SPLIT_2D] = "team_split_2d",
    [HM_COLL_DESTROY] = "team_destroy", [HM_COLL_BROADCAST] = "broadcast", [HM_COLL_COLLECT] = "collect",
    [HM_COLL_FCOLLECT] = "fcollect",   [HM_COLL_ALLTOALL] = "alltoall",   [HM_COLL_ALLTOALLS] = "alltoalls",
    [HM_COLL_REDUCE] = "reduce",       [HM_COLL_INSCAN] = "inscan",       [HM_COLL_EXSCAN] = "exscan",
    [HM_COLL_AGREE] = "agree",
    [HM_COLL_INNER] = "the end of a collective",
};

const char *hm_coll_name(enum hm_coll_kind kind) { return kind < HM_COLL_KINDS ? kind_names[kind] : "?"; }

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

uint64_t hm_sync_hash(const struct hm_purpose *p)
{
    uint64_t h = mix(p->kind | (uint64_t)p->type << 8 | (uint64_t)p->op << 16 | (uint64_t)p->slots << 24 |
                     (uint64_t)(uint32_t)p->root << 32);
    return mix(mix(h ^ p->size) ^ p->dest);
}

_Static_assert(HM_JOB_MAX_PES <= 4096, "the sum of the hashes must fit below the arrivals");
_Static_assert(sizeof(struct hm_member) <= HM_TEAM_MEMBER_BYTES, "a member must fit its place");
_Static_assert(sizeof(struct hm_meeting) <= HM_TEAM_HEAD_BYTES, "a meeting must fit its place");

/* --- slots --- */

int hm_sync_slot_take(void)
{
    uint64_t *map = hm_world.job->slot_map;
    int end = hm_places.machines > 1 ? HM_SPAN_SLOTS : HM_TEAM_SLOTS;
    for (int i = 0; i < end; i++) {
        uint64_t bit = 1ull << (i % 64);
        if (__atomic_load_n(&map[i / 64], __ATOMIC_RELAXED) & bit) continue;
        if (!(__atomic_fetch_or(&map[i / 64], bit, __ATOMIC_ACQ_REL) & bit)) return i;
    }
    return -ENOSPC;
}

void hm_sync_slot_give(int slot)
{
    __atomic_fetch_and(&hm_world.job->slot_map[slot / 64], ~(1ull << (slot % 64)), __ATOMIC_RELEASE);
}

static char *slot_at(int slot)
{
    int npes = hm_world.job->npes;
    return (char *)hm_world.job + hm_job_slots_at(npes) + (size_t)slot * hm_job_slot_bytes(npes);
}

static char *stage_at(int slot)
{
    int npes = hm_world.job->npes;
    if (slot >= HM_STAGE_SLOTS) return NULL;
    return (char *)hm_world.job + hm_job_stages_at(npes) + (size_t)slot * (size_t)npes * 2 * HM_STAGE_BYTES;
}

static struct hm_ring_slot *ring_at(int slot) { return (void *)(slot_at(slot) + hm_job_ring_at(hm_world.job->npes)); }

static char *cells_at(int slot)
{
    if (slot >= HM_STAGE_SLOTS) return NULL;
    return (char *)hm_world.job + hm_job_cells_at(hm_world.job->npes) + (size_t)slot * HM_RING_SLOTS * HM_CELL_BYTES;
}

/* The bell keeps its number: it may only grow. */
void hm_sync_slot_clear(int slot, int here)
{
    struct hm_meeting *m = (struct hm_meeting *)slot_at(slot);
    uint32_t seq = m->bell.seq;
    if (m->ring_used) memset(ring_at(slot), 0, HM_RING_BYTES);
    memset(m, 0, HM_TEAM_HEAD_BYTES);
    m->bell.seq = seq;
    memset((char *)m + HM_TEAM_HEAD_BYTES, 0, (size_t)here * HM_TEAM_MEMBER_BYTES);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

void hm_sync_open(struct hm_sync *s, int slot, int start, int stride, int size, int me, const int32_t *list)
{
    char *at = slot_at(slot);
    *s = (struct hm_sync){.meeting = (struct hm_meeting *)at,
                          .member = (struct hm_member *)(at + HM_TEAM_HEAD_BYTES),
                          .slot = (uint32_t)slot, .me = me, .size = size, .here = size, .start = start,
                          .stride = stride, .list = list};
    s->span = hm_places.machines > 1 ? hm_span_open(s) : NULL;
    s->way = s->span                             ? HM_SYNC_SPAN
             : hm_wait_oversubscribed() || list ? HM_SYNC_COUNTER
                                                 : HM_SYNC_DISSEMINATION;
    if (s->span) s->here = hm_span_here(s->span);
    s->stage = s->span ? NULL : stage_at(slot);
    s->own = hm_sync_member(s, s->span ? s->span->me : me);
    s->own->world_pe = (uint32_t)hm_sync_world(s, me);
    s->epoch = (uint32_t)(__atomic_load_n(&s->own->arrival, __ATOMIC_RELAXED) >> 32);
    if (!s->span) {
        uint64_t count = s->own->ring.taken;
        s->ring = (struct hm_ring){.slot = ring_at(slot), .cell = cells_at(slot), .count = count, .settled = count};
    }
    /* At a counter one of all rings, once a meeting. */
    if (!hm_world.membarrier || s->way != HM_SYNC_DISSEMINATION) hm_bell_let_wakers_fence(&s->meeting->bell);
}

void hm_sync_close(struct hm_sync *s)
{
    free(s->span);
    s->span = NULL;
}

/* --- who came for what --- */

static void append(char *text, size_t size, const char *what)
{
    size_t n = strlen(text);
    if (n < size - 1) snprintf(text + n, size - n, "%s", what);
}

/* As much of the purpose as tells two of them apart. */
void hm_sync_describe(const struct hm_purpose *p, const char *name, char *text, size_t size)
{
    const char *call = name[0] ? name : hm_coll_name(p->kind), *slots = p->slots ? ", in slots" : "";
    switch (p->kind) {
    case HM_COLL_ALIGN: /* root: log2 of the alignment */
        snprintf(text, size, "%s (%llu bytes, alignment %llu)", call, (unsigned long long)p->size, 1ull << (p->root & 63));
        break;
    case HM_COLL_HINTS:
        snprintf(text, size, "%s (%llu bytes, hints %x)", call, (unsigned long long)p->size, (unsigned)p->root);
        break;
    case HM_COLL_MALLOC: case HM_COLL_CALLOC:
        snprintf(text, size, "%s (%llu bytes)", call, (unsigned long long)p->size);
        break;
    case HM_COLL_REALLOC:
        snprintf(text, size, "%s (block at heap offset %llu, %llu bytes)", call, (unsigned long long)p->dest,
                 (unsigned long long)p->size);
        break;
    case HM_COLL_FREE:
        snprintf(text, size, "%s (block at heap offset %llu)", call, (unsigned long long)p->dest);
        break;
    case HM_COLL_BROADCAST:
        snprintf(text, size, "%s (%llu bytes, root %d%s)", call, (unsigned long long)p->size, p->root, slots);
        break;
    case HM_COLL_COLLECT:
        snprintf(text, size, "%s (parts up to %llu bytes in slots)", call, (unsigned long long)p->size);
        break;
    case HM_COLL_FCOLLECT: case HM_COLL_ALLTOALL: case HM_COLL_ALLTOALLS:
    case HM_COLL_REDUCE: case HM_COLL_INSCAN: case HM_COLL_EXSCAN: case HM_COLL_AGREE:
        snprintf(text, size, "%s (%llu bytes%s)", call, (unsigned long long)p->size, slots);
        break;
    case HM_COLL_SPLIT:
    case HM_COLL_SPLIT_2D: snprintf(text, size, "%s (with other arguments)", call); break;
    default: snprintf(text, size, "%s", call);
    }
}

/* "PE 0, 2, 3": the members whose hash is this one. */
static void list_members(const struct hm_sync *s, uint32_t hash, char *text, size_t size)
{
    char one[24];
    int n = 0, shown = 0;
    *text = 0;
    for (int i = 0; i < s->here; i++) {
        const struct hm_member *m = hm_sync_member(s, i);
        if ((uint32_t)m->arrival != hash) continue;
        if (n++ >= 8) continue;
        snprintf(one, sizeof one, "%s%u", shown++ ? ", " : "PE ", m->world_pe);
        append(text, size, one);
    }
    if (n > 8) {
        snprintf(one, sizeof one, " and %d more", n - 8);
        append(text, size, one);
    }
}

void hm_sync_die_disagreed(const char *who, const char *what, const char *who_other, const char *what_other,
                           const char *call)
{
    hm_die(call, "the PEs of a collective do not agree: %s called %s, but %s called %s; all members of a team must make "
           "the same collective calls with the same arguments in the same order",
           who, what, who_other, what_other);
}

void hm_sync_die_between(int pe, const struct hm_purpose *purpose, const char *name, int other,
                         const struct hm_purpose *purpose_other, const char *name_other, const char *call)
{
    char who[16], who_other[16], what[96], what_other[96];
    snprintf(who, sizeof who, "PE %d", pe);
    snprintf(who_other, sizeof who_other, "PE %d", other);
    hm_sync_describe(purpose, name, what, sizeof what);
    hm_sync_describe(purpose_other, name_other, what_other, sizeof what_other);
    hm_sync_die_disagreed(who, what, who_other, what_other, call);
}

/* Who has come back from a broadcast and met somebody who has not been in it, or in another one. */
static void append_broadcast(const struct hm_member *m, char *text, size_t size)
{
    char last[96];
    if (!m->ring.call[0]) return;
    snprintf(last, sizeof last, " behind %s (%llu bytes, root %d)", m->ring.call, (unsigned long long)m->ring.size, m->ring.root);
    append(text, size, last);
}

static void disagree(const struct hm_sync *s, uint32_t mine, uint32_t other, int other_member, const char *call)
{
    const struct hm_member *theirs = hm_sync_member(s, other_member);
    char who_mine[128], who_other[128], what_mine[192], what_other[192];
    if (!hm_world_claim_report()) hm_world_die_silently(); /* several members may find the same */
    hm_sync_describe(&s->own->purpose, s->own->call, what_mine, sizeof what_mine);
    hm_sync_describe(&theirs->purpose, theirs->call, what_other, sizeof what_other);
    if (s->own->ring.taken != theirs->ring.taken || !memcmp(&s->own->purpose, &theirs->purpose, sizeof theirs->purpose)) {
        append_broadcast(s->own, what_mine, sizeof what_mine);
        append_broadcast(theirs, what_other, sizeof what_other);
    }
    list_members(s, mine, who_mine, sizeof who_mine);
    list_members(s, other, who_other, sizeof who_other);
    hm_sync_die_disagreed(who_mine, what_mine, who_other, what_other, call);
}

void hm_sync_find_disagreement(const struct hm_sync *s, uint32_t hash, const char *call)
{
    for (int i = 0; i < s->here; i++) {
        uint64_t a = __atomic_load_n(&hm_sync_member(s, i)->arrival, __ATOMIC_ACQUIRE);
        if ((uint32_t)(a >> 32) == s->epoch && (uint32_t)a != hash) disagree(s, hash, (uint32_t)a, i, call);
    }
}

static HM_COLD void disagree_with(const struct hm_sync *s, const struct hm_member *theirs, const char *call)
{
    if (!hm_world_claim_report()) hm_world_die_silently(); /* the other may find the same */
    hm_sync_die_between((int)s->own->world_pe, &s->own->purpose, s->own->call, (int)theirs->world_pe, &theirs->purpose,
                        theirs->call, call);
}

static uint32_t epoch_of(const struct hm_member *m)
{
    return (uint32_t)(__atomic_load_n(&m->arrival, __ATOMIC_ACQUIRE) >> 32);
}

/* This one waits for broadcast `number`: a member that is in the next meeting already has left it out, and so has the root
 * that waits for it itself. */
static bool has_left_out(const struct hm_sync *s, const struct hm_member *m, uint64_t number, bool sends)
{
    if (sends && __atomic_load_n(&m->ring.at, __ATOMIC_ACQUIRE) == number) return true;
    return (int32_t)(epoch_of(m) - s->epoch) > 0 && __atomic_load_n(&m->ring.taken, __ATOMIC_ACQUIRE) < number;
}

/* This one is in a meeting: before it a member waits for a broadcast that this one knows nothing of. */
static bool waits_for_more(const struct hm_sync *s, const struct hm_member *m)
{
    uint64_t at = __atomic_load_n(&m->ring.at, __ATOMIC_ACQUIRE); /* first: then it was no later meeting's */
    return (int32_t)(epoch_of(m) - s->epoch) < 0 && at > s->ring.count;
}

void hm_sync_look_for_stray(const struct hm_sync *s, uint64_t number, int root, const char *call)
{
    for (int i = 0; i < s->size; i++) {
        const struct hm_member *m = hm_sync_member(s, i);
        if (i == s->me) continue;
        if (number ? has_left_out(s, m, number, i == root) : waits_for_more(s, m)) disagree_with(s, m, call);
    }
}

/* --- a member that does not come --- */

/* While asleep: who is missing, for the report on a hung job; and whether he can still come. */
static void look_for_missing(struct hm_wait *w)
{
    const struct hm_sync *s = w->arg;
    int missing = 0, first = -1;
    for (int i = 0; i < s->here; i++) {
        uint32_t e = (uint32_t)(__atomic_load_n(&hm_sync_member(s, i)->arrival, __ATOMIC_ACQUIRE) >> 32);
        if ((int32_t)(e - s->epoch) >= 0) continue;
        missing++;
        if (first < 0) first = hm_sync_world_here(s, i);
    }
    if (s->ring.slot) hm_sync_look_for_stray(s, 0, -1, w->call);
    if (s->span && first < 0) first = hm_span_missing(s, &missing);
    w->about.pe = first;
    w->about.missing = missing;
    if (w->published) {
        __atomic_store_n(&w->published->pe, first, __ATOMIC_RELAXED);
        __atomic_store_n(&w->published->missing, missing, __ATOMIC_RELAXED);
    }
    hm_deadlock_look(w);
}

void hm_sync_wait_begin(struct hm_wait *w, struct hm_sync *s, const char *call, struct hm_bell *bell)
{
    hm_wait_begin(w, bell, false, call);
    w->about.kind = HM_BLOCKED_TEAM;
    w->about.pe = -1;
    w->about.team_slot = s->slot;
    w->about.team_start = s->start;
    w->about.team_stride = s->stride;
    w->about.team_size = s->size;
    w->about.missing = -1;
    w->about.epoch = s->epoch;
    w->about.addr = 0;
    w->about.offset = -1;
    w->about.want = 0;
    w->stuck = look_for_missing;
    w->arg = s;
}

/* --- the two ways to meet --- */

static void meet_at_counter(struct hm_sync *s, uint64_t hash, const char *call)
{
    struct hm_meeting *m = s->meeting;
    uint32_t now = __atomic_load_n(&m->bell.seq, __ATOMIC_ACQUIRE);
    uint64_t sum = __atomic_add_fetch(&m->counter, HM_SYNC_ARRIVAL | (hash & HM_SYNC_HASH_MASK), __ATOMIC_ACQ_REL);
    if (sum / HM_SYNC_ARRIVAL == (uint64_t)s->size) {
        if (hm_unlikely(sum % HM_SYNC_ARRIVAL != (hash & HM_SYNC_HASH_MASK) * (uint64_t)s->size))
            hm_sync_find_disagreement(s, (uint32_t)(hash >> 32), call);
        __atomic_store_n(&m->counter, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&m->bell.seq, now + 1, __ATOMIC_RELEASE);
        __asm__ volatile("" ::: "memory");
        if (hm_unlikely(__atomic_load_n(&m->bell.sleepers, __ATOMIC_RELAXED))) hm_bell_wake(&m->bell);
        return;
    }
    struct hm_wait w;
    hm_sync_wait_begin(&w, s, call, &m->bell);
    while (__atomic_load_n(&m->bell.seq, __ATOMIC_ACQUIRE) == now) hm_wait_pause(&w);
    hm_wait_end(&w);
}

static void tell_partner(struct hm_sync *s, int partner, int round, uint64_t arrival)
{
    struct hm_member *to = hm_sync_member(s, partner);
    __atomic_store_n(&to->flag[s->epoch & 1][round], arrival, __ATOMIC_RELEASE);
    hm_bell_knock(&hm_symm.peer[s->start + partner * s->stride].page->meet_bell);
}

static uint64_t await_partner(struct hm_sync *s, int round, const char *call)
{
    uint64_t *flag = &s->own->flag[s->epoch & 1][round], seen;
    seen = __atomic_load_n(flag, __ATOMIC_ACQUIRE);
    if (hm_likely((uint32_t)(seen >> 32) == s->epoch)) return seen;
    struct hm_wait w;
    hm_sync_wait_begin(&w, s, call, hm_wait_meet_bell());
    while ((uint32_t)((seen = __atomic_load_n(flag, __ATOMIC_ACQUIRE)) >> 32) != s->epoch) hm_wait_pause(&w);
    hm_wait_end(&w);
    return seen;
}

static void meet_by_dissemination(struct hm_sync *s, uint64_t arrival, const char *call)
{
    int n = s->size;
    for (int round = 0, far = 1; far < n; round++, far <<= 1) {
        int to = s->me + far, from = s->me - far;
        tell_partner(s, to < n ? to : to - n, round, arrival);
        uint64_t seen = await_partner(s, round, call);
        if (hm_unlikely(seen != arrival))
            disagree(s, (uint32_t)arrival, (uint32_t)seen, from >= 0 ? from : from + n, call);
    }
}

/* What this member comes for, where the others can read it. */
static void announce(struct hm_sync *s, const struct hm_purpose *purpose, const char *call)
{
    struct hm_member *mine = s->own;
    mine->purpose = s->last = *purpose;
    strncpy(mine->call, call ? call : "", sizeof mine->call - 1);
    s->last_call = call;
    s->last_hash = hm_sync_hash(purpose);
    if (s->span) hm_span_announce(s);
}

void hm_sync_announce(struct hm_sync *s, const struct hm_purpose *purpose, const char *call)
{
    if (hm_unlikely(call != s->last_call || memcmp(purpose, &s->last, sizeof *purpose))) announce(s, purpose, call);
}

/* Behind a meeting all are through with the broadcasts before it. */
static uint64_t end_broadcasts(struct hm_sync *s)
{
    uint64_t digest = s->ring.digest;
    s->own->ring.size = s->ring.size;
    s->own->ring.root = s->ring.root;
    if (s->ring.shown != s->ring.call) strncpy(s->own->ring.call, s->ring.call, sizeof s->own->ring.call - 1);
    s->ring.shown = s->ring.call;
    s->ring.settled = s->ring.count;
    s->ring.digest = 0;
    return digest;
}

void hm_sync_enter(struct hm_sync *s, const struct hm_purpose *purpose, const char *call)
{
    if (s->size == 1) { /* nobody compares */
        s->epoch++;
        return;
    }
    hm_sync_announce(s, purpose, call);
    uint64_t hash = s->last_hash;
    if (s->ring.digest) hash += end_broadcasts(s);
    uint64_t arrival = (uint64_t)++s->epoch << 32 | hash >> 32;
    __atomic_store_n(&s->own->arrival, arrival, __ATOMIC_RELEASE);
    if (s->way == HM_SYNC_DISSEMINATION)
        meet_by_dissemination(s, arrival, call);
    else if (s->way == HM_SYNC_COUNTER)
        meet_at_counter(s, hash, call);
    else
        hm_span_meet(s, arrival, hash, call);
}

void hm_sync_again(struct hm_sync *s, const char *call)
{
    static const struct hm_purpose inner = {.kind = HM_COLL_INNER};
    hm_sync_enter(s, &inner, call);
}
