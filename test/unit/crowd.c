/* When waits sleep at once, as others compute on the cores: from when on, for how long, and when that is over before its time.
 * Time and who runs are made up here. */
/* with: src/core/crowd.c */
#include "core/crowd.h"

#include <stdio.h>

#include "base/os.h"

#define MS 1000000ull
enum { CORES = 2, US = 1000 };

static int failures, running;
static uint64_t now = 1000 * MS;
static struct hm_crowd crowd;

int hm_os_running(void) { return running; }

#define CHECK(cond)                                                         \
    do {                                                                    \
        if (!(cond)) {                                                      \
            failures++;                                                     \
            printf("%s:%d: not true at %ju: %s\n", __FILE__, __LINE__, (uintmax_t)now, #cond); \
        }                                                                   \
    } while (0)

static bool lasts(void) { return now < hm_crowd_until(&crowd); }

static void long_yields(int n)
{
    for (int i = 0; i < n; i++) {
        uint64_t began = now;
        now += 3 * MS;
        hm_crowd_long_yield(&crowd, began, now);
    }
}

static void forget(void)
{
    now += 10000 * MS;
    for (int i = 0; i < 20; i++) hm_crowd_short_yield();
    hm_crowd_long_yield(&crowd, now, now);
    now += 10000 * MS;
}

static void sleeps(int n, uint64_t each)
{
    for (int i = 0; i < n && lasts(); i++) {
        now += each;
        hm_crowd_slept(&crowd, now - each, now, CORES);
    }
}

static void test_begin(void)
{
    forget();
    long_yields(1);
    CHECK(!lasts()); /* once is none */
    long_yields(1);
    CHECK(lasts() && hm_crowd_until(&crowd) == now + 4 * MS);
    now += 4 * MS;
    CHECK(!lasts());
    for (uint64_t span = 8; span <= 256; span *= 2) { /* and again and again */
        long_yields(2);
        CHECK(lasts() && crowd.span == (span < 128 ? span : 128) * MS);
        now = hm_crowd_until(&crowd);
    }
    now += 129 * 4 * MS;
    long_yields(2);
    CHECK(lasts() && crowd.span == 4 * MS); /* the last time is long past */
}

static void test_among_short_ones(void)
{
    forget();
    for (int i = 0; i < 10; i++) {
        long_yields(1);
        for (int k = 0; k < 16; k++) hm_crowd_short_yield();
    }
    CHECK(!lasts());
    long_yields(2);
    CHECK(lasts());
}

/* A long crowd, as after some time of computing. */
static void crowd_for_128_ms(void)
{
    forget();
    for (int i = 0; i < 7; i++) {
        long_yields(2);
        if (i < 6) now = hm_crowd_until(&crowd);
    }
    CHECK(hm_crowd_until(&crowd) - now > 100 * MS);
}

static void test_over_before_its_time(void)
{
    crowd_for_128_ms();
    running = 1;
    sleeps(100, 50 * US);
    CHECK(!lasts());
}

static void test_strangers(void)
{
    crowd_for_128_ms();
    running = CORES + 1;
    sleeps(2000, 50 * US);
    CHECK(lasts());
}

static void test_unknown(void)
{
    crowd_for_128_ms();
    running = 0;
    sleeps(2000, 50 * US);
    CHECK(lasts());
}

/* Who sleeps long takes part in no exchange, however few run. */
static void test_long_sleeps(void)
{
    crowd_for_128_ms();
    running = 1;
    for (int i = 0; i < 10; i++) {
        sleeps(10, 50 * US);
        sleeps(1, 2 * MS);
    }
    CHECK(lasts());
}

/* It was not over: that is not tried again for a second. */
static void test_wrong(void)
{
    crowd_for_128_ms();
    running = 1;
    sleeps(100, 50 * US);
    CHECK(!lasts());
    long_yields(2);
    CHECK(lasts());
    sleeps(2000, 50 * US);
    CHECK(lasts());
    now += 1000 * MS;
    long_yields(2);
    CHECK(lasts());
    sleeps(100, 20 * US);
    CHECK(!lasts());
}

int main(void)
{
    test_begin();
    test_among_short_ones();
    test_over_before_its_time();
    test_strangers();
    test_unknown();
    test_long_sleeps();
    test_wrong();
    return failures != 0;
}
