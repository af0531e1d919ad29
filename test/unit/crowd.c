/* When waits sleep at once, as strangers compute on the cores: from when on, and for how long. Time and who runs are made up
 * here. */
/* with: src/core/crowd.c */
#include "core/crowd.h"

#include <stdio.h>

#include "base/os.h"

#define MS 1000000ull
enum { PES = 8 };

static int failures, running = PES + 1;
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
        hm_crowd_long_yield(&crowd, began, now, PES);
    }
}

static void forget(void)
{
    now += 10000 * MS;
    for (int i = 0; i < 20; i++) hm_crowd_short_yield();
    hm_crowd_long_yield(&crowd, now, now, PES);
    now += 10000 * MS;
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
    long_yields(2); /* the first of them is the last of those among short ones */
    CHECK(!lasts());
    long_yields(1);
    CHECK(lasts());
}

/* Only PEs want to run: those that compute are some of them. */
static void test_no_strangers(void)
{
    forget();
    running = PES;
    long_yields(10);
    CHECK(!lasts());
    hm_crowd_sleeps(&crowd); /* eight run, but one PE sleeps */
    long_yields(1);
    CHECK(!lasts()); /* once is none */
    long_yields(1);
    CHECK(lasts());
    hm_crowd_wakes(&crowd, 1);
    forget();
    long_yields(10);
    CHECK(!lasts());
    running = PES + 1;
    long_yields(2);
    CHECK(lasts());
}

static void test_unknown(void)
{
    forget();
    running = 0;
    long_yields(3); /* the first is one behind short ones */
    CHECK(lasts());
}

int main(void)
{
    test_begin();
    test_among_short_ones();
    test_no_strangers();
    test_unknown();
    return failures != 0;
}
