# A Slurm of a test's own, which needs its programs alone (Debian: slurmctld, slurmd, slurm-client, slurm-wlm-basic-plugins):
# no configuration and no service. It is where SLURM_ROOT says, where make check has unpacked it, or where it is installed.

need_slurm() {
    local program
    slurm_root=${SLURM_ROOT:-}
    [ -n "$slurm_root" ] || [ ! -x "$BUILD/slurm/usr/sbin/slurmd-wlm" ] || slurm_root=$BUILD/slurm
    slurm_plugins=$(ls -d "$slurm_root"/usr/lib/*/slurm-wlm 2>/dev/null | head -1)
    for program in sbin/slurmctld-wlm sbin/slurmd-wlm sbin/slurmstepd-wlm bin/srun bin/sinfo; do
        [ -x "$slurm_root/usr/$program" ] ||
            { echo "skipped: no $slurm_root/usr/$program (Debian: slurmctld, slurmd, slurm-client)"; exit 77; }
    done
    [ -f "$slurm_plugins/mpi_pmix.so" ] || { echo "skipped: this Slurm has no PMIx"; exit 77; }
    [ -f "$BUILD/lib/hbmesh/pmix.so" ] || { echo "skipped: built without pmix.h (Debian: libpmix-dev)"; exit 77; }
    [ "$(id -u)" = 0 ] || { echo "skipped: slurmd wants to be root"; exit 77; }
    slurm_libraries=$slurm_plugins:${slurm_plugins%/slurm-wlm}
    [ -z "$slurm_root" ] || slurm_libraries=$slurm_libraries:$(echo "$slurm_root"/lib/*-linux-gnu)
}

# exec_slurm PROGRAM...: becomes a program of Slurm; slurm PROGRAM...: runs it
exec_slurm() {
    local program=$1
    shift
    export LD_LIBRARY_PATH=$slurm_libraries
    exec "$slurm_root/usr/$program" "$@"
}
slurm() { (exec_slurm "$@"); }

# slurm_configure "CONTROLLER ADDRESS" "NODE ADDRESS" ...: in this folder
slurm_configure() {
    local node names=
    mkdir -p state log cg/freezer
    cat >cgroup.conf <<END_OF_CGROUP
CgroupPlugin=cgroup/v1
CgroupMountpoint=$PWD/cg
CgroupAutomount=no
END_OF_CGROUP
    cat >slurm.conf <<END_OF_CONFIGURATION
ClusterName=test
SlurmctldHost=${1% *}(${1#* })
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
SlurmctldPort=$((20000 + $$ % 10000))
SlurmdPort=$((30000 + $$ % 10000))
StateSaveLocation=$PWD/state
SlurmdSpoolDir=$PWD/spool.%n
SlurmctldPidFile=$PWD/ctld.pid
SlurmdPidFile=$PWD/slurmd.%n.pid
SlurmctldLogFile=$PWD/log/ctld
SlurmdLogFile=$PWD/log/slurmd.%n
PluginDir=$slurm_plugins
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
TmpFS=/dev/shm
END_OF_CONFIGURATION
    shift
    for node; do
        echo "NodeName=${node% *} NodeAddr=${node#* } CPUs=8 State=UNKNOWN" >>slurm.conf
        mkdir -p "spool.${node% *}"
        names=$names,${node% *}
    done
    echo "PartitionName=p Nodes=${names#,} Default=YES MaxTime=INFINITE State=UP" >>slurm.conf
    export SLURM_CONF=$PWD/slurm.conf
}

# slurm_wait NODES: until so many are idle
slurm_wait() {
    local i state
    for i in $(seq 120); do
        state=$(slurm bin/sinfo -h -o '%T %D' 2>/dev/null)
        [ "$state" = "idle $1" ] && return
        sleep 0.25
    done
    echo "skipped: Slurm does not start here: $(tail -qn 1 log/ctld log/slurmd.* 2>/dev/null)"
    exit 77
}

# srun_job STATUS NAME OPTIONS COMMAND...: OPTIONS is one word, "-N 2 -n 4"; output in out and err
srun_job() {
    local want=$1 name=$2 options=$3 rc
    shift 3
    (export LD_LIBRARY_PATH="$slurm_libraries"
     exec timeout -k 5 60 "$slurm_root/usr/bin/srun" --mpi=pmix $options "$@") >out 2>err </dev/null
    rc=$?
    [ $rc = "$want" ] || { fail "$name, srun $options: status $rc instead of $want"; head -8 err | sed 's/^/    /'; }
}
