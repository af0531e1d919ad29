/* Locks whose home is on another machine, or in a device heap. Tickets are taken there by atomics, so that who comes first is
 * served first, whatever machine he is on. Whose turn it is he asks again and again, less often the longer the queue before
 * him. Releases are left to the home where somebody may have to be woken.
 *
 * All who use a lock on the device ask so, nobody sleeps on its word, and there is no table of tickets without owners: who
 * wants to leave can if his ticket is the newest one, and else has to wait for his turn. */
#include "base/log.h"
#include "core/agent.h"
#include "core/device.h"
#include "core/far.h"
#include "core/message.h"
#include "core/order.h"
#include "core/symm.h"
#include "core/ticket.h"
#include "core/wait.h"
#include "core/world.h"

enum { ASK_NS = 20000, ASK_MAX_NS = 1000000 };

/* Where the word of a lock is. */
struct word {
    struct hm_place at; /* on the device: of its offset there alone */
    bool device;
};

/* To the home. */
struct order {
    struct hm_message head;
    uint64_t offset;
    uint32_t in_heap;
    uint32_t ticket;  /* HM_MESSAGE_WITHDRAW: its owner wants to go */
    uint64_t verdict; /* of this struct answer at the owner's */
};
/* And back: may he go? */
struct answer {
    struct hm_message head;
    uint64_t verdict;
    uint32_t granted, spare;
};
enum { PENDING, GRANTED, REFUSED };

static void send_order(enum hm_message_kind kind, struct hm_place at, uint32_t ticket, const uint32_t *verdict)
{
    struct order m = {.head = {kind, 0}, .offset = at.offset, .in_heap = at.segment == HM_SEGMENT_HEAP, .ticket = ticket,
                      .verdict = (uintptr_t)verdict};
    hm_far_message(HM_LOCK_HOME, &m, sizeof m);
}

static struct word find(long *lock, const char *call)
{
    hm_world_need(call);
    hm_symm_require(lock, sizeof *lock, call, "lock");
    if (hm_unlikely((uintptr_t)lock % sizeof *lock))
        hm_die(call, "lock: %p is not aligned to the %zu bytes of a long", (void *)lock, sizeof *lock);
    if (hm_device_holds(lock, 1)) return (struct word){{HM_LOCK_HOME, HM_SEGMENT_HEAP, hm_device_offset(lock)}, true};
    return (struct word){hm_far_place(lock, HM_LOCK_HOME), false};
}

/* On a part of the word, `part` bytes behind its beginning. */
static uint64_t amo(const struct word *w, enum hm_amo op, size_t part, size_t size, uint64_t value, uint64_t cond)
{
    struct hm_place at = w->at;
    at.offset += part;
    if (w->device) return hm_agent_amo(&hm_ctx_inner, op, at.offset, value, cond, size, HM_LOCK_HOME, NULL);
    return hm_far_amo_at(op, at, size, value, cond);
}

static struct hm_ticket_lock look(const struct word *w)
{
    return hm_ticket_lock_of(amo(w, HM_AMO_FETCH, 0, sizeof(uint64_t), 0, 0));
}

static bool change(const struct word *w, struct hm_ticket_lock from, struct hm_ticket_lock to)
{
    uint64_t old = hm_ticket_word(from);
    return amo(w, HM_AMO_CAS, 0, sizeof old, hm_ticket_word(to), old) == old;
}

/* Nobody waits: free, as a lock that was never used. */
static bool release_unqueued(const struct word *w, struct hm_ticket_lock now)
{
    return now.next == now.served + 1 && change(w, now, (struct hm_ticket_lock){0, 0});
}

static void release(const struct word *w, struct hm_ticket_lock now)
{
    if (release_unqueued(w, now)) return;
    if (w->device)
        amo(w, HM_AMO_FETCH_ADD, offsetof(struct hm_ticket_lock, served), sizeof now.served, 1, 0);
    else
        send_order(HM_MESSAGE_UNLOCK, w->at, 0, NULL);
}

static void answer(int to, const struct order *m, bool granted)
{
    struct answer a = {.head = {HM_MESSAGE_WITHDRAWN, 0}, .verdict = m->verdict, .granted = granted};
    hm_far_message(to, &a, sizeof a);
}

void hm_lock_answered(int from, const void *bytes, size_t n)
{
    struct answer a;
    if (n != sizeof a) hm_die(NULL, "PE %d answers about a lock with %zu bytes instead of %zu", from, n, sizeof a);
    memcpy(&a, bytes, sizeof a);
    __atomic_store_n((uint32_t *)(uintptr_t)a.verdict, a.granted ? GRANTED : REFUSED, __ATOMIC_RELEASE);
}

void hm_lock_heard(int from, const void *bytes, size_t n)
{
    struct order m;
    if (n != sizeof m) hm_die(NULL, "PE %d orders something of a lock with %zu bytes instead of %zu", from, n, sizeof m);
    memcpy(&m, bytes, sizeof m);
    size_t limit = m.in_heap ? hm_symm.real_heap_limit : hm_symm.real_data_limit;
    if (m.offset % sizeof(long) || m.offset >= limit)
        hm_die(NULL, "PE %d names a lock at offset %llu, where no lock can be", from, (unsigned long long)m.offset);
    if (m.head.kind == HM_MESSAGE_UNLOCK)
        hm_lock_release_at(m.offset, m.in_heap);
    else
        answer(from, &m, hm_lock_withdraw_at(m.offset, m.in_heap, m.ticket));
}

static bool give_back(const struct word *lock, uint32_t ticket)
{
    struct hm_ticket_lock now;
    while ((now = look(lock)).next == ticket + 1 && now.served != ticket)
        if (change(lock, now, (struct hm_ticket_lock){ticket, now.served})) return true;
    return false;
}

/* False: there is no room for tickets without owners, and this one must wait for its turn. */
static bool withdraw(const struct word *lock, uint32_t ticket, struct hm_wait *w)
{
    uint32_t verdict = PENDING, seen;
    if (lock->device) return give_back(lock, ticket);
    send_order(HM_MESSAGE_WITHDRAW, lock->at, ticket, &verdict);
    while ((seen = __atomic_load_n(&verdict, __ATOMIC_ACQUIRE)) == PENDING) hm_wait_nap(w, ASK_NS);
    return seen == GRANTED;
}

static void wait_for_turn(const struct word *word, uint32_t ticket, long *lock, const char *call)
{
    struct hm_wait w;
    struct hm_ticket_lock now;
    hm_wait_begin(&w, hm_wait_own_bell(), false, call);
    w.about.kind = HM_BLOCKED_LOCK;
    w.about.pe = HM_LOCK_HOME;
    w.about.addr = (uintptr_t)lock;
    w.about.offset = (int64_t)word->at.offset;
    w.about.in_heap = word->device ? 2 : word->at.segment == HM_SEGMENT_HEAP;
    w.returns = true;
    while ((now = look(word)).served != ticket) {
        uint64_t ns = (uint64_t)(ticket - now.served) * ASK_NS;
        bool left = w.left;
        if (!hm_wait_nap(&w, ns < ASK_MAX_NS ? ns : ASK_MAX_NS) && !left && withdraw(word, ticket, &w)) goto end;
    }
    if (w.left) release(word, now); /* it wanted to leave all the time */
end:
    hm_wait_end(&w);
}

void hm_farlock_set(long *lock, const char *call)
{
    struct word word = find(lock, call);
    uint32_t ticket = (uint32_t)amo(&word, HM_AMO_FETCH_ADD, offsetof(struct hm_ticket_lock, next), sizeof ticket, 1, 0);
    wait_for_turn(&word, ticket, lock, call);
}

int hm_farlock_test(long *lock, const char *call)
{
    struct word word = find(lock, call);
    struct hm_ticket_lock now = look(&word);
    if (now.next == now.served && change(&word, now, (struct hm_ticket_lock){now.next + 1, now.served})) return 0;
    hm_test_failed();
    return 1;
}

void hm_farlock_clear(long *lock, const char *call)
{
    struct word word = find(lock, call);
    hm_quiet(&hm_ctx_default);
    struct hm_ticket_lock now = look(&word);
    if (now.next == now.served) hm_die(call, "lock: the lock at %p is not held by anybody", (void *)lock);
    release(&word, now);
}
