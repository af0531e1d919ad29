/* Locks whose home is on another machine. Tickets are taken there by atomics, so that who comes first is served first,
 * whatever machine he is on. Whose turn it is he asks again and again, less often the longer the queue before him. Releases
 * are left to the home where somebody may have to be woken. */
#include "base/log.h"
#include "core/far.h"
#include "core/message.h"
#include "core/order.h"
#include "core/symm.h"
#include "core/ticket.h"
#include "core/wait.h"
#include "core/world.h"

enum { ASK_NS = 20000, ASK_MAX_NS = 1000000 };

/* To the home. */
struct order {
    struct hm_message head;
    uint64_t offset;
    uint32_t in_heap;
    uint32_t ticket; /* HM_MESSAGE_WITHDRAW: nobody waits with it any more */
};

static void send_order(enum hm_message_kind kind, struct hm_place at, uint32_t ticket)
{
    struct order m = {.head = {kind, 0}, .offset = at.offset, .in_heap = at.segment == HM_SEGMENT_HEAP, .ticket = ticket};
    hm_far_message(HM_LOCK_HOME, &m, sizeof m);
}

static struct hm_place find(long *lock, const char *call)
{
    hm_world_need(call);
    hm_symm_require(lock, sizeof *lock, call, "lock");
    if (hm_unlikely((uintptr_t)lock % sizeof *lock))
        hm_die(call, "lock: %p is not aligned to the %zu bytes of a long", (void *)lock, sizeof *lock);
    return hm_far_place(lock, HM_LOCK_HOME);
}

static struct hm_ticket_lock look(struct hm_place at)
{
    return hm_ticket_lock_of(hm_far_amo_at(HM_AMO_FETCH, at, sizeof(uint64_t), 0, 0));
}

static bool change(struct hm_place at, struct hm_ticket_lock from, struct hm_ticket_lock to)
{
    uint64_t old = hm_ticket_word(from);
    return hm_far_amo_at(HM_AMO_CAS, at, sizeof old, hm_ticket_word(to), old) == old;
}

/* Nobody waits: free, as a lock that was never used. */
static bool release_unqueued(struct hm_place at, struct hm_ticket_lock now)
{
    return now.next == now.served + 1 && change(at, now, (struct hm_ticket_lock){0, 0});
}

static void release(struct hm_place at, struct hm_ticket_lock now)
{
    if (!release_unqueued(at, now)) send_order(HM_MESSAGE_UNLOCK, at, 0);
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
        hm_lock_withdraw_at(m.offset, m.in_heap, m.ticket);
}

static void wait_for_turn(struct hm_place at, uint32_t ticket, long *lock, const char *call)
{
    struct hm_wait w;
    struct hm_ticket_lock now;
    hm_wait_begin(&w, hm_wait_own_bell(), false, call);
    w.about.kind = HM_BLOCKED_LOCK;
    w.about.pe = HM_LOCK_HOME;
    w.about.addr = (uintptr_t)lock;
    w.about.offset = (int64_t)at.offset;
    w.about.in_heap = at.segment == HM_SEGMENT_HEAP;
    w.returns = true;
    while ((now = look(at)).served != ticket) {
        uint64_t ns = (uint64_t)(ticket - now.served) * ASK_NS;
        if (hm_wait_nap(&w, ns < ASK_MAX_NS ? ns : ASK_MAX_NS)) continue;
        send_order(HM_MESSAGE_WITHDRAW, at, ticket);
        break;
    }
    hm_wait_end(&w);
}

void hm_farlock_set(long *lock, const char *call)
{
    struct hm_place at = find(lock, call), next = at;
    next.offset += offsetof(struct hm_ticket_lock, next);
    uint32_t ticket = (uint32_t)hm_far_amo_at(HM_AMO_FETCH_ADD, next, sizeof ticket, 1, 0);
    wait_for_turn(at, ticket, lock, call);
}

int hm_farlock_test(long *lock, const char *call)
{
    struct hm_place at = find(lock, call);
    struct hm_ticket_lock now = look(at);
    if (now.next == now.served && change(at, now, (struct hm_ticket_lock){now.next + 1, now.served})) return 0;
    hm_test_failed();
    return 1;
}

void hm_farlock_clear(long *lock, const char *call)
{
    struct hm_place at = find(lock, call);
    hm_quiet(&hm_ctx_default);
    struct hm_ticket_lock now = look(at);
    if (now.next == now.served) hm_die(call, "lock: the lock at %p is not held by anybody", (void *)lock);
    release(at, now);
}
