# A PE that leaves, or dies, while PEs of other machines are about to connect to it or talk to it: what is said is the
# launcher's word, not the connections'.
# timeout: 180
. "$SRC/test/ucx/lib.sh"
cat >leave.c <<'C'
#include <shmem.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static long word[4];
int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    if (argc > 1 && !strcmp(argv[1], "exit")) {
        if (me == 0) shmem_global_exit(0);
        shmem_barrier_all();
        return 1;
    }
    if (argc > 1 && !strcmp(argv[1], "abort")) { /* what UCX does on a connection that has just failed */
        if (me == 1) {
            shmem_long_p(&word[0], 1, 0);
            shmem_quiet();
            usleep(50000); /* the launcher knows later than the connection */
            exit(41);
        }
        shmem_long_wait_until(&word[0], SHMEM_CMP_EQ, 1);
        abort();
    }
    for (int i = 0;; i++) { /* until it is ended */
        for (int pe = 0; pe < npes; pe++) {
            shmem_long_atomic_add(&word[0], 1, pe);
            shmem_long_p(&word[1], i, pe);
            shmem_long_atomic_fetch_add_nbi(&word[3], &word[2], 1, pe);
        }
        if (i % 8 == 0) shmem_quiet();
        if (me == 1 && i == 200) exit(41);
    }
}
C
"$OSHCC" -O1 leave.c -o leave || fail 'leave.c does not build'
leave() { # STATUS LAYOUT CASE
    timeout 60 "$OSHRUN" --timeout 50 --machines "$2" -n 4 ./leave "$3" >out 2>err
    rc=$?
    [ $rc = "$1" ] || { cat out err; fail "$3 on $2: status $rc, not $1"; }
}
for layout in 2 cyclic:2 1+3; do
    for i in 1 2 3; do
        leave 0 $layout exit
        [ -s err ] && { cat err; fail "global_exit on $layout is not silent"; }
        for what in die abort; do
            leave 41 $layout $what
            [ "$(wc -l <err)" = 1 ] && grep -q 'PE 1 .*exited with status 41' err ||
                { cat err; fail "$what on $layout: not one line by the launcher"; }
        done
    done
done
exit 0
