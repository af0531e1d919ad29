/* with: test/threads/common/fixture.c src/core/wait.c src/core/crowd.c src/core/share.c src/core/even.c src/core/watch.c src/core/amo.c src/core/element.c src/core/move.c src/core/rma.c src/core/huge.c src/base/futex.c src/base/log.c src/base/option.c src/base/os.c src/core/place.c */
/* cflags: -Wno-tsan -Wno-unknown-warning-option */
/* timeout: 240 */
/* A token goes round among threads that each wait for their own word: a wake-up that is lost stops it. Beside it, plain
 * data travels with the token and must be whole (and ThreadSanitizer sees that it is ordered). */
#include "core/amo.h"
#include "core/wait.h"
#include "common/fixture.h"

#include <stdio.h>

enum { THREADS = 4, ROUNDS = 2000 };

static uint64_t *word(int i) { return fixture_heap((size_t)i * 256); }
static uint64_t *cargo(int i) { return fixture_heap((size_t)i * 256 + 64); } /* plain words, changed by the sender */

static void pass_on(int from, uint64_t turn)
{
   int to = (from + 1) % THREADS;
   for (uint64_t k = 0; k < 4; k++) cargo(to)[k] = turn * 4 + k;
   hm_amo(&hm_ctx_default, from & 1 ? HM_AMO_SET : HM_AMO_ADD, word(to), from & 1 ? turn : 1, 0, 8, 0, "send");
}

static void ring(int me)
{
   for (uint64_t turn = 1; turn <= ROUNDS; turn++) {
       if (me == 0) pass_on(0, turn);
       int64_t seen = hm_wait_word(word(me), HM_CMP_GE, (int64_t)turn, HM_WORD_U64, "wait");
       CHECK((uint64_t)seen == turn, "thread %d: expected token %ju, seen %jd", me, (uintmax_t)turn, (intmax_t)seen);
       for (uint64_t k = 0; k < 4; k++)
           CHECK(cargo(me)[k] == turn * 4 + k, "thread %d: cargo %ju of turn %ju: seen %ju", me, (uintmax_t)k,
                 (uintmax_t)turn, (uintmax_t)cargo(me)[k]);
       if (me) pass_on(me, turn);
   }
}

/* All wait for one word at once, by every way of waiting; each change wakes them all. */
static void crowd(int me)
{
   uint32_t *shared = fixture_heap(4096), *ready = fixture_heap(8192);
   uint32_t values[2];
   for (uint32_t turn = 1; turn <= ROUNDS / 4; turn++) {
       if (me == 0) {
           hm_wait_word(ready, HM_CMP_EQ, (THREADS - 1) * (int64_t)(turn - 1), HM_WORD_U32, "wait");
           hm_amo(&hm_ctx_default, HM_AMO_SET, shared, turn, 0, 4, 0, "set");
           continue;
       }
       values[0] = values[1] = turn;
       if (me == 1) hm_wait_word(shared, HM_CMP_EQ, turn, HM_WORD_U32, "wait");
       if (me == 2) hm_wait_all(shared, 1, NULL, HM_CMP_GE, values, false, HM_WORD_U32, "all");
       if (me == 3) {
           int status[2] = {0, turn & 1}; /* the second is the same word's neighbour, which stays 0 */
           size_t which = hm_wait_any(shared, 2, status, HM_CMP_EQ, values, true, HM_WORD_U32, "any");
           CHECK(which == 0, "turn %u: expected index 0, seen %zu", turn, which);
       }
       hm_amo(&hm_ctx_default, HM_AMO_ADD, ready, 1, 0, 4, 0, "ready");
   }
}

int main(void)
{
   for (int m = 0; m < mode_count; m++) {
       printf("%s\n", modes[m].name);
       fflush(stdout);
       fixture_start(1, &modes[m]);
       fixture_run(THREADS, ring, 60);
       fixture_start(1, &modes[m]);
       fixture_run(THREADS, crowd, 60);
       uint32_t asleep = fixture_sleepers();
       CHECK(asleep == 0, "%u sleepers are left at the bell", asleep);
       CHECK(fixture_asleep() == 0, "%d are counted as asleep", fixture_asleep());
   }
   return fixture_end();
}
