# timeout: 240
# A PE that dies of a signal: one line that says which PE, of what, where; the status of the signal; core files and other
# handlers as they would be without ours.
set -u
cd "$PWD" && cp "$SRC/test/fault/fault.c" . || exit 1
"$OSHCC" -g -O1 -w fault.c -o fault -lpthread || exit 1
failed=0 passed=0
# PROGRAM NPES CASE STATUS EXPECTED: one line of ours, which the extended regular expression matches
expect() {
    local program=$1 n=$2 name=$3 status=$4 re=$5 rc why=
    timeout 30 $before "$OSHRUN" -n "$n" "$program" "$name" >out 2>err </dev/null
    rc=$?
    [ $rc = "$status" ] || why="status $rc instead of $status"
    [ "$(grep -c '^hbmesh' err)" = 1 ] || why="${why:-$(grep -c '^hbmesh' err) lines instead of 1}"
    grep -qE -- "$re" err || why="${why:-no match for /$re/}"
    if [ -n "$why" ]; then
        echo "FAIL $program $name on $n PEs: $why"; sed 's/^/    /' err | head -5
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}
before=
ulimit -c 0
for n in 1 2 3; do
    last="^hbmesh: PE $((n - 1)): " any="^hbmesh: PE [0-9]: "
    expect ./fault $n null 139 "${last}SIGSEGV: write to 0x0, a NULL pointer; at fault\+0x"
    expect ./fault $n null_field 139 "${last}SIGSEGV: read from 0x18, a NULL pointer and some bytes"
    expect ./fault $n wild 139 "${last}SIGSEGV: a pointer that is no address"
    expect ./fault $n unmapped 139 "${last}SIGSEGV: write to 0x[0-9a-f]+, where no memory is mapped"
    expect ./fault $n read_only 139 "${last}SIGSEGV: write to 0x[0-9a-f]+, in read-only memory of fault"
    expect ./fault $n jump 139 "${last}SIGSEGV: jump to 0x[0-9a-f]+, "
    expect ./fault $n freed_own 139 "${any}SIGSEGV: write to .* of the symmetric heap of this PE, in memory that was freed"
    expect ./fault $n freed_late 139 "${any}SIGSEGV: write to .* of the symmetric heap of this PE, in memory that was freed"
    expect ./fault $n freed_put 139 \
        "^hbmesh: PE 0: shmem_putmem: SIGSEGV: write to .* of the symmetric heap of (PE $((n - 1))|this PE), in memory that was freed; called at fault\+0x"
    expect ./fault $n freed_ptr 139 "^hbmesh: PE 0: SIGSEGV: write to .* in memory that was freed; at fault"
    expect ./fault $n local_null 139 "${last}.*SIGSEGV: write to 0x0, a NULL pointer; called at fault"
    expect ./fault $n stack_overflow 139 "${last}SIGSEGV: (write to|read from) 0x[0-9a-f]+, stack overflow"
    expect ./fault $n big_frame 139 "${last}SIGSEGV: write to 0x[0-9a-f]+, stack overflow"
    expect ./fault $n divide 136 "${last}SIGFPE: integer division by zero.* at fault\+0x"
    expect ./fault $n abort 134 "${last}SIGABRT: abort was called; called at fault\+0x"
    expect ./fault $n sent 139 "${last}SIGSEGV: sent by process [0-9]+$"
    expect ./fault $n thread 139 "${last}SIGSEGV: write to 0x0, a NULL pointer"
    expect ./fault $n file_end 135 "${last}SIGBUS: .*behind the end of a mapped file"
done
# the address leads to the line
at=$(sed -n 's/.* at fault+\(0x[0-9a-f]*\).*/\1/p' err); "$OSHRUN" -n 1 ./fault divide 2>err; at=$(sed -n 's/.* at fault+\(0x[0-9a-f]*\).*/\1/p' err)
if command -v addr2line >/dev/null && ! addr2line -f -e fault "$at" | grep -q divide; then
    echo "FAIL addr2line $at does not lead to divide()"; failed=$((failed + 1))
fi
# what must not be touched
out=$("$OSHRUN" -n 2 ./fault child 2>&1); [ "$out" = "went on
went on" ] || { echo "FAIL child of fork: $out"; failed=$((failed + 1)); }
out=$("$OSHRUN" -n 2 ./fault own 2>&1); [ $? = 51 ] && case $out in "the program's own handler"*) ;; *) false ;; esac ||
    { echo "FAIL the program's own handler: $out"; failed=$((failed + 1)); }
out=$("$OSHRUN" -n 2 ./fault after_finalize 2>&1) && [ -z "$out" ] || { echo "FAIL after finalize: $out"; failed=$((failed + 1)); }
out=$(SHMEM_SIGNALS=off "$OSHRUN" -n 2 ./fault null 2>&1); [ $? = 139 ] && case $out in *'a NULL pointer'*) false ;; *) ;; esac ||
    { echo "FAIL SHMEM_SIGNALS=off: $out"; failed=$((failed + 1)); }
# linked from the archive, and at fixed addresses
for how in -hm-static "-no-pie -fno-pie" -static; do
    # shellcheck disable=SC2086
    if ! "$OSHCC" $how -g -O1 -w fault.c -o fault2 -lpthread 2>link.log; then
        [ "$how" = -static ] && continue # no static libc here
        cat link.log; failed=$((failed + 1)); continue
    fi
    expect ./fault2 2 null 139 '^hbmesh: PE 1: SIGSEGV: write to 0x0, a NULL pointer; at fault2\+0x'
    expect ./fault2 2 freed_put 139 '^hbmesh: PE 0: .*in memory that was freed'
    expect ./fault2 2 stack_overflow 139 'stack overflow'
    expect ./fault2 2 abort 134 'SIGABRT: abort was called'
done
# memory that runs out: a small /dev/shm in place of memfds
"$CC" -O1 "$SRC/test/fault/no-memfd.c" -o no-memfd || exit 1
cat >small.sh <<'EOF'
mount -t tmpfs -o size=16m none /dev/shm && exec ./no-memfd "$@"
EOF
if unshare -m bash small.sh true 2>/dev/null; then
    before="unshare -m bash small.sh"
    export SHMEM_SYMMETRIC_SIZE=128m
    expect ./fault 2 fill 135 \
        '^hbmesh: PE 1: (shmem.*: )?SIGBUS: access to 0x[0-9a-f]+, offset [0-9]+ of the symmetric heap of this PE: out of memory: the symmetric heaps of all PEs have committed (1[0-9] MiB|[0-9]{4,5} KiB); the limit is 16 MiB, that of the file system at /dev/shm'
    expect ./fault 2 fill_data 135 'SIGBUS: .* of the static data of this PE: out of memory: .*the limit is 16 MiB'
    unset SHMEM_SYMMETRIC_SIZE
else
    echo "not tested: memory that runs out (no mount namespace, or no seccomp)"
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
