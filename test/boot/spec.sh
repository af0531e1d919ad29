# Programs of test/spec, started without oshrun: by a shell loop, and by mpirun where it is there.
# timeout: 400
. "$SRC/test/boot/lib.sh"
programs="rma amo wait signal static_data team_split coll_active heap_alloc fork_private lock_order ctx_teams"
limit=100
# set_env PROGRAM: what its source asks for
set_env() {
    unset SHMEM_SYMMETRIC_SIZE
    set -- $(sed -nE 's|^/\* env: (.*) \*/$|\1|p' "$SRC/test/spec/$1.c")
    [ $# = 0 ] || export "$@"
}
ran=0
for p in $programs; do
    file=$BUILD/test/spec/$p
    [ -x "$file" ] || { fail "$p is not built"; continue; }
    set_env $p
    for n in 1 2 4; do uid 0 "$p" "$(ranks $n)" $n "$file"; ran=$((ran + 1)); done
done
uid 0 "rma" "$(ranks 8)" 8 "$BUILD/test/spec/rma"
[ $ran -ge 30 ] || fail "only $ran ran"
[ $failures = 0 ] || finish
need_mpirun
for p in $programs; do
    set_env $p
    for n in 2 4; do mpi 0 "$p" $n "$BUILD/test/spec/$p"; done
done
mpi 0 "rma" 8 "$BUILD/test/spec/rma"
finish
