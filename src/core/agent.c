/* Requests of PEs of this machine come through a ring in job memory, one for each agent. A ticket is a place in it and its
 * turn there; the agent serves in the order of tickets, so what a PE asks of another is done in that order. A slot goes from
 * free to full to done and is free again, for the next turn, when its result has been taken; what has no result is free again
 * when it is done. Zero is a slot that is free for the first turn. */
#define _GNU_SOURCE
#include "core/agent.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/futex.h"
#include "base/log.h"
#include "base/option.h"
#include "core/ask.h"
#include "core/device.h"
#include "core/far.h"
#include "core/look.h"
#include "core/place.h"
#include "core/wait.h"
#include "core/world.h"

enum { SLOTS = 512, FREE = 0, FULL = 1, DONE = 2, TURN = 4 };
enum { SPIN_STEPS = 2000, HALT_S = 2 };

struct slot {
    HM_ALIGNED(HM_LINE) uint32_t state;
    struct hm_ask ask;
};
_Static_assert(sizeof(struct slot) == HM_LINE, "a slot is a line");

struct ring {
    HM_ALIGNED(HM_LINE) uint64_t tickets; /* taken */
    HM_ALIGNED(HM_LINE) uint64_t served;  /* done and seen, in their order */
    uint32_t asleep;                      /* the agent: it wants to be woken */
    HM_ALIGNED(HM_LINE) struct hm_bell slots; /* who waits for a slot: sleeps on its state */
    HM_ALIGNED(HM_LINE) struct hm_bell quiet; /* who waits for `served` */
    struct slot slot[SLOTS];
};
_Static_assert(sizeof(struct ring) <= HM_AGENT_BYTES, "a ring must fit its place in job memory");

/* Of requests that return nothing and were not waited for: behind the last of them to each agent of this machine. */
struct owed {
    uint64_t last; /* its ticket + 1 */
    uint64_t seen; /* so many were served when this PE last looked */
};

static struct {
    pthread_t thread;
    bool runs;
    uint32_t stop;
    unsigned spin;
    uint64_t next; /* ticket that is served next */
    struct owed *owed;
} agent;

static struct ring *ring_of(int pe)
{
    size_t at = hm_job_agents_at(hm_world.job->npes) + (size_t)hm_place_local(pe) * HM_AGENT_BYTES;
    return (struct ring *)((char *)hm_world.job + at);
}

static uint32_t turn_of(uint64_t ticket) { return (uint32_t)(ticket / SLOTS) * TURN; }
static struct slot *slot_of(struct ring *r, uint64_t ticket) { return &r->slot[ticket % SLOTS]; }

/* --- those who ask --- */

static void wake(struct ring *r)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* the request first, then the look */
    if (__atomic_load_n(&r->asleep, __ATOMIC_RELAXED) && __atomic_exchange_n(&r->asleep, 0, __ATOMIC_SEQ_CST))
        hm_futex_wake(&r->asleep, 1);
}

void hm_agent_wake(void) { wake(ring_of(hm_world.pe)); }

/* After a slot has changed. */
static void wake_slot(struct ring *r, struct slot *s)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (hm_bell_has_sleepers(&r->slots)) hm_wait_wake(&s->state, 0);
}

/* For threads of this machine, which answer without waiting for anybody. */
static void begin_wait(struct hm_wait *w, struct hm_bell *bell, int pe, const char *call)
{
    hm_wait_begin(w, bell, false, call);
    hm_wait_for_thread(w);
    w->about.kind = HM_BLOCKED_AGENT;
    w->about.pe = pe;
}

static HM_COLD void wait_for_slot(struct ring *r, struct slot *s, uint32_t state, int pe, const char *call)
{
    struct hm_wait w;
    begin_wait(&w, &r->slots, pe, call);
    w.word = &s->state;
    while (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) != state) hm_wait_pause(&w);
    hm_wait_end(&w);
}

static void await_slot(struct ring *r, struct slot *s, uint32_t state, int pe, const char *call)
{
    if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) != state) wait_for_slot(r, s, state, pe, call);
}

static void note_asked(struct hm_ctx *ctx)
{
    if (hm_unlikely(!__atomic_load_n(&ctx->asked, __ATOMIC_RELAXED))) __atomic_store_n(&ctx->asked, 1, __ATOMIC_RELAXED);
    if (hm_unlikely(!__atomic_load_n(&ctx->on_device, __ATOMIC_RELAXED)))
        __atomic_store_n(&ctx->on_device, true, __ATOMIC_RELAXED);
}

static void note_owed(struct hm_ctx *ctx, int pe, uint64_t ticket)
{
    uint64_t *last = &agent.owed[hm_place_local(pe)].last, before = __atomic_load_n(last, __ATOMIC_RELAXED);
    while (before <= ticket && !__atomic_compare_exchange_n(last, &before, ticket + 1, true, __ATOMIC_RELEASE,
                                                            __ATOMIC_RELAXED))
        continue;
    note_asked(ctx);
}

static uint64_t ask_here(struct hm_ctx *ctx, int pe, const struct hm_ask *ask, const char *call)
{
    struct ring *r = ring_of(pe);
    uint64_t ticket = __atomic_fetch_add(&r->tickets, 1, __ATOMIC_SEQ_CST);
    struct slot *s = slot_of(r, ticket);
    uint32_t turn = turn_of(ticket);
    await_slot(r, s, turn + FREE, pe, call);
    s->ask = *ask;
    __atomic_store_n(&s->state, turn + FULL, __ATOMIC_RELEASE);
    wake(r);
    if (hm_ask_is_silent(ask)) {
        note_owed(ctx, pe, ticket);
        return 0;
    }
    await_slot(r, s, turn + DONE, pe, call);
    uint64_t value = s->ask.value;
    __atomic_store_n(&s->state, turn + TURN, __ATOMIC_RELEASE);
    wake_slot(r, s);
    return value;
}

static uint64_t ask(struct hm_ctx *ctx, int pe, const struct hm_ask *ask, const char *call)
{
    if (ctx->flow) hm_device_complete(ctx, call); /* what it has put is there before the request is */
    if (ctx->lane && hm_symm.far && hm_symm.far[pe]) hm_far_quiet(ctx); /* the transport's fence knows nothing of requests */
    if (!hm_place_is_far(pe)) return ask_here(ctx, pe, ask, call);
    if (hm_ask_is_silent(ask)) note_asked(ctx);
    return hm_agent_ask_far(pe, ask, call);
}

uint64_t hm_agent_amo(struct hm_ctx *ctx, enum hm_amo op, size_t offset, uint64_t value, uint64_t cond, size_t size, int pe,
                      const char *call)
{
    struct hm_ask a = {.op = (uint8_t)op, .size = (uint8_t)size, .offset = offset, .value = value, .cond = cond};
    return ask(ctx, pe, &a, call);
}

void hm_agent_add_float(struct hm_ctx *ctx, size_t offset, uint64_t value, size_t size, int pe, const char *call)
{
    struct hm_ask a = {.op = HM_ASK_ADD_FLOAT, .size = (uint8_t)size, .offset = offset, .value = value};
    ask(ctx, pe, &a, call);
}

static HM_COLD void wait_until_served(struct ring *r, uint64_t last, int pe)
{
    struct hm_wait w;
    begin_wait(&w, &r->quiet, pe, "quiet");
    while (__atomic_load_n(&r->served, __ATOMIC_ACQUIRE) < last) hm_wait_pause(&w);
    hm_wait_end(&w);
}

/* Whatever context asked: there is one queue for all of this PE's. */
void hm_agent_quiet(struct hm_ctx *ctx)
{
    if (!__atomic_load_n(&ctx->asked, __ATOMIC_RELAXED) || !agent.owed) return; /* at finalize agents have gone, in order */
    for (int i = 0; i < hm_places.local_npes; i++) {
        struct owed *o = &agent.owed[i];
        uint64_t last = __atomic_load_n(&o->last, __ATOMIC_ACQUIRE);
        if (last <= __atomic_load_n(&o->seen, __ATOMIC_ACQUIRE)) continue;
        struct ring *r = ring_of(hm_place_pe(i));
        uint64_t served = __atomic_load_n(&r->served, __ATOMIC_ACQUIRE);
        if (served < last) wait_until_served(r, served = last, hm_place_pe(i));
        __atomic_store_n(&o->seen, served, __ATOMIC_RELEASE);
    }
    if (hm_places.machines > 1) hm_agent_quiet_far("quiet");
}

/* --- the agent --- */

static bool is_full(struct ring *r, uint64_t ticket)
{
    return __atomic_load_n(&slot_of(r, ticket)->state, __ATOMIC_ACQUIRE) == turn_of(ticket) + FULL;
}

static void answer(struct ring *r, uint64_t ticket)
{
    struct slot *s = slot_of(r, ticket);
    uint32_t next = hm_ask_is_silent(&s->ask) ? TURN : DONE;
    __atomic_store_n(&s->state, turn_of(ticket) + next, __ATOMIC_RELEASE);
}

/* Wakes are looked for once, behind all answers of a batch. */
static void tell(struct ring *r, uint64_t from, uint64_t to)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (hm_bell_has_sleepers(&r->slots))
        for (uint64_t t = from; t < to; t++) hm_wait_wake(&slot_of(r, t)->state, 0);
    hm_bell_ring(&r->quiet);
}

static bool serve(struct ring *r)
{
    struct hm_ask *asks[HM_ASK_BATCH];
    size_t n = 0;
    while (n < HM_ASK_BATCH && is_full(r, agent.next + n)) {
        asks[n] = &slot_of(r, agent.next + n)->ask;
        n++;
    }
    if (!n) return false;
    hm_agent_do(asks, n);
    uint64_t from = agent.next;
    agent.next += n;
    for (uint64_t t = from; t < agent.next; t++) answer(r, t);
    __atomic_store_n(&r->served, agent.next, __ATOMIC_RELEASE);
    tell(r, from, agent.next);
    return true;
}

static bool has_work(struct ring *r)
{
    return is_full(r, agent.next) || hm_agent_has_far() || __atomic_load_n(&agent.stop, __ATOMIC_SEQ_CST);
}

/* Until somebody asks; where there are cores enough, looking for a while. */
static void rest(struct ring *r)
{
    for (unsigned i = 0; i < agent.spin; i++) {
        if (has_work(r)) return;
        hm_relax();
    }
    __atomic_store_n(&r->asleep, 1, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!has_work(r)) hm_futex_wait(&r->asleep, 1, 0);
    __atomic_store_n(&r->asleep, 0, __ATOMIC_SEQ_CST);
}

static void *run(void *arg)
{
    struct ring *r = arg;
    int e = hm_device.ops->enter();
    if (e) hm_device_fail(NULL, "the agent of this PE cannot use the device", -1, e);
    hm_agent_words_start(NULL);
    while (!__atomic_load_n(&agent.stop, __ATOMIC_SEQ_CST)) {
        bool here = serve(r), far = hm_agent_serve_far();
        if (!here && !far) rest(r);
    }
    hm_agent_words_stop();
    hm_device.ops->leave();
    return NULL;
}

/* --- start and stop --- */

/* It takes no signal of the program's. */
static int start_thread(struct ring *r)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int e = pthread_create(&agent.thread, NULL, run, r);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!e) pthread_setname_np(agent.thread, "hbmesh-agent");
    return -e;
}

void hm_agent_start(const char *call)
{
    struct ring *r = ring_of(hm_world.pe);
    agent.spin = !hm_world.oversubscribed && hm_options.sleep_after ? SPIN_STEPS : 0;
    agent.stop = 0;
    agent.next = __atomic_load_n(&r->served, __ATOMIC_RELAXED); /* an earlier init's go on */
    agent.owed = calloc((size_t)hm_places.local_npes, sizeof *agent.owed);
    if (!agent.owed) hm_die(call, "out of memory");
    hm_agent_far_start(call);
    hm_bell_let_wakers_fence(&r->slots);
    hm_bell_let_wakers_fence(&r->quiet);
    int e = start_thread(r);
    if (e) hm_die(call, "no thread could be had for the agent of this PE's device memory: %s", strerror(-e));
    agent.runs = true;
}

static void tell_to_stop(void)
{
    __atomic_store_n(&agent.stop, 1, __ATOMIC_SEQ_CST);
    hm_agent_wake();
}

/* The runtime's own exit handlers must not meet it in a call; but one that hangs there is not waited for. */
void hm_agent_halt(void)
{
    struct timespec end;
    if (!agent.runs) return;
    agent.runs = false;
    tell_to_stop();
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += HALT_S;
    if (pthread_timedjoin_np(agent.thread, NULL, &end)) hm_debug("the agent of this PE is left in the runtime");
}

void hm_agent_stop(void)
{
    if (!agent.runs) return;
    tell_to_stop();
    pthread_join(agent.thread, NULL);
    agent.runs = false;
    hm_look_stop();
    hm_agent_far_stop();
    free(agent.owed);
    agent.owed = NULL;
}
