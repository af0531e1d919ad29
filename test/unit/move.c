/* Copies against memcpy: every size up to some pages from and to every place in a line, fetched ahead, past the caches and
 * not, at the edges of pages that cannot be touched, onto itself; and what SHMEM_NONTEMPORAL_FROM says. */
/* with: src/core/move.c src/base/option.c src/base/log.c src/base/os.c */
#define _GNU_SOURCE
#include "core/move.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/option.h"
#include "base/os.h"

#define MOST ((size_t)1 << 18) /* bytes between the closed pages */

static int failures;

#define CHECK(cond, ...)                                                \
    do {                                                                \
        if (!(cond) && ++failures <= 10) {                              \
            printf("%s:%d: not true: %s: ", __FILE__, __LINE__, #cond); \
            printf(__VA_ARGS__);                                        \
            puts("");                                                   \
        }                                                               \
    } while (0)

/* Memory with a page before and one behind it that fault. */
static unsigned char *between_closed_pages(void)
{
    size_t page = hm_os_page();
    char *at = mmap(NULL, MOST + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || mprotect(at, page, PROT_NONE) || mprotect(at + page + MOST, page, PROT_NONE)) exit(1);
    return (unsigned char *)at + page;
}

static unsigned char *source, *dest, *expected;

static void fill(void)
{
    uint32_t x = 12345;
    for (size_t i = 0; i < MOST; i++) {
        x = x * 1664525u + 1013904223u;
        source[i] = (unsigned char)(x >> 24);
    }
}

/* n bytes from source + from to dest + to, with what lies around them watched. */
static void try_one(size_t to, size_t from, size_t n, size_t past_caches_from)
{
    enum { AROUND = 64 };
    size_t low = to < AROUND ? 0 : to - AROUND, high = to + n + AROUND > MOST ? MOST : to + n + AROUND;
    memset(dest + low, 0xa5, high - low);
    memset(expected + low, 0xa5, high - low);
    memcpy(expected + to, source + from, n);
    hm_move(dest + to, source + from, n, past_caches_from);
    CHECK(!memcmp(dest + low, expected + low, high - low), "%zu bytes from +%zu to +%zu, past the caches from %zu on", n, from,
          to, past_caches_from);
}

static void test_places(size_t past_caches_from)
{
    for (size_t n = 0; n <= 4200; n++) {
        size_t places = n <= 130 ? 64 : 3;
        for (size_t i = 0; i < places; i++) try_one(64 + i, 64 + (i * 29 + n) % 64, n, past_caches_from);
    }
    static const size_t large[] = {16383, 16384, 16385, 16384 + 63, 16384 + 64, 32768, 65536 + 4097, MOST - 300};
    for (size_t k = 0; k < HM_COUNT(large); k++)
        for (size_t i = 0; i < 64; i += 7) try_one(64 + i, 64 + (i * 29) % 64, large[k], past_caches_from);
}

/* The last byte, or the first, is the last that can be touched: of the source, of the destination, of both. */
static void test_edges(size_t past_caches_from)
{
    for (size_t n = 0; n <= 4200; n += n < 300 ? 1 : 61) {
        try_one(MOST - n, MOST - n, n, past_caches_from);
        try_one(128, MOST - n, n, past_caches_from);
        try_one(MOST - n, 128, n, past_caches_from);
        try_one(0, 0, n, past_caches_from);
    }
    for (size_t n = MOST - 3; n <= MOST; n++) {
        try_one(0, 0, n, past_caches_from);
        try_one(MOST - n, 0, n, past_caches_from);
        try_one(0, MOST - n, n, past_caches_from);
    }
}

static void test_onto_itself(size_t past_caches_from)
{
    for (size_t n = 0; n <= 40000; n += n < 300 ? 1 : 997) {
        memcpy(dest, source, n + 64);
        hm_move(dest + n % 64, dest + n % 64, n, past_caches_from);
        CHECK(!memcmp(dest, source, n + 64), "%zu bytes onto themselves, past the caches from %zu on", n, past_caches_from);
    }
}

static void start_with(const char *text)
{
    if (text)
        setenv("SHMEM_NONTEMPORAL_FROM", text, 1);
    else
        unsetenv("SHMEM_NONTEMPORAL_FROM");
    hm_options_read(false);
    hm_move_start("shmem_init");
}

static void expect(const char *text, size_t out_from, size_t in_from)
{
#ifndef __SSE2__
    out_from = in_from = SIZE_MAX;
#endif
    start_with(text);
    CHECK(hm_moves.out_from == out_from && hm_moves.in_from == in_from, "%s: %zu and %zu", text ? text : "unset",
          hm_moves.out_from, hm_moves.in_from);
    CHECK(hm_moves.ahead_from <= out_from && hm_moves.ahead_from <= in_from, "%s: ahead from %zu on", text ? text : "unset",
          hm_moves.ahead_from);
}

/* What is malformed ends the program with a sentence. */
static void expect_refusal(const char *text)
{
    int status, pipe_fd[2];
    char said[512] = "";
    if (pipe(pipe_fd)) exit(1);
    pid_t child = fork();
    if (!child) {
        dup2(pipe_fd[1], 2);
        start_with(text);
        _exit(0);
    }
    close(pipe_fd[1]);
    for (ssize_t n, at = 0; (n = read(pipe_fd[0], said + at, sizeof said - 1 - (size_t)at)) > 0;) at += n;
    close(pipe_fd[0]);
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) && strstr(said, "SHMEM_NONTEMPORAL_FROM") && strstr(said, text),
          "\"%s\": status %x, it said: %s", text, (unsigned)status, said);
}

static void test_option(void)
{
    size_t l2 = hm_os_second_cache();
    if (!l2) l2 = 1 << 20;
    CHECK(hm_moves.out_from == SIZE_MAX && hm_moves.in_from == SIZE_MAX, "before init");
    expect(NULL, 8 * l2, 16 * l2);
    expect("auto", 8 * l2, 16 * l2);
    expect("off", SIZE_MAX, SIZE_MAX);
    expect("0", 0, 0);
    expect("3m", 3 << 20, 3 << 20);
    expect_refusal("many");
    expect_refusal("-1");
}

int main(void)
{
    source = between_closed_pages();
    dest = between_closed_pages();
    expected = between_closed_pages();
    test_option();
    fill();
    static const struct {
        size_t past_caches, ahead;
    } from[] = {{SIZE_MAX, SIZE_MAX}, {0, 0}, {1000, 1000}, {SIZE_MAX, 500}, {20000, 0}};
    for (size_t i = 0; i < HM_COUNT(from); i++) {
        hm_moves.ahead_from = from[i].ahead;
        test_places(from[i].past_caches);
        test_edges(from[i].past_caches);
        test_onto_itself(from[i].past_caches);
    }
    if (failures) printf("%d checks failed\n", failures);
    return failures != 0;
}
