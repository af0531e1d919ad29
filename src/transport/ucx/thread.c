/* The progress thread: what others do to this PE's memory, and what this PE has left under way.
 *
 * It sleeps in the kernel until the target worker has something to do. Lanes are their callers' business;
 * but a caller may go and compute with something under way. So while any lane has, the thread looks every
 * TICK_MS, and a lane that nobody was in since the last look it helps: it wakes for its events, too, and
 * flushes it, so that it learns when all is done. When nothing was under way for a while it sleeps
 * soundly, until the next caller who begins something kicks it. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "transport/ucx/ucx.h"

enum { TICK_MS = 5, CALM_TICKS = 20 };

static struct {
    pthread_t id;
    pthread_mutex_t lock; /* of the list of lanes; held while one is helped */
    struct hm_lane *lanes;
    int epoll, kick;
    uint32_t sound; /* 1: asleep until an event, so that who begins something must kick */
    bool running, stop;
} thread = {.lock = PTHREAD_MUTEX_INITIALIZER, .epoll = -1, .kick = -1};

static void kick(void)
{
    uint64_t one = 1;
    ssize_t n = write(thread.kick, &one, sizeof one);
    (void)n; /* full: it has been kicked often enough */
}

void hm_ucx_thread_kick(void)
{
    if (__atomic_load_n(&thread.sound, __ATOMIC_SEQ_CST) &&
        __atomic_exchange_n(&thread.sound, 0, __ATOMIC_SEQ_CST))
        kick();
}

/* --- helping lanes --- */

static void watch(struct hm_lane *lane, bool on)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = lane};
    if (lane->watched == on) return;
    if (epoll_ctl(thread.epoll, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, lane->fd, &e) == 0) lane->watched = on;
}

/* By whoever progresses the lane then. */
static void flushed(void *request, ucs_status_t status, void *arg)
{
    struct hm_lane *lane = arg;
    if (status == UCS_OK) hm_ucx_drained(lane, lane->flushing);
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
    if (!request) hm_ucx_drained(lane, lane->flushing);
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

/* A lane is helped from the second look on that finds it as the first has left it. */
static bool look_at(struct hm_lane *lane, bool tick)
{
    uint64_t issued = __atomic_load_n(&lane->issued, __ATOMIC_SEQ_CST);
    if (!hm_ucx_is_under_way(lane) || __atomic_load_n(&lane->inside, __ATOMIC_SEQ_CST) ||
        issued != lane->seen) {
        watch(lane, false);
        lane->helped = false;
        if (tick) lane->seen = issued;
        return true;
    }
    if (tick) lane->helped = true;
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

/* What has come for this PE, all of it; then who waits for its memory is woken. */
static bool serve(void)
{
    unsigned n = 0, more;
    while ((more = ucp_worker_progress(hm_ucx.target)) != 0) {
        n += more;
        if (n < 64) continue;
        hm_ucx.host->moved(); /* more comes all the time */
        n = 0;
    }
    if (n) hm_ucx.host->moved();
    return ucp_worker_arm(hm_ucx.target) == UCS_OK;
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

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* How long it may sleep: -1 soundly, once nothing has been under way for some ticks. */
static int time_to_sleep(int calm_ticks)
{
    bool under_way;
    if (calm_ticks < CALM_TICKS) return TICK_MS;
    __atomic_store_n(&thread.sound, 1, __ATOMIC_SEQ_CST);
    look_at_lanes(false, &under_way); /* who began something before could not know that he must kick */
    return under_way ? TICK_MS : -1;
}

static void sleep_until_event(int ms)
{
    struct epoll_event events[16];
    int n = epoll_wait(thread.epoll, events, (int)HM_COUNT(events), ms);
    __atomic_store_n(&thread.sound, 0, __ATOMIC_SEQ_CST);
    for (int i = 0; i < n; i++)
        if (events[i].data.ptr == &thread) drain_kicks();
}

static void *run(void *arg)
{
    int calm_ticks = 0;
    int64_t last_tick = 0;
    (void)arg;
    while (!is_stopped()) {
        bool under_way, tick = now_ms() - last_tick >= TICK_MS;
        if (tick) last_tick = now_ms();
        bool ready = serve();
        ready &= look_at_lanes(tick, &under_way);
        calm_ticks = under_way ? 0 : calm_ticks + tick;
        sleep_until_event(ready ? time_to_sleep(calm_ticks) : 0);
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
