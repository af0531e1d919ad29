/* Between stream.c and those who have tasks for streams of their own. */
#ifndef TW_TASK_H
#define TW_TASK_H

#include "engine.h"

enum { TW_REASON = 240 };

/* One copy between addresses that the CPU can use. */
struct tw_segment {
    char *to;
    const char *from; /* NULL: `byte` is set */
    size_t bytes;
    struct tw_physical *to_memory, *from_memory; /* held until it is done; NULL: the host's */
};

struct tw_task {
    struct tw_task *next;
    int (*run)(struct tw_stream *s, struct tw_task *t); /* in the stream's thread */
    void (*done)(struct tw_task *t);                    /* whatever came of it; NULL: nothing to do */
    bool settles;   /* what earlier tasks have withheld must be there before */
    uint64_t ready; /* modelled time of the host when it was submitted */
    int parts;      /* of a copy that are withheld, and 1 for itself */
    struct tw_span span;
    union {
        struct {
            int byte, home, from;
            enum tw_way way;
            size_t bytes;
            bool at_once;
            void (*reduce)(void *, const void *, size_t);
        } copy;
        struct {
            void (*fn)(void *);
            void *arg;
            uint64_t ns;
        } call;
        struct {
            uint64_t *word, value;
            unsigned how;
            struct tw_physical *memory;
        } word;
        struct {
            struct tw_event *event;
            void *record;
            int64_t ms;
        } event;
        struct {
            void *item;
        } report;
    };
    size_t nsegments;
    struct tw_segment segment[];
};

struct tw_held;
struct tw_stream {
    struct tw_stream *next;
    int device;
    struct tw_context *context;
    bool own; /* the context's */
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    struct tw_task *head, **tail;
    uint64_t submitted, completed;
    struct tw_held *held; /* parts of copies whose effect is withheld */
    int nheld;
    int flushing;         /* who wants none to be */
    int status, code;     /* of the first task that went wrong, until somebody has been told */
    char why[TW_REASON];
    pthread_t thread;
    bool running, stop;
    int users; /* threads that wait for it among others: it lives until they have done */
    _Atomic uint64_t clock; /* modelled end of the last task */
    void *subscription;
    void *records; /* event records behind withheld copies */
};

struct tw_task *tw_task_make(int (*run)(struct tw_stream *s, struct tw_task *t), size_t nsegments);
int tw_task_submit(struct tw_stream *s, struct tw_task *t, bool wait);
/* The stream's thread: nothing is withheld any more. */
void tw_stream_settle(struct tw_stream *s);
bool tw_stream_withholds(const struct tw_stream *s); /* asked by its thread */
void tw_stream_poke(struct tw_stream *s);            /* what it withholds is wanted */
/* The modelled end of the stream's work is not before ns. */
void tw_stream_not_before(struct tw_stream *s, uint64_t ns);
void tw_deadline(struct timespec *t, int64_t us);

uint64_t tw_now_ns(void);
void tw_cond_make(pthread_cond_t *cond); /* whose limits of time are of that clock */
void tw_task_apply(const struct tw_task *t, const struct tw_segment *g);
void tw_task_finish(struct tw_task *t); /* a part of it, or itself: with the last of them it is gone */

/* late.c: all under the stream's lock, and all but want in its thread. */
bool tw_late_on(void);
void tw_late_withhold(struct tw_stream *s, struct tw_task *t, struct tw_segment g);
bool tw_late_clash(const struct tw_stream *s, const struct tw_task *t); /* it needs something that is withheld */
void tw_late_apply(struct tw_stream *s, uint64_t until);                /* what is due by then */
uint64_t tw_late_next(const struct tw_stream *s);                       /* when the next part is due */
void tw_late_want(struct tw_stream *s);                                 /* all of it is due */
uint64_t tw_late_draw(uint64_t range);                                  /* a random number */

/* event.c: the stream has nothing withheld any more. */
void tw_records_complete(struct tw_stream *s);

#endif
