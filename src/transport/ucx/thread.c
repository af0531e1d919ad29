/* The progress thread: what others do to this PE's memory, what they tell it, and what this PE has left under way.
 *
 * It sleeps in the kernel until the target worker has something to do. Lanes are their callers' business;
 * but a caller may go and compute with something under way. So while any lane has, the thread looks every
 * TICK, and a lane that nobody was in since the last look it helps: it wakes for its events, too, and
 * flushes it, so that it learns when all is done. When nothing was under way for a while it sleeps
 * soundly, until the next caller who begins something kicks it.
 *
 * A lane whose messages have not all left is helped without delay, whoever sent them; and the floor above may ask to
 * be called at a time (wake_at). Whoever has such a wish writes it down and then looks how long the thread sleeps; the
 * thread writes down how long it is going to sleep and then looks for wishes. So one sees the other. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "transport/ucx/ucx.h"

#define TICK ((uint64_t)5000000) /* ns */
#define EVER UINT64_MAX
enum { CALM_TICKS = 20 };

static struct {
    pthread_t id;
    pthread_mutex_t lock; /* of the list of lanes; held while one is helped */
    struct hm_lane *lanes;
    int epoll, kick;
    uint64_t until; /* it sleeps until then (ns), 0: it is awake, EVER: soundly */
    uint64_t due;   /* when host->tick is to be called; 0: not at all */
    uint32_t sends; /* how often a lane was left with a message to help away */
    bool running, stop;
} thread = {.lock = PTHREAD_MUTEX_INITIALIZER, .epoll = -1, .kick = -1};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void kick(void)
{
    uint64_t one = 1;
    ssize_t n = write(thread.kick, &one, sizeof one);
    (void)n; /* full: it has been kicked often enough */
}

/* Wakes it if it would sleep beyond that time. */
static void rouse(uint64_t ns)
{
    uint64_t until = __atomic_load_n(&thread.until, __ATOMIC_SEQ_CST);
    if (until > ns && __atomic_exchange_n(&thread.until, 0, __ATOMIC_SEQ_CST)) kick();
}

void hm_ucx_thread_kick(void) { rouse(EVER - 1); }

void hm_ucx_thread_rouse(void) { kick(); }

void hm_ucx_thread_send(void)
{
    __atomic_fetch_add(&thread.sends, 1, __ATOMIC_SEQ_CST);
    rouse(0);
}

static void ask_for(uint64_t ns)
{
    uint64_t due = __atomic_load_n(&thread.due, __ATOMIC_SEQ_CST);
    while ((!due || ns < due) && !__atomic_compare_exchange_n(&thread.due, &due, ns, false, __ATOMIC_SEQ_CST,
                                                              __ATOMIC_SEQ_CST))
        continue;
}

void hm_ucx_thread_wake_at(uint64_t ns)
{
    ask_for(ns ? ns : 1);
    rouse(ns);
}

/* A tick later than it should is soon enough, so that who waits and waits again kicks it but once. */
void hm_ucx_thread_mind(void) { rouse(now_ns() + 2 * TICK); }

/* The descriptor stays in the epoll: only what is heard of it changes. */
void hm_ucx_thread_hear_target(bool on)
{
    struct epoll_event e = {.events = on ? EPOLLIN : 0, .data.ptr = &hm_ucx};
    epoll_ctl(thread.epoll, EPOLL_CTL_MOD, hm_ucx.target_fd, &e);
}

/* --- helping lanes --- */

static void watch(struct hm_lane *lane, bool on)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = lane};
    if (lane->watched == on) return;
    if (epoll_ctl(thread.epoll, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, lane->fd, &e) == 0) lane->watched = on;
}

/* What UCX knows of is done; gets of our own (stream.c) may not be. */
static void note_flushed(struct hm_lane *lane)
{
    if (__atomic_load_n(&lane->unfinished, __ATOMIC_ACQUIRE) == 0) hm_ucx_drained(lane, lane->flushing);
}

/* By whoever progresses the lane then. */
static void flushed(void *request, ucs_status_t status, void *arg)
{
    struct hm_lane *lane = arg;
    if (status == UCS_OK) note_flushed(lane);
    __atomic_store_n(&lane->flushes, 0, __ATOMIC_RELEASE);
    ucp_request_free(request);
}

/* One flush at a time; what it covers is noted before. */
static void flush(struct hm_lane *lane)
{
    if (__atomic_load_n(&lane->flushes, __ATOMIC_ACQUIRE)) return;
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                 .cb.send = flushed,
                                 .user_data = lane};
    lane->flushing = __atomic_load_n(&lane->issued, __ATOMIC_SEQ_CST);
    __atomic_store_n(&lane->flushes, 1, __ATOMIC_RELEASE);
    ucs_status_ptr_t request = ucp_worker_flush_nbx(lane->worker, &param);
    if (UCS_PTR_IS_PTR(request)) return;
    if (!request) note_flushed(lane);
    __atomic_store_n(&lane->flushes, 0, __ATOMIC_RELEASE); /* an error comes to the endpoint, too */
}

/* Progresses it until there is nothing to do now; false when it must be looked at again at once. */
static bool help(struct hm_lane *lane)
{
    flush(lane);
    while (ucp_worker_progress(lane->worker))
        continue;
    watch(lane, hm_ucx_is_under_way(lane));
    return !lane->watched || ucp_worker_arm(lane->worker) == UCS_OK;
}

/* Messages that UCX has taken may still lie in its buffers: it is watched until the next flush. */
static bool help_speech(struct hm_lane *lane)
{
    while (ucp_worker_progress(lane->worker))
        continue;
    watch(lane, true);
    return !lane->watched || ucp_worker_arm(lane->worker) == UCS_OK;
}

/* Who is just sending is left alone: he holds what the thread would spin for, perhaps off the core, and calls when
 * something is left to do. */
static bool has_speech(const struct hm_lane *lane)
{
    if (__atomic_load_n(&lane->speaking, __ATOMIC_SEQ_CST)) return false;
    if (__atomic_load_n(&lane->sending, __ATOMIC_SEQ_CST)) return true;
    return __atomic_load_n(&lane->spoken, __ATOMIC_ACQUIRE) > __atomic_load_n(&lane->drained, __ATOMIC_SEQ_CST) &&
           !__atomic_load_n(&lane->inside, __ATOMIC_SEQ_CST);
}

/* A lane is helped from the second look on that finds it as the first has left it. */
static bool look_at(struct hm_lane *lane, bool tick)
{
    uint64_t issued = __atomic_load_n(&lane->issued, __ATOMIC_SEQ_CST);
    if (!hm_ucx_is_under_way(lane) || __atomic_load_n(&lane->inside, __ATOMIC_SEQ_CST) ||
        issued != lane->seen) {
        lane->helped = false;
        if (tick) lane->seen = issued;
        if (has_speech(lane)) return help_speech(lane);
        watch(lane, false);
        return true;
    }
    if (tick) lane->helped = true;
    if (!lane->helped && has_speech(lane)) return help_speech(lane);
    return !lane->helped || help(lane);
}

/* False when there is more to do at once; *under_way: some lane has something. */
static bool look_at_lanes(bool tick, bool *under_way)
{
    bool calm = true;
    *under_way = false;
    pthread_mutex_lock(&thread.lock);
    for (struct hm_lane *lane = thread.lanes; lane; lane = lane->next) {
        calm &= look_at(lane, tick);
        *under_way |= hm_ucx_is_under_way(lane);
    }
    pthread_mutex_unlock(&thread.lock);
    return calm;
}

/* --- the thread --- */

static void tick_when_due(void)
{
    uint64_t due = __atomic_load_n(&thread.due, __ATOMIC_SEQ_CST);
    if (!due || now_ns() < due) return;
    __atomic_store_n(&thread.due, 0, __ATOMIC_SEQ_CST);
    uint64_t next = hm_ucx.host->tick();
    if (next) ask_for(next);
}

/* What has come for this PE, all of it; then who waits for its memory is woken. */
static bool serve_here(void)
{
    unsigned n = 0, more;
    while ((more = ucp_worker_progress(hm_ucx.target)) != 0) {
        n += more;
        if (n < 64) continue;
        hm_ucx.host->moved(); /* more comes all the time */
        tick_when_due();
        n = 0;
    }
    if (n) hm_ucx.host->moved();
    return ucp_worker_arm(hm_ucx.target) == UCS_OK;
}

/* Whoever has the helm arms the worker when he gives it back. */
static bool serve(void)
{
    if (!hm_ucx_helm_hold()) return true;
    bool calm = serve_here();
    hm_ucx_helm_release();
    return calm;
}

static bool is_stopped(void)
{
    return __atomic_load_n(&thread.stop, __ATOMIC_ACQUIRE);
}

static void drain_kicks(void)
{
    uint64_t n;
    ssize_t got = read(thread.kick, &n, sizeof n);
    (void)got;
}

/* The kernel knows to wait for less than milliseconds from 5.11 on. */
static int wait_events(struct epoll_event *events, int most, uint64_t until)
{
    uint64_t now = now_ns(), ns = until > now ? until - now : 0;
    struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    if (until == EVER) return epoll_wait(thread.epoll, events, most, -1);
    if (!ns) return epoll_wait(thread.epoll, events, most, 0);
#ifdef SYS_epoll_pwait2
    int n = (int)syscall(SYS_epoll_pwait2, thread.epoll, events, most, &t, NULL, (size_t)0);
    if (n >= 0 || errno != ENOSYS) return n;
#endif
    return epoll_wait(thread.epoll, events, most, (int)((ns + 999999) / 1000000));
}

static void sleep_until_event(uint64_t until)
{
    struct epoll_event events[16];
    int n = wait_events(events, (int)HM_COUNT(events), until);
    __atomic_store_n(&thread.until, 0, __ATOMIC_SEQ_CST);
    for (int i = 0; i < n; i++)
        if (events[i].data.ptr == &thread) drain_kicks();
}

/* Until the next look at the lanes, or soundly once nothing has been under way for some of them; but not beyond what
 * was asked for. What was begun before `until` was written is seen here: nobody has kicked for that. */
static uint64_t fall_asleep(int calm_ticks, uint64_t next_tick, uint32_t sends)
{
    bool under_way;
    uint64_t until = calm_ticks < CALM_TICKS ? next_tick : EVER;
    __atomic_store_n(&thread.until, until, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&thread.sends, __ATOMIC_SEQ_CST) != sends) return 0;
    if (until == EVER) {
        look_at_lanes(false, &under_way);
        if (under_way || hm_ucx_helm_is_taken()) until = next_tick;
    }
    uint64_t due = __atomic_load_n(&thread.due, __ATOMIC_SEQ_CST);
    return due && due < until ? due : until;
}

static void *run(void *arg)
{
    int calm_ticks = 0;
    uint64_t last_tick = 0;
    (void)arg;
    prctl(PR_SET_NAME, "hbmesh-ucx");
    prctl(PR_SET_TIMERSLACK, 1000UL); /* ns: by default a sleep is 50 us longer than asked for */
    while (!is_stopped()) {
        bool under_way;
        uint64_t now = now_ns();
        bool tick = now - last_tick >= TICK;
        if (tick) {
            last_tick = now;
            hm_ucx_helm_tick();
        }
        uint32_t sends = __atomic_load_n(&thread.sends, __ATOMIC_SEQ_CST);
        bool ready = serve();
        tick_when_due();
        ready &= look_at_lanes(tick, &under_way);
        calm_ticks = under_way || hm_ucx_helm_is_taken() ? 0 : calm_ticks + tick;
        sleep_until_event(ready ? fall_asleep(calm_ticks, last_tick + TICK, sends) : 0);
    }
    return NULL;
}

static int watch_for_ever(int fd, void *what)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = what};
    return epoll_ctl(thread.epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

static void close_descriptors(void)
{
    if (thread.epoll >= 0) close(thread.epoll);
    if (thread.kick >= 0) close(thread.kick);
    thread.epoll = thread.kick = -1;
}

int hm_ucx_thread_start(void)
{
    thread.stop = false;
    thread.until = thread.due = 0;
    hm_ucx_helm_open();
    thread.epoll = epoll_create1(EPOLL_CLOEXEC);
    thread.kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int e = thread.epoll < 0 || thread.kick < 0 ? -errno : 0;
    if (!e) e = watch_for_ever(thread.kick, &thread);
    if (!e) e = watch_for_ever(hm_ucx.target_fd, &hm_ucx);
    if (!e) e = -pthread_create(&thread.id, NULL, run, NULL);
    if (e)
        close_descriptors();
    else
        thread.running = true;
    return e;
}

void hm_ucx_thread_halt(void)
{
    if (!__atomic_exchange_n(&thread.running, false, __ATOMIC_ACQ_REL)) return;
    hm_ucx_helm_close();
    if (pthread_equal(thread.id, pthread_self())) return;
    __atomic_store_n(&thread.stop, true, __ATOMIC_RELEASE);
    kick();
    pthread_join(thread.id, NULL);
    close_descriptors();
}

void hm_ucx_thread_add(struct hm_lane *lane)
{
    pthread_mutex_lock(&thread.lock);
    lane->next = thread.lanes;
    thread.lanes = lane;
    pthread_mutex_unlock(&thread.lock);
}

void hm_ucx_thread_forget(void)
{
    thread.lanes = NULL;
}
