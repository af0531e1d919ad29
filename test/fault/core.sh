# timeout: 120
# An abort in a job of 8 heaps of 32 GiB leaves a core file under 64 MiB, in which a debugger finds the program's data and
# its own heap; a debugger also runs on a live PE.
set -u
fail() { echo "FAIL $*"; failed=$((failed + 1)); }
failed=0
"$OSHCC" -g -O0 "$SRC/test/fault/core.c" -o core-maker || exit 1
pattern=$(cat /proc/sys/kernel/core_pattern 2>/dev/null)
case $pattern in core | core.%p) ;; *) echo "core files go elsewhere here ($pattern)"; exit 77 ;; esac
ulimit -c unlimited 2>/dev/null || { echo "core files are not allowed here"; exit 77; }
rm -f core core.*
SHMEM_SYMMETRIC_SIZE=32G timeout 60 "$OSHRUN" -n 8 ./core-maker >out 2>&1
rc=$?
[ $rc = 134 ] || fail "status $rc"
[ "$(grep -c '^hbmesh: PE 1: SIGABRT' out)" = 1 ] || fail "$(cat out)"
core=$(ls core core.* 2>/dev/null | head -1)
[ -n "$core" ] || { fail "no core file"; exit 1; }
disk=$(du -k "$core" | cut -f1) size=$(stat -c %s "$core")
[ "$disk" -lt 65536 ] && [ "$size" -lt $((64 << 20)) ] || fail "the core file has $size bytes, $disk KiB on disk"
if command -v gdb >/dev/null; then
    gdb -q -batch -ex bt -ex 'print plain' -ex 'print (int)huge_bss[100 << 20]' -ex 'print (int)huge_bss[700 << 20]' \
        -ex 'print block[5]' ./core-maker "$core" >gdb.out 2>&1
    for want in 'main (' '= 4712' '= 42$' '= 43$' '= 815'; do
        grep -q -- "$want" gdb.out || fail "gdb does not say '$want' about the core file: $(tail -6 gdb.out)"
    done
    rm -f pid
    SHMEM_SYMMETRIC_SIZE=32G timeout 60 "$OSHRUN" -n 4 ./core-maker pid >out 2>&1 &
    for _ in $(seq 100); do [ -s pid ] && break; sleep 0.1; done
    timeout 50 gdb -q -batch -ex bt -ex 'print plain' -ex 'set var plain = 5' -ex 'print plain + 1' -ex 'print block[5]' \
        -ex 'print pause' -ex kill -p "$(cat pid)" >live.out 2>&1
    wait
    grep -q 'Could not attach\|not permitted' live.out || for want in 'main (' '= 4712' '= 6$' '= 815'; do
        grep -q -- "$want" live.out || fail "gdb -p does not say '$want': $(tail -6 live.out)"
    done
else
    echo "not tested: gdb (not installed)"
fi
echo "core file: $size bytes, $disk KiB on disk"
rm -f "$core"
[ $failed = 0 ]
