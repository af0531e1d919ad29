/* Events. A record captures what its stream has been given: it is done when that is done and seen. A wait takes the
 * record that is the latest when the wait is submitted, whatever is recorded later. The kind with a flag has only the
 * flag, on the device: what waits for it after a reset waits for the next record.
 */
#define _GNU_SOURCE
#include "task.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOOK_US = 20000 };

struct record {
    struct record *next; /* in its stream, while something before it is withheld */
    int refs;
    bool done;
    struct tw_stream *stream; /* while not done */
    struct tw_event *event;   /* whose flag it raises; NULL: of another kind */
    uint64_t time;
};

struct tw_event {
    struct tw_event *next;
    int refs, device;
    enum tw_event_kind kind;
    unsigned flags;
    bool dropped, flag, was_recorded;
    struct record *latest;
    int waits; /* of streams, not over */
    uint64_t flag_time;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all events and records */
static pthread_cond_t changed;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct tw_event *events;

static void prepare(void) { tw_cond_make(&changed); }

static void let_event(struct tw_event *e)
{
    if (!e || --e->refs) return;
    free(e);
}

static void let_record(struct record *r)
{
    if (!r || --r->refs) return;
    let_event(r->event);
    free(r);
}

/* --- records --- */

static void complete(struct record *r)
{
    r->done = true;
    r->stream = NULL;
    if (r->event) {
        r->event->flag = true;
        r->event->flag_time = r->time;
    }
    pthread_cond_broadcast(&changed);
}

void tw_records_complete(struct tw_stream *s)
{
    pthread_mutex_lock(&s->lock);
    struct record *r = s->records; /* only this thread adds some */
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_lock(&lock);
    for (struct record *next; r; r = next) {
        next = r->next;
        complete(r);
        let_record(r);
    }
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&s->lock);
    s->records = NULL; /* who waits for the stream finds its events complete */
    pthread_mutex_unlock(&s->lock);
}

/* Behind withheld copies the record is withheld, too. */
static int run_record(struct tw_stream *s, struct tw_task *t)
{
    struct record *r = t->event.record;
    bool withheld = tw_stream_withholds(s);
    pthread_mutex_lock(&lock);
    r->time = atomic_load(&s->clock);
    if (withheld) r->refs++;
    else complete(r);
    pthread_mutex_unlock(&lock);
    if (withheld) {
        pthread_mutex_lock(&s->lock);
        r->next = s->records;
        s->records = r;
        pthread_mutex_unlock(&s->lock);
    }
    t->span = (struct tw_span){r->time, r->time};
    tw_note("record", s, s->device, -1, 0, t->span);
    return TW_OK;
}

static void end_record(struct tw_task *t)
{
    pthread_mutex_lock(&lock);
    struct record *r = t->event.record;
    if (!t->run && !r->done) complete(r); /* the device is lost: nobody shall wait for it */
    let_record(r);
    pthread_mutex_unlock(&lock);
}

int tw_event_record(struct tw_event *e, struct tw_stream *s)
{
    struct record *r = calloc(1, sizeof *r);
    struct tw_task *t = tw_task_make(run_record, 0);
    if (!r || !t) {
        free(r);
        free(t);
        return tw_fail(TW_NO_HOST_MEMORY, "no host memory");
    }
    t->done = end_record;
    t->event.record = r;
    pthread_mutex_lock(&lock);
    r->refs = 2; /* the event's, and the task's */
    r->stream = s;
    if (e->kind == TW_EVENT_FLAG) {
        r->event = e;
        e->refs++;
    }
    let_record(e->latest);
    e->latest = r;
    e->was_recorded = true;
    pthread_mutex_unlock(&lock);
    TW_COUNT(records);
    return tw_task_submit(s, t, false);
}

static int run_reset(struct tw_stream *s, struct tw_task *t)
{
    struct tw_event *e = t->event.event;
    pthread_mutex_lock(&lock);
    e->flag = false;
    if (e->latest && e->latest->done) {
        let_record(e->latest);
        e->latest = NULL;
    }
    pthread_mutex_unlock(&lock);
    t->span = (struct tw_span){atomic_load(&s->clock), atomic_load(&s->clock)};
    return TW_OK;
}

static void end_event(struct tw_task *t)
{
    pthread_mutex_lock(&lock);
    let_event(t->event.event);
    pthread_mutex_unlock(&lock);
}

int tw_event_reset(struct tw_event *e, struct tw_stream *s)
{
    struct tw_task *t = tw_task_make(run_reset, 0);
    if (!t) return TW_NO_HOST_MEMORY;
    t->done = end_event;
    t->settles = true;
    t->event.event = e;
    pthread_mutex_lock(&lock);
    e->refs++;
    pthread_mutex_unlock(&lock);
    return tw_task_submit(s, t, false);
}

/* --- waiting --- */

static bool is_done(const struct tw_event *e, const struct record *r) { return r ? r->done : e->flag; }

/* What is withheld before the record is wanted now. Its stream lives as long as it is not done. */
static void want(struct record *r)
{
    if (r && !r->done && r->stream) tw_stream_poke(r->stream);
}

/* Under the lock. `r` NULL: for the flag. */
static int wait_until_done(struct tw_event *e, struct record *r, int device, int64_t ms, enum tw_status late)
{
    struct timespec end, t, now;
    int rc = TW_OK;
    if (ms >= 0) tw_deadline(&end, ms * 1000);
    while (!is_done(e, r) && (rc = tw_alive(device)) == TW_OK) {
        want(r ? r : e->latest);
        tw_deadline(&t, LOOK_US);
        if (ms >= 0 && (t.tv_sec > end.tv_sec || (t.tv_sec == end.tv_sec && t.tv_nsec > end.tv_nsec))) t = end;
        pthread_cond_timedwait(&changed, &lock, &t);
        tw_deadline(&now, 0);
        if (ms < 0 || is_done(e, r) || now.tv_sec < end.tv_sec ||
            (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec))
            continue;
        return tw_fail(late, "%lld ms have passed", (long long)ms);
    }
    return rc;
}

static int run_wait(struct tw_stream *s, struct tw_task *t)
{
    struct tw_event *e = t->event.event;
    struct record *r = t->event.record;
    pthread_mutex_lock(&lock);
    int rc = wait_until_done(e, r, s->device, t->event.ms, TW_TIMEOUT_EVENT);
    if (rc == TW_OK) tw_stream_not_before(s, r ? r->time : e->flag_time);
    pthread_mutex_unlock(&lock);
    t->span = (struct tw_span){t->ready, atomic_load(&s->clock)};
    tw_note("wait", s, s->device, -1, 0, t->span);
    return rc;
}

static void end_wait(struct tw_task *t)
{
    pthread_mutex_lock(&lock);
    t->event.event->waits--;
    let_record(t->event.record);
    let_event(t->event.event);
    pthread_mutex_unlock(&lock);
}

int tw_stream_wait_event(struct tw_stream *s, struct tw_event *e, int64_t ms)
{
    if (e->kind == TW_EVENT_PLAIN && !e->was_recorded)
        return tw_fail(TW_INVALID, "the event has not been recorded: what is there to wait for?");
    if (e->kind == TW_EVENT_EX && !e->was_recorded) return TW_OK;
    struct tw_task *t = tw_task_make(run_wait, 0);
    if (!t) return TW_NO_HOST_MEMORY;
    t->done = end_wait;
    t->settles = true;
    t->event.event = e;
    t->event.ms = ms;
    pthread_mutex_lock(&lock);
    if (e->kind != TW_EVENT_FLAG) {
        t->event.record = e->latest;
        e->latest->refs++;
    }
    e->refs++;
    e->waits++;
    pthread_mutex_unlock(&lock);
    TW_COUNT(event_waits);
    return tw_task_submit(s, t, false);
}

int tw_event_done(struct tw_event *e, bool *done)
{
    pthread_mutex_lock(&lock);
    struct record *r = e->latest;
    *done = r ? r->done : e->kind == TW_EVENT_EX;
    if (*done && r) tw_clock_meet(r->time);
    if (!*done) want(r);
    pthread_mutex_unlock(&lock);
    return tw_alive(e->device);
}

int tw_event_wait(struct tw_event *e, int64_t ms)
{
    int rc = TW_OK;
    pthread_mutex_lock(&lock);
    struct record *r = e->latest;
    if (r) {
        r->refs++;
        rc = wait_until_done(e, r, e->device, ms, TW_TIMEOUT_EVENT);
        if (rc == TW_OK) tw_clock_meet(r->time);
        let_record(r);
    }
    pthread_mutex_unlock(&lock);
    return rc ? rc : tw_alive(e->device);
}

int tw_event_waits_done(struct tw_event *e, bool *done)
{
    pthread_mutex_lock(&lock);
    *done = e->waits == 0;
    pthread_mutex_unlock(&lock);
    return tw_alive(e->device);
}

int tw_event_time(struct tw_event *e, uint64_t *ns)
{
    pthread_mutex_lock(&lock);
    bool there = e->latest && e->latest->done;
    if (there) *ns = e->latest->time;
    pthread_mutex_unlock(&lock);
    return there ? TW_OK : tw_fail(TW_INVALID, "the event is not complete: it has no time");
}

/* --- making and finding --- */

int tw_event_make(int device, enum tw_event_kind kind, unsigned flags, struct tw_event **out)
{
    pthread_once(&once, prepare);
    struct tw_event *e = calloc(1, sizeof *e);
    if (!e) return tw_fail(TW_NO_HOST_MEMORY, "no host memory");
    *e = (struct tw_event){.refs = 1, .device = device, .kind = kind, .flags = flags};
    pthread_mutex_lock(&lock);
    e->next = events;
    events = e;
    pthread_mutex_unlock(&lock);
    *out = e;
    return TW_OK;
}

int tw_event_find(void *handle, struct tw_event **out)
{
    pthread_mutex_lock(&lock);
    struct tw_event *e = events;
    while (e && e != handle) e = e->next;
    pthread_mutex_unlock(&lock);
    *out = e;
    return e ? TW_OK : tw_fail(TW_HANDLE, "%p is no event", handle);
}

int tw_event_drop(struct tw_event *e)
{
    pthread_mutex_lock(&lock);
    struct tw_event **at = &events;
    while (*at != e) at = &(*at)->next;
    *at = e->next;
    let_record(e->latest);
    e->latest = NULL;
    let_event(e);
    pthread_mutex_unlock(&lock);
    return TW_OK;
}

int tw_event_device(const struct tw_event *e) { return e->device; }
enum tw_event_kind tw_event_kind(const struct tw_event *e) { return e->kind; }
unsigned tw_event_flags(const struct tw_event *e) { return e->flags; }
