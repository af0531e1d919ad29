/* Host functions that a thread of the program runs: it subscribes to streams, and comes for what they have for it. */
#define _GNU_SOURCE
#include "task.h"

#include <stdlib.h>
#include <time.h>

enum { LOOK_US = 20000 };

struct item {
    struct item *next;
    void (*fn)(void *);
    void *arg;
    bool block, done, left; /* left: the stream does not wait for it any more */
};

struct reader {
    struct reader *next;
    uint64_t thread;
    int device, streams;
    struct item *head, **tail;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct reader *readers;

static void prepare(void) { tw_cond_make(&changed); }

static struct reader *find(uint64_t thread)
{
    struct reader *r = readers;
    while (r && r->thread != thread) r = r->next;
    return r;
}

static int subscribe(uint64_t thread, struct tw_stream *s)
{
    struct reader *r = find(thread);
    if (s->subscription) return tw_fail(TW_SUBSCRIBE, "the stream has a thread for its callbacks already");
    if (r && r->device != s->device) return tw_fail(TW_INVALID, "the thread serves streams of device %d", r->device);
    if (!r) {
        if (!(r = calloc(1, sizeof *r))) return tw_fail(TW_NO_HOST_MEMORY, "no host memory");
        *r = (struct reader){.next = readers, .thread = thread, .device = s->device, .tail = &r->head};
        readers = r;
    }
    r->streams++;
    s->subscription = r;
    return TW_OK;
}

int tw_report_subscribe(uint64_t thread, struct tw_stream *s)
{
    pthread_once(&once, prepare);
    pthread_mutex_lock(&lock);
    int rc = subscribe(thread, s);
    pthread_mutex_unlock(&lock);
    return rc;
}

int tw_report_unsubscribe(uint64_t thread, struct tw_stream *s)
{
    int rc = TW_OK;
    pthread_mutex_lock(&lock);
    struct reader *r = s->subscription, **at = &readers;
    if (!r || r->thread != thread) {
        rc = tw_fail(TW_SUBSCRIBE, "that thread is not subscribed to the stream");
    } else {
        s->subscription = NULL;
        if (!--r->streams && !r->head) {
            while (*at != r) at = &(*at)->next;
            *at = r->next;
            free(r);
        }
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

/* --- the stream's side --- */

static int wait_until_run(struct tw_stream *s, struct item *i)
{
    int rc = TW_OK;
    while (!i->done && (rc = tw_alive(s->device)) == TW_OK) {
        struct timespec t;
        tw_deadline(&t, LOOK_US);
        pthread_cond_timedwait(&changed, &lock, &t);
    }
    return rc;
}

static int run_report(struct tw_stream *s, struct tw_task *t)
{
    struct item *i = t->report.item;
    int rc = TW_OK;
    bool block = i->block;
    pthread_mutex_lock(&lock);
    struct reader *r = s->subscription;
    if (!r) {
        rc = tw_fail(TW_SUBSCRIBE, "no thread is subscribed to the stream any more");
    } else {
        *r->tail = i;
        r->tail = &i->next;
        t->report.item = NULL; /* whoever runs it frees it, or the stream, if it waits */
        pthread_cond_broadcast(&changed);
        if (block) {
            rc = wait_until_run(s, i);
            if (i->done) free(i);
            else i->left = true;
        }
    }
    pthread_mutex_unlock(&lock);
    t->span = tw_clock_work((uint64_t)tw_shared->config.host_func_ns, atomic_load(&s->clock));
    if (block) tw_stream_not_before(s, t->span.end);
    tw_note("callback", s, s->device, -1, 0, t->span);
    return rc;
}

static void end_report(struct tw_task *t) { free(t->report.item); }

int tw_report_launch(struct tw_stream *s, void (*fn)(void *), void *arg, bool block)
{
    pthread_once(&once, prepare);
    pthread_mutex_lock(&lock);
    bool served = s->subscription != NULL;
    pthread_mutex_unlock(&lock);
    if (!served) return tw_fail(TW_SUBSCRIBE, "no thread is subscribed to the stream");
    struct item *i = calloc(1, sizeof *i);
    struct tw_task *t = tw_task_make(run_report, 0);
    if (!i || !t) {
        free(i);
        free(t);
        return tw_fail(TW_NO_HOST_MEMORY, "no host memory");
    }
    *i = (struct item){.fn = fn, .arg = arg, .block = block};
    t->report.item = i;
    t->done = end_report;
    t->settles = true;
    TW_COUNT(host_funcs);
    return tw_task_submit(s, t, false);
}

/* --- the thread's side --- */

static struct item *take(struct reader *r)
{
    struct item *i = r->head;
    if (i && !(r->head = i->next)) r->tail = &r->head;
    return i;
}

/* Waits for one, and runs all that are there. */
int tw_report_process(int64_t ms)
{
    struct timespec end, t, now;
    struct item *i = NULL;
    int rc = TW_OK;
    pthread_once(&once, prepare);
    if (ms >= 0) tw_deadline(&end, ms * 1000);
    pthread_mutex_lock(&lock);
    for (;;) {
        struct reader *r = find((uint64_t)pthread_self()); /* it may be subscribed, or not any more, while it waits */
        if ((r && (i = take(r))) || (rc = tw_alive(-1)) != TW_OK) break;
        tw_deadline(&now, 0);
        if (ms >= 0 && (now.tv_sec > end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec))) break;
        tw_deadline(&t, ms >= 0 && ms * 1000 < LOOK_US ? ms * 1000 : LOOK_US);
        pthread_cond_timedwait(&changed, &lock, &t);
    }
    if (!i && rc == TW_OK) rc = tw_fail(TW_TIMEOUT_REPORT, "no callback within %lld ms", (long long)ms);
    while (i) {
        pthread_mutex_unlock(&lock);
        i->fn(i->arg);
        pthread_mutex_lock(&lock);
        i->done = true;
        if (!i->block || i->left) free(i);
        else pthread_cond_broadcast(&changed);
        struct reader *r = find((uint64_t)pthread_self());
        i = r ? take(r) : NULL;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}
