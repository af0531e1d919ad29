#define _GNU_SOURCE
#include "core/span.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/wait.h"
#include "core/world.h"

enum {
    PAIRWISE = 8, /* so many groups each tell all others; more go by dissemination */
    ALIGN = 16,   /* of what a member brings */
};
_Static_assert((int)PAIRWISE <= (int)HM_SPAN_CELLS, "a cell for each other group");

/* --- who is where --- */

static struct hm_span *make(int groups, int size)
{
    size_t tables = (size_t)groups * sizeof(struct hm_group) + 3 * (size_t)size * sizeof(int32_t);
    struct hm_span *span = calloc(1, sizeof *span + tables);
    if (!span) hm_die(NULL, "out of memory for a team of %d PEs", size);
    span->groups = groups;
    span->group = (struct hm_group *)(span + 1);
    span->at = (int32_t *)(span->group + groups);
    span->place = span->at + size;
    span->group_of = span->place + size;
    return span;
}

/* Numbers the machines of the team in the order of their first members: how many there are. */
static int number_machines(const struct hm_sync *s, int32_t *number)
{
    int n = 0;
    for (int m = 0; m < hm_places.machines; m++) number[m] = -1;
    for (int i = 0; i < s->size; i++) {
        int32_t *mine = &number[hm_place_machine(hm_sync_world(s, i))];
        if (*mine < 0) *mine = n++;
    }
    return n;
}

static void fill(struct hm_span *span, const struct hm_sync *s, const int32_t *number)
{
    for (int i = 0; i < s->size; i++) {
        int g = span->group_of[i] = number[hm_place_machine(hm_sync_world(s, i))];
        if (!span->group[g].size++) span->group[g].leader = hm_sync_world(s, i);
    }
    for (int g = 1; g < span->groups; g++) span->group[g].first = span->group[g - 1].first + span->group[g - 1].size;
    for (int g = 0; g < span->groups; g++) span->group[g].size = 0;
    for (int i = 0; i < s->size; i++) {
        struct hm_group *g = &span->group[span->group_of[i]];
        span->place[i] = g->first + g->size++;
        span->at[span->place[i]] = i;
    }
    span->mine = span->group_of[s->me];
    span->me = span->place[s->me] - span->group[span->mine].first;
}

struct hm_span *hm_span_open(const struct hm_sync *s)
{
    int32_t *number = malloc((size_t)hm_places.machines * sizeof *number);
    if (!number) hm_die(NULL, "out of memory for a team of %d PEs", s->size);
    int groups = number_machines(s, number);
    struct hm_span *span = NULL;
    if (groups > 1) {
        span = make(groups, s->size);
        fill(span, s, number);
    }
    free(number);
    return span;
}

/* --- places in work memory --- */

static size_t slot_at(const struct hm_sync *s) { return hm_work_slot_at(hm_world.npes, (int)s->slot); }

static int leader_of(const struct hm_sync *s, int group) { return s->span->group[group].leader; }

static char *work_here(const struct hm_sync *s) { return hm_symm.peer[leader_of(s, s->span->mine)].work; }

struct hm_span_slot *hm_span_slot_of(const struct hm_sync *s)
{
    return (struct hm_span_slot *)(work_here(s) + slot_at(s));
}

char *hm_span_buffer(const struct hm_sync *s)
{
    return work_here(s) + slot_at(s) + hm_work_slot_bytes(hm_world.npes) - HM_WORK_BUFFER_BYTES;
}

struct hm_place hm_span_place(const struct hm_sync *s, int group, const void *mine)
{
    return (struct hm_place){leader_of(s, group), HM_SEGMENT_WORK, (uint64_t)((const char *)mine - work_here(s))};
}

/* What members have brought to this meeting, those of all groups one behind the other. */
static char *room_here(const struct hm_sync *s)
{
    return (char *)hm_span_slot_of(s) + HM_WORK_CELLS_BYTES + (s->epoch & 1) * (size_t)s->size * HM_SYNC_DATA;
}

const void *hm_span_theirs(const struct hm_sync *s, int i)
{
    const struct hm_span *span = s->span;
    int place = span->place[i];
    if (hm_span_is_here(span, i)) return hm_sync_member(s, place - span->group[span->mine].first)->data[s->epoch & 1];
    return room_here(s) + (size_t)place * span->step;
}

/* --- words of PE 0, or of some leader: by the CPU on its machine, through the transport from others --- */

static uint64_t atomic_here(enum hm_amo op, uint64_t *word, uint64_t value, uint64_t cond)
{
    switch (op) {
    case HM_AMO_FETCH: return __atomic_load_n(word, __ATOMIC_SEQ_CST);
    case HM_AMO_SWAP: return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
    case HM_AMO_FETCH_ADD: return __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
    case HM_AMO_FETCH_AND: return __atomic_fetch_and(word, value, __ATOMIC_SEQ_CST);
    case HM_AMO_FETCH_OR: return __atomic_fetch_or(word, value, __ATOMIC_SEQ_CST);
    default: /* HM_AMO_CAS */
        __atomic_compare_exchange_n(word, &cond, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        return cond;
    }
}

/* A word of 8 bytes of struct hm_work of PE 0. All of these return a value: then it is done. */
static uint64_t atomic_of_first(enum hm_amo op, size_t offset, uint64_t value, uint64_t cond)
{
    char *work = hm_symm.peer[0].work;
    if (work) return atomic_here(op, (uint64_t *)(work + offset), value, cond);
    return hm_far_amo_at(op, (struct hm_place){0, HM_SEGMENT_WORK, offset}, sizeof(uint64_t), value, cond);
}
#define FIRST(op, member, value, cond) atomic_of_first(op, offsetof(struct hm_work, member), value, cond)

void hm_span_add(const struct hm_sync *s, int group, uint64_t *word, uint64_t value)
{
    if (group == s->span->mine) {
        __atomic_fetch_add(word, value, __ATOMIC_RELEASE);
        hm_bell_knock(&hm_symm.peer[leader_of(s, group)].page->meet_bell);
        return;
    }
    hm_fence(&hm_ctx_inner);
    hm_far_amo_at(HM_AMO_ADD, hm_span_place(s, group, word), sizeof *word, value, 0);
}

void hm_span_await(struct hm_sync *s, const uint64_t *word, uint64_t value, const char *call)
{
    if (__atomic_load_n(word, __ATOMIC_ACQUIRE) >= value) return;
    struct hm_wait w;
    hm_sync_wait_begin(&w, s, call, hm_wait_meet_bell());
    hm_wait_expect_long(&w);
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < value) hm_wait_pause(&w);
    hm_wait_end(&w);
}

/* --- a machine whose members came for something else --- */

void hm_span_announce(struct hm_sync *s)
{
    if (s->span->me) return;
    struct hm_span_slot *mine = hm_span_slot_of(s);
    mine->purpose = s->own->purpose;
    memcpy(mine->call, s->own->call, sizeof mine->call);
}

/* "PE 0, 2, 4" */
static void list_group(const struct hm_sync *s, int group, char *text, size_t size)
{
    const struct hm_group *g = &s->span->group[group];
    size_t n = 0;
    for (int i = 0; i < g->size && i < 8 && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%d", i ? ", " : "PE ", hm_sync_world(s, s->span->at[g->first + i]));
    if (g->size > 8 && n < size) snprintf(text + n, size - n, " and %d more", g->size - 8);
}

bool hm_span_claim_report(void)
{
    uint64_t mine = (uint64_t)hm_world.pe + 1, before = FIRST(HM_AMO_CAS, reported, mine, 0);
    return (!before || before == mine) && hm_world_claim_report();
}

static HM_COLD void disagree(const struct hm_sync *s, int group, const char *call)
{
    struct hm_span_slot theirs, *mine = hm_span_slot_of(s);
    char who_mine[128], who_other[128], what_mine[96], what_other[96];
    if (!hm_span_claim_report()) hm_world_die_silently();
    hm_far_get_at(&theirs, hm_span_place(s, group, mine), sizeof theirs, false);
    theirs.call[sizeof theirs.call - 1] = 0;
    hm_sync_describe(&mine->purpose, mine->call, what_mine, sizeof what_mine);
    hm_sync_describe(&theirs.purpose, theirs.call, what_other, sizeof what_other);
    list_group(s, s->span->mine, who_mine, sizeof who_mine);
    list_group(s, group, who_other, sizeof who_other);
    hm_sync_die_disagreed(who_mine, what_mine, who_other, what_other, call);
}

/* --- the leaders among themselves --- */

static int group_at(const struct hm_span *span, int distance)
{
    int g = span->mine + distance;
    return g < 0 ? g + span->groups : g >= span->groups ? g - span->groups : g;
}

/* What the group's members bring, side by side in the leader's room. */
static void pack(struct hm_sync *s)
{
    const struct hm_span *span = s->span;
    char *to = room_here(s) + (size_t)span->group[span->mine].first * span->step;
    for (int i = 0; i < s->here; i++) memcpy(to + (size_t)i * span->step, hm_sync_member(s, i)->data[s->epoch & 1], s->carry);
}

/* Bytes of the groups from `first` on, `count` of them without a wrap, as they lie in the room. */
static char *blocks(const struct hm_sync *s, int first, int count, size_t *bytes)
{
    const struct hm_group *a = &s->span->group[first], *z = &s->span->group[first + count - 1];
    *bytes = (size_t)(z->first + z->size - a->first) * s->span->step;
    return room_here(s) + (size_t)a->first * s->span->step;
}

/* Tells a group that this one has come, in its cell `k`, and hands on what the last `count` groups up to this one bring. */
static void tell(struct hm_sync *s, int to, int k, int count, uint64_t arrival)
{
    const struct hm_span *span = s->span;
    struct hm_place cell = hm_span_place(s, to, &hm_span_slot_of(s)->cell[s->epoch & 1][k]);
    int first = span->mine - count + 1, wrapped = first < 0 ? -first : 0;
    size_t bytes;
    char *from;
    if (!span->step) {
        hm_far_tell(cell, arrival);
        return;
    }
    if (wrapped) {
        from = blocks(s, span->groups - wrapped, wrapped, &bytes);
        hm_far_put_at(hm_span_place(s, to, from), from, bytes, false);
        hm_fence(&hm_ctx_inner);
    }
    from = blocks(s, first + wrapped, count - wrapped, &bytes);
    hm_far_put_signal_at(hm_span_place(s, to, from), from, bytes, cell, arrival);
}

static void listen(struct hm_sync *s, int from, int k, uint64_t arrival, const char *call)
{
    const uint64_t *cell = &hm_span_slot_of(s)->cell[s->epoch & 1][k];
    uint64_t seen = __atomic_load_n(cell, __ATOMIC_ACQUIRE);
    if ((uint32_t)(seen >> 32) != s->epoch) {
        struct hm_wait w;
        hm_sync_wait_begin(&w, s, call, hm_wait_meet_bell());
        hm_wait_expect_long(&w);
        while ((uint32_t)((seen = __atomic_load_n(cell, __ATOMIC_ACQUIRE)) >> 32) != s->epoch) hm_wait_pause(&w);
        hm_wait_end(&w);
    }
    if (hm_unlikely(seen != arrival)) disagree(s, from, call);
}

static void meet_pairwise(struct hm_sync *s, uint64_t arrival, const char *call)
{
    for (int k = 1; k < s->span->groups; k++) tell(s, group_at(s->span, k), k, 1, arrival);
    for (int k = 1; k < s->span->groups; k++) listen(s, group_at(s->span, -k), k, arrival, call);
}

static void meet_by_dissemination(struct hm_sync *s, uint64_t arrival, const char *call)
{
    int n = s->span->groups;
    for (int round = 0, far = 1; far < n; round++, far <<= 1) {
        tell(s, group_at(s->span, far), round, far < n - far ? far : n - far, arrival);
        listen(s, group_at(s->span, -far), round, arrival, call);
    }
}

/* The first cell that is still empty tells who is missing: the leader may not have come so far, which does no harm. */
int hm_span_missing(const struct hm_sync *s, int *missing)
{
    const struct hm_span *span = s->span;
    const struct hm_span_slot *slot = hm_span_slot_of(s);
    bool pairwise = span->groups <= PAIRWISE;
    int first = -1;
    *missing = 0;
    for (int k = pairwise ? 1 : 0, far = 1; far < span->groups; k++, far = pairwise ? k : far * 2) {
        uint64_t seen = __atomic_load_n(&slot->cell[s->epoch & 1][k], __ATOMIC_ACQUIRE);
        if ((uint32_t)(seen >> 32) == s->epoch) continue;
        const struct hm_group *g = &span->group[group_at(span, -far)];
        if (first < 0) first = g->leader;
        *missing += g->size;
        if (!pairwise) break;
    }
    return first;
}

/* --- the members of one machine --- */

static bool all_here(const struct hm_sync *s, uint64_t *sum)
{
    *sum = __atomic_load_n(&s->meeting->counter, __ATOMIC_ACQUIRE);
    return *sum / HM_SYNC_ARRIVAL == (uint64_t)s->here;
}

static void come(struct hm_sync *s, uint64_t hash)
{
    uint64_t one = HM_SYNC_ARRIVAL | (hash & HM_SYNC_HASH_MASK);
    uint64_t sum = __atomic_add_fetch(&s->meeting->counter, one, __ATOMIC_ACQ_REL);
    if (s->span->me && sum / HM_SYNC_ARRIVAL == (uint64_t)s->here)
        hm_bell_knock(&hm_symm.peer[leader_of(s, s->span->mine)].page->meet_bell);
}

static void await_release(struct hm_sync *s, uint32_t now, const char *call)
{
    struct hm_meeting *m = s->meeting;
    struct hm_wait w;
    hm_sync_wait_begin(&w, s, call, &m->bell);
    hm_wait_expect_long(&w);
    while (__atomic_load_n(&m->bell.seq, __ATOMIC_ACQUIRE) == now) hm_wait_pause(&w);
    hm_wait_end(&w);
}

/* By the leader: the sum of what the members' hashes are. */
static uint64_t await_group(struct hm_sync *s, const char *call)
{
    uint64_t sum;
    if (all_here(s, &sum)) return sum;
    struct hm_wait w;
    hm_sync_wait_begin(&w, s, call, hm_wait_meet_bell());
    while (!all_here(s, &sum)) hm_wait_pause(&w);
    hm_wait_end(&w);
    return sum;
}

static void release_group(struct hm_sync *s, uint32_t now)
{
    struct hm_meeting *m = s->meeting;
    __atomic_store_n(&m->counter, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&m->bell.seq, now + 1, __ATOMIC_RELEASE);
    __asm__ volatile("" ::: "memory");
    if (hm_unlikely(__atomic_load_n(&m->bell.sleepers, __ATOMIC_RELAXED))) hm_bell_wake(&m->bell);
}

void hm_span_meet(struct hm_sync *s, uint64_t arrival, uint64_t hash, const char *call)
{
    struct hm_span *span = s->span;
    uint32_t now = __atomic_load_n(&s->meeting->bell.seq, __ATOMIC_ACQUIRE);
    span->step = hm_round_up(s->carry, ALIGN);
    come(s, hash);
    if (span->me) {
        await_release(s, now, call);
    } else {
        uint64_t sum = await_group(s, call);
        if (hm_unlikely(sum % HM_SYNC_ARRIVAL != (hash & HM_SYNC_HASH_MASK) * (uint64_t)s->here))
            hm_sync_find_disagreement(s, (uint32_t)(hash >> 32), call);
        if (s->carry) pack(s);
        __atomic_store_n(&hm_span_slot_of(s)->arrived, s->epoch, __ATOMIC_RELEASE);
        if (span->groups <= PAIRWISE)
            meet_pairwise(s, arrival, call);
        else
            meet_by_dissemination(s, arrival, call);
        release_group(s, now);
    }
    s->carry = 0;
}

void hm_span_meet_group(struct hm_sync *s, const char *call)
{
    if (s->here == 1) return;
    uint32_t now = __atomic_load_n(&s->meeting->bell.seq, __ATOMIC_ACQUIRE);
    come(s, 0);
    if (s->span->me) {
        await_release(s, now, call);
    } else {
        await_group(s, call);
        release_group(s, now);
    }
}

/* --- slots --- */

/* Most often the one behind the last is free. */
int hm_span_slot_take(void)
{
    static unsigned next;
    enum { FIRST_WORD = HM_SPAN_SLOTS / 64, WORDS = HM_TEAM_SLOTS / 64 - FIRST_WORD };
    unsigned n = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED), word = n / 64 % WORDS, bit = n % 64;
    for (int tries = 0; tries < WORDS;) {
        size_t offset = offsetof(struct hm_work, slot_map) + (FIRST_WORD + word) * sizeof(uint64_t);
        uint64_t old = atomic_of_first(HM_AMO_FETCH_OR, offset, 1ull << bit, 0);
        if (!(old >> bit & 1)) return (int)((FIRST_WORD + word) * 64 + bit);
        if (~old) {
            bit = (unsigned)__builtin_ctzll(~old);
        } else {
            word = (word + 1) % WORDS;
            tries++;
        }
    }
    return -ENOSPC;
}

void hm_span_slot_give(int slot)
{
    atomic_of_first(HM_AMO_FETCH_AND, offsetof(struct hm_work, slot_map) + (size_t)slot / 64 * sizeof(uint64_t),
                    ~(1ull << slot % 64), 0);
}

static void lock_sets(const char *call)
{
    if (!FIRST(HM_AMO_SWAP, set_lock, 1, 0)) return;
    struct hm_wait w;
    hm_wait_begin(&w, hm_wait_own_bell(), true, call);
    while (FIRST(HM_AMO_SWAP, set_lock, 1, 0)) hm_wait_pause(&w);
    hm_wait_end(&w);
}

static void read_keys(uint64_t *key, size_t bytes)
{
    size_t offset = offsetof(struct hm_work, set_key);
    if (hm_symm.peer[0].work)
        memcpy(key, hm_symm.peer[0].work + offset, bytes);
    else
        hm_far_get_at(key, (struct hm_place){0, HM_SEGMENT_WORK, offset}, bytes, false);
}

int hm_span_slot_of_set(uint64_t key, const char *call)
{
    uint64_t keys[HM_TEAM_SLOTS];
    int slot = -1;
    lock_sets(call);
    read_keys(keys, sizeof keys);
    for (int i = HM_SPAN_SLOTS; i < HM_TEAM_SLOTS && slot < 0; i++)
        if (keys[i] == key) slot = i;
    if (slot < 0 && (slot = hm_span_slot_take()) >= 0)
        atomic_of_first(HM_AMO_SWAP, offsetof(struct hm_work, set_key) + (size_t)slot * sizeof key, key, 0);
    FIRST(HM_AMO_SWAP, set_lock, 0, 0);
    return slot;
}

/* The last of a machine leaves it clean, the last of all gives the slot back. */
void hm_span_leave(struct hm_sync *s, bool give)
{
    uint32_t here = (uint32_t)s->here;
    if (__atomic_add_fetch(&s->meeting->users, 1, __ATOMIC_ACQ_REL) != here) return;
    hm_sync_slot_clear((int)s->slot, (int)here);
    if (!give) return;
    memset(hm_span_slot_of(s), 0, sizeof(struct hm_span_slot));
    size_t users = offsetof(struct hm_work, slot_users) + (size_t)s->slot * sizeof(uint64_t);
    if (atomic_of_first(HM_AMO_FETCH_ADD, users, here, 0) + here != (uint64_t)s->size) return;
    atomic_of_first(HM_AMO_SWAP, users, 0, 0);
    hm_span_slot_give((int)s->slot);
}
