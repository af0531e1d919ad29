/* Waiting: how a thread waits for a word that others change, and how who changes it wakes the sleeper.
 *
 *     struct hm_wait w;
 *     hm_wait_begin(&w, bell, polled, call);
 *     while (!condition) hm_wait_pause(&w);
 *     hm_wait_end(&w);
 *
 * With a core for each PE a wait spins, then yields, then sleeps; with fewer it yields at once and sleeps when that has
 * not helped for about a millisecond. hm_wait_pause does one step and returns, so the condition is checked between
 * every two steps, and once more between the announcement of a sleep and the sleep itself: no wake-up is lost.
 *
 * hm_wait_pause asks the program now and then whether the wait shall go on (hm_wait_set_interrupt). A wait that says it
 * `returns` is left when not: pause gives false, and the caller returns with its condition unmet. Others are meetings,
 * which a PE cannot leave alone: there the job ends, and pause never gives false.
 *
 * In a job on several machines a wait that yields serves what comes for its PE through the network meanwhile, so that the
 * thread which would else do that need not be woken.
 *
 * A word that no library call changed (a plain store through shmem_ptr) rings no bell: `polled` waits look again every
 * millisecond in the first 100 ms, then at a period that backs off to 50 ms.
 *
 * A word of device memory is looked at by a copy (look.h), and what a stream of the program's does to it rings no bell: who
 * waits for one sleeps, almost from the start, between looks that are 30 us apart, later up to 250 us.
 */
#ifndef HM_WAIT_H
#define HM_WAIT_H

#include "base/base.h"
#include "boot/job.h"
#include "core/device.h"
#include "core/symm.h"
#include "transport/transport.h"

struct hm_wait {
    struct hm_bell *bell;
    const char *call;
    struct hm_blocked about; /* what to publish; the caller may fill it in after hm_wait_begin, before the first pause */
    struct hm_blocked *published;
    void (*stuck)(struct hm_wait *w); /* called now and then while asleep, to look for a deadlock; may be NULL */
    void *arg;
    uint32_t *word, mask; /* what it sleeps on; by default the bell's seq, and no mask (0) */
    uint64_t lo, hi;      /* whose changes it sleeps for, as hm_bell_key names places; by default any */
    uint64_t since, last; /* ns; 0: the clock has not been read yet */
    uint64_t asked;       /* when the program last said that it goes on */
    uint32_t steps, seq;
    uint16_t phase;
    uint16_t looks; /* in a row that found a deadlock */
    bool polled, announced;
    bool returns; /* can be left with the condition unmet; the caller may set it before the first pause */
    bool left;    /* and was */
    bool watched, watching; /* see watch.h */
    uint32_t look_ns; /* a look is a copy, and one is due so many ns after the last in a young wait; 0: it is a load */
    uint32_t helm;    /* its number while this thread serves the PE, see transport.h; 0: it does not */
    bool served;      /* there was something */
    uint32_t slack;   /* of this thread's timers before that; 0: it has not been changed */
};

void hm_wait_begin(struct hm_wait *w, struct hm_bell *bell, bool polled, const char *call);
bool hm_wait_pause(struct hm_wait *w);
void hm_wait_end(struct hm_wait *w);
/* A step that sleeps `ns`, for conditions that no bell tells of. */
bool hm_wait_nap(struct hm_wait *w, uint64_t ns);

/* Shows the launcher what is waited for, by a place in this PE's page that is given back by HM_BLOCKED_NOT as its kind; waits do
 * it by themselves. NULL: no place is left. */
struct hm_blocked *hm_blocked_publish(const struct hm_blocked *about, const char *call);
void hm_blocked_retract(struct hm_blocked *published);

/* The function that waits ask whether to leave, on the waiting thread: at least every 50 ms and behind every signal.
 * Not 0: leave. can_return 0: leaving ends the job. NULL: none. */
void hm_wait_set_interrupt(int (*fn)(int can_return));
int (*hm_wait_interrupt(void))(int can_return);
enum { HM_INTERRUPTED = 130 }; /* the status of a job that ends so, as a shell has it for SIGINT */

/* What this wait waits for is a thread of the library's, which answers at once: the program is not asked. */
void hm_wait_for_thread(struct hm_wait *w);

/* What this wait waits for comes through the network: where cores are short it leaves its own to those who bring it. */
void hm_wait_expect_long(struct hm_wait *w);

/* Called when a wait begins (`rests`), and when a test fails: sends what this PE has not sent yet, for which others may
 * wait. NULL: there is nothing of the kind. */
extern void (*hm_wait_send)(bool rests);
/* Called now and then by waits that sleep: what is due in this PE and nobody waits for. NULL: there is nothing of the kind. */
extern void (*hm_wait_tidy)(void);

/* From now on waits that yield serve this PE meanwhile. NULL: no longer. */
void hm_wait_set_helm(const struct hm_helm *helm);

/* The bells of this PE: where waits for words of its own memory sleep, and waits in meetings. */
struct hm_bell *hm_wait_own_bell(void);
struct hm_bell *hm_wait_meet_bell(void);

/* After a change of [dest, dest + bytes) (as symmetric addresses of this PE) on the PE whose bell this is: one cached load
 * when nobody sleeps there. */
HM_COLD void hm_bell_ring_for(struct hm_bell *bell, const void *dest, size_t bytes);
HM_INLINE void hm_bell_look(struct hm_bell *bell, const void *dest, size_t bytes)
{
    __asm__ volatile("" ::: "memory"); /* the change first; the sleeper's membarrier does the rest */
    if (hm_unlikely(__atomic_load_n(&bell->sleepers, __ATOMIC_RELAXED))) hm_bell_ring_for(bell, dest, bytes);
}
/* After a change of a word that is not symmetric memory (meetings): wakes whoever sleeps at the bell. */
HM_COLD void hm_bell_ring(struct hm_bell *bell);
HM_INLINE void hm_bell_knock(struct hm_bell *bell)
{
    __asm__ volatile("" ::: "memory");
    if (hm_unlikely(__atomic_load_n(&bell->sleepers, __ATOMIC_RELAXED))) hm_bell_ring(bell);
}
/* The same where seq itself is the word that changed (team meetings): wakes without touching it. */
HM_COLD void hm_bell_wake(struct hm_bell *bell);

/* Sleeps on a word that hm_wait_wake wakes: as hm_futex_wait_some, mask 0: any. The two keep count of who sleeps (crowd.h). */
int hm_wait_sleep(uint32_t *word, uint32_t seen, uint64_t ns, uint32_t mask);
void hm_wait_wake(uint32_t *word, uint32_t mask);
/* From now on who rings this bell issues a full fence, and sleepers need no membarrier: for bells that are rung seldom,
 * next to what it costs to make all processors of the machine issue one. */
void hm_bell_let_wakers_fence(struct hm_bell *bell);
/* For a thread of the library's that sleeps on the seq of a bell between looks of its own: changes of places with keys in
 * [lo, hi) ring from here on. It looks once more before it sleeps. */
void hm_bell_attend(struct hm_bell *bell, uint64_t lo, uint64_t hi);
void hm_bell_leave(struct hm_bell *bell);
uint64_t hm_bell_key(const void *addr);
/* True when somebody sleeps at this bell, seen behind the change that came before. */
bool hm_bell_has_sleepers(struct hm_bell *bell);
/* A test that fails is most often one turn of a loop: lets those run for whom it waits. */
void hm_test_failed(void);
/* Chosen at init: spin rounds before the first yield (0 with fewer cores than PEs). */
void hm_wait_configure(bool oversubscribed, bool membarrier);
bool hm_wait_oversubscribed(void);

/* --- conditions on words, as wait_until and test know them --- */

enum hm_cmp { HM_CMP_EQ = 1, HM_CMP_NE, HM_CMP_GT, HM_CMP_GE, HM_CMP_LT, HM_CMP_LE }; /* = SHMEM_CMP_* */

/* The integer types of waits: size and signedness. */
enum hm_word { HM_WORD_I16, HM_WORD_I32, HM_WORD_I64, HM_WORD_U16, HM_WORD_U32, HM_WORD_U64 };

HM_INLINE size_t hm_word_size(enum hm_word type)
{
    return type == HM_WORD_I16 || type == HM_WORD_U16 ? 2 : type == HM_WORD_I32 || type == HM_WORD_U32 ? 4 : 8;
}

HM_INLINE int64_t hm_word_load(const void *p, enum hm_word type)
{
    switch (type) {
    case HM_WORD_I16: return __atomic_load_n((const int16_t *)p, __ATOMIC_ACQUIRE);
    case HM_WORD_I32: return __atomic_load_n((const int32_t *)p, __ATOMIC_ACQUIRE);
    case HM_WORD_U16: return __atomic_load_n((const uint16_t *)p, __ATOMIC_ACQUIRE);
    case HM_WORD_U32: return __atomic_load_n((const uint32_t *)p, __ATOMIC_ACQUIRE);
    default: return __atomic_load_n((const int64_t *)p, __ATOMIC_ACQUIRE);
    }
}

/* False for what only a copy reaches. In jobs without a device heap nothing is looked at but whether there is one. */
HM_INLINE bool hm_word_can_load(const void *p)
{
    return hm_likely(p != NULL) && (hm_likely(!hm_device_any()) || !hm_device_spans(p));
}

HM_INLINE bool hm_word_is(int64_t have, int cmp, int64_t want, enum hm_word type)
{
    bool less = type == HM_WORD_U64 ? (uint64_t)have < (uint64_t)want : have < want;
    switch (cmp) {
    case HM_CMP_EQ: return have == want;
    case HM_CMP_NE: return have != want;
    case HM_CMP_GT: return !less && have != want;
    case HM_CMP_GE: return !less;
    case HM_CMP_LT: return less;
    case HM_CMP_LE: return less || have == want;
    default: return false; /* the cold path reports it */
    }
}

/* Ends the job with a sentence where `ivar` is no word to wait for, or cmp no comparison. */
void hm_wait_check(void *ivar, int cmp, enum hm_word type, const char *call, const char *arg);

/* wait_until, signal_wait_until: returns the value that satisfied the condition. `want` is the comparison value
 * converted from the declared type (sign- or zero-extended). */
int64_t hm_wait_word_slow(void *ivar, int cmp, int64_t want, enum hm_word type, const char *call);
HM_INLINE int64_t hm_wait_word(void *ivar, int cmp, int64_t want, enum hm_word type, const char *call)
{
    if (hm_word_can_load(ivar)) {
        int64_t have = hm_word_load(ivar, type);
        if (hm_word_is(have, cmp, want, type)) return have;
    }
    return hm_wait_word_slow(ivar, cmp, want, type, call);
}
/* test: also gives a waiting loop of the user's a chance to let others run. */
int hm_test_word(void *ivar, int cmp, int64_t want, enum hm_word type, const char *call);
/* signal_fetch. */
int64_t hm_word_fetch_slow(const void *word, enum hm_word type, const char *call);
HM_INLINE int64_t hm_word_fetch(const void *word, enum hm_word type, const char *call)
{
    return hm_word_can_load(word) ? hm_word_load(word, type) : hm_word_fetch_slow(word, type, call);
}

/* The families over arrays. `values`: one value of the type (vector false) or nelems of them (vector true).
 * status may be NULL. Return values as the standard says (SIZE_MAX for any on an empty set, and so on). */
void hm_wait_all(void *ivars, size_t nelems, const int *status, int cmp, const void *values, bool vector,
                 enum hm_word type, const char *call);
size_t hm_wait_any(void *ivars, size_t nelems, const int *status, int cmp, const void *values, bool vector,
                   enum hm_word type, const char *call);
size_t hm_wait_some(void *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const void *values,
                    bool vector, enum hm_word type, const char *call);
int hm_test_all(void *ivars, size_t nelems, const int *status, int cmp, const void *values, bool vector,
                enum hm_word type, const char *call);
size_t hm_test_any(void *ivars, size_t nelems, const int *status, int cmp, const void *values, bool vector,
                   enum hm_word type, const char *call);
size_t hm_test_some(void *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const void *values,
                    bool vector, enum hm_word type, const char *call);

#endif
