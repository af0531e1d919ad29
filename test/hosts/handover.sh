# oshrun --hosts and --hostfile run a job on hosts, by mpirun: on which ones, with the environment and the status.
# timeout: 120
. "$SRC/test/hosts/lib.sh"
need_mpirun
need_network
need_pe
hosts_up 2

# start STATUS NAME OPTIONS...: its output in out and err
start() {
    local want=$1 name=$2 rc
    shift 2
    timeout -k 5 60 "$OSHRUN" --launcher mpirun --launcher-arg --mca --launcher-arg plm_rsh_agent --launcher-arg "$SRC/test/hosts/agent" \
        --launcher-arg --leave-session-attached --launcher-arg --mca --launcher-arg oob_tcp_if_include --launcher-arg "$net.0/24" \
        "$@" >out 2>err </dev/null
    rc=$?
    [ $rc = "$want" ] || { fail "$name: status $rc instead of $want"; head -8 err | sed 's/^/    /'; }
}
printf 'host1 slots=1 # one\nhost2:2\n' >some
say='echo "$(hostname) $OMPI_COMM_WORLD_RANK/$OMPI_COMM_WORLD_SIZE $A"'
start 0 "where" --hosts host1:2,host2:2 -x "A=1;2" sh -c "$say"
[ "$(sort out | tr '\n' ,)" = "host1 0/4 1;2,host1 1/4 1;2,host2 2/4 1;2,host2 3/4 1;2," ] || fail "where: $(cat out)"
start 0 "fewer" --hosts host1:2,host2:2 -n 3 sh -c "$say"
[ "$(sort out | tr '\n' ,)" = "host1 0/3 ,host1 1/3 ,host2 2/3 ," ] || fail "fewer: $(cat out)"
start 0 "a file" --hostfile some sh -c "$say"
[ "$(sort out | tr '\n' ,)" = "host1 0/3 ,host2 1/3 ,host2 2/3 ," ] || fail "a file: $(cat out)"
start 0 "two programs" --hosts host1:2,host2:2 -n 1 -x A=1 sh -c "$say" : -n 3 -x A=2 sh -c "$say"
[ "$(sort out | tr '\n' ,)" = "host1 0/4 1,host1 1/4 2,host2 2/4 2,host2 3/4 2," ] || fail "two programs: $(cat out)"

start 0 "a job" --hosts host1:2,host2:2 --heap 16m "$pe" rounds 2
lines 4 "a job" "^well [0-9] of 4$"
says "a job" "^oshrun: hosts given: handing over to mpirun: mpirun .*--host host1:2,host2:2 "
SHMEM_MACHINES=2 start 0 "an environment for oshrun alone" --hosts host1:1,host2:1 "$pe" rounds 1
lines 2 "an environment for oshrun alone" "^well [0-9] of 2$"
start 5 "global_exit" --hosts host1:2,host2:2 "$pe" global-exit 3
nothing_left_on_hosts "ends"
finish
