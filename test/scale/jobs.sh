# Real jobs of 8 to 64 PEs, each a make-believe machine of its own: what a PE takes does not grow but by what doc/scale.md
# says, descriptors only with those contacted, and init exchanges at most 512 bytes for each PE.
# timeout: 240
# label: long
. "$SRC/test/ucx/lib.sh"
unset SHMEM_PATHS SHMEM_MACHINES SHMEM_MAPPED
cat >job.c <<'C'
#include <dirent.h>
#include <shmem.h>
#include <stdio.h>
#include <string.h>
static long word;
static long dirty(void)
{
    char line[256];
    long kib = 0;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Private_Dirty: %ld", &kib) == 1) break;
    if (f) fclose(f);
    return kib;
}
static int descriptors(void)
{
    int n = -3;
    DIR *dir = opendir("/proc/self/fd");
    while (readdir(dir)) n++;
    closedir(dir);
    return n;
}
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    shmem_barrier_all();
    long memory = dirty(), one = 0;
    int fds = descriptors();
    for (int i = 1; i < n && me == 0; i++) {
        shmem_long_p(&word, 1, i);
        shmem_quiet();
        if (i == 1) one = dirty();
    }
    if (me == 0) printf("%d %ld %d %ld %ld %d\n", n, memory, fds, one - memory, dirty() - one, descriptors());
    shmem_barrier_all();
    if (word != (me > 0)) shmem_global_exit(3);
    shmem_finalize();
    return 0;
}
C
"$OSHCC" -O1 job.c -o job || fail 'job.c does not build'
for n in 8 16 32 64; do
    "$OSHRUN" --timeout 100 -q -n $n --machines $n ./job >>out 2>err || fail "$n PEs: $(cat err)"
    tail -1 out | { read -r n memory fds first more then
        echo "$n PEs: $memory KiB and $fds descriptors after init; the first contact $first KiB, the others $more KiB" \
             "together; $then descriptors"; }
done
# 56 more PEs at 256 bytes are 14 KiB; pages and what UCX takes for two more partners in a barrier are left for.
awk 'NR == 1 { m = $2; f = $3 } NR == 4 { exit !($2 - m <= 14 + 96 && $3 - f <= 12) }' out ||
    fail 'memory or descriptors grow with PEs that were not contacted'
SHMEM_DEBUG=1 "$OSHRUN" --timeout 60 -n 2 --machines 2 ./job >/dev/null 2>err || fail "with SHMEM_DEBUG: $(cat err)"
# 112 bytes of greeting, 212 of the bootstrap (core/world.c, boot/meet.c)
told=$(sed -n 's/.*each PE tells where its transport finds it in \([0-9]*\) bytes.*/\1/p' err | head -1)
[ -n "$told" ] && echo "init exchanges $((told + 112 + 212)) bytes for each PE"
devices=$(ls /sys/class/net | wc -l)
[ -n "$told" ] && { [ $((told + 112 + 212)) -le 512 ] || [ "$devices" -gt 4 ]; } || fail "init exchanges more: $(cat err)"
exit 0
