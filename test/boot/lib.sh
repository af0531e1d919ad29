# What the tests of the bootstraps share. They run in an empty folder; OSHCC, OSHRUN, BUILD and SRC are set.
set -u
failures=0
fail() { echo "FAIL: $*"; failures=$((failures + 1)); }
finish() { [ $failures = 0 ] || { echo "$failures failed"; exit 1; }; exit 0; }
here=$SRC/test/boot
pe=$(pwd -P)/pe-$$ # a name of its own, by which its processes are found again
for v in RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE MASTER_ADDR MASTER_PORT SHMEM_BOOT SHMEM_BOOT_TIMEOUT; do unset $v; done
port=$((20000 + $$ % 20000)) # only tells jobs apart

need_pe() { "$OSHCC" -O1 -g -o "$pe" "$here/pe.c" || { echo "cannot build pe.c"; exit 1; }; }

# mpirun is that of Open MPI, and the library was built with PMIx; else the test is skipped.
need_mpirun() {
    command -v mpirun >/dev/null || { echo "skipped: no mpirun (Debian: openmpi-bin)"; exit 77; }
    mpirun --version 2>/dev/null | grep -q 'Open MPI' || { echo "skipped: mpirun is not that of Open MPI"; exit 77; }
    [ -f "$BUILD/lib/hbmesh/pmix.so" ] || { echo "skipped: built without pmix.h (Debian: libpmix-dev)"; exit 77; }
    # In containers, as root, on few cores; and its components that this machine has no hardware for stay silent.
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PMIX_MCA_mca_base_component_show_load_errors=0
    export OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_rmaps_base_oversubscribe=1
    export OMPI_MCA_btl_vader_single_copy_mechanism=none
}

# mpi STATUS NAME NPES COMMAND...: its output goes to out and err
mpi() {
    local want=$1 name=$2 n=$3 rc
    shift 3
    timeout -k 5 60 mpirun --bind-to none -n "$n" "$@" >out 2>err </dev/null
    rc=$?
    [ $rc = "$want" ] || { fail "$name, mpirun -n $n: status $rc instead of $want"; head -8 err | sed 's/^/    /'; }
}

# start_uid RANKS NPES COMMAND...: a shell loop, as any launcher could be; each status comes to codes by collect
start_uid() {
    local ranks=$1 n=$2 i
    shift 2
    pids=
    : >out; : >err
    port=$((port + 1))
    for i in $ranks; do
        RANK=$i WORLD_SIZE=$n MASTER_ADDR=127.0.0.1 MASTER_PORT=$port timeout -k 5 ${limit:-60} "$@" >>out 2>>err </dev/null &
        pids="$pids $!"
    done
}
collect() {
    local p
    codes=
    for p in $pids; do wait "$p" 2>/dev/null; codes="$codes $?"; done
    codes=${codes# }
}
# uid CODES NAME RANKS NPES COMMAND...: CODES are the statuses, or one for all
uid() {
    local want=$1 name=$2 ranks=$3 n=$4 i all=
    shift 4
    start_uid "$ranks" "$n" "$@"
    collect
    for i in $ranks; do all="$all $want"; done
    [ "$codes" = "$want" ] || [ "$codes" = "${all# }" ] || {
        fail "$name, $n PEs: statuses $codes instead of $want"
        head -8 err | sed 's/^/    /'
    }
}
ranks() { seq -s ' ' 0 $(($1 - 1)); }

says() { grep -qE -- "$2" err || { fail "$1: no line like /$2/ in:"; head -8 err | sed 's/^/    /'; }; }
# one_line NAME: exactly one line of ours
one_line() {
    local n=$(grep -c '^hbmesh: ' err)
    [ "$n" = 1 ] || { fail "$1: $n lines instead of one"; head -8 err | sed 's/^/    /'; }
}
# lines N NAME PATTERN: in out
lines() {
    local n=$(grep -cE -- "$3" out)
    [ "$n" = "$1" ] || { fail "$2: $n lines like /$3/ instead of $1"; head -8 out err | sed 's/^/    /'; }
}
alive() {
    local p
    for p in /proc/[0-9]*; do
        [ "$(readlink "$p/exe" 2>/dev/null)" = "$pe" ] || continue
        case $(sed 's/.*) //' "$p/stat" 2>/dev/null) in Z* | X* | '') ;; *) echo "${p#/proc/}" ;; esac
    done
}
nothing_left() {
    local i
    for i in $(seq 100); do [ -z "$(alive)" ] && return; sleep 0.05; done
    fail "$1: processes left: $(alive | tr '\n' ' ')"
    kill -9 $(alive) 2>/dev/null
}
