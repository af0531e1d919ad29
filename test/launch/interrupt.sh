# Interrupted where PEs meet: the job ends with status 130, one PE says where it was, or the program does.
# timeout: 120
. "$SRC/test/launch/lib.sh"
pe=$work/interrupt-$$
"$OSHCC" -O1 -g -o "$pe" "$here/interrupt.c" || exit 1

# try WHERE WHO CALL PES LINES [says]: SIGUSR1 to the PEs as soon as LINES of them are up
try() {
    : > out 2> err # of the job before: its lines would count as this one's, until the shell has opened the file anew
    "$OSHRUN" --timeout 20 -n "$4" "$pe" "$1" "$2" ${6:-} > out 2> err < /dev/null &
    job=$!
    wait_for "$5" ^up out || fail "$1 $2: did not start: $(cat out err)"
    sleep 0.15
    kill -USR1 $job
    wait $job
    rc=$?
    [ $rc = 130 ] || { fail "$1 $2: status $rc instead of 130"; head -5 err; }
    nothing_left "$1 $2" 2
    if [ -n "${6:-}" ]; then
        [ "$(grep -c . err)" -le 2 ] && [ "$(grep -c '^the program says why$' err)" = 1 ] ||
            { fail "$1 $2, the program speaks:"; head -5 err; }
    else
        one_line "$1 $2"
        says "$1 $2" "PE [0-9]: $3: interrupted"
    fi
}
for where in barrier_all:shmem_barrier_all sync_all:shmem_sync_all team_sync:shmem_team_sync sync_pe:shmemx_sync_pe \
    malloc:shmem_malloc broadcast:shmem_long_broadcast reduce:shmem_long_sum_reduce agree:shmemx_agree \
    split:shmem_team_split_strided finalize:shmem_finalize exit:'exit without shmem_finalize'; do
    try "${where%%:*}" 1 "${where#*:}" 3 3
    try "${where%%:*}" 1 "${where#*:}" 2 2 says
done
try init 1 shmem_init 3 2
for n in 3 8; do # several at once: one of them speaks
    try barrier_all rest shmem_barrier_all $n $n
    try reduce rest shmem_long_sum_reduce $n $n says
done
SHMEM_CORES=64 try barrier_all 1 shmem_barrier_all 3 3 # the other way to meet
finish
