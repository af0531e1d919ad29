# shmemx_init_attr with a unique id: the program says who it is, whatever the environment has to say.
# timeout: 120
. "$SRC/test/boot/lib.sh"
need_pe
# run STATUS NPES WHAT
run() {
    local want=$1 n=$2 i p rc
    [ -n "${keep_id:-}" ] || rm -f id
    pids=
    : >out; : >err
    for i in $(seq $((n - 1)) -1 0); do
        timeout -k 5 60 "$pe" id $i $n "$3" >>out 2>>err &
        pids="$pids $!"
    done
    collect
    for rc in $codes; do [ $rc = "$want" ] || fail "$3, $n PEs: statuses $codes instead of $want: $(head -2 err)"; done
}
for n in 1 2 4 8; do
    run 0 $n plain
    lines $n "$n PEs" "^well [0-9] of $n$"
done
for maker in 1 3; do run 0 4 by$maker; done

# Made by a process that is no PE: a parent that forks them, or one beside them.
rm -f id
timeout -k 5 60 "$pe" fork-pes 4 >out 2>err || fail "forked PEs: status $?: $(head -3 err)"
lines 4 "forked PEs" "^well [0-3] of 4$"
keep_id=1
rm -f id
"$pe" make-id 30 & maker=$!
run 0 4 by-1
kill $maker
run 0 4 by-1 # and it has gone: nobody needs it
keep_id=

RANK=0 WORLD_SIZE=1 run 0 2 "against RANK"
SHMEM_BOOT=single run 0 2 "against SHMEM_BOOT"
run 1 1 junk
says junk "the unique id is none that shmemx_get_uniqueid of this library has made"
SHMEM_BOOT_TIMEOUT=1 run 1 2 wrong
says "a wrong secret" "the job refuses this process: it does not know the secret of the job"
says "a wrong secret" "PE 1 of 2 has not come within 1 s"
finish
