/* Locks are ticket locks, so first come is first served. The copy of the long on PE 0 is the lock: in one half the next
 * ticket, in the other the ticket being served; both 0 when it is free and was left without a queue. A waiter sleeps on
 * the served half, under the bit of its ticket, so that a release wakes whose turn it is and nobody else.
 *
 * A waiter that leaves gives its ticket back if it is the newest one. Otherwise it leaves it in a table in job memory,
 * where a release that comes to it finds it, takes it out and goes on to the next. Who leaves writes the entry and then
 * looks at the served half, a release changes the served half and then looks for the entry: one of them at least sees
 * the other, and who takes the entry out has the lock. There is no entry for a lock that is free.
 *
 * All this is for the PEs of the machine of PE 0; farlock.c is for those of others, and for locks in a device heap. */
#include <string.h>

#include "base/futex.h"
#include "base/log.h"
#include "core/device.h"
#include "core/order.h"
#include "core/place.h"
#include "core/symm.h"
#include "core/ticket.h"
#include "core/wait.h"
#include "core/world.h"

enum { HOME = HM_LOCK_HOME };

/* Its word is not mapped here: farlock.c's. */
static bool is_asked_for(const long *lock) { return hm_place_is_far(HOME) || hm_device_holds(lock, 1); }

static struct hm_ticket_lock *find(long *lock, const char *call)
{
    char *at = hm_symm_reach_mapped(lock, sizeof *lock, HOME, call, "lock");
    if (hm_unlikely((uintptr_t)lock % sizeof *lock))
        hm_die(call, "lock: %p is not aligned to the %zu bytes of a long", (void *)lock, sizeof *lock);
    return (struct hm_ticket_lock *)at;
}

static bool change(struct hm_ticket_lock *l, struct hm_ticket_lock from, struct hm_ticket_lock to)
{
    uint64_t old = hm_ticket_word(from);
    return __atomic_compare_exchange_n((uint64_t *)l, &old, hm_ticket_word(to), false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* Whoever comes to hold the lock looks at this half at last, which the holder before him has written. */
static bool is_served(const struct hm_ticket_lock *l, uint32_t ticket)
{
    return __atomic_load_n(&l->served, __ATOMIC_SEQ_CST) == ticket;
}

/* --- tickets whose owners have gone --- */

enum { FREE, WRITING, ABANDONED, STATES = 4 };

static uint64_t key_of(const long *lock)
{
    bool in_heap = false;
    int64_t offset = hm_symm_offset(lock, &in_heap);
    return (uint64_t)offset << 1 | in_heap;
}

/* False when the entry is not as it was seen any more: no number of a state comes back for a long time. */
static bool entry_becomes(struct hm_abandoned *e, uint32_t seen, uint32_t state)
{
    uint32_t next = (seen & ~(STATES - 1u)) + (state ? state : STATES);
    return __atomic_compare_exchange_n(&e->state, &seen, next, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static bool entry_take(struct hm_abandoned *e, uint32_t seen)
{
    if (!entry_becomes(e, seen, FREE)) return false;
    __atomic_fetch_sub(&hm_world.job->abandoned_count, 1, __ATOMIC_SEQ_CST);
    return true;
}

/* Leaves the ticket in the table. NULL: it is full. *state: to take the entry out again, should it still be this one.
 */
static struct hm_abandoned *ticket_leave(uint64_t key, uint32_t ticket, uint32_t *state)
{
    struct hm_job *job = hm_world.job;
    __atomic_fetch_add(&job->abandoned_count, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < HM_ABANDONED_MAX; i++) {
        struct hm_abandoned *e = &job->abandoned[i];
        uint32_t seen = __atomic_load_n(&e->state, __ATOMIC_RELAXED);
        if (seen % STATES != FREE || !entry_becomes(e, seen, WRITING)) continue;
        __atomic_store_n(&e->lock, key, __ATOMIC_RELAXED);
        __atomic_store_n(&e->ticket, ticket, __ATOMIC_RELAXED);
        *state = seen + ABANDONED;
        __atomic_store_n(&e->state, *state, __ATOMIC_SEQ_CST);
        return e;
    }
    __atomic_fetch_sub(&job->abandoned_count, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static bool is_ticket(const struct hm_abandoned *e, uint64_t key, uint32_t ticket)
{
    return __atomic_load_n(&e->lock, __ATOMIC_RELAXED) == key &&
           __atomic_load_n(&e->ticket, __ATOMIC_RELAXED) == ticket;
}

/* True when `turn` had been abandoned and the caller has taken it out: then the lock is the caller's. While the entry
 * stays as it was seen nobody else is served under that ticket, so who sees its turn in between may have it, even if
 * that is not the turn he has seen come: tickets begin anew at 0. */
static bool ticket_take(struct hm_ticket_lock *l, uint64_t key, uint32_t turn)
{
    struct hm_job *job = hm_world.job;
    if (hm_likely(!__atomic_load_n(&job->abandoned_count, __ATOMIC_SEQ_CST))) return false;
    for (int i = 0; i < HM_ABANDONED_MAX; i++) {
        struct hm_abandoned *e = &job->abandoned[i];
        uint32_t seen = __atomic_load_n(&e->state, __ATOMIC_SEQ_CST);
        if (seen % STATES == ABANDONED && is_ticket(e, key, turn) &&
            is_served(l, turn) && entry_take(e, seen))
            return true;
    }
    return false;
}

/* --- set, test, clear --- */

/* By whoever holds the lock: on to the next ticket whose owner is there. */
static void release(struct hm_ticket_lock *l, uint64_t key)
{
    uint32_t turn;
    do {
        struct hm_ticket_lock now = hm_ticket_lock_of(__atomic_load_n((uint64_t *)l, __ATOMIC_ACQUIRE));
        if (now.next == now.served + 1 && change(l, now, (struct hm_ticket_lock){0, 0})) return; /* nobody queues */
        turn = now.served + 1;
        __atomic_store_n(&l->served, turn, __ATOMIC_SEQ_CST);
    } while (hm_unlikely(ticket_take(l, key, turn)));
    if (hm_bell_has_sleepers(&hm_symm.peer[HOME].page->lock_bell)) hm_wait_wake(&l->served, 1u << (turn & 31));
}

/* The caller has not been served yet and does not want to be. False: there is no room for its ticket, it must wait on.
 */
static bool withdraw(struct hm_ticket_lock *l, uint32_t ticket, uint64_t key)
{
    struct hm_ticket_lock now = hm_ticket_lock_of(__atomic_load_n((uint64_t *)l, __ATOMIC_ACQUIRE));
    while (now.next == ticket + 1 && now.served != ticket) {
        if (change(l, now, (struct hm_ticket_lock){ticket, now.served})) return true;
        now = hm_ticket_lock_of(__atomic_load_n((uint64_t *)l, __ATOMIC_ACQUIRE));
    }
    if (!is_served(l, ticket)) {
        uint32_t state;
        struct hm_abandoned *e = ticket_leave(key, ticket, &state);
        if (!e) return false;
        if (!is_served(l, ticket) || !entry_take(e, state)) return true;
    }
    release(l, key); /* its turn has come meanwhile */
    return true;
}

static void wait_for_turn(struct hm_ticket_lock *l, uint32_t ticket, long *lock, const char *call)
{
    struct hm_wait w;
    bool in_heap = false;
    hm_wait_begin(&w, &hm_symm.peer[HOME].page->lock_bell, false, call);
    w.word = &l->served;
    w.mask = 1u << (ticket & 31);
    w.about.kind = HM_BLOCKED_LOCK;
    w.about.pe = HOME;
    w.about.addr = (uintptr_t)lock;
    w.about.offset = hm_symm_offset(lock, &in_heap);
    w.about.in_heap = in_heap;
    w.returns = true;
    while (!is_served(l, ticket))
        if (!hm_wait_pause(&w) && withdraw(l, ticket, key_of(lock))) goto end;
    if (w.left) release(l, key_of(lock)); /* it wanted to leave all the time */
end:
    hm_wait_end(&w);
}

static struct hm_ticket_lock *lock_at(uint64_t offset, bool in_heap)
{
    const struct hm_peer *home = &hm_symm.peer[HOME];
    return (struct hm_ticket_lock *)((in_heap ? home->heap : home->data) + offset);
}

void hm_lock_release_at(uint64_t offset, bool in_heap) { release(lock_at(offset, in_heap), offset << 1 | in_heap); }

bool hm_lock_withdraw_at(uint64_t offset, bool in_heap, uint32_t ticket)
{
    return withdraw(lock_at(offset, in_heap), ticket, offset << 1 | in_heap);
}

void hm_lock_set(long *lock, const char *call)
{
    if (is_asked_for(lock)) {
        hm_farlock_set(lock, call);
        return;
    }
    struct hm_ticket_lock *l = find(lock, call);
    uint32_t ticket = __atomic_fetch_add(&l->next, 1, __ATOMIC_SEQ_CST);
    if (!is_served(l, ticket)) wait_for_turn(l, ticket, lock, call);
}

int hm_lock_test(long *lock, const char *call)
{
    if (is_asked_for(lock)) return hm_farlock_test(lock, call);
    struct hm_ticket_lock *l = find(lock, call);
    struct hm_ticket_lock now = hm_ticket_lock_of(__atomic_load_n((uint64_t *)l, __ATOMIC_ACQUIRE));
    if (now.next == now.served && change(l, now, (struct hm_ticket_lock){now.next + 1, now.served}) &&
        is_served(l, now.served))
        return 0;
    hm_test_failed();
    return 1;
}

void hm_lock_clear(long *lock, const char *call)
{
    if (is_asked_for(lock)) {
        hm_farlock_clear(lock, call);
        return;
    }
    struct hm_ticket_lock *l = find(lock, call);
    struct hm_ticket_lock now = hm_ticket_lock_of(__atomic_load_n((uint64_t *)l, __ATOMIC_ACQUIRE));
    hm_quiet(&hm_ctx_default);
    if (now.next == now.served) hm_die(call, "lock: the lock at %p is not held by anybody", (void *)lock);
    release(l, key_of(lock));
}
