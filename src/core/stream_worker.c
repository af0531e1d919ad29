/* The worker: see stream.h. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/futex.h"
#include "base/log.h"
#include "base/os.h"
#include "core/agent.h"
#include "core/crowd.h"
#include "core/device.h"
#include "core/order.h"
#include "core/place.h"
#include "core/stream_op.h"
#include "core/wait.h"
#include "core/world.h"

enum { SPIN = 200, SHORT_NAPS = 40, SHORT_NAP_NS = 2000, NAP_LEAST_NS = 50000, NAP_MOST_NS = 10000000 };
enum { WATCH_NS = 10000000, HALT_LOOK_NS = 50000000, HALT_S = 1 };
enum { SHOW_STEPS = 512, TELL_STEPS = 16, SHOWN_MOST = 4 };
#define SAY_AFTER_NS 2000000000ull
#define ASK_AFTER_NS 1000000000ull

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that is static here */
static pthread_t thread;
static bool running;
static uint32_t stop, halted;
static uint32_t came; /* grows with each operation whose turn has come: the worker sleeps on it when it has none */
static struct hm_stream_op *inbox, **inbox_end = &inbox;
static struct hm_stream_op *oldest, *newest; /* all that are on streams */
static hm_handle handle;
static struct hm_ctx *ctx;

struct hm_ctx *hm_stream_ctx(void) { return ctx; }

/* Copies that streams have done by themselves have rung no bell. */
void hm_stream_complete(void)
{
    hm_quiet(ctx);
    hm_quiet(&hm_ctx_default);
    for (int i = 0; i < hm_places.local_npes; i++) hm_bell_knock(hm_symm.peer[hm_place_pe(i)].bell);
}

/* --- the thread --- */

static struct hm_stream_op *take_inbox(void)
{
    pthread_mutex_lock(&lock);
    struct hm_stream_op *op = inbox;
    inbox = NULL;
    inbox_end = &inbox;
    pthread_mutex_unlock(&lock);
    return op;
}

/* Some for each PE, as the threads of the program need places, too. */
static unsigned shown;

static void tell(struct hm_stream_op *op, struct hm_blocked *b)
{
    __atomic_store_n(&b->have, op->have, __ATOMIC_RELAXED); /* the note may be read meanwhile */
    if (!op->team) return;
    int32_t pe = b->pe;
    __atomic_store_n(&b->missing, hm_stream_missing(op, &pe), __ATOMIC_RELAXED);
    __atomic_store_n(&b->pe, pe, __ATOMIC_RELAXED);
}

static void show(struct hm_stream_op *op)
{
    struct hm_blocked b = {.kind = HM_BLOCKED_STREAM, .pe = -1, .since = hm_os_now(), .offset = -1};
    if (op->team) {
        b.team_start = op->team->sync.start;
        b.team_stride = op->team->sync.stride;
        b.team_size = op->team->sync.size;
    } else {
        bool in_heap = false, on_device = hm_device_holds(op->sig_addr, 1);
        b.addr = (uintptr_t)op->sig_addr;
        b.offset = on_device ? (int64_t)hm_device_offset(op->sig_addr) : hm_symm_offset(op->sig_addr, &in_heap);
        b.in_heap = on_device ? 2 : in_heap;
        b.cmp = op->sig_op;
        b.want = (int64_t)op->signal;
    }
    tell(op, &b);
    op->shown = hm_blocked_publish(&b, op->call);
    if (op->shown) shown++;
}

static void hide(struct hm_stream_op *op)
{
    if (!op->shown) return;
    hm_blocked_retract(op->shown);
    op->shown = NULL;
    shown--;
}

/* It has looked in vain: after some milliseconds that shows. */
static void waited(struct hm_stream_op *op)
{
    if (++op->steps % TELL_STEPS) return;
    if (op->shown) tell(op, op->shown);
    else if (op->steps % SHOW_STEPS == 0 && shown < SHOWN_MOST) show(op);
}

static void finish(struct hm_stream_op *op)
{
    hide(op);
    __atomic_store_n(&op->done, 1, __ATOMIC_RELEASE); /* the waker may find the word gone: a spurious wake at worst */
    hm_futex_wake(&op->done, 1);
}

/* A step of each, in the order in which they came. Did one of them go on? */
static bool step_all(struct hm_stream_op **list)
{
    bool moved = false;
    while (*list) {
        struct hm_stream_op *op = *list;
        int rc = op->step(op);
        moved |= rc >= 0;
        if (rc > 0) {
            *list = op->next;
            finish(op);
        } else {
            if (rc == -EAGAIN) waited(op);
            list = &op->next;
        }
    }
    return moved;
}

/* --- between two looks --- */

/* At the bell of this PE, which whoever changes a word or comes to a meeting rings. It stays there as long as operations are
 * to be looked at. */
static struct {
    bool is_there;
    uint64_t lo, hi; /* rung for changes in between */
    uint64_t since;  /* nothing has happened; 0: it has */
} post;

static void leave_post(void)
{
    if (post.is_there) hm_bell_leave(hm_wait_own_bell());
    post.is_there = false;
}

static bool take_post(const struct hm_stream_op *list)
{
    uint64_t lo = UINT64_MAX, hi = 0;
    for (const struct hm_stream_op *op = list; op; op = op->next) {
        if (!op->sig_addr) continue;
        uint64_t key = hm_bell_key(op->sig_addr);
        if (key < lo) lo = key;
        if (key + sizeof *op->sig_addr > hi) hi = key + sizeof *op->sig_addr;
    }
    if (post.is_there && (lo >= hi || (lo >= post.lo && hi <= post.hi))) return false;
    leave_post();
    hm_bell_attend(hm_wait_own_bell(), lo, hi);
    post.is_there = true;
    post.lo = lo;
    post.hi = hi;
    return true;
}

/* What streams, kernels and plain stores do to a word rings nothing: for that it looks, ever less. Leaders of other machines
 * ring nothing either, and are not kept waiting. */
static uint64_t nap_ns(const struct hm_stream_op *list)
{
    uint64_t now = hm_os_now(), nap;
    if (!post.since) post.since = now;
    nap = (now - post.since) / 1000;
    for (const struct hm_stream_op *op = list; op; op = op->next)
        if (op->team && op->team->sync.span) nap = 0;
    if (nap < NAP_LEAST_NS) nap = NAP_LEAST_NS;
    return nap < NAP_MOST_NS ? nap : NAP_MOST_NS;
}

/* With cores to spare a few looks come first, then some milliseconds of short naps: to announce oneself and to be woken takes
 * longer than most waits. One more look comes behind the announcement. `seen`, `seq`: of `came` and of the bell, before the
 * last look. */
static void rest(const struct hm_stream_op *list, uint32_t seen, uint32_t seq, unsigned *idle)
{
    unsigned n = (*idle)++, spins = hm_world.oversubscribed ? 0 : SPIN;
    if (n < spins) {
        hm_relax();
        return;
    }
    if (n - spins < SHORT_NAPS) {
        hm_futex_wait(&came, seen, n - spins < 5 ? (uint64_t)SHORT_NAP_NS << (n - spins) : NAP_LEAST_NS);
        return;
    }
    if (take_post(list)) return;
    hm_crowd_wakes(&hm_world.job->crowd, 1); /* it is no PE that could be awake instead */
    hm_wait_sleep(&hm_wait_own_bell()->seq, seq, nap_ns(list), 0);
    hm_crowd_sleeps(&hm_world.job->crowd);
}

static void went_on(unsigned *idle)
{
    *idle = 0;
    post.since = 0;
}

/* The oldest operation that is on a stream, whether its turn has come or not: its call, NULL: there is none. */
static const char *oldest_call(void)
{
    pthread_mutex_lock(&lock);
    const char *call = oldest ? oldest->call : NULL;
    pthread_mutex_unlock(&lock);
    return call;
}

/* A stream that waits for a word of host memory, or for others, would not notice that its device is lost, and one whose
 * device is lost comes to nothing any more: so somebody asks for a word now and then, which ends the job then. */
static void ask_device(uint64_t *asked)
{
    uint64_t word, now = hm_os_now();
    if (now - *asked < ASK_AFTER_NS) return;
    const char *call = oldest_call();
    if (call) hm_device_move(&word, hm_device.base, sizeof word, call);
    *asked = hm_os_now();
}

static void *work(void *arg)
{
    struct hm_stream_op *list = NULL, **end;
    unsigned idle = 0;
    uint64_t asked = hm_os_now(), looked = asked;
    (void)arg;
    prctl(PR_SET_TIMERSLACK, 1000ul); /* ns; else each nap takes 50 us longer */
    int e = hm_device.ops->enter();
    if (e) hm_device_fail(NULL, "the device cannot be used by the thread that serves streams", -1, e);
    for (;;) {
        uint32_t seen = __atomic_load_n(&came, __ATOMIC_ACQUIRE);
        uint32_t seq = __atomic_load_n(&hm_wait_own_bell()->seq, __ATOMIC_SEQ_CST);
        for (end = &list; *end; end = &(*end)->next) continue;
        if ((*end = take_inbox()) != NULL) went_on(&idle);
        if (__atomic_load_n(&halted, __ATOMIC_ACQUIRE)) break;
        if (!list && __atomic_load_n(&stop, __ATOMIC_ACQUIRE)) break;
        bool watching = hm_stream_watch_copies(&looked);
        if (!list) {
            leave_post();
            hm_futex_wait(&came, seen, watching ? WATCH_NS : ASK_AFTER_NS);
            ask_device(&asked);
            went_on(&idle);
        } else if (step_all(&list)) {
            went_on(&idle);
        } else {
            rest(list, seen, seq, &idle);
            ask_device(&asked);
        }
    }
    leave_post();
    hm_device.ops->leave();
    return NULL;
}

/* Under the lock. The thread takes no signal of the program's. */
static int start_thread(const char *call)
{
    sigset_t all, before;
    if (!handle && hm_ctx_create(HM_TEAM_WORLD_HANDLE, 0, &handle, call)) return -EAGAIN;
    ctx = hm_ctx_get(handle, call);
    stop = halted = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int e = pthread_create(&thread, NULL, work, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (e) return -e;
    pthread_setname_np(thread, "hbmesh-stream");
    __atomic_store_n(&running, true, __ATOMIC_RELEASE);
    return 0;
}

int hm_stream_start_worker(const char *call)
{
    if (hm_likely(__atomic_load_n(&running, __ATOMIC_ACQUIRE))) return 0;
    pthread_mutex_lock(&lock);
    int e = running ? 0 : start_thread(call);
    pthread_mutex_unlock(&lock);
    if (!e) return 0;
    hm_debug("%s: no thread or context could be had to serve streams: %s", call, strerror(-e));
    return -ENOMEM;
}

void hm_stream_wake_worker(void)
{
    __atomic_fetch_add(&came, 1, __ATOMIC_ACQ_REL);
    hm_futex_wake(&came, 1);
    hm_bell_knock(hm_wait_own_bell()); /* where it sleeps while it has something to look at */
}

/* --- operations on streams --- */

/* Under the lock. */
static void note(struct hm_stream_op *op)
{
    op->older = newest;
    if (newest) newest->newer = op;
    else oldest = op;
    newest = op;
}

static void forget(struct hm_stream_op *op)
{
    pthread_mutex_lock(&lock);
    if (op->older) op->older->newer = op->newer;
    else oldest = op->newer;
    if (op->newer) op->newer->older = op->older;
    else newest = op->older;
    pthread_mutex_unlock(&lock);
    free(op);
}

/* In the stream's turn, on a thread of the runtime's. */
static void turn(void *arg)
{
    struct hm_stream_op *op = arg;
    pthread_mutex_lock(&lock);
    *inbox_end = op;
    inbox_end = &op->next;
    pthread_mutex_unlock(&lock);
    hm_stream_wake_worker();
    while (!__atomic_load_n(&op->done, __ATOMIC_ACQUIRE)) {
        if (__atomic_load_n(&halted, __ATOMIC_ACQUIRE)) return; /* the worker may still hold it */
        hm_futex_wait(&op->done, 0, HALT_LOOK_NS);
    }
    forget(op);
}

int hm_stream_enqueue(struct hm_stream_op *op, void *stream)
{
    pthread_mutex_lock(&lock);
    note(op);
    pthread_mutex_unlock(&lock);
    int e = hm_device.ops->stream_call(stream, turn, op);
    if (e) forget(op);
    return e;
}

/* --- stop --- */

static bool any_left(void)
{
    pthread_mutex_lock(&lock);
    bool any = oldest != NULL;
    pthread_mutex_unlock(&lock);
    return any;
}

static void describe(const struct hm_stream_op *op, char *text, size_t size)
{
    if (op->pe >= 0) snprintf(text, size, "%s (PE %d)", op->call, op->pe);
    else snprintf(text, size, "%s", op->call);
}

static void say_left(const char *call)
{
    char text[512] = "", one[96];
    size_t n = 0;
    int left = 0;
    pthread_mutex_lock(&lock);
    for (const struct hm_stream_op *op = oldest; op; op = op->newer) {
        describe(op, one, sizeof one);
        if (left++ < 4) n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? ", " : "", one);
    }
    pthread_mutex_unlock(&lock);
    if (left)
        hm_warn("%s waits for %d operation%s on streams: %s%s", call, left, left == 1 ? "" : "s", text, left > 4 ? ", ..." : "");
}

void hm_stream_wait_begin(struct hm_wait *w, const char *call)
{
    hm_wait_begin(w, hm_wait_own_bell(), false, call);
    w->about = (struct hm_blocked){.kind = HM_BLOCKED_STREAM, .pe = -1, .offset = -1};
}

static void await_all(const char *call)
{
    struct hm_wait w;
    uint64_t since = hm_os_now();
    bool said = false;
    hm_stream_wait_begin(&w, call);
    for (uint64_t nap = 50000; any_left(); nap = nap < 1000000 ? nap * 2 : nap) {
        hm_wait_nap(&w, nap);
        if (said || hm_os_now() - since < SAY_AFTER_NS) continue;
        say_left(call);
        said = true;
    }
    hm_wait_end(&w);
}

static void stop_worker(const char *call)
{
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    hm_stream_wake_worker();
    pthread_join(thread, NULL);
    running = false;
    hm_ctx_destroy(handle, call);
    handle = 0;
    ctx = NULL;
}

void hm_stream_stop(const char *call)
{
    if (running) await_all(call);
    if (running) stop_worker(call); /* it asks what became of copies, too */
    hm_stream_await_copies(call);
}

/* Perhaps by the worker itself, which has found the job ended. One that is in the runtime, for a device that is gone,
 * is left there. */
void hm_stream_halt(void)
{
    struct timespec end;
    if (!__atomic_load_n(&running, __ATOMIC_ACQUIRE)) return;
    __atomic_store_n(&halted, 1, __ATOMIC_RELEASE);
    hm_stream_wake_worker();
    if (pthread_equal(pthread_self(), thread)) return;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += HALT_S;
    if (!pthread_timedjoin_np(thread, NULL, &end)) running = false;
}
