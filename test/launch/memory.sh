# A PE that the kernel kills for want of memory: one line with the bytes of all heaps, the limit and whose it is.
. "$SRC/test/launch/lib.sh"
v1=/sys/fs/cgroup/memory/hbmesh-test-$$ v2=/sys/fs/cgroup/hbmesh-test-$$
if mkdir "$v1" 2>/dev/null; then
    group=$v1 file=memory.limit_in_bytes
elif [ -f /sys/fs/cgroup/cgroup.subtree_control ] && mkdir "$v2" 2>/dev/null; then
    group=$v2 file=memory.max
fi
[ -n "${group:-}" ] || { echo "no cgroup can be made here"; exit 77; }
trap 'for i in $(seq 50); do rmdir "$group" 2>/dev/null && break; sleep 0.1; done' EXIT
[ -f "$group/$file" ] || { echo "no memory cgroup can be made here"; exit 77; }
echo 134217728 > "$group/$file" || { echo "no limit can be set here"; exit 77; }
for swap in memory.memsw.limit_in_bytes memory.swap.max; do # not there without accounting of swap
    [ -f "$group/$swap" ] && case $swap in memory.swap.max) echo 0 ;; *) echo 134217728 ;; esac > "$group/$swap"
done 2> /dev/null

cat > eat.c <<'END'
#include <shmem.h>
int main(void)
{
    shmem_init();
    size_t n = 600u << 20;
    char *p = shmem_malloc(n);
    if (shmem_my_pe() == 1)
        for (size_t i = 0; i < n; i += 4096) p[i] = 1;
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
END
"$OSHCC" -O1 -o eat eat.c || exit 1
pe=$work/eat
expect 137 "out of memory" bash -c 'echo $$ > "$0/cgroup.procs"; exec "$@"' "$group" "$OSHRUN" -n 3 ./eat
one_line "out of memory"
says "out of memory" "PE [0-2] .*heaps of all PEs had committed [0-9.]+ MiB, and the limit is 128.0 MiB, $file of cgroup "
nothing_left "out of memory" 2
# killed by somebody: no word of memory
"$OSHRUN" -n 2 sleep 60 > out 2> err & job=$!
for i in $(seq 100); do guard=$(children $job | tr -d ' '); [ -n "$guard" ] && [ "$(children $guard | wc -l)" = 2 ] && break; sleep 0.05; done
kill -9 $(children $guard | head -1)
wait $job
one_line killed
! grep -q memory err || fail "killed by somebody: $(cat err)"
finish
