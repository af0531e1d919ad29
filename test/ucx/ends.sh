# Over the transport: nobody has to be in a call for data to arrive, an idle PE idles, and a job ends as it does
# otherwise.
# timeout: 120
. "$SRC/test/ucx/lib.sh"
export SHMEM_MAPPED=off

cat >end.c <<'C'
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static long word, back;
static int me, npes, next;
static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
static void compute(double seconds)
{
    for (double end = now(CLOCK_MONOTONIC) + seconds; now(CLOCK_MONOTONIC) < end;) continue;
}
/* The very first operation of a context nobody waits for, from one who computes, to one who computes. */
static int late(void)
{
    double begin = now(CLOCK_MONOTONIC), came = 0;
    shmem_ctx_t ctx;
    if (shmem_ctx_create(0, &ctx)) return 2;
    shmem_ctx_long_p(ctx, &word, 7, next);
    for (double t = begin; t < begin + 1.5; t = now(CLOCK_MONOTONIC))
        if (!came && *(volatile long *)&word == 7) came = t;
    shmem_ctx_destroy(ctx);
    if (!came) return 3;
    if (came - begin > 0.1) printf("it came after %.0f ms\n", (came - begin) * 1e3);
    return 0;
}
/* All sleep in a wait, then one more word is put: the progress thread wakes them. */
static int asleep(void)
{
    if (me == 0) {
        sleep(1);
        shmem_long_p(&word, 1, next);
        shmem_long_wait_until(&back, SHMEM_CMP_EQ, 1);
    } else {
        double cpu = now(CLOCK_PROCESS_CPUTIME_ID);
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
        if (now(CLOCK_PROCESS_CPUTIME_ID) - cpu > 0.1) return 4;
        if (next) shmem_long_p(&word, 1, next);
        else shmem_long_p(&back, 1, 0);
    }
    return 0;
}
/* Nothing is under way: the thread sleeps. */
static int idle(void)
{
    sleep(1);
    double cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    sleep(2);
    return now(CLOCK_PROCESS_CPUTIME_ID) - cpu > 0.02 ? 5 : 0;
}
int main(int argc, char **argv)
{
    int rc = 0;
    (void)argc;
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    next = (me + 1) % npes;
    if (strcmp(argv[1], "late")) { /* all are connected */
        for (int i = 0; i < npes; i++) shmem_long_atomic_add(&word, 0, i);
        shmem_quiet();
    }
    shmem_barrier_all();
    if (!strcmp(argv[1], "late")) rc = late();
    if (!strcmp(argv[1], "asleep")) rc = asleep();
    if (!strcmp(argv[1], "idle")) rc = idle();
    if (!strcmp(argv[1], "global_exit")) {
        if (me == 1) shmem_global_exit(42);
        compute(30);
    }
    if (!strcmp(argv[1], "exit")) {
        if (me == 1) exit(41);
        compute(30);
    }
    if (!strcmp(argv[1], "kill")) {
        if (me == 1) raise(SIGKILL);
        shmem_long_wait_until(&back, SHMEM_CMP_EQ, 99);
    }
    if (!strcmp(argv[1], "torn")) { /* in the midst of large ones */
        char *big = shmem_malloc(4 << 20), *own = calloc(1, 4 << 20);
        if (me == 1) compute(0.5), raise(SIGKILL);
        for (;;) {
            shmem_putmem(big, own, 4 << 20, 1);
            shmem_getmem(own, big, 4 << 20, 1);
            shmem_getmem_nbi(own, big, 4 << 20, 1);
        }
    }
    if (!strcmp(argv[1], "again"))
        for (int i = 0; i < 5; i++) {
            shmem_long_p(&word, i, next);
            shmem_finalize();
            shmem_init();
            if (word != i) rc = 6;
            shmem_barrier_all();
        }
    if (rc) shmem_global_exit(rc);
    if (!strcmp(argv[1], "unfinished")) { /* exit without finalize */
        shmem_long_p(&word, 1, next);
        return 0;
    }
    shmem_finalize();
    return 0;
}
C
"$OSHCC" -O1 end.c -o end || fail 'end.c does not build'

ends() { # STATUS NPES CASE
    timeout 60 "$OSHRUN" --timeout 50 -n "$2" ./end "$3" >out 2>err
    rc=$?
    [ $rc = "$1" ] || { cat out err; fail "$3 on $2 PEs: status $rc, not $1"; }
}
ends 0 2 late
ends 0 3 asleep
ends 0 2 idle
ends 0 3 again
ends 0 3 unfinished
ends 42 3 global_exit
[ -s err ] && fail "global_exit says: $(cat err)"
ends 41 3 exit
grep -q 'PE 1 .*exited with status 41' err || fail "exit: $(cat err)"
grep -q 'cannot be reached' err && fail "exit: the connection had the first word: $(cat err)"
ends 137 3 kill
grep -q 'PE 1 .*signal 9' err || fail "kill: $(cat err)"
grep -q 'cannot be reached' err && fail "kill: the connection had the first word: $(cat err)"
ends 137 3 torn
grep -q 'PE 1 .*signal 9' err || fail "torn: $(cat err)"
exit 0
