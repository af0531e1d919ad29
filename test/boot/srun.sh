# Jobs that Slurm starts: a Slurm of one node, set up here and removed again.
# timeout: 150
. "$SRC/test/boot/lib.sh"
. "$SRC/test/boot/lib_slurm.sh"
need_slurm
need_pe
host=$(hostname)
slurm_configure "$host 127.0.0.1" "$host 127.0.0.1"
(exec_slurm sbin/slurmctld-wlm -D >log/c 2>&1) &
ctld=$!
(exec_slurm sbin/slurmd-wlm -D -N "$host" -d "$slurm_root/usr/sbin/slurmstepd-wlm" >log/d 2>&1) &
slurmd=$!
trap 'kill $slurmd $ctld 2>/dev/null; sleep 0.5; kill -9 $slurmd $ctld 2>/dev/null' EXIT
slurm_wait 1

for n in 1 2 4 8; do
    srun_job 0 "hello" "-n $n" "$pe" rounds 3
    lines $n "hello, $n PEs" "^well [0-9] of $n$"
done
for who in 0 1; do
    srun_job 137 "PE $who is killed" "-n 3" "$pe" kill $who
    one_line "PE $who is killed"
    srun_job 3 "PE $who exits with a status" "-n 3" "$pe" exit $who
    srun_job 5 "PE $who calls global_exit" "-n 3" "$pe" global-exit $who
    srun_job 1 "PE $who makes a mistake" "-n 3" "$pe" mistake $who
    one_line "PE $who makes a mistake"
done
export OSHRUN
srun_job 0 "children" "-n 3" "$pe" children 0
nothing_left "ends"
finish
