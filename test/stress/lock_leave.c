/* args: 400 */
/* timeout: 300 */
/* env: SHMEM_SLEEP_AFTER=0 */
/* Locks whose waiters leave at random, driven by signals: one holder at a time, none is lost, those who stay are served
 * in the order in which they came; tickets given up at the end of the queue, in the middle of it, and just when their
 * turn has come. */
#include <shmemx.h>

#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "../spec/check.h"

enum { LOCKS = 3, MOST = 64 };
static long locks[LOCKS], holder[LOCKS], counted[LOCKS];
static struct random chance;

/* --- at random --- */

static int left_at, asked; /* which question is answered with yes; 0: none */
static int maybe_leave(int can_return)
{
    return can_return && ++asked == left_at;
}

static void on_alarm(int sig) { (void)sig; }

static void tick(long us)
{
    struct itimerval t = {{0, us}, {0, us}};
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &t, NULL);
}

static void hold(int which)
{
    CHECK_NUM(shmem_long_g(&holder[which], 0), 0, "lock %d is held by two", which);
    shmem_long_p(&holder[which], me + 1, 0);
    long n = shmem_long_g(&counted[which], 0);
    if (random_below(&chance, 4) == 0) usleep((useconds_t)random_below(&chance, 2000));
    if (random_below(&chance, 4) == 0) sched_yield();
    CHECK_NUM(shmem_long_g(&holder[which], 0), (long)me + 1, "lock %d has lost its holder", which);
    shmem_long_p(&counted[which], n + 1, 0);
    shmem_long_p(&holder[which], 0, 0);
}

static void at_random(long rounds)
{
    static long had[LOCKS], all[LOCKS], mine_left, all_left;
    shmemx_set_interrupt(maybe_leave);
    tick(700 + 100 * me);
    for (long round = 0; round < rounds; round++) {
        int which = (int)random_below(&chance, LOCKS);
        left_at = (int)random_below(&chance, 4); /* three of four want to leave sooner or later */
        asked = 0;
        shmem_set_lock(&locks[which]);
        if (left_at && asked >= left_at) {
            mine_left++;
            continue;
        }
        hold(which);
        had[which]++;
        shmem_clear_lock(&locks[which]);
    }
    tick(0);
    shmemx_set_interrupt(NULL);
    shmem_barrier_all();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, all, had, LOCKS);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all_left, &mine_left, 1);
    for (int i = 0; i < LOCKS; i++)
        if (me == 0) CHECK_NUM(counted[i], all[i], "holders of lock %d", i);
    if (npes >= 8) CHECK(all_left > rounds / 10, "only %ld of %ld have left", all_left, rounds * npes);
    if (me == 0) {
        for (int i = 0; i < LOCKS; i++) CHECK_NUM(shmem_test_lock(&locks[i]), 0, "lock %d at the end", i);
        for (int i = 0; i < LOCKS; i++) shmem_clear_lock(&locks[i]);
    }
    shmem_barrier_all();
}

/* --- first come, first served --- */

static long lock, turn, told_to_leave, gone, finished, granted, order[MOST];

static int answer;
static int leave_when_told(int can_return)
{
    return answer = can_return && __atomic_load_n(&told_to_leave, __ATOMIC_ACQUIRE);
}

static void shuffle(int *pes, uint64_t round)
{
    struct random r = {round * 1000};
    for (int i = 0; i < npes; i++) pes[i] = i;
    for (int i = npes - 1; i > 0; i--) {
        int k = (int)random_below(&r, (size_t)i + 1), t = pes[i];
        pes[i] = pes[k];
        pes[k] = t;
    }
}

static bool leaves(int pe, long round) { return check_mix((uint64_t)round * 64 + (uint64_t)pe) % 2; }

static void let_queue(int who, long round)
{
    long before = shmem_long_atomic_fetch(&lock, 0);
    shmem_long_atomic_set(&turn, round, who);
    while (shmem_long_atomic_fetch(&lock, 0) == before) sched_yield();
}

/* Those who leave do so while the lock is held, or while it is passed on. */
static void lead(const int *pes, long round)
{
    long leaving = 0, place = 0;
    shmem_set_lock(&lock);
    shmem_long_p(&granted, 0, 0);
    for (int i = 1; i < npes; i++) let_queue(pes[i], round);
    for (int i = 1; i < npes; i++) {
        if (!leaves(pes[i], round)) continue;
        leaving++;
        shmem_long_atomic_set(&told_to_leave, 1, pes[i]);
    }
    if (round % 2) shmem_long_wait_until(&gone, SHMEM_CMP_EQ, leaving);
    shmem_clear_lock(&lock);
    shmem_long_wait_until(&finished, SHMEM_CMP_EQ, npes - 1);
    for (int i = 1; i < npes; i++) {
        if (leaves(pes[i], round)) continue;
        CHECK_NUM(shmem_long_g(&order[place], 0), (long)pes[i], "round %ld: place %ld", round, place);
        place++;
    }
    CHECK_NUM(shmem_long_g(&granted, 0), place, "round %ld: so many stayed", round);
    finished = gone = 0;
}

static void follow(int leader, long round)
{
    bool leaver = leaves(me, round);
    answer = 0;
    shmem_long_wait_until(&turn, SHMEM_CMP_EQ, round);
    if (leaver) shmemx_set_interrupt(leave_when_told);
    shmem_set_lock(&lock);
    shmemx_set_interrupt(NULL);
    if (answer) {
        shmem_long_atomic_inc(&gone, leader);
    } else { /* who wants to leave may be served first */
        long place = shmem_long_g(&granted, 0);
        if (!leaver) shmem_long_p(&order[place], me, 0);
        if (!leaver) shmem_long_p(&granted, place + 1, 0);
        shmem_clear_lock(&lock);
    }
    shmem_long_atomic_inc(&finished, leader);
}

static void in_order(long rounds)
{
    int pes[MOST];
    tick(900);
    for (long round = 1; round <= rounds; round++) {
        shuffle(pes, (uint64_t)round);
        if (pes[0] == me)
            lead(pes, round);
        else
            follow(pes[0], round);
        shmem_barrier_all();
        told_to_leave = 0;
        shmem_barrier_all();
    }
    tick(0);
    if (me == 0) CHECK_NUM(shmem_test_lock(&lock), 0, "free at the end");
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 400;
    check_start();
    chance.state = (uint64_t)me * 1000003;
    at_random(rounds);
    in_order(rounds / 2);
    return check_end();
}
