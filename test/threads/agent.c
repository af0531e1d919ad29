/* with: test/threads/common/fixture.c test/threads/common/plain_device.c src/core/agent.c src/core/agent_words.c src/core/look.c src/core/wait.c src/core/crowd.c src/core/share.c src/core/even.c src/core/watch.c src/base/futex.c src/base/log.c src/base/option.c src/base/os.c src/core/place.c */
/* cflags: -Wno-tsan -Wno-unknown-warning-option */
/* timeout: 240 */
/* The ring of an agent, over a device that is plain memory: what many threads ask is done one after the other, what one asks in
 * its order, a quiet waits for all of it, who waits for a word is woken, and the agent sleeps in between. */
#include "base/log.h"
#include "common/fixture.h"
#include "common/plain_device.h"
#include "core/agent.h"
#include "core/ask.h"
#include "core/device.h"
#include "core/look.h"
#include "core/wait.h"
#include "core/world.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 5, ROUNDS = 400, WORDS = 32 };

/* There is one machine. */
void hm_agent_far_start(const char *call) { (void)call; }
void hm_agent_far_stop(void) {}
bool hm_agent_has_far(void) { return false; }
bool hm_agent_serve_far(void) { return false; }
void hm_agent_quiet_far(const char *call) { (void)call; }
uint64_t hm_agent_ask_far(int pe, const struct hm_ask *ask, const char *call)
{
    (void)ask;
    hm_die(call, "PE %d is taken for a far one", pe);
}
static void *word(size_t i) { return hm_device.base + i * sizeof(uint64_t); }
static uint64_t amo(enum hm_amo op, size_t i, uint64_t value)
{
    return hm_agent_amo(&hm_ctx_default, op, i * sizeof(uint64_t), value, 0, sizeof value, 0, "amo");
}
static uint64_t value_of(size_t i)
{
    uint64_t value;
    hm_look(&value, word(i), sizeof value, "look");
    return value;
}

/* --- the bodies --- */

static void add(int me)
{
    uint64_t last = 0;
    for (int k = 0; k < ROUNDS; k++) {
        amo(HM_AMO_ADD, (size_t)(me + k) % WORDS, 1);
        uint64_t drawn = amo(HM_AMO_FETCH_ADD, WORDS, 1);
        CHECK(k == 0 || drawn > last, "thread %d drew %ju behind %ju", me, (uintmax_t)drawn, (uintmax_t)last);
        last = drawn;
        amo(HM_AMO_SET, WORDS + 1 + (size_t)me, (uint64_t)k);
        if (k % 7 == 0) {
            uint64_t seen = amo(HM_AMO_FETCH, WORDS + 1 + (size_t)me, 0);
            CHECK(seen == (uint64_t)k, "thread %d set %d and fetched %ju", me, k, (uintmax_t)seen);
        }
        if (k % 50 == 0) {
            hm_agent_quiet(&hm_ctx_default);
            uint64_t seen = value_of(WORDS + 1 + (size_t)me);
            CHECK(seen == (uint64_t)k, "thread %d set %d, and %ju is there behind a quiet", me, k, (uintmax_t)seen);
        }
        if (k % 100 == 99) usleep(1000); /* the agent falls asleep */
    }
    hm_agent_quiet(&hm_ctx_default);
}

static void added(const char *mode)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < WORDS; i++) sum += value_of(i);
    CHECK(sum == THREADS * ROUNDS, "%s: %ju were added", mode, (uintmax_t)sum);
    CHECK(value_of(WORDS) == THREADS * ROUNDS, "%s: %ju were drawn", mode, (uintmax_t)value_of(WORDS));
}

/* Each tells the next one, around. */
static void pass_on(int me)
{
    for (int k = 1; k <= ROUNDS / 10; k++) {
        if (me == 0) amo(HM_AMO_SET, 1, (uint64_t)k);
        hm_wait_word(word((size_t)me == 0 ? THREADS : (size_t)me), HM_CMP_EQ, k, HM_WORD_U64, "pass on");
        if (me != 0) amo(HM_AMO_SET, (size_t)me + 1, (uint64_t)k);
    }
}

int main(void)
{
    for (int m = 0; m < mode_count; m++) {
        fixture_start(1, &modes[m]);
        plain_device_start();
        fixture_run(THREADS, add, 60);
        added(modes[m].name);
        memset(plain_memory, 0, sizeof plain_memory); /* nobody asks now */
        fixture_run(THREADS, pass_on, 60);
        CHECK(fixture_sleepers() == 0, "%s: %u sleepers left", modes[m].name, fixture_sleepers());
        plain_device_stop();
    }
    return fixture_end();
}
