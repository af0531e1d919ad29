#include "core/share.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os.h"

enum {
    COMMON_YIELD_NS = 500,    /* nobody else has run, to begin with; ... */
    LEAST_YIELD_NS = 250,     /* ... no yield is taken for shorter, whatever the clock says */
    CALLS = 5,                /* of the system, to see what they cost */
    MOVE_NS = 1000000,        /* after so much time for others it sleeps, after as much again it moves; ... */
    MOVE_MAX_NS = 256000000,  /* ... then after twice as much each time, up to this: perhaps no core is idle */
};

/* The time of a yield that nobody else has run in: the least that was seen. Where somebody has, there were two yields, his and
 * ours, and two switches. */
static uint64_t least_ns = COMMON_YIELD_NS;
static bool shared;
static uint64_t given, move_at = MOVE_NS; /* time for others since the core has been shared; how much is too much */
static bool slept;                        /* to no avail */

/* Under an emulator, a tracer or a slow clock everything takes long: then a yield must take longer still to tell anything. */
void hm_share_start(void)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < CALLS; i++) {
        uint64_t began = hm_os_now();
        syscall(SYS_getppid);
        uint64_t took = hm_os_now() - began;
        if (took < least) least = took;
    }
    least_ns = 2 * least > COMMON_YIELD_NS ? 2 * least : COMMON_YIELD_NS;
}

bool hm_share_any(void) { return __atomic_load_n(&shared, __ATOMIC_RELAXED); }

static void give(uint64_t ns)
{
    __atomic_store_n(&given, __atomic_load_n(&given, __ATOMIC_RELAXED) + ns, __ATOMIC_RELAXED);
}

static void note(bool any)
{
    __atomic_store_n(&shared, any, __ATOMIC_RELAXED);
    if (any) return;
    __atomic_store_n(&given, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&move_at, MOVE_NS, __ATOMIC_RELAXED);
    __atomic_store_n(&slept, false, __ATOMIC_RELAXED);
}

bool hm_share_tell(uint64_t took)
{
    uint64_t least = __atomic_load_n(&least_ns, __ATOMIC_RELAXED);
    bool any = took > 2 * least;
    if (took < least) __atomic_store_n(&least_ns, took > LEAST_YIELD_NS ? took : LEAST_YIELD_NS, __ATOMIC_RELAXED);
    if (any != hm_share_any()) note(any);
    if (any) give(took);
    return any;
}

bool hm_share_yield(void)
{
    uint64_t began = hm_os_now();
    sched_yield();
    return hm_share_tell(hm_os_now() - began);
}

/* The kernel knows best which core is idle, if it looks: where all were busy a moment ago, as with waits that spin, it does not,
 * and puts who is woken where it was. When fewer want to run than there are cores, one is idle; unless there are many more, it
 * is the one that this thread is sent to. */
static void move(int cores)
{
    int running = hm_os_running();
    if (running > 0 && running <= cores) hm_os_leave_core();
}

bool hm_share_sleeps(int cores, int pe)
{
    uint64_t at = __atomic_load_n(&move_at, __ATOMIC_RELAXED), ns = __atomic_load_n(&given, __ATOMIC_RELAXED);
    if (hm_likely(ns < at + at / 8 * (unsigned)(pe % 8))) return false; /* not all that share it at the same time */
    __atomic_store_n(&given, 0, __ATOMIC_RELAXED);
    bool again = __atomic_load_n(&slept, __ATOMIC_RELAXED);
    __atomic_store_n(&slept, !again, __ATOMIC_RELAXED);
    if (!again) return true;
    __atomic_store_n(&move_at, at < MOVE_MAX_NS ? at * 2 : at, __ATOMIC_RELAXED);
    move(cores);
    return false;
}
