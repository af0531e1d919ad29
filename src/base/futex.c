#define _GNU_SOURCE
#include "base/futex.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Where futex(2) is denied (a sandbox), a sleep is a short nap: slower, never wrong. */
static int nap(uint64_t ns)
{
    struct timespec t = {0, 1000000};
    if (ns && ns < 1000000) t.tv_nsec = (long)ns;
    nanosleep(&t, NULL);
    return -ETIMEDOUT;
}

int hm_futex_wait_some(uint32_t *word, uint32_t value, uint64_t ns, uint32_t mask)
{
    struct timespec end, *limit = NULL;
    if (ns) { /* FUTEX_WAIT_BITSET takes an absolute time */
        clock_gettime(CLOCK_MONOTONIC, &end);
        ns += (uint64_t)end.tv_nsec;
        end.tv_sec += (time_t)(ns / 1000000000u);
        end.tv_nsec = (long)(ns % 1000000000u);
        limit = &end;
    }
    if (syscall(SYS_futex, word, FUTEX_WAIT_BITSET, value, limit, NULL, mask) == 0) return 0;
    return errno == EPERM || errno == ENOSYS || errno == EACCES ? nap(ns) : -errno;
}

int hm_futex_wait(uint32_t *word, uint32_t value, uint64_t ns)
{
    struct timespec span = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    if (syscall(SYS_futex, word, FUTEX_WAIT, value, ns ? &span : NULL, NULL, 0) == 0) return 0;
    return errno == EPERM || errno == ENOSYS || errno == EACCES ? nap(ns) : -errno;
}

int hm_futex_wake(uint32_t *word, int count)
{
    long woken = syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
    return woken > 0 ? (int)woken : 0;
}

int hm_futex_wake_some(uint32_t *word, uint32_t mask)
{
    long woken = syscall(SYS_futex, word, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, mask);
    return woken > 0 ? (int)woken : 0;
}
