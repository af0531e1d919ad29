# Jobs on make-believe machines: global_exit reaches who sleeps on another one, a dead PE ends the whole job, reports name
# the PEs of all.
# timeout: 180
. "$SRC/test/launch/lib.sh"
[ -e "$BUILD/lib/hbmesh/libhbmesh-ucx.so" ] || { echo "skipped: the transport ucx is not built here"; exit 77; }
need_pe
"$OSHCC" -O1 -o far "$here/far.c" || { echo "cannot build far.c"; exit 1; }
unset SHMEM_MACHINES

# 0.4 s past the call: all have left by themselves, none was killed; SHMEM_POLL=off: nobody looks up unless he is woken
for machines in 2 3+1 cyclic:2; do
    for how in word lock world team shared; do
        for poll in on off; do
            [ $how$poll = lockoff ] && continue # who waits for a lock on his own machine looks up by himself alone
            expect 7 "$how, $machines, poll $poll" "$OSHRUN" -n 4 --machines "$machines" --timeout 20 -x SHMEM_POLL=$poll ./far $how
            # who asks for a lock on another machine meets a PE that has left, and then waits to be killed (core/far.c)
            [ $how = lock ] && continue
            [ "$(grep '^left' out | sort | tr '\n' ,)" = "left 0,left 1,left 2,left 3," ] ||
                fail "$how, $machines, poll $poll: $(tr '\n' , < out)"
            [ -s err ] && fail "$how, $machines, poll $poll: $(cat err)"
        done
    done
done

run=("$OSHRUN" -n 4 --machines 2)
expect 0 "start and end" "${run[@]}" "$pe" plain
[ "$(grep -c ^up out)" = 4 ] || fail "start and end: $(cat out)"
expect 0 "three times" "${run[@]}" "$pe" twice
[ "$(grep -c ^up out)" = 12 ] || fail "three times: $(cat out)"
expect 9 "global_exit, PEs that never call" "${run[@]}" "$pe" global-busy 9
nothing_left "global_exit, PEs that never call"
for how in "exit7 7" "_exit5 5" "kill 137" "segv 139"; do
    set -- $how
    expect "$2" "die $1" "${run[@]}" "$pe" die "$1"
    one_line "die $1"
    says "die $1" 'PE 1 '
    nothing_left "die $1" 2
done
expect 1 "never" "${run[@]}" "$pe" never
one_line never

# the report, with PEs of both machines
expect 124 timeout "${run[@]}" --timeout 1.5 "$pe" hang
says timeout 'timeout of 1.5 s'
says timeout 'PE 0 .*outside the library'
for i in 1 2 3; do says timeout "PE $i .*waits in shmem_.* on the world team"; done
nothing_left timeout
expect 124 word "${run[@]}" --timeout 1.5 "$pe" word
for i in 1 2 3; do says word "PE $i .*waits in shmem_long_wait_until on address .*static data"; done
expect 124 half "${run[@]}" --timeout 1.5 "$pe" half
for i in 1 2 3; do says half "PE $i .*waits in shmem_init.* for PE 0 \(1 of 4"; done
finish
