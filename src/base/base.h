/* What every floor may use: compiler hints and small arithmetic. */
#ifndef HM_BASE_H
#define HM_BASE_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define hm_likely(x) __builtin_expect(!!(x), 1)
#define hm_unlikely(x) __builtin_expect(!!(x), 0)

/* Off the good path: kept out of line, so that the good path stays short. */
#define HM_COLD __attribute__((cold, noinline))
#define HM_INLINE static inline __attribute__((always_inline))
#define HM_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define HM_NORETURN __attribute__((noreturn))
#define HM_LINE 64 /* bytes of a cache line */
#define HM_ALIGNED(n) __attribute__((aligned(n)))

#define HM_COUNT(a) (sizeof(a) / sizeof((a)[0]))

static inline size_t hm_round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }
static inline size_t hm_round_down(size_t n, size_t unit) { return n / unit * unit; }

/* A pause in a spin loop. */
static inline void hm_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield" ::: "memory");
#else
    __asm__ volatile("" ::: "memory");
#endif
}

#endif
