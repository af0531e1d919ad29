/* Calls in the order of a program's stream, for kinds whose runtime can run a short function in that order and let
 * a stream wait for a word.
 *
 * Runtimes may run the host functions of all streams on one thread, so one that waits would hold up those of other streams. So
 * the host function only tells; a helper thread does what is to be done and writes the word; the stream waits for it.
 */
#ifndef HM_CALLS_H
#define HM_CALLS_H

#include <pthread.h>

#include "memkind/device.h"

/* A word that a stream waits for. Its count only grows: whoever waits for a number is let go by that and by all later ones, so
 * a word can be used again at once. */
enum { HM_GATES = 4096 };
struct hm_gate {
    uint32_t index;
    uint64_t ticket;
};

struct hm_calls_ops {
    int (*launch)(void *stream, void (*fn)(void *arg), void *arg);
    int (*await)(void *stream, const struct hm_gate *gate); /* until the word is the ticket or more */
    int (*open)(const struct hm_gate *gate);                /* by any thread: makes it so */
};

struct hm_calls {
    const struct hm_calls_ops *ops;
    pthread_mutex_t lock;
    uint64_t ticket[HM_GATES];
    uint32_t free[HM_GATES], n, fresh; /* given back; never used yet from `fresh` on */
    uint64_t made; /* counted up behind each call, for what it wrote to be seen by those behind it on its stream */
    int failure;
    char failure_text[900];
};
#define HM_CALLS(table) {.ops = (table), .lock = PTHREAD_MUTEX_INITIALIZER}

/* All words are zero. */
void hm_calls_begin(struct hm_calls *calls);
int hm_calls_call(struct hm_calls *calls, void *stream, void (*fn)(void *arg), void *arg);
/* Do streams wait for calls that have not returned? */
bool hm_calls_any(struct hm_calls *calls);
/* What failed behind its call: 0 or -errno, once. */
int hm_calls_failure(struct hm_calls *calls);

#endif
