#define _GNU_SOURCE
#include "core/wait.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/futex.h"
#include "base/log.h"
#include "base/option.h"
#include "base/os.h"
#include "core/crowd.h"
#include "core/even.h"
#include "core/look.h"
#include "core/place.h"
#include "core/share.h"
#include "core/watch.h"
#include "core/world.h"

enum { SPIN, FIRST, YIELD, ANNOUNCE, SLEEP };

enum {
    SPIN_STEPS = 4000,         /* with a core for each PE: some 50 us; ... */
    LOOK_STEPS = 512,          /* ... after so many, and each time when twice as many are over, it looks who else wants the core */
    HELM_SPIN_STEPS = 100,     /* where a wait may serve its PE, which does not go together with spinning */
    HELM_AFTER_NS = 5000,
    LONG_YIELD_NS = 1000000,   /* a yield that takes this long went to somebody who computes (core/crowd.h), ... */
    LONG_SHARE_NS = 125000,    /* and this long for each PE of a core, who all take their turn with what they have to do */
    STUCK_NS = 100000000,      /* unpolled sleepers look for deadlocks this often */
    ASK_NS = 25000000,         /* the program is asked whether to go on when it has not been for so long */
    LOOK_NS = 30000,           /* between two looks at a word of device memory, ... */
    LOOK_MAX_NS = 250000,      /* ... and up to this in old waits; ... */
    LOOK_YIELD_NS = 50000,     /* ... in young ones they are a yield apart */
};

static uint32_t spin_steps;
static uint64_t yield_ns; /* yields this long before it sleeps */
static uint64_t long_yield_ns = LONG_YIELD_NS;
static bool oversubscribed;

/* PEs of this machine to a core. */
static int shares_of_a_core(void)
{
    return hm_world.cores > 0 ? (hm_places.local_npes + hm_world.cores - 1) / hm_world.cores : 1;
}

void hm_wait_configure(bool more_pes_than_cores, bool membarrier)
{
    oversubscribed = more_pes_than_cores;
    yield_ns = (uint64_t)hm_options.sleep_after * 1000;
    spin_steps = more_pes_than_cores || !yield_ns ? 0 : SPIN_STEPS;
    hm_share_start();
    long_yield_ns = (uint64_t)shares_of_a_core() * LONG_SHARE_NS;
    if (long_yield_ns < LONG_YIELD_NS) long_yield_ns = LONG_YIELD_NS;
    if (membarrier) return;
    hm_bell_let_wakers_fence(&hm_world.page->bell);
    hm_bell_let_wakers_fence(&hm_world.page->meet_bell);
    hm_bell_let_wakers_fence(&hm_world.page->lock_bell);
}

/* --- serving this PE meanwhile --- */

static const struct hm_helm *helm;

void hm_wait_set_helm(const struct hm_helm *h)
{
    helm = h;
    if (helm && spin_steps > HELM_SPIN_STEPS) spin_steps = HELM_SPIN_STEPS;
}

/* What PEs of this machine do to each other is most often over before it has paid to take the helm: it is taken at once
 * when the wait before had something to serve. */
static bool helm_pays;

static bool may_serve(const struct hm_wait *w)
{
    return helm && (w->helm || w->last - w->since > HELM_AFTER_NS || __atomic_load_n(&helm_pays, __ATOMIC_RELAXED));
}

static void note_pay(bool pays)
{
    if (__atomic_load_n(&helm_pays, __ATOMIC_RELAXED) != pays) __atomic_store_n(&helm_pays, pays, __ATOMIC_RELAXED);
}

/* True when there was something. */
static HM_COLD bool serve(struct hm_wait *w)
{
    if (!w->helm && !(w->helm = helm->take())) return false;
    enum hm_served served = helm->serve(w->helm);
    if (served == HM_SERVED_BY_OTHERS) w->helm = 0;
    if (served == HM_SERVED) w->served = true;
    return served == HM_SERVED;
}

/* Before this thread does anything else than to look. */
static void stop_serving(struct hm_wait *w)
{
    if (hm_likely(!w->helm)) return;
    helm->give(w->helm);
    w->helm = 0;
}

void hm_bell_let_wakers_fence(struct hm_bell *bell)
{
    __atomic_fetch_or(&bell->sleepers, HM_BELL_NO_MEMBARRIER, __ATOMIC_SEQ_CST);
}

bool hm_wait_oversubscribed(void) { return oversubscribed; }

/* --- whether to go on --- */

static int (*interrupt)(int can_return);

void hm_wait_set_interrupt(int (*fn)(int can_return)) { __atomic_store_n(&interrupt, fn, __ATOMIC_RELEASE); }

int (*hm_wait_interrupt(void))(int can_return) { return __atomic_load_n(&interrupt, __ATOMIC_ACQUIRE); }

/* Somebody wants to be asked, or has answered and the caller could not leave yet: then nobody sleeps for long. */
static bool is_restless(const struct hm_wait *w) { return w->left || __atomic_load_n(&interrupt, __ATOMIC_RELAXED); }

/* Whether the wait goes on: the program is asked from time to time, and at once behind a signal. */
static bool goes_on(struct hm_wait *w, bool signalled)
{
    int (*fn)(int can_return) = hm_wait_interrupt();
    if (hm_likely(!fn) || w->left) return !w->left;
    if (!signalled && hm_os_now() - w->asked < ASK_NS) return true;
    stop_serving(w);
    int answer = fn(w->returns);
    w->asked = hm_os_now();
    if (!answer) return true;
    if (!w->returns)
        hm_die_with(HM_INTERRUPTED, w->call, "interrupted; the other PEs meet this one here and cannot go on without it, "
                    "so the job is ended");
    w->left = true;
    return false;
}

struct hm_bell *hm_wait_own_bell(void) { return &hm_world.page->bell; }
struct hm_bell *hm_wait_meet_bell(void) { return &hm_world.page->meet_bell; }

/* True when somebody sleeps. Without membarrier the one who changed the word issues the fence. */
bool hm_bell_has_sleepers(struct hm_bell *bell)
{
    uint32_t n = __atomic_load_n(&bell->sleepers, __ATOMIC_RELAXED);
    if (n & HM_BELL_NO_MEMBARRIER) {
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        n = __atomic_load_n(&bell->sleepers, __ATOMIC_RELAXED) & ~HM_BELL_NO_MEMBARRIER;
    }
    return n != 0;
}

int hm_wait_sleep(uint32_t *word, uint32_t seen, uint64_t ns, uint32_t mask)
{
    hm_crowd_sleeps(&hm_world.job->crowd);
    int e = mask ? hm_futex_wait_some(word, seen, ns, mask) : hm_futex_wait(word, seen, ns);
    if (e) hm_crowd_wakes(&hm_world.job->crowd, 1); /* else whoever has woken it has counted that */
    return e;
}

void hm_wait_wake(uint32_t *word, uint32_t mask)
{
    int woken = mask ? hm_futex_wake_some(word, mask) : hm_futex_wake(word, INT_MAX);
    if (woken) hm_crowd_wakes(&hm_world.job->crowd, woken);
}

void hm_bell_ring(struct hm_bell *bell)
{
    if (!hm_bell_has_sleepers(bell)) return;
    __atomic_fetch_add(&bell->seq, 1, __ATOMIC_SEQ_CST);
    hm_wait_wake(&bell->seq, 0);
}

/* Places in symmetric memory as one number, the same on all PEs: offsets in the heap, behind them those in static data and
 * those in the device heap. */
#define DATA_KEYS ((uint64_t)1 << 62)
#define DEVICE_KEYS ((uint64_t)1 << 63)
uint64_t hm_bell_key(const void *addr)
{
    size_t o = (uintptr_t)addr - hm_symm.heap_base;
    if (hm_device_any() && hm_device_spans(addr)) return DEVICE_KEYS + hm_device_offset(addr);
    return o < hm_symm.heap_size ? o : DATA_KEYS + ((uintptr_t)addr - hm_symm.data_base);
}

void hm_bell_ring_for(struct hm_bell *bell, const void *dest, size_t bytes)
{
    if (!hm_bell_has_sleepers(bell)) return;
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* a sleeper writes the range before he counts himself */
    uint64_t key = hm_bell_key(dest);
    if (key + bytes <= __atomic_load_n(&bell->lo, __ATOMIC_RELAXED) ||
        key >= __atomic_load_n(&bell->hi, __ATOMIC_RELAXED))
        return;
    __atomic_fetch_add(&bell->seq, 1, __ATOMIC_SEQ_CST);
    hm_wait_wake(&bell->seq, 0);
}

void hm_bell_wake(struct hm_bell *bell)
{
    if (hm_bell_has_sleepers(bell)) hm_wait_wake(&bell->seq, 0);
}

void (*hm_wait_send)(bool rests);
void (*hm_wait_tidy)(void);

void hm_wait_begin(struct hm_wait *w, struct hm_bell *bell, bool polled, const char *call)
{
    if (hm_unlikely(hm_wait_send != NULL)) hm_wait_send(true);
    w->bell = bell;
    w->call = call;
    w->about.kind = HM_BLOCKED_NOT;
    w->published = NULL;
    w->stuck = NULL;
    w->word = &bell->seq;
    w->mask = 0;
    w->lo = 0;
    w->hi = UINT64_MAX;
    w->since = 0;
    w->looks = 0;
    w->steps = 0;
    w->phase = spin_steps && !hm_share_any() ? SPIN : FIRST;
    w->polled = polled;
    w->returns = w->left = false;
    w->announced = w->watched = w->watching = false;
    w->look_ns = w->slack = 0;
    w->helm = 0;
    w->served = false;
}

/* Whether it may be left counts as answered. */
void hm_wait_for_thread(struct hm_wait *w) { w->left = true; }

void hm_wait_expect_long(struct hm_wait *w)
{
    if (oversubscribed) w->phase = ANNOUNCE;
}

struct hm_blocked *hm_blocked_publish(const struct hm_blocked *about, const char *call)
{
    for (unsigned i = 0; i < HM_BLOCKED_SLOTS; i++) {
        struct hm_blocked *slot = &hm_world.page->blocked[i];
        uint32_t free_slot = HM_BLOCKED_NOT;
        if (!__atomic_compare_exchange_n(&slot->kind, &free_slot, HM_BLOCKED_CLAIMED, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        struct hm_blocked note = *about;
        strncpy(note.call, call ? call : "", sizeof note.call - 1);
        note.call[sizeof note.call - 1] = '\0';
        hm_blocked_write(slot, &note);
        return slot;
    }
    return NULL;
}

void hm_blocked_retract(struct hm_blocked *published) { __atomic_store_n(&published->kind, HM_BLOCKED_NOT, __ATOMIC_RELEASE); }

static void publish(struct hm_wait *w)
{
    if (w->about.kind == HM_BLOCKED_NOT || w->published) return;
    w->about.since = w->since;
    w->published = hm_blocked_publish(&w->about, w->call);
}

/* The wait turns out to be a long one: from now on it is seen. */
static void note_start(struct hm_wait *w)
{
    if (w->since) return;
    w->since = w->asked = hm_os_now();
    publish(w);
}

static bool is_crowded(void)
{
    uint64_t until = hm_crowd_until(&hm_world.job->crowd);
    return hm_unlikely(until) && hm_os_now() < until;
}

static bool is_to_sleep(void)
{
    if (!yield_ns || is_crowded()) return true;
    return spin_steps && hm_share_any() && hm_share_sleeps(hm_world.cores, hm_world.pe);
}

static void step_spin(struct hm_wait *w)
{
    hm_relax();
    uint32_t n = ++w->steps;
    bool looks = n >= LOOK_STEPS && !(n & (n - 1));
    if (hm_unlikely(n >= spin_steps || (looks && hm_share_yield()))) w->phase = FIRST;
}

/* Who has yielded at once, as the core was shared, and finds that it is no longer, spins. Not where each look is a copy. */
static void tell_yield(struct hm_wait *w, uint64_t took)
{
    if (!hm_share_tell(took) && w->steps < spin_steps && !w->look_ns) w->phase = SPIN;
}

static bool step_yield(struct hm_wait *w)
{
    if (!w->since) {
        note_start(w);
        w->last = w->since;
    }
    bool served = hm_unlikely(may_serve(w)) && serve(w);
    uint64_t began = w->last; /* where PEs share cores there is little between two yields, and a clock is not for nothing */
    if (!served) {
        if (spin_steps) began = hm_os_now();
        sched_yield();
    }
    uint64_t now = hm_os_now(), took = now - began;
    w->last = now;
    hm_world_safe_point();
    if (!served && spin_steps) tell_yield(w, took);
    if (oversubscribed) hm_even_look(now);
    if (took > long_yield_ns)
        hm_crowd_long_yield(&hm_world.job->crowd, now - took, now, hm_places.local_npes);
    else
        hm_crowd_short_yield();
    if (took > long_yield_ns || now - w->since > (w->look_ns ? LOOK_YIELD_NS : yield_ns)) w->phase = ANNOUNCE;
    bool on = goes_on(w, false);
    if (w->asked > now) w->last = w->asked; /* the time of the answer is no yield's */
    return on;
}

/* Held for a few instructions; but who holds it may be off the core, so nobody spins on it. */
static void bell_lock(struct hm_bell *bell)
{
    while (__atomic_exchange_n(&bell->lock, 1, __ATOMIC_ACQUIRE)) sched_yield();
}

static void bell_unlock(struct hm_bell *bell) { __atomic_store_n(&bell->lock, 0, __ATOMIC_RELEASE); }

static uint32_t sleeper_enters(struct hm_bell *bell, uint64_t lo, uint64_t hi)
{
    bell_lock(bell);
    uint32_t before = __atomic_load_n(&bell->sleepers, __ATOMIC_RELAXED);
    bool first = !(before & ~HM_BELL_NO_MEMBARRIER);
    if (first || lo < bell->lo) __atomic_store_n(&bell->lo, lo, __ATOMIC_RELAXED);
    if (first || hi > bell->hi) __atomic_store_n(&bell->hi, hi, __ATOMIC_RELAXED);
    __atomic_store_n(&bell->sleepers, before + 1, __ATOMIC_SEQ_CST);
    bell_unlock(bell);
    return before;
}

void hm_bell_leave(struct hm_bell *bell)
{
    bell_lock(bell);
    __atomic_fetch_sub(&bell->sleepers, 1, __ATOMIC_RELEASE);
    bell_unlock(bell);
}

void hm_bell_attend(struct hm_bell *bell, uint64_t lo, uint64_t hi)
{
    uint32_t before = sleeper_enters(bell, lo, hi);
    if (before & HM_BELL_NO_MEMBARRIER)
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    else
        hm_os_membarrier();
}

/* The kernel adds up to 50 us to the sleeps of a thread, unless it asks for less. */
static void sleep_sharply(struct hm_wait *w)
{
    int slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    if (slack > 1 && prctl(PR_SET_TIMERSLACK, 1ul, 0, 0, 0) == 0) w->slack = (uint32_t)slack;
}

/* After this the caller looks at its condition once more: whoever changed it before could see us, or we see it. */
static void step_announce(struct hm_wait *w)
{
    note_start(w);
    stop_serving(w);
    hm_bell_attend(w->bell, w->lo, w->hi);
    w->announced = true;
    if (w->polled && w->published && w->published->word) hm_watch_enter(w);
    if (w->look_ns) sleep_sharply(w);
    w->seq = __atomic_load_n(w->word, __ATOMIC_SEQ_CST);
    w->phase = SLEEP;
    if (!w->stuck) return;
    w->last = hm_os_now();
    w->stuck(w);
}

/* What puts, signals and atomics of the library have completed rings the bell. Looks are for what is on streams. */
static uint64_t look_ns(const struct hm_wait *w)
{
    uint64_t age = hm_os_now() - w->since, ns = age / 1000 < LOOK_MAX_NS ? age / 1000 : LOOK_MAX_NS;
    return ns > w->look_ns ? ns : w->look_ns;
}

static uint64_t poll_ns(struct hm_wait *w)
{
    if (w->look_ns) return look_ns(w);
    if (!hm_options.poll) return 0;
    if (w->watched) return hm_watch_nap(w);
    return w->polled ? hm_watch_period(hm_os_now() - w->since) : STUCK_NS;
}

/* How long to sleep; 0: until woken. */
static uint64_t nap_ns(struct hm_wait *w)
{
    uint64_t nap = poll_ns(w);
    return is_restless(w) && (!nap || nap > ASK_NS) ? ASK_NS : nap;
}

static void look_if_stuck(struct hm_wait *w)
{
    uint64_t now = hm_os_now();
    if (now - w->last < STUCK_NS) return;
    w->last = now;
    w->stuck(w);
}

static bool step_sleep(struct hm_wait *w)
{
    hm_world_safe_point();
    uint64_t nap = nap_ns(w);
    if (oversubscribed) hm_even_rest();
    int e = hm_wait_sleep(w->word, w->seq, nap, w->mask);
    w->seq = __atomic_load_n(w->word, __ATOMIC_SEQ_CST);
    if (e == -ETIMEDOUT && w->stuck) look_if_stuck(w);
    if (e == -ETIMEDOUT && hm_wait_tidy) hm_wait_tidy();
    return goes_on(w, e == -EINTR);
}

bool hm_wait_pause(struct hm_wait *w)
{
    switch (w->phase) {
    case SPIN: step_spin(w); return true;
    case FIRST: w->phase = is_to_sleep() ? ANNOUNCE : YIELD; return true;
    case YIELD: return step_yield(w);
    case ANNOUNCE: step_announce(w); return true;
    default: return step_sleep(w);
    }
}

bool hm_wait_nap(struct hm_wait *w, uint64_t ns)
{
    struct timespec span = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    note_start(w);
    stop_serving(w);
    hm_world_safe_point();
    return goes_on(w, nanosleep(&span, NULL) != 0);
}

void hm_wait_end(struct hm_wait *w)
{
    stop_serving(w);
    if (hm_unlikely(helm != NULL)) note_pay(w->served);
    if (w->watched) hm_watch_leave(w);
    if (w->slack) prctl(PR_SET_TIMERSLACK, (unsigned long)w->slack, 0, 0, 0);
    if (w->announced) hm_bell_leave(w->bell);
    if (w->published) hm_blocked_retract(w->published);
}

/* --- words --- */

static void check_cmp(int cmp, const char *call)
{
    if (cmp < HM_CMP_EQ || cmp > HM_CMP_LE)
        hm_die(call, "cmp: %d is no comparison; use one of SHMEM_CMP_EQ, NE, GT, GE, LT, LE", cmp);
}

/* The more PEs share a core, the longer a PE leaves it to others; who signals rings its bell all the same. */
static uint32_t look_period(void)
{
    int shares = shares_of_a_core();
    return (uint32_t)(shares < 10 ? shares : 10) * LOOK_NS;
}

/* On the device there is nothing for the watchman to see. */
static void about_device_word(struct hm_wait *w, const void *ivar)
{
    w->about.offset = (int64_t)hm_device_offset(ivar);
    w->about.in_heap = 2;
    w->look_ns = look_period();
    w->phase = FIRST;
}

static void about_word(struct hm_wait *w, void *ivar, size_t bytes, int cmp, int64_t want, int64_t have)
{
    bool in_heap = false;
    w->lo = hm_bell_key(ivar);
    w->hi = w->lo + bytes;
    w->about.offset = hm_symm_offset(ivar, &in_heap);
    w->about.in_heap = in_heap;
    w->about.kind = HM_BLOCKED_WORD;
    w->about.pe = -1;
    w->about.addr = (uintptr_t)ivar;
    w->about.cmp = cmp;
    w->about.want = want;
    w->about.have = have;
    w->about.word = 0;
    w->returns = true;
    if (!hm_word_can_load(ivar)) about_device_word(w, ivar);
}

/* What must hold of the words of a wait or test: a word in private memory would never change. */
static void check_words(void *ivars, size_t nelems, int cmp, enum hm_word type, const char *call, const char *arg)
{
    size_t bytes;
    hm_world_need(call);
    check_cmp(cmp, call);
    if (__builtin_mul_overflow(nelems, hm_word_size(type), &bytes)) bytes = SIZE_MAX;
    hm_symm_require(ivars, bytes, call, arg);
    if ((uintptr_t)ivars % hm_word_size(type))
        hm_die(call, "%s: %p is not aligned to its %zu bytes", arg, ivars, hm_word_size(type));
}

static int64_t look_at(const void *word, enum hm_word type, const char *call)
{
    uint64_t seen = 0;
    if (hm_word_can_load(word)) return hm_word_load(word, type);
    hm_look(&seen, word, hm_word_size(type), call);
    return hm_word_load(&seen, type);
}

int64_t hm_word_fetch_slow(const void *word, enum hm_word type, const char *call)
{
    hm_symm_require(word, hm_word_size(type), call, "sig_addr");
    return look_at(word, type, call);
}

void hm_wait_check(void *ivar, int cmp, enum hm_word type, const char *call, const char *arg)
{
    check_words(ivar, 1, cmp, type, call, arg);
}

int64_t hm_wait_word_slow(void *ivar, int cmp, int64_t want, enum hm_word type, const char *call)
{
    struct hm_wait w;
    int64_t have;
    check_words(ivar, 1, cmp, type, call, "ivar");
    hm_wait_begin(&w, hm_wait_own_bell(), true, call);
    about_word(&w, ivar, hm_word_size(type), cmp, want, look_at(ivar, type, call));
    if (!w.look_ns) w.about.word = 1 + (uint32_t)type;
    while (!hm_word_is(have = look_at(ivar, type, call), cmp, want, type) && hm_wait_pause(&w)) continue;
    hm_wait_end(&w);
    return have;
}

/* Tests have no end, so they look each time for whom they fail. A program that has other work between them may not be where all
 * wait for each other: who has given a time slice away does not give one for as long. */
static void relax_or_yield(void)
{
    static uint32_t failed;
    static uint64_t relax_until;
    uint32_t n = __atomic_load_n(&failed, __ATOMIC_RELAXED) + 1;
    uint64_t until = __atomic_load_n(&relax_until, __ATOMIC_RELAXED);
    __atomic_store_n(&failed, n, __ATOMIC_RELAXED);
    if ((!hm_share_any() && n % LOOK_STEPS != 0) || (hm_unlikely(until) && hm_os_now() < until)) {
        hm_relax();
        return;
    }
    uint64_t began = hm_os_now();
    sched_yield();
    uint64_t now = hm_os_now(), took = now - began;
    hm_share_tell(took);
    __atomic_store_n(&relax_until, took > LONG_YIELD_NS ? now + took : 0, __ATOMIC_RELAXED);
}

void hm_test_failed(void)
{
    if (hm_unlikely(hm_wait_send != NULL)) hm_wait_send(false);
    hm_world_safe_point();
    if (oversubscribed)
        sched_yield();
    else
        relax_or_yield();
}

int hm_test_word(void *ivar, int cmp, int64_t want, enum hm_word type, const char *call)
{
    bool can_load = hm_word_can_load(ivar);
    if (hm_likely(can_load) && hm_word_is(hm_word_load(ivar, type), cmp, want, type)) return 1;
    check_words(ivar, 1, cmp, type, call, "ivar");
    if (!can_load && hm_word_is(look_at(ivar, type, call), cmp, want, type)) return 1;
    hm_test_failed();
    return 0;
}

/* --- arrays of words --- */

struct set {
    char *ivars;
    char *seen; /* those as they were at the last look, if a look is a copy; NULL: it is a load */
    const char *values;
    const char *call;
    const int *status;
    size_t nelems, size, value_step;
    int cmp;
    enum hm_word type;
};

static struct set set_of(void *ivars, size_t nelems, const int *status, int cmp, const void *values, bool vector,
                         enum hm_word type, const char *call)
{
    hm_world_need(call);
    if (nelems) check_words(ivars, nelems, cmp, type, call, "ivars");
    size_t size = hm_word_size(type);
    struct set s = {ivars, NULL, values, call, status, nelems, size, vector ? size : 0, cmp, type};
    if (!nelems || hm_word_can_load(ivars)) return s;
    s.seen = malloc(nelems * size);
    if (!s.seen) hm_die(call, "out of memory for a look at %zu words of device memory", nelems);
    return s;
}

static void look(const struct set *s)
{
    if (hm_unlikely(s->seen != NULL)) hm_look(s->seen, s->ivars, s->nelems * s->size, s->call);
}

/* Of the last look, if a look is a copy. */
static int64_t have_of(const struct set *s, size_t i)
{
    return hm_word_load((s->seen ? s->seen : s->ivars) + i * s->size, s->type);
}

static bool in_set(const struct set *s, size_t i) { return !s->status || !s->status[i]; }

static bool is_empty(const struct set *s)
{
    for (size_t i = 0; i < s->nelems; i++)
        if (in_set(s, i)) return false;
    return true;
}

static int64_t want_of(const struct set *s, size_t i) { return hm_word_load(s->values + i * s->value_step, s->type); }

static bool holds(const struct set *s, size_t i)
{
    return hm_word_is(have_of(s, i), s->cmp, want_of(s, i), s->type);
}

/* Where a scan for any begins: it moves, so that an entry that stays satisfied does not starve those behind it. */
static size_t scan_start(size_t nelems)
{
    static size_t turn;
    return nelems ? __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED) % nelems : 0;
}

static size_t find_any(const struct set *s)
{
    size_t start = scan_start(s->nelems);
    look(s);
    for (size_t k = 0; k < s->nelems; k++) {
        size_t i = start + k < s->nelems ? start + k : start + k - s->nelems;
        if (in_set(s, i) && holds(s, i)) return i;
    }
    return SIZE_MAX;
}

static size_t find_some(const struct set *s, size_t *indices)
{
    size_t n = 0;
    look(s);
    for (size_t i = 0; i < s->nelems; i++)
        if (in_set(s, i) && holds(s, i)) indices[n++] = i;
    return n;
}

/* The first entry that is not satisfied from `from` on; nelems when there is none. */
static size_t find_unmet(const struct set *s, size_t from)
{
    look(s);
    while (from < s->nelems && (!in_set(s, from) || holds(s, from))) from++;
    return from;
}

static void begin_set(struct hm_wait *w, const struct set *s, size_t i)
{
    hm_wait_begin(w, hm_wait_own_bell(), true, s->call);
    about_word(w, s->ivars + i * s->size, s->size, s->cmp, want_of(s, i), have_of(s, i));
    w->lo = hm_bell_key(s->ivars);
    w->hi = w->lo + s->nelems * s->size;
}

static void wait_all(const struct set *s, size_t i)
{
    struct hm_wait w;
    begin_set(&w, s, i);
    while ((i = find_unmet(s, i)) < s->nelems && hm_wait_pause(&w)) continue;
    hm_wait_end(&w);
}

void hm_wait_all(void *ivars, size_t nelems, const int *status, int cmp, const void *values, bool vector,
                 enum hm_word type, const char *call)
{
    struct set s = set_of(ivars, nelems, status, cmp, values, vector, type, call);
    size_t i = find_unmet(&s, 0);
    if (i < nelems) wait_all(&s, i);
    free(s.seen);
}

static size_t wait_any(const struct set *s)
{
    size_t i = find_any(s);
    struct hm_wait w;
    if (i != SIZE_MAX) return i;
    begin_set(&w, s, 0);
    while ((i = find_any(s)) == SIZE_MAX && hm_wait_pause(&w)) continue;
    hm_wait_end(&w);
    return i;
}

size_t hm_wait_any(void *ivars, size_t nelems, const int *status, int cmp, const void *values, bool vector,
                   enum hm_word type, const char *call)
{
    struct set s = set_of(ivars, nelems, status, cmp, values, vector, type, call);
    size_t i = is_empty(&s) ? SIZE_MAX : wait_any(&s);
    free(s.seen);
    return i;
}

static size_t wait_some(const struct set *s, size_t *indices)
{
    size_t n = find_some(s, indices);
    struct hm_wait w;
    if (n) return n;
    begin_set(&w, s, 0);
    while (!(n = find_some(s, indices)) && hm_wait_pause(&w)) continue;
    hm_wait_end(&w);
    return n;
}

size_t hm_wait_some(void *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const void *values,
                    bool vector, enum hm_word type, const char *call)
{
    struct set s = set_of(ivars, nelems, status, cmp, values, vector, type, call);
    size_t n = is_empty(&s) ? 0 : wait_some(&s, indices);
    free(s.seen);
    return n;
}

int hm_test_all(void *ivars, size_t nelems, const int *status, int cmp, const void *values, bool vector,
                enum hm_word type, const char *call)
{
    struct set s = set_of(ivars, nelems, status, cmp, values, vector, type, call);
    bool met = find_unmet(&s, 0) == nelems;
    free(s.seen);
    if (met) return 1;
    hm_test_failed();
    return 0;
}

size_t hm_test_any(void *ivars, size_t nelems, const int *status, int cmp, const void *values, bool vector,
                   enum hm_word type, const char *call)
{
    struct set s = set_of(ivars, nelems, status, cmp, values, vector, type, call);
    size_t i = find_any(&s);
    free(s.seen);
    if (i == SIZE_MAX) hm_test_failed();
    return i;
}

size_t hm_test_some(void *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const void *values,
                    bool vector, enum hm_word type, const char *call)
{
    struct set s = set_of(ivars, nelems, status, cmp, values, vector, type, call);
    size_t n = find_some(&s, indices);
    free(s.seen);
    if (!n) hm_test_failed();
    return n;
}
