# Jobs that Slurm starts on two hosts.
# timeout: 120
. "$SRC/test/hosts/lib.sh"
. "$SRC/test/boot/lib_slurm.sh"
need_slurm
need_network
need_pe
hosts_up 2
slurm_configure "head $net.254" "host1 $net.1" "host2 $net.2"
(exec_slurm sbin/slurmctld-wlm -D >log/c 2>&1) &
for k in 1 2; do
    on $k env LD_LIBRARY_PATH="$slurm_libraries" "$slurm_root/usr/sbin/slurmd-wlm" -D -N host$k \
        -d "$slurm_root/usr/sbin/slurmstepd-wlm" >log/d$k 2>&1 &
done
slurm_wait 2
srun_job 0 "hello" "-N 2 -n 4" "$pe" rounds 3
lines 4 "hello" "^well [0-3] of 4$"
srun_job 0 "hello, in turns" "-N 2 -n 4 -m cyclic" "$pe" rounds 2
lines 4 "hello, in turns" "^well [0-3] of 4$"
srun_job 0 "one PE on each host" "-N 2 -n 2" "$pe" rounds 2
lines 2 "one PE on each host" "^well [01] of 2$"
for program in rma coll_active; do
    file=$BUILD/test/spec/$program
    [ -x "$file" ] || { fail "$program is not built"; continue; }
    srun_job 0 "$program" "-N 2 -n 4" env SHMEM_SYMMETRIC_SIZE=64M "$file"
done
for who in 0 3; do
    srun_job 137 "PE $who is killed" "-N 2 -n 4" "$pe" kill $who
    sentences "PE $who is killed" 2
    says "PE $who is killed" "PE $who .*(was killed by signal 9|has died)"
    srun_job 5 "PE $who calls global_exit" "-N 2 -n 4" "$pe" global-exit $who
done
alive_pes=$(alive)
[ -z "$alive_pes" ] || fail "processes left: $alive_pes"
finish
