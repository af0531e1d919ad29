/* shmemx_set_interrupt: waits of every kind, on words and on a lock, ask the function and are left when it says so;
 * what they return; a wait that is not left goes on; nobody is asked who need not wait. */
#include <shmemx.h>

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static int asked, answers_before_leaving, wrong_kind;
static pthread_t asked_on;

static int ask(int can_return)
{
    if (!can_return) wrong_kind++;
    asked_on = pthread_self();
    return ++asked > answers_before_leaving;
}

static void expect_left(const char *what)
{
    CHECK(asked == answers_before_leaving + 1, "%s: asked %d times, to leave at the one behind %d", what, asked,
          answers_before_leaving);
    CHECK(pthread_equal(asked_on, pthread_self()), "%s: asked on another thread", what);
    asked = 0;
}

static int never[8];
static uint64_t sig = 5;

static void leave_words(void)
{
    size_t indices[8];
    int values[8] = {1, 1, 1, 1, 1, 1, 1, 1}, status[8] = {0};
    status[3] = 1;
    shmem_int_wait_until(never, SHMEM_CMP_EQ, 1);
    expect_left("wait_until");
    shmem_int_wait_until_all(never, 8, status, SHMEM_CMP_EQ, 1);
    expect_left("wait_until_all");
    shmem_int_wait_until_all_vector(never, 8, status, SHMEM_CMP_EQ, values);
    expect_left("wait_until_all_vector");
    CHECK_NUM(shmem_int_wait_until_any(never, 8, status, SHMEM_CMP_EQ, 1), SIZE_MAX, "any");
    expect_left("wait_until_any");
    CHECK_NUM(shmem_int_wait_until_any_vector(never, 8, NULL, SHMEM_CMP_EQ, values), SIZE_MAX, "any_vector");
    expect_left("wait_until_any_vector");
    CHECK_NUM(shmem_int_wait_until_some(never, 8, indices, NULL, SHMEM_CMP_EQ, 1), 0, "some");
    expect_left("wait_until_some");
    CHECK_NUM(shmem_int_wait_until_some_vector(never, 8, indices, NULL, SHMEM_CMP_EQ, values), 0, "some_vector");
    expect_left("wait_until_some_vector");
    CHECK_NUM(shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 6), 5, "signal");
    expect_left("signal_wait_until");
}

/* --- it is asked often, and behind a signal --- */

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static volatile int signalled;
static void on_alarm(int sig) { signalled = sig; }
static int leave_when_signalled(int can_return)
{
    asked++;
    return can_return && signalled;
}

static void leave_behind_a_signal(void)
{
    const int restart[] = {0, SA_RESTART};
    for (int i = 0; i < 4; i++) {
        struct sigaction act = {.sa_handler = on_alarm, .sa_flags = restart[i % 2]};
        sigaction(SIGALRM, &act, NULL);
        signalled = 0;
        ualarm(150000, 0);
        shmem_int_wait_until(never, SHMEM_CMP_EQ, 1);
        CHECK_NUM(signalled, SIGALRM, "left without a signal");
    }
    asked = 0;
}

/* --- a wait that is not left ends as ever --- */

static int stay(int can_return)
{
    (void)can_return;
    asked++;
    return 0;
}

static int late[2];
static void wait_on(void)
{
    if (npes == 1) return;
    shmem_barrier_all();
    if (me == 0) {
        int64_t start = now_ms();
        while (now_ms() - start < 300) usleep(10000);
        for (int pe = 1; pe < npes; pe++) shmem_int_p(&late[0], 7, pe);
    } else {
        asked = 0;
        shmem_int_wait_until(&late[0], SHMEM_CMP_EQ, 7);
        CHECK_NUM(late[0], 7, "the condition");
        CHECK(asked >= 2, "asked %d times in 300 ms", asked);
    }
    asked = 0;
    shmem_barrier_all();
    if (me == 0) { /* and so does a barrier */
        int64_t start = now_ms();
        while (now_ms() - start < 300) usleep(10000);
    }
    shmem_barrier_all();
    if (me) CHECK(asked >= 2, "barrier: asked %d times in 300 ms", asked);
    asked = 0;
}

/* --- locks --- */

static long lock, held;

/* PE 0 holds the lock, the others queue up and go; then the lock is as good as new. */
static void leave_lock(void)
{
    if (npes == 1) return;
    shmemx_set_interrupt(NULL);
    if (me == 0) shmem_set_lock(&lock);
    shmem_barrier_all();
    shmemx_set_interrupt(ask);
    if (me) {
        shmem_set_lock(&lock);
        expect_left("set_lock");
    }
    shmemx_set_interrupt(NULL);
    shmem_barrier_all();
    if (me == 0) {
        CHECK_NUM(held, 0, "somebody holds a lock that he has left");
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    shmem_set_lock(&lock);
    shmem_long_p(&held, shmem_long_g(&held, 0) + 1, 0);
    shmem_quiet();
    shmem_clear_lock(&lock);
    shmem_barrier_all();
    if (me == 0) {
        CHECK_NUM(held, npes, "the lock afterwards");
        CHECK_NUM(lock, 0, "nobody queues at it");
        held = 0;
    }
    shmem_barrier_all();
}

/* Who waits between two that leave gets it. They leave when all have queued up, in the order of their numbers. */
static long all_queue;
static int leave_when_all_queue(int can_return)
{
    asked++;
    return can_return && __atomic_load_n(&all_queue, __ATOMIC_ACQUIRE);
}

static long next_ticket(void) { return shmem_long_atomic_fetch(&lock, 0) & 0xffffffff; }

static void queue_between(void)
{
    while (next_ticket() != me) usleep(1000);
    if (me != 2) shmemx_set_interrupt(leave_when_all_queue);
    shmem_set_lock(&lock);
    shmemx_set_interrupt(NULL);
    if (me != 2) return;
    held = 2;
    shmem_clear_lock(&lock);
}

static void leave_around(void)
{
    if (npes < 3) return;
    all_queue = 0;
    if (me == 0) shmem_set_lock(&lock);
    shmem_barrier_all();
    if (me) {
        queue_between();
    } else {
        while (next_ticket() != npes) usleep(1000);
        for (int pe = 1; pe < npes; pe++) shmem_long_p(&all_queue, 1, pe);
        usleep(200000);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    CHECK_NUM(held, me == 2 ? 2 : 0, "who stayed has had the lock");
    held = 0;
    if (me == 0) CHECK_NUM(shmem_test_lock(&lock), 0, "free at the end");
    if (me == 0) shmem_clear_lock(&lock);
    shmem_barrier_all();
}

int main(void)
{
    shmemx_set_interrupt(ask); /* init need not wait for long, or is asked like others */
    shmemx_set_interrupt(NULL);
    check_start();
    asked = 0;
    shmemx_set_interrupt(ask);
    shmem_int_wait_until(never, SHMEM_CMP_EQ, 0);
    if (npes == 1) shmem_set_lock(&lock);
    if (npes == 1) shmem_clear_lock(&lock);
    CHECK_NUM(asked, 0, "asked although there was nothing to wait for");
    for (answers_before_leaving = 0; answers_before_leaving < 3; answers_before_leaving++) leave_words();
    answers_before_leaving = 0;
    CHECK_NUM(wrong_kind, 0, "asked as in a meeting");
    shmemx_set_interrupt(leave_when_signalled);
    leave_behind_a_signal();
    shmemx_set_interrupt(NULL);
    shmem_barrier_all();
    shmemx_set_interrupt(stay);
    wait_on();
    shmemx_set_interrupt(NULL);
    for (int i = 0; i < 20; i++) leave_lock();
    for (int i = 0; i < 3; i++) leave_around();
    return check_end();
}
