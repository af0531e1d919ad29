/* with: test/threads/common/fixture.c src/core/wait.c src/core/crowd.c src/core/share.c src/core/even.c src/core/watch.c src/core/move.c src/core/rma.c src/core/huge.c src/base/futex.c src/base/log.c src/base/option.c src/base/os.c src/core/place.c */
/* cflags: -Wno-tsan -Wno-unknown-warning-option */
/* timeout: 240 */
/* Put with signal: who has seen the signal sees the data (ThreadSanitizer objects when the order is too weak), with set
 * and with add, for one sender and for several, and for signals without data. */
#include "core/rma.h"
#include "core/wait.h"
#include "common/fixture.h"

#include <stdio.h>
#include <string.h>

enum { SENDERS = 3, ROUNDS = 2500, WORDS = 24 };

static uint64_t *data_of(int i) { return fixture_heap(4096 + (size_t)i * 1024); }
static uint64_t *signal_of(int i) { return fixture_heap((size_t)i * 128); }
static uint64_t *answer_of(int i) { return fixture_heap(2048 + (size_t)i * 128); }

static void fill(uint64_t *text, int sender, uint64_t round)
{
   for (uint64_t k = 0; k < WORDS; k++) text[k] = round << 32 | (uint64_t)sender << 16 | k;
}

static void send(int me)
{
   uint64_t text[WORDS];
   for (uint64_t round = 1; round <= ROUNDS; round++) {
       fill(text, me, round);
       bool add = round & 1;
       hm_put_signal(&hm_ctx_default, data_of(me), text, round % 5 ? sizeof text : 8, signal_of(me),
                     add ? 1 : round, add, 0, false, "put_signal");
       hm_wait_word(answer_of(me), HM_CMP_EQ, (int64_t)round, HM_WORD_U64, "answer");
   }
}

static void receive(int from)
{
   uint64_t text[WORDS];
   for (uint64_t round = 1; round <= ROUNDS; round++) {
       uint64_t seen = (uint64_t)hm_wait_word(signal_of(from), HM_CMP_NE, (int64_t)round - 1, HM_WORD_U64, "signal");
       CHECK(seen == round, "from %d: expected signal %ju, seen %ju", from, (uintmax_t)round, (uintmax_t)seen);
       fill(text, from, round);
       size_t bytes = round % 5 ? sizeof text : 8;
       CHECK(!memcmp(text, data_of(from), bytes), "from %d: the data of round %ju is not whole", from,
             (uintmax_t)round);
       hm_signal(&hm_ctx_default, answer_of(from), round, 0, 0, "signal_set");
   }
}

static void both(int i)
{
   if (i < SENDERS)
       send(i);
   else
       receive(i - SENDERS);
}

/* Everybody adds to one signal; the last one to be counted has all the data behind it. */
static void gather(int i)
{
   if (i < SENDERS) {
       uint64_t text[WORDS];
       fill(text, i, 7);
       hm_put_signal(&hm_ctx_default, data_of(i), text, sizeof text, signal_of(0), 1, 1, 0, false, "put_signal");
       return;
   }
   hm_wait_word(signal_of(0), HM_CMP_EQ, SENDERS, HM_WORD_U64, "signal");
   for (int k = 0; k < SENDERS; k++) {
       uint64_t text[WORDS];
       fill(text, k, 7);
       CHECK(!memcmp(text, data_of(k), sizeof text), "the data of %d is not whole", k);
   }
}

int main(void)
{
   for (int m = 0; m < mode_count; m++) {
       printf("%s\n", modes[m].name);
       fflush(stdout);
       fixture_start(1, &modes[m]);
       fixture_run(2 * SENDERS, both, 60);
       for (int k = 0; k < 100; k++) {
           fixture_start(1, &modes[m]);
           fixture_run(SENDERS + 2, gather, 60);
       }
       CHECK(fixture_sleepers() == 0, "%u sleepers are left", fixture_sleepers());
   }
   return fixture_end();
}
