/* The ring of a team, which its broadcasts go through. They are numbered, apart from the meetings; number n is in slot n modulo
 * HM_RING_SLOTS, whoever the root is, since all members know from the order of their calls who that is. What a slot does not
 * hold is in the cell beside it, and a message that is more than a cell takes several numbers.
 *
 *     root    waits until all members are through with what was in the slot, writes there, and last the number
 *     others  wait for the number, read, and write into their own words that they are through with it (taken)
 *
 * So a root returns at once as long as no member is a whole ring behind. A message that does not pass through the ring has
 * a number too, and is read from the root's memory: then the root waits until all are through.
 *
 * That members agree is seen by who reads a slot, which says what the root sends; by who waits for long and finds that another
 * one has come to something else; and in the end by the next meeting, which compares all that was broadcast before it. */
#include "coll/ring.h"

#include <string.h>

#include "base/log.h"
#include "coll/member.h"
#include "core/wait.h"
#include "core/world.h"

enum { WAITER_BITS = 12 };

struct hm_ring_wait { /* for members to be through with a broadcast, or for a root */
    struct hm_wait wait;
    struct hm_sync *sync;
    uint64_t number;
    int root; /* who is to send; -1: this one sends */
    const uint32_t *readers; /* it sends, and waits for those; NULL: for something else */
};

size_t hm_ring_most(const struct hm_team *team)
{
    return team->sync.ring.cell ? SIZE_MAX : sizeof team->sync.ring.slot->data;
}

static struct hm_ring_slot *slot_of(const struct hm_sync *s, uint64_t number)
{
    return &s->ring.slot[number % HM_RING_SLOTS];
}

/* Short messages begin at other places of their cells, and not at the beginning: all that begins there shares a few places
 * of the first cache, and loads wait for stores that have the same place in another page. */
static char *cell_of(const struct hm_sync *s, uint64_t number, size_t bytes)
{
    size_t shift = bytes <= HM_CELL_BYTES / 2 ? (number * 5 + 8) % 32 * HM_LINE : 0;
    return s->ring.cell + number % HM_RING_SLOTS * HM_CELL_BYTES + shift;
}

static struct hm_bell *bell_of(const struct hm_sync *s, int member)
{
    return &hm_symm.peer[hm_sync_world(s, member)].page->meet_bell;
}

/* --- waiting --- */

static bool is_through(const struct hm_sync *s, int i, uint64_t number)
{
    return i == s->me || __atomic_load_n(&hm_sync_member(s, i)->ring.taken, __ATOMIC_ACQUIRE) >= number;
}

/* The first other member from `i` on that is not through with the broadcast; `size` when there is none. */
static int first_behind(const struct hm_sync *s, int i, uint64_t number)
{
    while (i < s->size && is_through(s, i, number)) i++;
    return i;
}

static void count_missing(struct hm_ring_wait *r)
{
    struct hm_wait *w = &r->wait;
    const struct hm_sync *s = r->sync;
    int first = r->root, missing = 1;
    if (first < 0) {
        first = first_behind(s, 0, r->number);
        missing = 0;
        for (int i = first; i < s->size; i = first_behind(s, i + 1, r->number)) missing++;
    }
    w->about.pe = first < s->size ? hm_sync_world(s, first) : -1;
    w->about.missing = missing;
    if (!w->published) return;
    __atomic_store_n(&w->published->pe, w->about.pe, __ATOMIC_RELAXED);
    __atomic_store_n(&w->published->missing, missing, __ATOMIC_RELAXED);
}

/* All are through with this broadcast, but not all have read: one took another for it. Readers count themselves out first. */
static bool is_unread(const struct hm_ring_wait *r)
{
    return r->readers && first_behind(r->sync, 0, r->number) == r->sync->size && __atomic_load_n(r->readers, __ATOMIC_ACQUIRE);
}

/* While asleep. */
static void look_around(struct hm_wait *w)
{
    struct hm_ring_wait *r = w->arg;
    hm_sync_look_for_stray(r->sync, r->number + is_unread(r), r->root, w->call);
    count_missing(r);
    hm_deadlock_look(w);
}

static void wait_begin(struct hm_ring_wait *r, struct hm_sync *s, uint64_t number, int root, const char *call)
{
    struct hm_wait *w = &r->wait;
    r->sync = s;
    r->number = number;
    r->root = root;
    r->readers = NULL;
    hm_sync_wait_begin(w, s, call, hm_wait_meet_bell());
    w->about.pe = root < 0 ? -1 : hm_sync_world(s, root);
    w->about.want = (int64_t)number;
    w->about.cmp = root >= 0; /* for that PE alone */
    w->stuck = look_around;
    w->arg = r;
}

static void await_taken(struct hm_sync *s, int i, uint64_t number, const char *call)
{
    struct hm_ring_wait r;
    wait_begin(&r, s, number, -1, call);
    while ((i = first_behind(s, i, number)) < s->size) hm_wait_pause(&r.wait);
    hm_wait_end(&r.wait);
}

/* --- the root --- */

/* Somebody is a whole ring behind. Who has to wait anyway waits for more room than for one. */
static HM_COLD void await_room(struct hm_sync *s, uint64_t number, const char *call)
{
    uint64_t *waiter = &s->meeting->ring_waiter, enough = number - HM_RING_SLOTS / 2;
    __atomic_store_n(waiter, enough << WAITER_BITS | (uint64_t)s->me, __ATOMIC_RELAXED);
    await_taken(s, 0, enough, call);
    __atomic_store_n(waiter, 0, __ATOMIC_RELAXED);
    s->ring.settled = enough;
}

/* All are through with what was in the slot for `number` before. */
static void make_room(struct hm_sync *s, uint64_t number, const char *call)
{
    if (hm_likely(number <= s->ring.settled + HM_RING_SLOTS)) return;
    s->ring.settled = number - HM_RING_SLOTS;
    if (first_behind(s, 0, number - HM_RING_SLOTS) < s->size) await_room(s, number, call);
}

/* The next number, and its part of the message if that passes through the ring. */
static void publish(struct hm_sync *s, const struct hm_ring_slot *head, const void *from, size_t bytes, const char *call)
{
    uint64_t number = s->ring.count + 1;
    struct hm_ring_slot *slot = slot_of(s, number);
    make_room(s, number, call);
    slot->size = head->size;
    slot->root = head->root;
    slot->in_slots = head->in_slots;
    slot->readers = head->readers;
    if (bytes) hm_move_in(head->size <= sizeof slot->data ? slot->data : cell_of(s, number, bytes), from, bytes);
    __atomic_store_n(&slot->number, number, __ATOMIC_RELEASE);
    s->ring.count = number;
    for (int i = 0; i < s->size; i++)
        if (i != s->me) hm_bell_knock(bell_of(s, i));
}

static void be_through(struct hm_sync *s) { __atomic_store_n(&s->own->ring.taken, s->ring.count, __ATOMIC_RELEASE); }

/* Announces it, and notes it for the next meeting, which compares. */
static void announce(struct hm_sync *s, const struct hm_purpose *purpose, const char *call)
{
    hm_sync_announce(s, purpose, call);
    uint64_t digest = (s->ring.digest + s->last_hash) * 0xff51afd7ed558ccdull;
    s->ring.digest = (digest ^ digest >> 32) | 1; /* not 0 */
    s->ring.size = purpose->size;
    s->ring.root = purpose->root;
    s->ring.call = call;
}

static struct hm_purpose purpose_of(size_t bytes, int root, bool in_slots)
{
    return (struct hm_purpose){.kind = HM_COLL_BROADCAST, .slots = in_slots, .root = root, .size = bytes};
}

void hm_ring_send(struct hm_team *team, const void *source, size_t bytes, bool in_slots, const char *call)
{
    struct hm_sync *s = &team->sync;
    struct hm_purpose purpose = purpose_of(bytes, team->me, in_slots);
    struct hm_ring_slot head = {.size = bytes, .root = team->me, .in_slots = in_slots, .readers = (uint32_t)s->size - 1};
    const char *from = source;
    announce(s, &purpose, call);
    if (!s->meeting->ring_used) s->meeting->ring_used = 1;
    if (!in_slots) {
        publish(s, &head, NULL, 0, call);
        return;
    }
    for (size_t left = bytes, part; left; left -= part, from += part) {
        part = left < HM_CELL_BYTES ? left : HM_CELL_BYTES;
        publish(s, &head, from, part, call);
        be_through(s);
    }
}

/* Of what has not passed through the ring. Until then this member is not through with it either, so that the slot with the count
 * of readers stays what it is. */
void hm_ring_await_readers(struct hm_team *team, const char *call)
{
    struct hm_sync *s = &team->sync;
    const uint32_t *readers = &slot_of(s, s->ring.count)->readers;
    if (__atomic_load_n(readers, __ATOMIC_ACQUIRE)) {
        struct hm_ring_wait r;
        wait_begin(&r, s, s->ring.count, -1, call);
        r.readers = readers;
        while (__atomic_load_n(readers, __ATOMIC_ACQUIRE)) hm_wait_pause(&r.wait);
        hm_wait_end(&r.wait);
    }
    s->ring.settled = s->ring.count;
    be_through(s);
}

/* --- the others --- */

static HM_COLD void disagree(const struct hm_sync *s, const struct hm_ring_slot *slot, const char *call)
{
    struct hm_purpose theirs = purpose_of(slot->size, slot->root, slot->in_slots);
    if (!hm_world_claim_report()) hm_world_die_silently(); /* several members may find the same */
    int other = (unsigned)slot->root < (unsigned)s->size ? hm_sync_world(s, slot->root) : -1;
    hm_sync_die_between(hm_world.pe, &s->last, call, other, &theirs, "", call);
}

static bool has_come(const struct hm_ring_slot *slot, uint64_t number)
{
    return __atomic_load_n(&slot->number, __ATOMIC_ACQUIRE) >= number; /* more: see below */
}

static HM_COLD void await_number(struct hm_sync *s, const struct hm_ring_slot *slot, uint64_t number, int root, const char *call)
{
    struct hm_ring_wait r;
    __atomic_store_n(&s->own->ring.at, number, __ATOMIC_RELEASE);
    wait_begin(&r, s, number, root, call);
    while (!has_come(slot, number)) hm_wait_pause(&r.wait);
    hm_wait_end(&r.wait);
}

/* Its number is higher only where another one has left out a broadcast. */
static struct hm_ring_slot *await_slot(struct hm_sync *s, const struct hm_purpose *purpose, const char *call)
{
    uint64_t number = s->ring.count + 1;
    struct hm_ring_slot *slot = slot_of(s, number);
    if (!has_come(slot, number)) await_number(s, slot, number, purpose->root, call);
    if (hm_unlikely(slot->number != number || slot->size != purpose->size || slot->root != purpose->root ||
                    slot->in_slots != purpose->slots))
        disagree(s, slot, call);
    return slot;
}

/* This member is through with the next number: wakes the root that waits for room, if it waits for this one. */
static void take(struct hm_sync *s)
{
    s->ring.count++;
    be_through(s);
    if (hm_unlikely(!hm_world.membarrier)) __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __asm__ volatile("" ::: "memory"); /* the change first; the waiter's membarrier does the rest */
    uint64_t waiter = __atomic_load_n(&s->meeting->ring_waiter, __ATOMIC_RELAXED);
    if (hm_unlikely(waiter >> WAITER_BITS == s->ring.count))
        hm_bell_knock(bell_of(s, (int)(waiter & ((1 << WAITER_BITS) - 1))));
}

/* The last reader wakes the root. Behind `take` the slot may be another broadcast's. */
static void leave(struct hm_sync *s, struct hm_ring_slot *slot, int root)
{
    if (__atomic_fetch_sub(&slot->readers, 1, __ATOMIC_ACQ_REL) == 1) hm_bell_knock(bell_of(s, root));
    take(s);
}

void hm_ring_receive(struct hm_team *team, void *dest, const void *source, size_t bytes, int root, bool in_slots,
                     const char *call)
{
    struct hm_sync *s = &team->sync;
    struct hm_purpose purpose = purpose_of(bytes, root, in_slots);
    char *to = dest;
    announce(s, &purpose, call);
    if (!in_slots) {
        struct hm_ring_slot *slot = await_slot(s, &purpose, call);
        hm_move_in(dest, hm_member_at(team, root, source, bytes, call, "source"), bytes);
        leave(s, slot, root);
        return;
    }
    for (size_t left = bytes, part; left; left -= part, to += part) {
        const struct hm_ring_slot *slot = await_slot(s, &purpose, call);
        part = left < HM_CELL_BYTES ? left : HM_CELL_BYTES;
        hm_move_in(to, bytes <= sizeof slot->data ? slot->data : cell_of(s, s->ring.count + 1, part), part);
        take(s);
    }
}
