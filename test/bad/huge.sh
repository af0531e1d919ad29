# timeout: 180
# One global memory larger than the machine's; and a core file of it that stays small.
set -u
"$OSHCC" -g -O1 -o huge "$SRC/test/bad/huge.c" || exit 1
total=$(awk '/MemTotal/ { print $2 }' /proc/meminfo)
SHMEM_SYMMETRIC_SIZE=32G timeout 60 "$OSHRUN" -n 8 ./huge $((31 << 30)) || { echo "FAIL: 8 x 32G: status $?"; exit 1; }
echo "8 x 32 GiB on $((total >> 20)) GiB of memory: all ends reached"
pattern=$(cat /proc/sys/kernel/core_pattern)
case $pattern in
/* | \|*) echo "core files go elsewhere ($pattern): their size is not looked at"; exit 0 ;;
esac
(ulimit -c unlimited && SHMEM_SYMMETRIC_SIZE=32G timeout 100 "$OSHRUN" -n 8 ./huge $((16 << 20)) abort) >out 2>err
rc=$?
[ $rc = 134 ] || { echo "FAIL: abort gave status $rc, not 134"; cat err; exit 1; }
core=$(ls core* 2>/dev/null | head -1)
[ -n "$core" ] || { echo "no core file was written: its size is not looked at"; exit 0; }
kib=$(du -k "$core" | cut -f1)
echo "core file: $kib KiB on disk"
[ "$kib" -lt 65536 ] || { echo "FAIL: the core file takes $kib KiB"; exit 1; }
if command -v gdb >/dev/null; then
    gdb -batch -ex bt ./huge "$core" 2>/dev/null | grep -q 'main' || { echo "FAIL: gdb finds no main in the core"; exit 1; }
fi
exit 0
