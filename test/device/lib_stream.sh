# What the scripts about streams share: jobs whose device heaps are on the twin.
. "$SRC/test/launch/lib.sh"
export SHMEM_ASCEND_LIBRARY=$BUILD/twin/libascendcl.so SHMEM_CUDA_LIBRARY=$BUILD/twin/libcuda.so.1
export HBMESH_TWIN_NODE=stream-$$ SHMEM_SYMMETRIC_SIZE=32M
: "${SHMEM_HEAP_KIND=ascend}"
export SHMEM_HEAP_KIND
[ -e "$SHMEM_ASCEND_LIBRARY" ] || { echo "skipped: the twin is not built here"; exit 77; }
build() { "$OSHCC" -O1 -g -o "$1" "$SRC/test/device/$1.c" -ldl -pthread || { echo "cannot build $1.c"; exit 1; }; }
# job NPES PROGRAM ARGUMENTS...: it must pass
job() {
    local n=$1
    shift
    timeout -k 5 100 "$OSHRUN" --timeout 90 ${MACHINES:+--machines $MACHINES} -n "$n" "$@" > out 2> err < /dev/null && return
    fail "$* with $n PEs${MACHINES:+ on $MACHINES machines}${HBMESH_TWIN_LATE:+, late}: status $?"
    head -n 20 out err
}
# ends STATUS PATTERN ARGUMENTS...: a job of NPES (2) that ends in time with one sentence like that
ends() {
    local status=$1 pattern=$2
    shift 2
    expect "$status" "$*" "$OSHRUN" --timeout 25 ${MACHINES:+--machines $MACHINES} -n "${NPES:-2}" "$@"
    [ -z "$pattern" ] || says "$*" "$pattern"
}
