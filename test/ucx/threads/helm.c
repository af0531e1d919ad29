/* with: src/transport/ucx/helm.c src/transport/ucx/thread.c */
/* cflags: -Dpthread_mutex_trylock=late_trylock */
/* timeout: 100 */
/* The helm goes from the progress thread to waiting threads and back, over a UCX that is none: what comes is served by one
 * at a time, once, in order, and at last, whoever is off the core at whatever moment, is cancelled, or leaves for good. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "transport/ucx/ucx.h"

enum { PEERS = 3, WAITERS = 3, ITEMS = 700, ALONE = 5, QUEUE = 2 * PEERS, SPANS = 4 };

static int failures;
#define CHECK(cond)                                                       \
    do {                                                                  \
        if (cond) break;                                                  \
        __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);               \
        fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond); \
    } while (0)

static _Thread_local unsigned random_state;
static unsigned draw(unsigned n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % n;
}

/* Off the core now and then, for as long as it takes to lose the helm. */
#undef pthread_mutex_trylock
extern int pthread_mutex_trylock(pthread_mutex_t *lock);
int late_trylock(pthread_mutex_t *lock)
{
    if (!draw(400)) usleep(13000);
    return pthread_mutex_trylock(lock);
}

/* --- the worker: what comes for it, and a descriptor that becomes readable only if it was armed before --- */

struct item {
    int peer;
    uint32_t number;
};

static struct {
    pthread_mutex_t lock;
    struct item queue[QUEUE];
    unsigned count;
    bool armed;
    int fd;
} target = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint32_t served[PEERS]; /* the last number of each */
static uint32_t told[PEERS];   /* and that of which the host was told */
static uint32_t serving;       /* threads that are in there */
static uint32_t served_by_waits, served_by_thread;
static bool over; /* nobody may serve any more */
static _Thread_local bool waits;

static void arrive(int peer, uint32_t number)
{
    uint64_t one = 1;
    pthread_mutex_lock(&target.lock);
    CHECK(target.count < QUEUE);
    target.queue[target.count++] = (struct item){peer, number};
    if (target.armed && write(target.fd, &one, sizeof one) != sizeof one) CHECK(!"written");
    target.armed = false;
    pthread_mutex_unlock(&target.lock);
}

static bool receive(struct item *item)
{
    pthread_mutex_lock(&target.lock);
    bool any = target.count > 0;
    if (any) {
        *item = target.queue[0];
        memmove(target.queue, target.queue + 1, --target.count * sizeof *target.queue);
    }
    pthread_mutex_unlock(&target.lock);
    return any;
}

unsigned ucp_worker_progress(ucp_worker_h worker)
{
    struct item item;
    (void)worker;
    CHECK(__atomic_add_fetch(&serving, 1, __ATOMIC_SEQ_CST) == 1);
    CHECK(!__atomic_load_n(&over, __ATOMIC_SEQ_CST));
    pthread_testcancel(); /* as a read of a socket is */
    bool any = receive(&item);
    if (any && !draw(20)) sched_yield();
    if (any) {
        CHECK(served[item.peer] + 1 == item.number);
        __atomic_store_n(&served[item.peer], item.number, __ATOMIC_RELEASE);
        __atomic_fetch_add(waits ? &served_by_waits : &served_by_thread, 1, __ATOMIC_RELAXED);
    }
    __atomic_sub_fetch(&serving, 1, __ATOMIC_SEQ_CST);
    return any;
}

ucs_status_t ucp_worker_arm(ucp_worker_h worker)
{
    uint64_t n;
    (void)worker;
    pthread_mutex_lock(&target.lock);
    ucs_status_t status = target.count ? UCS_ERR_BUSY : UCS_OK;
    if (!target.count) {
        target.armed = true;
        if (read(target.fd, &n, sizeof n) < 0) n = 0; /* it was not readable */
    }
    pthread_mutex_unlock(&target.lock);
    return status;
}

/* There are no lanes. */
ucs_status_ptr_t ucp_worker_flush_nbx(ucp_worker_h worker, const ucp_request_param_t *param)
{
    (void)worker, (void)param;
    return NULL;
}
void ucp_request_free(void *request) { (void)request; }
bool hm_ucx_is_under_way(const struct hm_lane *lane) { return lane == NULL; }
void hm_ucx_drained(struct hm_lane *lane, uint64_t issued) { (void)lane, (void)issued; }

/* --- the host --- */

static pthread_mutex_t bell = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t rung = PTHREAD_COND_INITIALIZER;

static void moved(void)
{
    pthread_mutex_lock(&bell);
    for (int i = 0; i < PEERS; i++)
        __atomic_store_n(&told[i], __atomic_load_n(&served[i], __ATOMIC_RELAXED), __ATOMIC_RELEASE);
    pthread_cond_broadcast(&rung);
    pthread_mutex_unlock(&bell);
}
static uint64_t tick(void) { return 0; }
static const struct hm_transport_host host = {.moved = moved, .tick = tick};
struct hm_ucx hm_ucx;

/* --- those who send, and those who wait --- */

static uint32_t sent[PEERS];
static uint32_t items; /* that each peer is to send */
static bool done;

static bool is_told(int peer, uint32_t number) { return __atomic_load_n(&told[peer], __ATOMIC_ACQUIRE) >= number; }

/* As another PE does: the next goes when the last has changed what somebody here waits for. Long pauses put the progress
 * thread soundly to sleep. */
static void *play_peer(void *arg)
{
    int me = (int)(intptr_t)arg;
    random_state = 7u + (unsigned)me;
    for (uint32_t i = 0; i < items; i++) {
        if (!draw(4)) usleep(draw(200));
        if (!draw(ITEMS / 2)) usleep(150000);
        uint32_t number = sent[me] + 1;
        __atomic_store_n(&sent[me], number, __ATOMIC_RELEASE);
        arrive(me, number);
        while (!is_told(me, number)) draw(3) ? sched_yield() : usleep(20);
    }
    return NULL;
}

static void unlock_bell(void *arg) { pthread_mutex_unlock(arg); }

/* Asleep until that has come. */
static void sleep_for(int peer, uint32_t number)
{
    pthread_mutex_lock(&bell);
    pthread_cleanup_push(unlock_bell, &bell);
    while (!is_told(peer, number) && !__atomic_load_n(&done, __ATOMIC_ACQUIRE)) pthread_cond_wait(&rung, &bell);
    pthread_cleanup_pop(1);
}

/* Waits for what the peer sends next: looks, serves meanwhile if it can, and then sleeps. */
static void wait_once(int peer)
{
    uint32_t number = __atomic_load_n(&sent[peer], __ATOMIC_ACQUIRE) + 1, mine = 0;
    for (unsigned looks = draw(60); looks && !is_told(peer, number); looks--) {
        if (!mine) mine = hm_ucx_helm.take();
        if (mine && hm_ucx_helm.serve(mine) == HM_SERVED_BY_OTHERS) mine = 0;
        if (draw(2)) sched_yield();
        if (!draw(1000)) usleep(13000); /* in a signal handler; or it is cancelled there */
    }
    if (mine) hm_ucx_helm.give(mine);
    sleep_for(peer, number);
}

static void *play_waiter(void *arg)
{
    random_state = 1000u + (unsigned)(intptr_t)arg;
    waits = true;
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
        wait_once((int)draw(PEERS));
        if (!draw(8)) usleep(draw(300)); /* it computes */
    }
    return NULL;
}

static pthread_t waiter[WAITERS], canceller;

/* Waiters are cancelled, at their next cancellation point, and others take their places. */
static void *play_canceller(void *arg)
{
    random_state = 99;
    for (unsigned i = 0; !__atomic_load_n(&done, __ATOMIC_ACQUIRE); i++) {
        pthread_t *t = &waiter[i % WAITERS];
        usleep(2000 + draw(8000));
        pthread_cancel(*t);
        pthread_join(*t, NULL);
        pthread_create(t, NULL, play_waiter, (void *)(intptr_t)(i + WAITERS));
    }
    return arg;
}

static void start_waiters(void)
{
    __atomic_store_n(&done, false, __ATOMIC_RELEASE);
    for (intptr_t i = 0; i < WAITERS; i++) pthread_create(&waiter[i], NULL, play_waiter, (void *)i);
    pthread_create(&canceller, NULL, play_canceller, NULL);
}

static void stop_waiters(void)
{
    __atomic_store_n(&done, true, __ATOMIC_RELEASE);
    pthread_join(canceller, NULL);
    moved();
    for (int i = 0; i < WAITERS; i++) pthread_join(waiter[i], NULL);
}

static void run_peers(uint32_t n)
{
    pthread_t peer[PEERS];
    items = n;
    for (intptr_t i = 0; i < PEERS; i++) pthread_create(&peer[i], NULL, play_peer, (void *)i);
    for (int i = 0; i < PEERS; i++) pthread_join(peer[i], NULL);
}

/* All that waited have gone, and the progress thread sleeps soundly. */
static void run_alone(void)
{
    stop_waiters();
    usleep(200000);
    run_peers(ALONE);
    hm_ucx_thread_halt();
}

/* The process ends while others are still waiting. */
static void leave_them(void)
{
    hm_ucx_thread_halt();
    __atomic_store_n(&over, true, __ATOMIC_SEQ_CST);
    usleep(30000);
    stop_waiters();
    __atomic_store_n(&over, false, __ATOMIC_SEQ_CST);
}

static void play(bool leave)
{
    CHECK(hm_ucx_thread_start() == 0);
    start_waiters();
    run_peers(ITEMS);
    if (leave)
        leave_them();
    else
        run_alone();
}

int main(void)
{
    target.fd = eventfd(0, EFD_NONBLOCK);
    hm_ucx.host = &host;
    hm_ucx.target_fd = target.fd;
    alarm(90); /* what is lost hangs */
    for (int i = 0; i < SPANS; i++) play(i % 2);
    printf("%u were served by waits, %u by the thread\n", served_by_waits, served_by_thread);
    CHECK(served_by_waits > 0 && served_by_thread > 0);
    CHECK(served_by_waits + served_by_thread == PEERS * (SPANS * ITEMS + SPANS / 2 * ALONE));
    return failures != 0;
}
