/* Locks are ticket locks, so first come is first served. The copy of the long on PE 0 is the lock: in one half the next
 * ticket, in the other the ticket being served; both 0 when it is free and was left without a queue. A waiter sleeps on
 * the served half, under the bit of its ticket, so that a release wakes whose turn it is and nobody else. */
#include <string.h>

#include "base/futex.h"
#include "base/log.h"
#include "core/order.h"
#include "core/symm.h"
#include "core/wait.h"
#include "core/world.h"

enum { HOME = 0 };

struct ticket_lock {
    uint32_t next, served;
};
_Static_assert(sizeof(struct ticket_lock) == sizeof(long), "a lock must fit a long");

static struct ticket_lock *find(long *lock, const char *call)
{
    const struct hm_peer *peer;
    char *at = hm_symm_map(lock, sizeof *lock, HOME, &peer);
    if (hm_unlikely(!at)) at = hm_symm_find(lock, sizeof *lock, HOME, &peer, call, "lock");
    if (hm_unlikely((uintptr_t)lock % sizeof *lock))
        hm_die(call, "lock: %p is not aligned to the %zu bytes of a long", (void *)lock, sizeof *lock);
    if (!at) hm_die(call, "PE %d, where the lock lives, cannot be reached from here", HOME);
    return (struct ticket_lock *)at;
}

static uint64_t word_of(struct ticket_lock l)
{
    uint64_t w;
    memcpy(&w, &l, sizeof w);
    return w;
}

static struct ticket_lock lock_of(uint64_t w)
{
    struct ticket_lock l;
    memcpy(&l, &w, sizeof l);
    return l;
}

static bool change(struct ticket_lock *l, struct ticket_lock from, struct ticket_lock to)
{
    uint64_t old = word_of(from);
    return __atomic_compare_exchange_n((uint64_t *)l, &old, word_of(to), false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static void wait_for_turn(struct ticket_lock *l, uint32_t ticket, long *lock, const char *call)
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
    while (__atomic_load_n(&l->served, __ATOMIC_ACQUIRE) != ticket) hm_wait_pause(&w);
    hm_wait_end(&w);
}

void hm_lock_set(long *lock, const char *call)
{
    struct ticket_lock *l = find(lock, call);
    uint32_t ticket = __atomic_fetch_add(&l->next, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&l->served, __ATOMIC_ACQUIRE) != ticket) wait_for_turn(l, ticket, lock, call);
}

int hm_lock_test(long *lock, const char *call)
{
    struct ticket_lock *l = find(lock, call);
    struct ticket_lock now = lock_of(__atomic_load_n((uint64_t *)l, __ATOMIC_ACQUIRE));
    if (now.next == now.served && change(l, now, (struct ticket_lock){now.next + 1, now.served})) return 0;
    hm_test_failed();
    return 1;
}

void hm_lock_clear(long *lock, const char *call)
{
    struct ticket_lock *l = find(lock, call);
    struct ticket_lock now = lock_of(__atomic_load_n((uint64_t *)l, __ATOMIC_ACQUIRE));
    hm_quiet(&hm_ctx_default);
    if (now.next == now.served) hm_die(call, "lock: the lock at %p is not held by anybody", (void *)lock);
    if (now.next == now.served + 1 && change(l, now, (struct ticket_lock){0, 0})) return; /* nobody queues */
    uint32_t turn = now.served + 1;
    __atomic_store_n(&l->served, turn, __ATOMIC_SEQ_CST);
    if (hm_bell_has_sleepers(&hm_symm.peer[HOME].page->lock_bell)) hm_futex_wake_some(&l->served, 1u << (turn & 31));
}
