/* Whether somebody else wants this core, as the time of yields tells; and when to sleep, or to move, in order to be on another one. Time
 * is made up here, and so is who runs. */
/* with: src/core/share.c */
#include "core/share.h"

#include <sched.h>
#include <stdio.h>

#include "base/os.h"
#include "check.h"

enum { US = 1000, MS = 1000000, CORES = 2 };

static int running = CORES, moves;
static uint64_t now = MS, yield_takes, clock_takes;

uint64_t hm_os_now(void) { return now += clock_takes; }

int hm_os_running(void) { return running; }

int hm_os_leave_core(void)
{
    moves++;
    return 0;
}

int sched_yield(void)
{
    now += yield_takes;
    return 0;
}

static bool yield(uint64_t takes)
{
    yield_takes = takes;
    return hm_share_yield();
}

static void test_who_runs(void)
{
    CHECK(!hm_share_any());
    CHECK(!yield(900) && !hm_share_any()); /* it is not known yet what one takes here */
    CHECK(!yield(300) && !hm_share_any());
    CHECK(yield(900) && hm_share_any()); /* three times the least: somebody has run */
    CHECK(yield(20 * US) && hm_share_any());
    CHECK(!yield(310) && !hm_share_any()); /* and is gone */
    CHECK(hm_share_tell(5 * US) && hm_share_any());
    CHECK(!hm_share_tell(500) && !hm_share_any());
}

/* The time that is given away until PE `pe` sleeps or moves; 0: it does neither. */
static uint64_t until(bool sleeps, int pe, uint64_t each, uint64_t most)
{
    int before = moves;
    for (uint64_t given = each; given <= most; given += each) {
        yield(each);
        bool asleep = hm_share_sleeps(CORES, pe);
        if (sleeps ? asleep : moves > before) return given;
        if (asleep || moves > before) return 0;
    }
    return 0;
}

static void test_moves(void)
{
    yield(300);
    uint64_t first = until(true, 0, 10 * US, 100 * MS), second = until(false, 0, 10 * US, 100 * MS);
    CHECK(first > 0 && second == first);
    CHECK(until(true, 0, 10 * US, 100 * MS) == 2 * first); /* less often, when no core is idle */
    for (int i = 0; i < 20; i++) CHECK(until(i % 2 != 0, 0, MS, 1000 * MS) > 0); /* but now and then */
    yield(300);
    CHECK(until(true, 0, 10 * US, 100 * MS) == first);
    yield(300);
    CHECK(until(true, 0, 10 * US, first - 10 * US) == 0);
    yield(300); /* what was given before counts no longer */
    CHECK(until(true, 0, 10 * US, first - 10 * US) == 0);
    yield(300);
    CHECK(until(true, 1, 10 * US, 100 * MS) > first); /* another PE at another time */
}

/* All cores have work: another one is no better. */
static void test_stays(void)
{
    yield(300);
    running = CORES + 1;
    until(true, 0, 10 * US, 100 * MS);
    CHECK(until(false, 0, 10 * US, 1 * MS) == 0 && moves == 0);
    running = 0; /* not known */
    yield(300);
    until(true, 0, 10 * US, 100 * MS);
    CHECK(until(false, 0, 10 * US, 1 * MS) == 0 && moves == 0);
    running = CORES;
}

/* Where the clock alone takes longer than a yield should. */
static void test_slow(void)
{
    clock_takes = 20 * US;
    hm_share_start();
    CHECK(!yield(900) && !yield(300));
    CHECK(yield(200 * US) && !yield(300));
    clock_takes = 0;
    hm_share_start();
    CHECK(!yield(0) && !yield(400)); /* a clock that stands still tells nothing */
    CHECK(yield(900) && !yield(300));
}

int main(void)
{
    test_who_runs();
    test_stays();
    test_moves();
    test_slow();
    return failures != 0;
}
