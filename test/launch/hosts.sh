# oshrun --hosts and --hostfile: what other launchers are told, seen by launchers that print it; one job of the real mpirun.
. "$SRC/test/launch/lib.sh"
unset SLURM_JOB_ID SHMEM_MACHINES LD_LIBRARY_PATH
for v in $(env | sed -nE 's/^((SHMEM|SMA|UCX)_[A-Za-z0-9_]*)=.*/\1/p'); do unset "$v"; done
export PYTHONPATH=here:there # a build tree sets it itself
whole=$PATH

fake() { # fake FOLDER NAME VERSION: prints its words, and where srun finds its hosts
    mkdir -p "$1"
    cat > "$1/$2" <<END
#!/bin/sh
case \$1 in --version|--mpi=list) echo "$3"; exit 0 ;; esac
printf '%s\n' "\$@"
[ -z "\$SLURM_HOSTFILE" ] || while read -r host; do echo "@\$host"; done < "\$SLURM_HOSTFILE"
echo "heap=\$SHMEM_SYMMETRIC_SIZE a=\$A launch=\$SHMEM_LAUNCH"
exit 17
END
    chmod +x "$1/$2"
}
fake ompi4 mpirun 'mpirun (Open MPI) 4.1.4'
fake ompi5 mpirun 'mpirun (Open MPI) 5.0.3'
fake mpich mpirun 'HYDRA build details:'
fake debian mpirun 'HYDRA build details:'
fake debian mpirun.openmpi 'mpirun.openmpi (OpenRTE) 4.1.4
mpirun.openmpi (Open MPI) 4.1.4'
fake prte prterun 'prterun (PRRTE) 3.0.1'
fake slurm srun 'MPI plugin types are... none pmi2 pmix'
fake oldslurm srun 'MPI plugin types are... none pmi2'
mkdir -p empty
with() { # with FOLDERS: these are the launchers
    local d
    PATH=
    for d in $1; do PATH=$PATH$work/$d:; done
    PATH=${PATH%:}
}
# started WITH NAME WANTED OPTIONS...: the words (without -x PYTHONPATH), one blank between them
started() {
    local launchers=$1 name=$2 want=$3
    shift 3
    ( with "$launchers"; exec "$OSHRUN" "$@" ) > out 2> err < /dev/null
    [ $? = 17 ] || { fail "$*: the launcher was not started"; sed 's/^/    /' err; }
    got=$(sed '$d' out | tr '\n' ' ')
    got=$(sed -E 's/-x PYTHONPATH //g; s/ $//' <<< "$got")
    [ "$got" = "$want" ] || fail "$*:
    $got
    instead of
    $want"
    case " $* " in
    *' -q '*) [ -s err ] && fail "$*: not quiet: $(cat err)" ;;
    *) says "$*" "^oshrun: hosts given: handing over to $name: $name "; [ "$(wc -l < err)" = 1 ] || fail "$*: $(cat err)" ;;
    esac
}
m="--map-by slot --bind-to none"
started ompi4 mpirun "--host a:4,b:4 $m -n 8 prog x" --hosts a:4,b:4 prog x
started ompi4 mpirun "--host a:4,b:4 $m -n 8 prog x" -q --hosts=a:4,b:4 prog x
started ompi4 mpirun "--host a:1,b:1 $m -n 2 prog" --hosts a,b prog
started ompi4 mpirun "--host a:3,b:2 $m -n 5 prog" --hosts a,b -n 5 prog
started ompi4 mpirun "--host a:4,b:1 $m -n 5 prog" --hosts a:4,b:4 -n 5 prog
started ompi4 mpirun "--host a:2 $m -n 2 prog" --hosts a:4,b:4 -n 2 prog
started ompi4 mpirun "--host a:1 $m -n 1 prog" --hosts a,b -n 1 prog
started ompi4 mpirun "--host a:3,b:1 $m -n 4 prog" --hosts a:2,b,a:1 prog
started ompi4 mpirun "--mca plm_rsh_agent agent.sh --host u@h-1.x:2 $m -n 2 prog" --launcher-arg --mca --launcher-arg=plm_rsh_agent \
    --launcher-arg agent.sh --hosts u@h-1.x:2 prog
started ompi4 mpirun "--map-by node --bind-to=socket --host a:2 -n 2 prog" --launcher-arg --map-by --launcher-arg node \
    --launcher-arg=--bind-to=socket --hosts a:2 prog
started ompi4 mpirun "--host a:2 --map-by slot --bind-to core --tag-output --timeout 3 --stdin all -n 2 --wdir /d prog" \
    --hosts a:2 --bind core --label --timeout 2.5 --stdin all --wdir /d prog
started ompi4 mpirun "--host a:2 --map-by slot --bind-to hwthread:overload-allowed --stdin 1 -n 2 prog" \
    --hosts a:2 --bind thread:overload --stdin 1 prog
started ompi5 mpirun "--host a:2 $m --output tag --stdin none -n 2 prog" --hosts a:2 -l --stdin none prog
started prte prterun "--host a:2 $m --output tag -n 2 prog" --hosts a:2 -l prog
started debian mpirun.openmpi "--host a:2 $m -n 2 prog" --hosts a:2 prog

# environment
started ompi4 mpirun "--host a:2 $m -n 2 -x A=1 2 -x B= prog" --hosts a:2 -x "A=1 2" -x B= prog
C=5 started ompi4 mpirun "--host a:2 $m -n 2 -x C prog" --hosts a:2 -x C prog
SHMEM_DEBUG=1 OTHER=2 started ompi4 mpirun "--host a:2 $m -n 2 -x SHMEM_DEBUG prog" --hosts a:2 -x SHMEM_DEBUG prog
SHMEM_DEBUG=1 started ompi4 mpirun "--host a:2 $m -n 2 -x SHMEM_DEBUG=2 prog" --hosts a:2 -x SHMEM_DEBUG=2 prog
UCX_TLS=tcp started ompi4 mpirun "--host a:2 $m -n 2 -x UCX_TLS prog" --hosts a:2 prog
SHMEM_LAUNCH=3:4 SHMEM_PE=1 SHMEM_MACHINES=2 started ompi4 mpirun "--host a:2 $m -n 2 prog" --hosts a:2 prog
grep -q 'launch=$' out || fail "the wire of an outer job is passed on: $(tail -1 out)"
started ompi4 mpirun "--host a:2 $m -n 2 -x SHMEM_SYMMETRIC_SIZE prog" --hosts a:2 --heap 4m prog
grep -q 'heap=4m' out || fail "--heap: $(tail -1 out)"
started ompi4 mpirun "--host a:2 $m -n 2 -x SHMEM_CHECK prog" --hosts a:2 --check prog

# several programs
started ompi4 mpirun "--host a:3 $m -n 2 -x A=1 one x : -n 1 --wdir /d two" --hosts a:4 -n 2 -x A=1 one x : --wdir /d two

# files of hosts
printf '# all\n\nn1\n n2 # here\n' > plain
printf 'n1:2\r\nn2 slots=3 max_slots=4\n' > counted
started ompi4 mpirun "--host n1:1,n2:1 $m -n 2 prog" --hostfile plain prog
started ompi4 mpirun "--host n1:2,n2:2 $m -n 4 prog" --hostfile plain -n 4 prog
started ompi4 mpirun "--host n1:2,n2:3 $m -n 5 prog" --hostfile=counted prog

# which launcher
started "prte ompi4 slurm" prterun "--host a:2 $m -n 2 prog" --hosts a:2 prog
started "prte ompi4 slurm" mpirun "--host a:2 $m -n 2 prog" --launcher mpirun --hosts a:2 prog
export SLURM_JOB_ID=1
s="--export=ALL --cpu-bind=none"
even="--mpi=pmix --ntasks=4 --nodes=2 --ntasks-per-node=2 --nodelist=a,b"
started "oldslurm ompi4" mpirun "--host a:2 $m -n 2 prog" --hosts a:2 prog
started "prte ompi4 slurm" srun "$even $s --input=0 prog x" --hosts a:2,b:2 prog x
started "prte ompi4 slurm" prterun "--host a:2 $m -n 2 prog" --hosts a:2 --launcher prterun prog
unset SLURM_JOB_ID
started slurm srun "$even --export=ALL --cpu-bind=cores --label --input=all --chdir=/d prog : y" --launcher srun --hosts a:2,b:2 --bind core \
    -l --stdin all --wdir /d -- prog : y
started slurm srun "--mpi=pmix --ntasks=3 --distribution=arbitrary $s --input=none prog @b @b @a" --launcher srun --hosts b:2,a:1 --stdin none prog
started slurm srun "$even $s --input=0 prog" --launcher srun --hosts a:2,b:2 -x A=7 --heap 1m prog
[ "$(tail -1 out)" = "heap=1m a=7 launch=" ] || fail "srun: $(tail -1 out)"

# the announcement can be given to a shell
started ompi4 mpirun "--host a:1 $m -n 1 sh -c echo \$A 'b' " -q --hosts a:1 sh -c "echo \$A 'b'" ''
( with ompi4; "$OSHRUN" --hosts a:1 sh -c "echo \$A 'b'" '' ) 2> err > /dev/null
grep -qF "sh -c 'echo \$A '\\''b'\\''' ''" err || fail "quoting: $(cat err)"

refused() { # refused WITH STATUS PATTERN OPTIONS...
    local launchers=$1 status=$2 pattern=$3 rc
    shift 3
    ( with "$launchers"; exec "$OSHRUN" "$@" ) > out 2> err < /dev/null
    rc=$?
    [ $rc = "$status" ] || fail "$*: status $rc instead of $status"
    says "$*" "^oshrun: $pattern"
    [ "$(wc -l < err)" = 1 ] || fail "$*: more than a sentence: $(cat err)"
}
refused empty 127 '--hosts: there is no prterun and .*openmpi-bin' --hosts a:2 prog
refused mpich 127 '--hostfile: .*\(the mpirun there is another\).*openmpi-bin' --hostfile plain prog
refused mpich 127 '--hosts: there is no mpirun of Open MPI .*another' --launcher mpirun --hosts a:2 prog
refused ompi4 127 '--hosts: there is no prterun' --launcher prterun --hosts a:2 prog
refused oldslurm 127 '--hosts: there is no srun with PMIx' --launcher srun --hosts a:2 prog
refused ompi4 2 '-n 9: the hosts have room for 8 PEs' --hosts a:4,b:4 -n 9 prog
refused ompi4 2 '-n 3: the hosts have room for 2 PEs' --hosts a:2 -n 2 one : two
refused ompi4 2 'the hosts have 8000 PEs together' --hosts a:4000,b:4000 prog
refused ompi4 2 '--hosts and --hostfile: give one' --hosts a --hostfile plain prog
for bad in '' , a,,b a: :4 a,b: 'a b' a:4:4 '[::1]' -a 'n[1-4]' a:0 a:-1 a:x a:5000 a:99999999999999999999; do
    refused ompi4 2 '--hosts .*(is no host|whole number from 1)' "--hosts=$bad" prog
done
printf 'a\nb seats=3\n' > words
printf 'a\n\nb slots=x\n' > slots
printf '# nobody\n' > nobody
refused ompi4 2 '--hostfile words, line 2: "seats=3": a line is a host' --hostfile words prog
refused ompi4 2 '--hostfile slots, line 3: the number of PEs' --hostfile slots prog
refused ompi4 2 '--hostfile nobody: names no host' --hostfile nobody prog
refused ompi4 2 '--hostfile nothing: cannot be read: No such file' --hostfile nothing prog
refused ompi4 2 '--hostfile empty: cannot be read: Is a directory' --hostfile empty prog
refused ompi4 2 '--stdin 2: there is no such PE' --hosts a:2 --stdin 2 prog
refused ompi4 2 '--output cannot be handed over to mpirun' --hosts a:2 --output d prog
refused ompi4 2 '--grace cannot' --hosts a:2 --grace 3 prog
refused ompi4 2 '--machines cannot' --hosts a:2 --machines 2 prog
refused ompi4 2 "an argument ':' of the program cannot" --hosts a:2 -- prog :
refused slurm 2 '--timeout cannot be handed over to srun' --launcher srun --hosts a:2 --timeout 3 prog
refused slurm 2 'a job of several programs .* cannot' --launcher srun --hosts a:2 one : two
refused slurm 2 '--bind :overload cannot' --launcher srun --hosts a:2 --bind core:overload prog
refused ompi4 2 '--launcher is for jobs on several hosts' --launcher mpirun prog
refused ompi4 2 '--launcher-arg is for jobs on several hosts' --launcher-arg -v prog
refused ompi4 2 '--launcher mpiexec: mpirun, prterun or srun' --launcher mpiexec --hosts a prog

# the real one, on this host
PATH=$whole
if mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # whoever runs the tests has decided that
    expect 0 "mpirun" "$OSHRUN" --hosts localhost:3 -x "A=a b;c" sh -c 'echo "$OMPI_COMM_WORLD_RANK/$OMPI_COMM_WORLD_SIZE $A"'
    [ "$(sort out | tr '\n' ,)" = "0/3 a b;c,1/3 a b;c,2/3 a b;c," ] || fail "mpirun: $(cat out)"
    expect 0 "mpirun, two programs" "$OSHRUN" --hosts localhost:4 -n 2 -x A=1 sh -c 'echo "$OMPI_COMM_WORLD_RANK $A"' : \
        -n 2 -x A=2 sh -c 'echo "$OMPI_COMM_WORLD_RANK $A"'
    [ "$(sort out | tr '\n' ,)" = "0 1,1 1,2 2,3 2," ] || fail "mpirun, two programs: $(cat out)"
    expect 3 "mpirun, a status" "$OSHRUN" --hosts localhost:2 sh -c 'exit 3'
    cat > pair.c <<'END'
#include <shmem.h>
static int from;
int main(void)
{
    shmem_init();
    shmem_int_p(&from, 1 + shmem_my_pe(), 1 - shmem_my_pe());
    shmem_barrier_all();
    int right = shmem_n_pes() == 2 && from == 2 - shmem_my_pe();
    shmem_finalize();
    return !right;
}
END
    if [ -e "$BUILD/lib/hbmesh/pmix.so" ]; then
        "$OSHCC" -o pair pair.c || fail "cannot build pair.c"
        expect 0 "mpirun, a job" "$OSHRUN" --hosts localhost:2 --heap 4m ./pair
    fi
fi
finish
