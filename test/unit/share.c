/* Whether somebody else wants this core, as the time of yields tells; and when to sleep in order to be put on another one. Time
 * is made up here, and so is who runs. */
/* with: src/core/share.c */
#include "core/share.h"

#include <sched.h>
#include <stdio.h>

#include "base/os.h"

enum { US = 1000, MS = 1000000 };

static int failures;
static uint64_t now = MS, yield_takes;

uint64_t hm_os_now(void) { return now; }

int sched_yield(void)
{
    now += yield_takes;
    return 0;
}

#define CHECK(cond)                                                    \
    do {                                                               \
        if (!(cond)) {                                                 \
            failures++;                                                \
            printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #cond); \
        }                                                              \
    } while (0)

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

/* The time that is given away until it is to sleep; 0: it is not. */
static uint64_t until_it_moves(uint64_t each, uint64_t most)
{
    for (uint64_t given = each; given <= most; given += each) {
        yield(each);
        if (hm_share_moves()) return given;
    }
    return 0;
}

static void test_moves(void)
{
    yield(300);
    uint64_t first = until_it_moves(10 * US, 100 * MS), second = until_it_moves(10 * US, 100 * MS);
    CHECK(first > 0 && second > first); /* less often, when no core is idle */
    for (int i = 0; i < 20; i++) CHECK(until_it_moves(MS, 1000 * MS) > 0); /* but now and then */
    yield(300);
    CHECK(until_it_moves(10 * US, 100 * MS) == first);
    yield(300);
    CHECK(until_it_moves(10 * US, first - 10 * US) == 0);
    yield(300); /* what was given before counts no longer */
    CHECK(until_it_moves(10 * US, first - 10 * US) == 0);
}

int main(void)
{
    test_who_runs();
    test_moves();
    return failures != 0;
}
