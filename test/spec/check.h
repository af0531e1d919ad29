/* What the API tests share: checks that name file and line, PE, what was expected and what was seen; values
 * that differ for every PE, element and round; a small random number generator.
 *
 *     int main(void) { check_start(); ... return check_end(); }
 *
 * A check that fails is counted and the test goes on, so that the PEs stay together. */
#ifndef CHECK_H
#define CHECK_H

#include <shmem.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How often; less often with -DCHECK_SLOW=20, for machines that are emulated. */
#ifndef CHECK_SLOW
#define CHECK_SLOW 1
#endif
#define TIMES(n) ((n) > CHECK_SLOW ? (n) / CHECK_SLOW : 1)

static int me, npes, left, right; /* this PE, how many, its neighbours in a ring */
static int check_failures;

__attribute__((format(printf, 4, 5), unused)) static void
check_failed(const char *file, int line, const char *cond, const char *format, ...)
{
    char text[256];
    va_list args;
    if (++check_failures > 10) return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    printf("%s:%d: PE %d of %d: %s: %s\n", file, line, me, npes, cond, text);
}

/* CHECK(condition, "what was seen, and anything that helps", ...) */
#define CHECK(cond, ...)                                                                \
    do {                                                                                \
        if (!(cond)) check_failed(__FILE__, __LINE__, "not true: " #cond, __VA_ARGS__); \
    } while (0)

/* CHECK_NUM(seen, expected, "where", ...): numbers of any real type; long double holds them all. */
#define CHECK_NUM(seen, expected, ...)                                                                \
    do {                                                                                              \
        __typeof__(seen) check_s = (seen), check_e = (expected);                                      \
        if (check_s != check_e) {                                                                     \
            char check_where[192];                                                                    \
            snprintf(check_where, sizeof check_where, __VA_ARGS__);                                   \
            check_failed(__FILE__, __LINE__, check_where, "expected %.21Lg, seen %.21Lg (" #seen ")", \
                         (long double)check_e, (long double)check_s);                                 \
        }                                                                                             \
    } while (0)

__attribute__((unused)) static uint64_t check_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The value of element i of PE pe in some round, spread over the whole range of the type. */
#define VALUE(TYPE, pe, i, round) \
    ((TYPE)(int64_t)check_mix(check_mix((uint64_t)(pe) << 32 ^ (uint64_t)(i)) ^ (uint64_t)(round)))

struct random {
    uint64_t state;
};
__attribute__((unused)) static uint64_t random_next(struct random *r)
{
    return check_mix(r->state++);
}
__attribute__((unused)) static size_t random_below(struct random *r, size_t n)
{
    return random_next(r) % n;
}

/* --- memory from shmem_malloc and its kin ---
 *
 * It may lie where the CPU cannot reach it (SHMEM_HEAP_KIND). So tests touch it by these two alone, which are right
 * for every kind of memory, and for static data: a put to the PE itself and a get from it. They have a context of
 * their own, so that they complete nothing that the test has under way. */
static shmem_ctx_t check_ctx = SHMEM_CTX_INVALID;

static shmem_ctx_t check_own_ctx(void)
{
    if (check_ctx == SHMEM_CTX_INVALID && shmem_ctx_create(0, &check_ctx)) shmem_global_exit(1);
    return check_ctx;
}

/* From private memory to symmetric memory of this PE. */
__attribute__((unused)) static void lay(void *to, const void *from, size_t bytes)
{
    shmem_ctx_putmem(check_own_ctx(), to, from, bytes, me);
    shmem_ctx_quiet(check_own_ctx());
}

/* The other way round. What a get leaves out is not what was at `to` before. */
__attribute__((unused)) static void look(void *to, const void *from, size_t bytes)
{
    memset(to, 0x5c, bytes);
    shmem_ctx_getmem(check_own_ctx(), to, from, bytes, me);
}

/* The same for one word, and as memset does. */
#define LAY(word, ...)                                           \
    do {                                                         \
        __typeof__(*(word)) check_word = (__VA_ARGS__);          \
        lay((word), &check_word, sizeof check_word);             \
    } while (0)
#define LOOK(word)                                    \
    ({                                                \
        __typeof__(*(word)) check_word;               \
        look(&check_word, (word), sizeof check_word); \
        check_word;                                   \
    })
__attribute__((unused)) static void lay_byte(void *to, int byte, size_t bytes)
{
    static unsigned char text[1 << 16];
    memset(text, byte, bytes < sizeof text ? bytes : sizeof text);
    for (size_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < sizeof text ? bytes - done : sizeof text;
        lay((char *)to + done, text, n);
    }
}

static void check_start(void)
{
    shmem_init();
    check_ctx = SHMEM_CTX_INVALID; /* that of before is gone with the last finalize */
    me = shmem_my_pe();
    npes = shmem_n_pes();
    right = (me + 1) % npes;
    left = (me + npes - 1) % npes;
}

static int check_end(void)
{
    if (check_failures) printf("PE %d of %d: %d checks failed\n", me, npes, check_failures);
    fflush(stdout);
    shmem_finalize();
    return check_failures != 0;
}

#endif
