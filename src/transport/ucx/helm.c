/* The helm: who serves what comes for this PE, the target worker.
 *
 * It is the progress thread's, which sleeps in the kernel until something comes. But then all that comes costs a switch to
 * it, and where a thread of the PE waits for just that, another one back. So who waits may take the helm, and looks himself
 * again and again. The thread stays asleep meanwhile, as its epoll does not tell it of the target worker; when the helm is
 * given back it does again, and nobody needs to be woken for that. One who has the helm and does not look, as he computes in
 * a signal handler or is off the core, loses it at the thread's second tick.
 *
 * Whoever serves holds the lock, so what comes is served by one at a time. It is never waited for: one who dies while he
 * serves ends the process with it, and waits for the progress thread then. Nothing is taken from one who is just serving: a
 * signal handler that comes upon him there and computes holds all up. Nor is he cancelled there, as UCX has cancellation
 * points and a wait has none. */
#include <sched.h>
#include <unistd.h>

#include "transport/ucx/ucx.h"

enum { ARM_TRIES = 8, CLOSE_TRIES = 10 };

static struct {
    pthread_mutex_t lock;
    uint32_t who;         /* whose it is, 0: the progress thread's; changes under the lock */
    uint32_t last;        /* the number that was given last */
    uint32_t looks, seen; /* by one who waits, and those of them that the thread knows of */
    int cancel;           /* what the holder of the lock has to restore */
    bool closed;          /* nobody serves any more */
} helm = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool try_lock(void)
{
    int cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    if (pthread_mutex_trylock(&helm.lock) == 0) {
        helm.cancel = cancel;
        return true;
    }
    pthread_setcancelstate(cancel, NULL);
    return false;
}

static void unlock(void)
{
    int cancel = helm.cancel;
    pthread_mutex_unlock(&helm.lock);
    pthread_setcancelstate(cancel, NULL);
}

static uint32_t who(void) { return __atomic_load_n(&helm.who, __ATOMIC_SEQ_CST); }

static bool is_of(uint32_t number) { return who() == number && !__atomic_load_n(&helm.closed, __ATOMIC_SEQ_CST); }

/* False, and not locked, when it is somebody else's: it may have changed hands before the lock was had. */
static bool lock_as(uint32_t number)
{
    while (is_of(number)) {
        if (!try_lock()) {
            sched_yield();
            continue;
        }
        if (is_of(number)) return true;
        unlock();
    }
    return false;
}

bool hm_ucx_helm_is_taken(void) { return who() != 0; }

void hm_ucx_helm_open(void)
{
    helm.who = 0;
    __atomic_store_n(&helm.closed, false, __ATOMIC_SEQ_CST);
}

/* Who is just serving is waited for, but not long: it may be the caller himself, farther up. */
void hm_ucx_helm_close(void)
{
    __atomic_store_n(&helm.closed, true, __ATOMIC_SEQ_CST);
    for (int i = 0; i < CLOSE_TRIES; i++) {
        if (try_lock()) {
            unlock();
            return;
        }
        usleep(1000);
    }
}

static void take_locked(void)
{
    if (!++helm.last) helm.last = 1;
    hm_ucx_thread_hear_target(false);
    __atomic_store_n(&helm.who, helm.last, __ATOMIC_SEQ_CST);
}

/* The target worker is armed, unless more comes all the time. */
static void give_locked(void)
{
    __atomic_store_n(&helm.who, 0, __ATOMIC_SEQ_CST);
    hm_ucx_thread_hear_target(true);
}

static uint32_t take(void)
{
    uint32_t mine = 0;
    if (!is_of(0) || !try_lock()) return 0;
    if (is_of(0)) {
        take_locked();
        mine = who();
        hm_ucx_thread_mind();
    }
    unlock();
    return mine;
}

static bool progress(void)
{
    if (!ucp_worker_progress(hm_ucx.target)) return false;
    hm_ucx.host->moved();
    return true;
}

static enum hm_served serve(uint32_t mine)
{
    if (!try_lock()) return is_of(mine) ? HM_SERVED_NOTHING : HM_SERVED_BY_OTHERS;
    enum hm_served served = HM_SERVED_BY_OTHERS;
    if (is_of(mine)) {
        __atomic_fetch_add(&helm.looks, 1, __ATOMIC_RELAXED);
        served = progress() ? HM_SERVED : HM_SERVED_NOTHING;
    }
    unlock();
    return served;
}

static bool arm(void)
{
    for (int i = 0; i < ARM_TRIES; i++) {
        if (ucp_worker_arm(hm_ucx.target) == UCS_OK) return true;
        progress();
    }
    return false;
}

static void give(uint32_t mine)
{
    if (!lock_as(mine)) return;
    bool armed = arm();
    give_locked();
    if (!armed) hm_ucx_thread_rouse();
    unlock();
}

const struct hm_helm hm_ucx_helm = {.take = take, .serve = serve, .give = give};

/* --- the progress thread's side --- */

void hm_ucx_helm_tick(void)
{
    uint32_t looks = __atomic_load_n(&helm.looks, __ATOMIC_RELAXED);
    if (who() && looks == helm.seen && try_lock()) {
        if (who()) give_locked();
        unlock();
    }
    helm.seen = looks;
}

bool hm_ucx_helm_hold(void) { return lock_as(0); }

void hm_ucx_helm_release(void) { unlock(); }
