/* npes: 3 */
/* timeout: 120 */
/* env: SHMEM_SLEEP_AFTER=0 */
/* More waiters leave a lock than there is room for tickets of theirs: PEs 1 and 2 queue up in turn, and each leaves
 * when the other stands behind it. When there is no room any more a waiter has to stay until its turn comes, and passes
 * the lock on at once. */
#include <shmemx.h>

#include <sched.h>
#include <signal.h>
#include <sys/time.h>

#include "../spec/check.h"

enum { ROOM = 256, LAST = ROOM + 2 }; /* tickets: 0 is the holder's */
static long lock, stuck, cleared, taken_by_2;
static long ticket;

static long next_ticket(void) { return shmem_long_atomic_fetch(&lock, 0) & 0xffffffff; }

/* Not as long as it is the newest, whose ticket could be given back, and not with the last one. */
static int leave(int can_return)
{
    int answer = can_return && ticket < LAST && next_ticket() > ticket + 1;
    if (answer && ticket == ROOM + 1) shmem_long_p(&stuck, 1, 0);
    return answer;
}

static void on_alarm(int sig) { (void)sig; }

static void queue_up(void)
{
    for (ticket = me; ticket <= LAST; ticket += 2) {
        while (next_ticket() != ticket) sched_yield();
        shmem_set_lock(&lock);
        if (ticket <= ROOM) CHECK_NUM(shmem_long_g(&cleared, 0), 0, "ticket %ld left late", ticket);
    }
    CHECK_NUM(shmem_long_g(&cleared, 0), 1, "the last ones had to stay");
    if (me == 1) return;
    shmem_long_p(&taken_by_2, 1, 0);
    shmem_clear_lock(&lock);
}

int main(void)
{
    struct itimerval t = {{0, 1000}, {0, 1000}}, off = {{0, 0}, {0, 0}};
    check_start();
    for (int round = 0; round < 2; round++) {
        stuck = cleared = taken_by_2 = 0;
        if (me == 0) shmem_set_lock(&lock);
        shmem_barrier_all();
        signal(SIGALRM, on_alarm);
        setitimer(ITIMER_REAL, &t, NULL);
        if (me) {
            shmemx_set_interrupt(leave);
            queue_up();
            shmemx_set_interrupt(NULL);
        } else {
            while (next_ticket() != LAST + 1) sched_yield();
            shmem_long_wait_until(&stuck, SHMEM_CMP_EQ, 1);
            cleared = 1;
            shmem_clear_lock(&lock);
        }
        setitimer(ITIMER_REAL, &off, NULL);
        shmem_barrier_all();
        if (me == 0) CHECK_NUM(taken_by_2, 1, "who stayed has had the lock");
        if (me == 0) CHECK_NUM(lock, 0, "free at the end");
        shmem_barrier_all();
    }
    return check_end();
}
