# Jobs that Slurm starts: a Slurm of one node, set up here and removed again. It needs its programs alone (Debian: slurmctld,
# slurmd, slurm-client, slurm-wlm-basic-plugins), no configuration and no service; SLURM_ROOT: where they are unpacked.
# timeout: 150
. "$SRC/test/boot/lib.sh"
root=${SLURM_ROOT:-}
plugins=$(ls -d "$root"/usr/lib/*/slurm-wlm 2>/dev/null | head -1)
for program in sbin/slurmctld-wlm sbin/slurmd-wlm sbin/slurmstepd-wlm bin/srun bin/sinfo; do
    [ -x "$root/usr/$program" ] || { echo "skipped: no $root/usr/$program (Debian: slurmctld, slurmd, slurm-client)"; exit 77; }
done
[ -f "$plugins/mpi_pmix.so" ] || { echo "skipped: this Slurm has no PMIx"; exit 77; }
[ -f "$BUILD/lib/hbmesh/pmix.so" ] || { echo "skipped: built without pmix.h (Debian: libpmix-dev)"; exit 77; }
[ "$(id -u)" = 0 ] || { echo "skipped: slurmd wants to be root"; exit 77; }
need_pe
host=$(hostname)
mkdir -p state log spool cg/freezer
cat >cgroup.conf <<END
CgroupPlugin=cgroup/v1
CgroupMountpoint=$PWD/cg
CgroupAutomount=no
END
cat >slurm.conf <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
SlurmctldPort=$((20000 + $$ % 10000))
SlurmdPort=$((30000 + $$ % 10000))
StateSaveLocation=$PWD/state
SlurmdSpoolDir=$PWD/spool
SlurmctldPidFile=$PWD/ctld.pid
SlurmdPidFile=$PWD/slurmd.pid
SlurmctldLogFile=$PWD/log/ctld
SlurmdLogFile=$PWD/log/slurmd
PluginDir=$plugins
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
TmpFS=/dev/shm
NodeName=$host NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$PWD/slurm.conf
libraries=$plugins:${plugins%/slurm-wlm}
slurm() { local program=$1; shift; LD_LIBRARY_PATH=$libraries exec "$root/usr/$program" "$@"; }
(slurm sbin/slurmctld-wlm -D >log/c 2>&1) &
ctld=$!
(slurm sbin/slurmd-wlm -D -N "$host" -d "$root/usr/sbin/slurmstepd-wlm" >log/d 2>&1) &
slurmd=$!
trap 'kill $slurmd $ctld 2>/dev/null; sleep 0.5; kill -9 $slurmd $ctld 2>/dev/null' EXIT
for i in $(seq 60); do
    state=$(slurm bin/sinfo -h -o %T 2>/dev/null)
    [ "$state" = idle ] && break
    sleep 0.5
done
[ "$state" = idle ] || { echo "skipped: Slurm does not start here: $(tail -n 1 log/ctld log/slurmd 2>/dev/null)"; exit 77; }

# job STATUS NAME NPES COMMAND...
job() {
    local want=$1 name=$2 n=$3 rc
    shift 3
    (export LD_LIBRARY_PATH=$libraries; exec timeout -k 5 60 "$root/usr/bin/srun" --mpi=pmix -n "$n" "$@") >out 2>err </dev/null
    rc=$?
    [ $rc = "$want" ] || { fail "$name, srun -n $n: status $rc instead of $want"; head -8 err | sed 's/^/    /'; }
}
for n in 1 2 4 8; do
    job 0 "hello" $n "$pe" rounds 3
    lines $n "hello, $n PEs" "^well [0-9] of $n$"
done
for who in 0 1; do
    job 137 "PE $who is killed" 3 "$pe" kill $who
    one_line "PE $who is killed"
    job 3 "PE $who exits with a status" 3 "$pe" exit $who
    job 5 "PE $who calls global_exit" 3 "$pe" global-exit $who
    job 1 "PE $who makes a mistake" 3 "$pe" mistake $who
    one_line "PE $who makes a mistake"
done
export OSHRUN
job 0 "children" 3 "$pe" children 0
nothing_left "ends"
finish
