/* Streams: tasks in order, each stream in a thread of its own, which begins with its first task. */
#define _GNU_SOURCE
#include "task.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOK_US = 20000,    /* how often who waits looks at the devices */
    WORD_LOOK_US = 200, /* and at a word that another process may change */
    MAX_STREAMS = 1984, /* documented */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list */
static pthread_cond_t unused = PTHREAD_COND_INITIALIZER; /* users of one of them have left */
static struct tw_stream *streams;
static _Thread_local struct tw_stream *mine; /* in a stream's thread */
static _Thread_local bool in_host_func;
_Atomic int tw_task_fault;

bool tw_in_host_func(void) { return in_host_func; }

/* The clock of whoever runs here: a stream's, in its host functions and kernels, or the process's. */
_Atomic uint64_t *tw_stream_clock_here(void) { return mine ? &mine->clock : NULL; }

uint64_t tw_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void tw_cond_make(pthread_cond_t *cond)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static struct timespec at_ns(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

void tw_deadline(struct timespec *t, int64_t us) { *t = at_ns(tw_now_ns() + (uint64_t)us * 1000); }

void tw_task_finish(struct tw_task *t)
{
    if (__atomic_sub_fetch(&t->parts, 1, __ATOMIC_ACQ_REL)) return;
    for (size_t i = 0; i < t->nsegments; i++) {
        if (t->segment[i].to_memory) tw_let(t->segment[i].to_memory);
        if (t->segment[i].from_memory) tw_let(t->segment[i].from_memory);
    }
    if (t->done) t->done(t);
    free(t);
}

/* --- what is withheld --- */

/* Events behind what was withheld. Never under the stream's lock, which those who wait for events take. */
static void complete_records(struct tw_stream *s)
{
    if (s->held || !s->records) return;
    pthread_mutex_unlock(&s->lock);
    tw_records_complete(s);
    pthread_mutex_lock(&s->lock);
    pthread_cond_broadcast(&s->done);
}

void tw_stream_settle(struct tw_stream *s)
{
    pthread_mutex_lock(&s->lock);
    tw_late_apply(s, UINT64_MAX);
    complete_records(s);
    pthread_mutex_unlock(&s->lock);
}

bool tw_stream_withholds(const struct tw_stream *s) { return s->held != NULL; }

void tw_stream_poke(struct tw_stream *s)
{
    pthread_mutex_lock(&s->lock);
    tw_late_want(s);
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->lock);
}

/* --- the stream's thread --- */

void tw_stream_not_before(struct tw_stream *s, uint64_t ns)
{
    if (atomic_load(&s->clock) < ns) atomic_store(&s->clock, ns);
}

static void went_wrong(struct tw_stream *s, int rc)
{
    if (rc == TW_FAULT) atomic_store(&tw_task_fault, tw_fault_code);
    if (s->status) return;
    s->status = rc;
    s->code = tw_fault_code;
    snprintf(s->why, sizeof s->why, "%s", tw_reason());
}

static void run_task(struct tw_stream *s, struct tw_task *t)
{
    if (t->settles && s->held) tw_stream_settle(s);
    tw_stream_not_before(s, t->ready);
    int rc = tw_alive(s->device);
    if (rc == TW_OK && atomic_load_explicit(&tw_faults, memory_order_relaxed)) rc = tw_fault_meet("task", -1);
    if (rc == TW_OK) rc = t->run(s, t);
    else t->run = NULL; /* who completes it may ask whether it was done */
    if (rc == TW_OK) tw_task_finish(t);
    pthread_mutex_lock(&s->lock);
    if (rc) went_wrong(s, rc);
    s->completed++;
    pthread_cond_broadcast(&s->done);
    pthread_mutex_unlock(&s->lock);
    if (rc) tw_task_finish(t); /* the stream is known to be wrong before somebody can see what became of the task */
}

static void rest(struct tw_stream *s)
{
    if (!s->held) {
        pthread_cond_wait(&s->work, &s->lock);
        return;
    }
    struct timespec t = at_ns(tw_late_next(s));
    pthread_cond_timedwait(&s->work, &s->lock, &t);
    tw_late_apply(s, tw_now_ns());
    if (!s->held) pthread_cond_broadcast(&s->done);
    complete_records(s);
}

static void *work(void *arg)
{
    struct tw_stream *s = mine = arg;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        if (s->held && (s->flushing || (s->stop && !s->head))) {
            tw_late_apply(s, UINT64_MAX);
            pthread_cond_broadcast(&s->done);
        }
        complete_records(s);
        struct tw_task *t = s->head;
        if (!t && s->stop) break;
        if (!t) {
            rest(s);
            continue;
        }
        if (!(s->head = t->next)) s->tail = &s->head;
        pthread_mutex_unlock(&s->lock);
        run_task(s, t);
        pthread_mutex_lock(&s->lock);
        if (s->held) tw_late_apply(s, tw_now_ns());
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static int start_thread(struct tw_stream *s)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&s->thread, NULL, work, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc) return tw_fail(TW_LIMIT, "no thread for a stream: %s", strerror(rc));
    s->running = true;
    return TW_OK;
}

/* --- tasks --- */

struct tw_task *tw_task_make(int (*run)(struct tw_stream *s, struct tw_task *t), size_t nsegments)
{
    struct tw_task *t = calloc(1, sizeof *t + nsegments * sizeof *t->segment);
    if (!t) {
        tw_fail(TW_NO_HOST_MEMORY, "no host memory");
        return NULL;
    }
    t->run = run;
    t->parts = 1;
    t->nsegments = nsegments;
    return t;
}

/* Once, to whoever asks first. Under the lock. */
static int tell_what_went_wrong(struct tw_stream *s)
{
    int rc = s->status;
    if (!rc) return TW_OK;
    s->status = TW_OK;
    tw_fault_code = s->code;
    return tw_fail((enum tw_status)rc, "%s", s->why);
}

/* Until `target` tasks are done and nothing of them is withheld. Under the lock. */
static int wait_for(struct tw_stream *s, uint64_t target, int64_t ms)
{
    uint64_t end = ms < 0 ? UINT64_MAX : tw_now_ns() + (uint64_t)ms * 1000000;
    int rc;
    s->flushing++;
    if (s->held) pthread_cond_signal(&s->work);
    while ((rc = tw_alive(s->device)) == TW_OK && (s->completed < target || s->held || s->records)) {
        uint64_t now = tw_now_ns(), next = now + LOOK_US * 1000ull;
        if (now >= end) break;
        struct timespec t = at_ns(next < end ? next : end);
        pthread_cond_timedwait(&s->done, &s->lock, &t);
    }
    s->flushing--;
    if (rc) return rc;
    if (s->completed < target || s->held || s->records)
        return tw_fail(TW_TIMEOUT_STREAM, "%lld ms have passed", (long long)ms);
    return tell_what_went_wrong(s);
}

int tw_task_submit(struct tw_stream *s, struct tw_task *t, bool wait)
{
    int rc = tw_alive(s->device);
    t->ready = tw_clock_now();
    pthread_mutex_lock(&s->lock);
    if (rc == TW_OK && !s->running) rc = start_thread(s);
    if (rc) {
        pthread_mutex_unlock(&s->lock);
        t->run = NULL;
        tw_task_finish(t);
        return rc;
    }
    *s->tail = t;
    s->tail = &t->next;
    uint64_t target = ++s->submitted;
    pthread_cond_signal(&s->work);
    if (wait) rc = wait_for(s, target, -1);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

/* --- copies --- */

static struct tw_segment next_segment(char *to, const char *from, size_t bytes)
{
    struct tw_segment g = {.to = to, .from = from, .bytes = bytes};
    struct tw_piece *p = tw_piece_at(to), *q = from ? tw_piece_at(from) : NULL;
    if (p) {
        size_t offset = (uintptr_t)to - p->va;
        if (g.bytes > p->bytes - offset) g.bytes = p->bytes - offset;
        g.to = p->secret + offset;
        g.to_memory = p->physical;
    }
    if (q) {
        size_t offset = (uintptr_t)from - q->va;
        if (g.bytes > q->bytes - offset) g.bytes = q->bytes - offset;
        g.from = q->secret + offset;
        g.from_memory = q->physical;
    }
    return g;
}

static int freed_meanwhile(const struct tw_task *t)
{
    for (size_t i = 0; i < t->nsegments; i++) {
        const struct tw_segment *g = &t->segment[i];
        if ((g->to_memory && g->to_memory->freed && !g->to_memory->maps) ||
            (g->from_memory && g->from_memory->freed && !g->from_memory->maps))
            return tw_fail(TW_BROKEN, "a copy found its device memory freed: it was not waited for");
    }
    return TW_OK;
}

static int run_copy(struct tw_stream *s, struct tw_task *t)
{
    int rc = freed_meanwhile(t);
    if (rc) return rc;
    bool late = tw_late_on() && !t->copy.at_once && !t->copy.reduce;
    pthread_mutex_lock(&s->lock);
    if (s->held && tw_late_clash(s, t)) tw_late_apply(s, UINT64_MAX);
    complete_records(s);
    if (s->flushing) late = false;
    for (size_t i = 0; late && i < t->nsegments; i++) tw_late_withhold(s, t, t->segment[i]);
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; !late && i < t->nsegments; i++) tw_task_apply(t, &t->segment[i]);
    t->span = tw_clock_copy(t->copy.way, t->copy.from, t->copy.home, t->copy.bytes, atomic_load(&s->clock));
    tw_stream_not_before(s, t->span.end);
    tw_note(NULL, s, t->copy.from, t->copy.home, t->copy.bytes, t->span);
    return TW_OK;
}

static enum tw_way way_of(const struct tw_task *t)
{
    const struct tw_segment *g = &t->segment[0];
    if (!g->from) return TW_SET;
    if (!g->to_memory) return g->from_memory ? TW_D2H : TW_H2H;
    if (!g->from_memory) return TW_H2D;
    return g->to_memory->home == g->from_memory->home ? TW_D2D : TW_P2P;
}

static struct tw_task *copy_task(char *to, const char *from, size_t bytes)
{
    size_t n = 0;
    for (size_t at = 0; at < bytes; n++) at += next_segment(to + at, from ? from + at : NULL, bytes - at).bytes;
    struct tw_task *t = tw_task_make(run_copy, n);
    if (!t) return NULL;
    t->copy.bytes = bytes;
    for (size_t i = 0, at = 0; i < n; i++) {
        struct tw_segment g = t->segment[i] = next_segment(to + at, from ? from + at : NULL, bytes - at);
        if (g.to_memory) tw_hold(g.to_memory);
        if (g.from_memory) tw_hold(g.from_memory);
        at += g.bytes;
    }
    const struct tw_segment *g = &t->segment[0];
    t->copy.way = way_of(t);
    t->copy.home = g->to_memory ? g->to_memory->home : -1;
    t->copy.from = g->from_memory ? g->from_memory->home : -1;
    return t;
}

int tw_stream_copy(struct tw_stream *s, void *to, const void *from, size_t bytes, bool at_once)
{
    struct tw_task *t = copy_task(to, from, bytes);
    if (!t) return TW_NO_HOST_MEMORY;
    t->copy.at_once = at_once;
    enum tw_way way = t->copy.way;
    int rc = tw_task_submit(s, t, at_once);
    if (rc == TW_OK) {
        TW_COUNT(copies[1][way]);
        atomic_fetch_add_explicit(&tw_live.bytes[1][way], bytes, memory_order_relaxed);
        if (at_once) tw_clock_meet(atomic_load(&s->clock));
    }
    return rc;
}

int tw_stream_set(struct tw_stream *s, void *to, int byte, size_t bytes)
{
    struct tw_task *t = copy_task(to, NULL, bytes);
    if (!t) return TW_NO_HOST_MEMORY;
    t->copy.byte = byte;
    TW_COUNT(copies[1][TW_SET]);
    atomic_fetch_add_explicit(&tw_live.bytes[1][TW_SET], bytes, memory_order_relaxed);
    return tw_task_submit(s, t, false);
}

int tw_stream_reduce(struct tw_stream *s, void *to, const void *from, size_t bytes,
                     void (*fn)(void *, const void *, size_t))
{
    struct tw_task *t = copy_task(to, from, bytes);
    if (!t) return TW_NO_HOST_MEMORY;
    t->copy.reduce = fn;
    t->settles = true;
    return tw_task_submit(s, t, false);
}

/* --- kernels, host functions, words --- */

static int run_call(struct tw_stream *s, struct tw_task *t)
{
    in_host_func = true;
    tw_context_call(s->context, t->call.fn, t->call.arg);
    in_host_func = false;
    t->span = tw_clock_work((uint64_t)tw_shared->config.host_func_ns, atomic_load(&s->clock));
    tw_stream_not_before(s, t->span.end);
    tw_note("host_func", s, s->device, -1, 0, t->span);
    return TW_OK;
}

int tw_stream_call(struct tw_stream *s, void (*fn)(void *), void *arg)
{
    struct tw_task *t = tw_task_make(run_call, 0);
    if (!t) return TW_NO_HOST_MEMORY;
    t->settles = true;
    t->call.fn = fn;
    t->call.arg = arg;
    TW_COUNT(host_funcs);
    return tw_task_submit(s, t, false);
}

static int run_kernel(struct tw_stream *s, struct tw_task *t)
{
    if (t->call.fn) t->call.fn(t->call.arg);
    t->span = tw_clock_work(t->call.ns, atomic_load(&s->clock));
    tw_stream_not_before(s, t->span.end);
    tw_note("kernel", s, s->device, -1, 0, t->span);
    return TW_OK;
}

int tw_stream_kernel(struct tw_stream *s, uint64_t ns, void (*fn)(void *), void *arg)
{
    struct tw_task *t = tw_task_make(run_kernel, 0);
    if (!t) return TW_NO_HOST_MEMORY;
    t->settles = true;
    t->call.fn = fn;
    t->call.arg = arg;
    t->call.ns = ns;
    TW_COUNT(kernels);
    return tw_task_submit(s, t, false);
}

static void let_word(struct tw_task *t)
{
    if (t->word.memory) tw_let(t->word.memory);
}

static int home_of_word(const struct tw_task *t) { return t->word.memory ? t->word.memory->home : -1; }

static struct tw_task *word_task(int (*run)(struct tw_stream *, struct tw_task *), void *word, uint64_t value)
{
    struct tw_piece *piece = tw_piece_at(word);
    struct tw_task *t = tw_task_make(run, 0);
    if (!t) return NULL;
    t->settles = true;
    t->done = let_word;
    t->word.word = piece ? (uint64_t *)(piece->secret + ((uintptr_t)word - piece->va)) : word; /* of the host */
    t->word.value = value;
    t->word.memory = piece ? piece->physical : NULL;
    if (piece) tw_hold(piece->physical);
    TW_COUNT(words);
    return t;
}

static int run_write(struct tw_stream *s, struct tw_task *t)
{
    __atomic_store_n(t->word.word, t->word.value, __ATOMIC_SEQ_CST);
    tw_word_changed();
    t->span = tw_clock_copy(TW_SET, -1, home_of_word(t), 8, atomic_load(&s->clock));
    tw_stream_not_before(s, t->span.end);
    tw_note("write", s, s->device, -1, 8, t->span);
    return TW_OK;
}

int tw_stream_write(struct tw_stream *s, void *word, uint64_t value)
{
    struct tw_task *t = word_task(run_write, word, value);
    return t ? tw_task_submit(s, t, false) : TW_NO_HOST_MEMORY;
}

static bool holds(uint64_t v, uint64_t value, unsigned how)
{
    switch (how) {
    case 0: return (int64_t)(v - value) >= 0;
    case 1: return v == value;
    case 2: return (v & value) != 0;
    default: return ~(v | value) != 0;
    }
}

/* Who waits for a word sleeps until this process has changed one, and looks now and then what others have. */
static _Atomic uint32_t words_awaited, words_changed;

void tw_word_changed(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&words_awaited, memory_order_relaxed)) return;
    atomic_fetch_add(&words_changed, 1);
    syscall(SYS_futex, &words_changed, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static bool word_holds(const struct tw_task *t)
{
    return holds(__atomic_load_n(t->word.word, __ATOMIC_ACQUIRE), t->word.value, t->word.how);
}

static void rest_for_word(const struct tw_task *t)
{
    struct timespec span = {0, WORD_LOOK_US * 1000};
    atomic_fetch_add(&words_awaited, 1);
    uint32_t seen = atomic_load(&words_changed);
    if (!word_holds(t)) syscall(SYS_futex, &words_changed, FUTEX_WAIT_PRIVATE, seen, &span, NULL, 0);
    atomic_fetch_sub(&words_awaited, 1);
}

static int run_await(struct tw_stream *s, struct tw_task *t)
{
    for (unsigned tries = 0; !word_holds(t); tries++) {
        int rc = tw_alive(s->device);
        if (rc) return rc;
        if (s->stop) return tw_fail(TW_BROKEN, "the stream was destroyed while it waited for a word");
        if (tries < 50) sched_yield();
        else rest_for_word(t);
    }
    t->span = tw_clock_copy(TW_SET, -1, home_of_word(t), 8, atomic_load(&s->clock));
    tw_stream_not_before(s, t->span.end);
    tw_note("await", s, s->device, -1, 8, t->span);
    return TW_OK;
}

int tw_stream_await(struct tw_stream *s, void *word, uint64_t value, unsigned how)
{
    struct tw_task *t = word_task(run_await, word, value);
    if (!t) return TW_NO_HOST_MEMORY;
    t->word.how = how;
    return tw_task_submit(s, t, false);
}

/* --- making and finding --- */

static struct tw_stream *make(int device, struct tw_context *c, bool own)
{
    struct tw_stream *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    pthread_mutex_init(&s->lock, NULL);
    tw_cond_make(&s->work);
    tw_cond_make(&s->done);
    s->device = device;
    s->context = c;
    s->own = own;
    s->tail = &s->head;
    s->next = streams;
    return streams = s;
}

int tw_stream_make(int device, struct tw_stream **out)
{
    pthread_mutex_lock(&lock);
    int n = 0;
    for (struct tw_stream *s = streams; s; s = s->next) n += s->device == device;
    struct tw_stream *s = n < MAX_STREAMS ? make(device, tw_context_current(), false) : NULL;
    pthread_mutex_unlock(&lock);
    if (n >= MAX_STREAMS) return tw_fail(TW_LIMIT, "device %d has %d streams, which is its limit", device, n);
    if (!s) return tw_fail(TW_NO_HOST_MEMORY, "no host memory");
    *out = s;
    return TW_OK;
}

static struct tw_stream *own_of(int device, struct tw_context *c)
{
    struct tw_stream *s = streams;
    while (s && !(s->own && s->context == c)) s = s->next;
    return s ? s : make(device, c, true);
}

int tw_stream_find(void *handle, struct tw_stream **out)
{
    struct tw_context *c = tw_context_current();
    int device = tw_device_current();
    pthread_mutex_lock(&lock);
    struct tw_stream *s = streams;
    if (!handle) s = own_of(device, c);
    else
        while (s && s != handle) s = s->next;
    pthread_mutex_unlock(&lock);
    if (!s) return tw_fail(handle ? TW_HANDLE : TW_NO_HOST_MEMORY, "%p is no stream", handle);
    if (s->context != c)
        return tw_fail(TW_OTHER_CONTEXT, "the stream is of another context, on device %d; the thread's device is %d",
                       s->device, device);
    *out = s;
    return TW_OK;
}

static void end(struct tw_stream *s)
{
    if (s->running) {
        pthread_mutex_lock(&s->lock);
        wait_for(s, s->submitted, -1); /* a stop would end waits for words that are still to come */
        s->stop = true;
        pthread_cond_signal(&s->work);
        pthread_mutex_unlock(&s->lock);
        pthread_join(s->thread, NULL);
    }
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->work);
    pthread_cond_destroy(&s->done);
    free(s);
}

/* Under the lock. */
static void unlink_stream(struct tw_stream *s)
{
    struct tw_stream **at = &streams;
    while (*at != s) at = &(*at)->next;
    *at = s->next;
    while (s->users) pthread_cond_wait(&unused, &lock);
}

int tw_stream_drop(struct tw_stream *s)
{
    if (s == mine) return tw_fail(TW_INVALID, "a host function cannot destroy its own stream");
    pthread_mutex_lock(&lock);
    unlink_stream(s);
    pthread_mutex_unlock(&lock);
    end(s);
    return TW_OK;
}

void tw_streams_drop(int device, const struct tw_context *c)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        struct tw_stream *s = streams;
        while (s && (s->device != device || (c && s->context != c))) s = s->next;
        if (s) unlink_stream(s);
        pthread_mutex_unlock(&lock);
        if (!s) return;
        end(s);
    }
}

/* --- waiting --- */

int tw_stream_wait(struct tw_stream *s, int64_t ms)
{
    if (s == mine) return tw_fail(TW_INVALID, "a host function cannot wait for its own stream");
    pthread_mutex_lock(&s->lock);
    int rc = wait_for(s, s->submitted, ms);
    pthread_mutex_unlock(&s->lock);
    if (rc == TW_OK) tw_clock_meet(atomic_load(&s->clock));
    return rc;
}

static void leave(struct tw_stream *s)
{
    pthread_mutex_lock(&lock);
    s->users--;
    pthread_cond_broadcast(&unused);
    pthread_mutex_unlock(&lock);
}

struct verdict {
    int rc, code;
    char why[TW_REASON];
};

/* The first that went wrong counts, and more than that there was no time for others. */
static void judge(struct verdict *v, int rc)
{
    if (!rc || (v->rc && (v->rc != TW_TIMEOUT_STREAM || rc == TW_TIMEOUT_STREAM))) return;
    v->rc = rc;
    v->code = tw_fault_code;
    snprintf(v->why, sizeof v->why, "%s", tw_reason());
}

int tw_streams_wait(int device, int64_t ms)
{
    struct verdict v = {0};
    struct tw_stream *all[MAX_STREAMS + 1];
    int n = 0;
    pthread_mutex_lock(&lock);
    for (struct tw_stream *s = streams; s && n <= MAX_STREAMS; s = s->next)
        if (s->device == device) all[n++] = s, s->users++;
    pthread_mutex_unlock(&lock);
    while (n--) {
        judge(&v, tw_stream_wait(all[n], ms));
        leave(all[n]);
    }
    if (!v.rc) return TW_OK;
    tw_fault_code = v.code;
    return tw_fail((enum tw_status)v.rc, "%s", v.why);
}

/* Whoever finds a stream idle may read what it has written. With something withheld the answer is no at times. */
int tw_stream_idle(struct tw_stream *s, bool *idle)
{
    pthread_mutex_lock(&s->lock);
    *idle = s->completed == s->submitted;
    if (*idle && s->held) {
        if (tw_late_draw(2)) *idle = wait_for(s, s->submitted, -1) == TW_OK;
        else *idle = false;
    }
    int rc = *idle ? tell_what_went_wrong(s) : TW_OK;
    if (rc == TW_OK) rc = tw_alive(s->device);
    pthread_mutex_unlock(&s->lock);
    if (*idle) tw_clock_meet(atomic_load(&s->clock));
    return rc;
}

void tw_streams_rewind(void)
{
    pthread_mutex_lock(&lock);
    for (struct tw_stream *s = streams; s; s = s->next) atomic_store(&s->clock, 0);
    pthread_mutex_unlock(&lock);
}

uint64_t tw_stream_clock(struct tw_stream *s) { return atomic_load(&s->clock); }
