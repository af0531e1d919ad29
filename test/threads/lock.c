/* with: test/threads/common/fixture.c src/core/wait.c src/core/crowd.c src/core/share.c src/core/even.c src/core/watch.c src/core/lock.c src/base/futex.c src/base/log.c src/base/option.c src/base/os.c src/core/place.c */
/* cflags: -Wno-tsan -Wno-unknown-warning-option */
/* timeout: 240 */
/* Locks: one at a time (plain data under the lock: ThreadSanitizer sees whether the lock orders it), first come first
 * served, and a test_lock that never overtakes those who queue; waiters that leave. */
#include "core/order.h"
#include "core/wait.h"
#include "core/world.h"
#include "common/fixture.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>
#include <stdio.h>

enum { THREADS = 5, ROUNDS = 800 };

static long *lock_at(int i) { return fixture_heap((size_t)i * 64); }
static long counted[3], holders; /* plain, under the locks */

static void exclude(int me)
{
   for (int k = 0; k < ROUNDS; k++) {
       int which = (me + k) % 3;
       if ((me + k) & 1)
           hm_lock_set(lock_at(which), "set");
       else
           while (hm_lock_test(lock_at(which), "test")) continue;
       long was = counted[which];
       if (k % 16 == 0) sched_yield();
       counted[which] = was + 1;
       hm_lock_clear(lock_at(which), "clear");
   }
}

/* Two locks at once, always in the same order. */
static void nested(int me)
{
   (void)me;
   for (int k = 0; k < ROUNDS / 4; k++) {
       hm_lock_set(lock_at(0), "outer");
       hm_lock_set(lock_at(1), "inner");
       holders++;
       hm_lock_clear(lock_at(1), "inner");
       hm_lock_clear(lock_at(0), "outer");
   }
}

/* --- first come, first served --- */

enum { QUEUED = 64 };
static int order[THREADS], granted; /* plain, under the lock */
static int arrive, done;           /* atomic: whose turn it is to queue; rounds finished */

/* The word of the lock changes when somebody queues, so the holder can let one in after the other. */
static void let_one_queue(int i)
{
   uint64_t before = __atomic_load_n((uint64_t *)lock_at(0), __ATOMIC_ACQUIRE);
   __atomic_store_n(&arrive, i, __ATOMIC_RELEASE);
   while (__atomic_load_n((uint64_t *)lock_at(0), __ATOMIC_ACQUIRE) == before) sched_yield();
}

static void lead(int round)
{
   hm_lock_set(lock_at(0), "lead");
   granted = 0;
   for (int i = 1; i < THREADS; i++) {
       let_one_queue(round * THREADS + i);
       CHECK(hm_lock_test(lock_at(0), "test") == 1, "round %d: test_lock got a lock that is held", round);
   }
   hm_lock_clear(lock_at(0), "lead");
   while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < (round + 1) * (THREADS - 1)) sched_yield();
   for (int i = 1; i < THREADS; i++)
       CHECK(order[i - 1] == i, "round %d: place %d was given to %d", round, i, order[i - 1]);
}

static void follow(int me, int round)
{
   int my_place = 1 + (me + round) % (THREADS - 1);
   while (__atomic_load_n(&arrive, __ATOMIC_ACQUIRE) != round * THREADS + my_place) sched_yield();
   hm_lock_set(lock_at(0), "follow");
   order[granted++] = my_place;
   if (granted < THREADS - 1) CHECK(hm_lock_test(lock_at(0), "test") == 1, "round %d: test_lock overtook", round);
   hm_lock_clear(lock_at(0), "follow");
   __atomic_fetch_add(&done, 1, __ATOMIC_ACQ_REL);
}

static void queue(int me)
{
   for (int round = 0; round < QUEUED; round++) {
       if (me == 0)
           lead(round);
       else
           follow(me, round);
   }
}

/* --- waiters that leave, when a signal makes them think about it --- */

enum { LEAVE_ROUNDS = 300 };
static pthread_t waiter[THREADS];
static int signalled[THREADS], left, signals_end; /* atomic */
static __thread int wants_to_leave, has_left;

static void on_signal(int sig) { (void)sig; }

static int maybe_leave(int can_return)
{
   if (!can_return || !wants_to_leave) return 0;
   __atomic_fetch_add(&left, 1, __ATOMIC_RELAXED);
   return has_left = 1;
}

static void take_or_leave(int me)
{
   waiter[me] = pthread_self();
   __atomic_store_n(&signalled[me], 1, __ATOMIC_RELEASE);
   for (int k = 0; k < LEAVE_ROUNDS; k++) {
       int which = (me + k) % 2;
       wants_to_leave = (me * 7 + k) % 3 != 0;
       has_left = 0;
       hm_lock_set(lock_at(which), "set");
       if (has_left) continue;
       counted[which]++;
       if (k % 4 == 0) usleep(300);
       hm_lock_clear(lock_at(which), "clear");
       __atomic_fetch_add(&done, 1, __ATOMIC_RELAXED);
   }
   __atomic_store_n(&signalled[me], 0, __ATOMIC_RELEASE);
   while (!__atomic_load_n(&signals_end, __ATOMIC_ACQUIRE)) usleep(200); /* one may be on its way to this thread */
}

static void take_or_signal(int i)
{
   if (i < THREADS - 1) {
       take_or_leave(i);
       return;
   }
   for (int alive = 1, k = 0; alive || k < 100; k++) {
       alive = 0;
       for (int who = 0; who < THREADS - 1; who++) {
           if (!__atomic_load_n(&signalled[who], __ATOMIC_ACQUIRE)) continue;
           pthread_kill(waiter[who], SIGUSR1);
           alive = 1;
       }
       usleep(400);
   }
   __atomic_store_n(&signals_end, 1, __ATOMIC_RELEASE);
}

static void leave(void)
{
   signal(SIGUSR1, on_signal);
   counted[0] = counted[1] = left = done = signals_end = 0;
   hm_wait_set_interrupt(maybe_leave);
   fixture_run(THREADS, take_or_signal, 60);
   hm_wait_set_interrupt(NULL);
   CHECK(counted[0] + counted[1] == done, "expected %d holders, counted %ld", done, counted[0] + counted[1]);
   CHECK(done + left == (THREADS - 1) * LEAVE_ROUNDS, "%d have held it, %d have left", done, left);
   CHECK(hm_world.job->abandoned_count == 0, "%u tickets are left in the table", hm_world.job->abandoned_count);
   for (int i = 0; i < 2; i++) {
       CHECK(hm_lock_test(lock_at(i), "test") == 0, "lock %d is not free", i);
       hm_lock_clear(lock_at(i), "clear");
   }
   printf("  %d have left\n", left);
}

int main(void)
{
   for (int m = 0; m < mode_count; m++) {
       printf("%s\n", modes[m].name);
       fflush(stdout);
       fixture_start(1, &modes[m]);
       counted[0] = counted[1] = counted[2] = holders = arrive = done = 0;
       fixture_run(THREADS, exclude, 60);
       CHECK(counted[0] + counted[1] + counted[2] == THREADS * ROUNDS, "expected %d holders, counted %ld",
             THREADS * ROUNDS, counted[0] + counted[1] + counted[2]);
       fixture_run(THREADS, nested, 60);
       CHECK(holders == THREADS * (ROUNDS / 4), "expected %d, counted %ld", THREADS * (ROUNDS / 4), holders);
       fixture_run(THREADS, queue, 60);
       for (int i = 0; i < 3; i++) CHECK(*lock_at(i) == 0, "lock %d is left as %#lx", i, *lock_at(i));
       leave();
       CHECK(fixture_sleepers() == 0, "%u sleepers are left", fixture_sleepers());
       CHECK(fixture_asleep() == 0, "%d are counted as asleep", fixture_asleep());
   }
   return fixture_end();
}
