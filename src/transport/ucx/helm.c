/* The helm: who serves what comes for this PE, the target worker.
 *
 * It is the progress thread's, which sleeps in the kernel until something comes. But then all that comes costs a switch to
 * it, and where a thread of the PE waits for just that, another one back. So who waits may take the helm, and looks himself
 * again and again. The thread stays asleep meanwhile, as its epoll does not tell it of the target worker; when the helm is
 * given back it does again, and nobody needs to be woken for that. One who has the helm and does not look, as he computes in
 * a signal handler or is off the core, loses it at the thread's second tick.
 *
 * Whoever serves holds the lock, so what comes is served by one at a time. It is never waited for: one who dies while he
 * serves ends the process with it, and waits for the progress thread then. */
#include <errno.h>
#include <sched.h>

#include "transport/ucx/ucx.h"

enum { ARM_TRIES = 8 };

static struct {
    pthread_mutex_t lock;
    uint32_t who;         /* whose it is, 0: the progress thread's; changes under the lock */
    uint32_t last;        /* the number that was given last */
    uint32_t looks, seen; /* by one who waits, and those of them that the thread knows of */
} helm = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool try_lock(void) { return pthread_mutex_trylock(&helm.lock) == 0; }
static void unlock(void) { pthread_mutex_unlock(&helm.lock); }

static uint32_t who(void) { return __atomic_load_n(&helm.who, __ATOMIC_SEQ_CST); }

bool hm_ucx_helm_is_taken(void) { return who() != 0; }

void hm_ucx_helm_reset(void) { helm.who = 0; }

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
    if (who() || !try_lock()) return 0;
    if (!who()) {
        take_locked();
        mine = who();
    }
    unlock();
    if (mine) hm_ucx_thread_mind();
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
    if (!try_lock()) return who() == mine ? HM_SERVED_NOTHING : HM_SERVED_BY_OTHERS;
    enum hm_served served = HM_SERVED_BY_OTHERS;
    if (who() == mine) {
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
    bool armed = true;
    while (who() == mine && !try_lock()) sched_yield();
    if (who() != mine) return;
    armed = arm();
    give_locked();
    unlock();
    if (!armed) hm_ucx_thread_rouse();
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

bool hm_ucx_helm_hold(void)
{
    while (!who()) {
        if (!try_lock()) {
            sched_yield();
            continue;
        }
        if (!who()) return true;
        unlock();
    }
    return false;
}

void hm_ucx_helm_release(void) { unlock(); }
