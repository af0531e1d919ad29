# timeout: 120
# Limits of the system that are too small for a job end in a sentence that names the limit, never in a signal or a hang.
set -u
cat >hello.c <<'C'
#include <shmem.h>
#include <stdio.h>
int main(void)
{
    shmem_init();
    long *x = shmem_malloc(sizeof *x);
    shmem_long_p(x, 7, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
    printf("%ld\n", *x);
    shmem_finalize();
    return 0;
}
C
"$OSHCC" -O1 hello.c -o hello || exit 1
failed=0
# LIMIT (ulimit flag and value) NPES REGEX [command before the program]
limit() {
    local what=$1 n=$2 re=$3
    shift 3
    (ulimit $what && exec timeout 30 "$OSHRUN" -n "$n" "$@" ./hello) >out 2>err </dev/null
    local rc=$?
    if [ $rc = 0 ] && [ "$(grep -c '^7$' out)" = "$n" ]; then
        echo "works with ulimit $what at $n PEs"
    elif [ $rc = 124 ] || [ $rc -gt 128 ] || [ $rc = 0 ] || ! grep -qE "$re" err; then
        echo "FAIL ulimit $what at $n PEs: status $rc"; sed 's/^/    /' err | head -5
        failed=1
    else
        echo "told with ulimit $what at $n PEs: $(head -1 err)"
    fi
}
limit "-f 2000" 2 'ulimit -f|file size'
limit "-f 200000" 2 'ulimit -f'
limit "-v 1500000" 2 'ulimit -v|RLIMIT_AS|address space'
limit "-n 14" 8 'ulimit -n|descriptor'
limit "-n 40" 8 'ulimit -n|descriptor'
SHMEM_SYMMETRIC_SIZE=4000000t limit "-c 0" 2 'SHMEM_SYMMETRIC_SIZE'
SHMEM_SYMMETRIC_SIZE=100t limit "-c 0" 2 'SHMEM_SYMMETRIC_SIZE|address space'
SHMEM_SYMMETRIC_SIZE=lots limit "-c 0" 2 'SHMEM_SYMMETRIC_SIZE.*lots'
SHMEM_SYMMETRIC_SIZE=-5 limit "-c 0" 2 'SHMEM_SYMMETRIC_SIZE.*-5'
SHMEM_CORES=many limit "-c 0" 2 'SHMEM_CORES.*many'
SHMEM_STATIC=perhaps limit "-c 0" 2 'SHMEM_STATIC.*perhaps'
SHMEM_SYMETRIC_SIZE=1m "$OSHRUN" -n 2 ./hello >out 2>err
[ "$(grep -c 'SHMEM_SYMMETRIC_SIZE' err)" = 1 ] || { echo "FAIL: one warning with the nearest name wanted"; cat err; failed=1; }
if command -v valgrind >/dev/null; then
    limit "-c 0" 2 'valgrind' valgrind -q --error-exitcode=9
    (ulimit -f 2000 && timeout 30 "$OSHRUN" -n 2 valgrind -q ./hello) >out 2>err </dev/null
    rc=$?
    [ $rc != 0 ] && [ $rc -lt 124 ] || { echo "FAIL: valgrind with ulimit -f: status $rc"; failed=1; }
fi
exit $failed
