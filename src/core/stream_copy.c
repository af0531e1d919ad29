/* Puts and gets on streams that are one copy of the runtime's between device memories of this machine. Nobody hears of their
 * end but who synchronises the stream. So a mark is set behind them, and while there are marks, the worker and every call of
 * the library that synchronises ask the runtime what became of the copies; finalize waits for the device.
 */
#include <pthread.h>
#include <stdio.h>

#include "base/log.h"
#include "base/os.h"
#include "core/device.h"
#include "core/stream_op.h"
#include "core/wait.h"
#include "core/world.h"

enum { NOTES = 16, LISTED = 4, STREAMS = 16 };
#define LOOK_NS 10000000ull /* between two looks of the worker's: a thousandth of a core at most */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that is static here */

/* --- the last ones, for a sentence about one that fails --- */

static struct {
    const char *call;
    void *stream;
    int pe;
} note[NOTES]; /* the latest of number n at n % NOTES */
static uint64_t copies;

/* Under the lock. */
static void remember(const char *call, int pe, void *stream)
{
    note[copies % NOTES].call = call;
    note[copies % NOTES].stream = stream;
    note[copies++ % NOTES].pe = pe;
}

/* Those on the stream, or on any: the latest first. */
static int list_last(char *text, size_t size, const void *stream, bool any, const char **latest)
{
    size_t n = 0;
    int listed = 0;
    *latest = NULL;
    *text = 0;
    for (uint64_t i = copies; i && i + NOTES > copies && listed < LISTED && n < size; i--) {
        int k = (int)((i - 1) % NOTES);
        if (!any && note[k].stream != stream) continue;
        n += (size_t)snprintf(text + n, size - n, "%s%s (PE %d)", n ? ", " : "", note[k].call, note[k].pe);
        if (!listed++) *latest = note[k].call;
    }
    return listed;
}

/* --- marks --- */

/* What is known of the copies on a stream. UNHEARD: they are done and the worker has heard of no failure; but the runtime may
 * have told a thread of the program, which will say so at its next look. */
enum state { SETTLED, UNHEARD, UNDER_WAY };

static struct watch {
    void *stream, *mark;
    uint64_t marked; /* so often */
    enum state state;
} watches[STREAMS];
uint32_t hm_stream_copies_open; /* how many are not settled */
static uint32_t under_way;      /* how many are that */

static void set_state(struct watch *w, enum state state)
{
    uint32_t open = hm_stream_copies_open + (state != SETTLED) - (w->state != SETTLED);
    uint32_t moving = under_way + (state == UNDER_WAY) - (w->state == UNDER_WAY);
    w->state = state;
    __atomic_store_n(&hm_stream_copies_open, open, __ATOMIC_RELAXED);
    __atomic_store_n(&under_way, moving, __ATOMIC_RELAXED);
}

/* That of the stream, or one that has nothing under way. */
static struct watch *watch_for(const void *stream)
{
    struct watch *unused = NULL;
    for (int i = 0; i < STREAMS; i++) {
        if (watches[i].mark && watches[i].stream == stream) return &watches[i];
        if (watches[i].state == SETTLED || (!unused && watches[i].state == UNHEARD)) unused = &watches[i];
    }
    return unused;
}

/* Without a mark finalize hears of a failure. */
static void mark(void *stream)
{
    struct watch *w = watch_for(stream);
    if (!hm_device.ops->stream_mark || !w || hm_device.ops->stream_mark(&w->mark, stream)) return;
    w->stream = stream;
    w->marked++;
    set_state(w, UNDER_WAY);
}

static void note_copy(const char *call, int pe, void *stream)
{
    pthread_mutex_lock(&lock);
    bool first = !under_way;
    remember(call, pe, stream);
    mark(stream);
    first &= under_way > 0;
    pthread_mutex_unlock(&lock);
    if (!first) return;
    __atomic_store_n(&hm_ctx_default.on_device, true, __ATOMIC_RELAXED); /* its quiet comes by here */
    if (!hm_stream_start_worker(call)) hm_stream_wake_worker();
}

/* --- what became of them --- */

/* `stream` where it is known to be one of that. */
static HM_NORETURN HM_COLD void failed(const void *stream, bool any, const char *call)
{
    char last[LISTED * 80], which[40] = "a stream";
    const char *latest, *why = hm_device.ops->why();
    pthread_mutex_lock(&lock);
    list_last(last, sizeof last, stream, any, &latest);
    pthread_mutex_unlock(&lock);
    if (!any) snprintf(which, sizeof which, "stream %p", stream);
    hm_die(call ? call : latest, "something on %s of this PE has failed; the last copies there were of %s: %s", which, last, why);
}

static HM_COLD void told_already(const void *stream, const char *call)
{
    char last[LISTED * 80];
    const char *latest;
    pthread_mutex_lock(&lock);
    list_last(last, sizeof last, stream, false, &latest);
    pthread_mutex_unlock(&lock);
    hm_warn("%s: the runtime has told this thread of a failure (%s); the last copies on stream %p were of %s", call,
            hm_device.ops->why(), stream, last);
}

/* Copies that are marked meanwhile are for the next look. */
static void settle(struct watch *w, uint64_t marked, enum state state)
{
    pthread_mutex_lock(&lock);
    if (w->marked == marked && state < w->state) set_state(w, state);
    pthread_mutex_unlock(&lock);
}

/* given: the program has just named that stream, so it exists; others are not looked at. */
static void look_at(struct watch *w, const void *named, bool given, bool by_worker, const char *call)
{
    pthread_mutex_lock(&lock);
    void *stream = w->stream, *behind = w->mark;
    uint64_t marked = w->marked;
    bool look = w->state == UNDER_WAY || (w->state == UNHEARD && !by_worker);
    pthread_mutex_unlock(&lock);
    if (!look || (given && stream != named)) return;
    int e = hm_device.ops->stream_ask(behind, given ? stream : NULL);
    if (e == -EAGAIN) return;
    if (e && e != -EALREADY) failed(stream, !given && __atomic_load_n(&under_way, __ATOMIC_RELAXED) > 1, call);
    if (e) told_already(stream, call);
    settle(w, marked, by_worker ? UNHEARD : SETTLED);
}

/* A thread that could use the device before cannot any more. */
static HM_NORETURN HM_COLD void locked_out(const char *call)
{
    const struct watch *w = watches;
    while (w < &watches[STREAMS - 1] && w->state == SETTLED) w++;
    failed(w->stream, hm_stream_copies_open > 1, call);
}

/* With a stream: at that one alone. */
static void look_at_all(const void *stream, bool given, bool by_worker, const char *call)
{
    if (hm_device.ops->enter()) locked_out(call);
    for (int i = 0; i < STREAMS; i++) look_at(&watches[i], stream, given, by_worker, call);
    hm_device.ops->leave();
}

void hm_stream_ask_copies(const char *call) { look_at_all(NULL, false, false, call); }
void hm_stream_ask_copies_of(void *stream, const char *call) { look_at_all(stream, true, false, call); }

bool hm_stream_watch_copies(uint64_t *looked)
{
    if (!__atomic_load_n(&under_way, __ATOMIC_RELAXED)) return false;
    uint64_t now = hm_os_now();
    if (now - *looked < LOOK_NS) return true;
    look_at_all(NULL, false, true, NULL);
    *looked = now;
    return true;
}

/* --- copies --- */

/* The copy of symmetric device memory on a PE of this machine, NULL: it is something else. */
static char *device_at(const void *addr, int pe)
{
    if (!hm_device_holds(addr, 1) || !hm_device.peer[pe]) return NULL;
    return hm_device.peer[pe] + hm_device_offset(addr);
}

static enum hm_side side_at(int pe) { return pe == hm_world.pe ? HM_SIDE_OWN : HM_SIDE_PEER; }

static int copy(void *to, enum hm_side to_side, const void *from, enum hm_side from_side, size_t bytes, int pe,
                void *stream, const char *call)
{
    if (!to || !from || to_side == HM_SIDE_HOST || from_side == HM_SIDE_HOST) return -ENOTSUP;
    if (!hm_device.ops->stream_copy) return -ENOTSUP;
    int e = hm_device.ops->enter();
    if (e) return hm_stream_refused(e, pe, call);
    e = hm_device.ops->stream_copy(stream, to, to_side, from, from_side, bytes);
    if (!e) note_copy(call, pe, stream);
    else if (e != -ENOTSUP) e = hm_stream_refused(e, pe, call);
    hm_device.ops->leave();
    return e;
}

int hm_stream_copy_to(void *dest, const void *source, size_t bytes, int pe, void *stream, const char *call)
{
    return copy(device_at(dest, pe), side_at(pe), source, hm_device_side(source), bytes, pe, stream, call);
}

int hm_stream_copy_from(void *dest, const void *source, size_t bytes, int pe, void *stream, const char *call)
{
    return copy(dest, hm_device_side(dest), device_at(source, pe), side_at(pe), bytes, pe, stream, call);
}

/* --- the end --- */

static void forget_all(void)
{
    (void)hm_device.ops->enter();
    for (int i = 0; i < STREAMS; i++) {
        set_state(&watches[i], SETTLED);
        if (watches[i].mark) hm_device.ops->mark_drop(watches[i].mark);
        watches[i] = (struct watch){0};
    }
    hm_device.ops->leave();
    copies = 0;
}

static int drain(const char *call)
{
    struct hm_wait w;
    hm_stream_wait_begin(&w, call);
    hm_wait_nap(&w, 0);
    int e = hm_device.ops->enter();
    if (!e) {
        e = hm_device.ops->stream_drain();
        hm_device.ops->leave();
    }
    hm_wait_end(&w);
    return e;
}

void hm_stream_await_copies(const char *call)
{
    if (!copies) return;
    int e = hm_device.ops->stream_drain ? drain(call) : 0;
    if (e && e != -ENOTSUP) failed(NULL, true, call);
    if (hm_stream_copies_open) hm_stream_ask_copies(call);
    forget_all();
}
