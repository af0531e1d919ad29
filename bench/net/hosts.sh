# hosts.sh [NAME=MPI_OSHCC ...]: jobs on two make-believe hosts (test/hosts), by mpirun: random access, a barrier, the graph.
# A further OpenSHMEM that mpirun starts, as Open MPI's, is measured beside: oshmem=/usr/bin/oshcc
export SRC=${SRC:-$(cd "$(dirname "$0")/../.." && pwd)}
export BUILD=${BUILD:-$SRC/build} OSHCC=${OSHCC:-$SRC/build/bin/oshcc} OSHRUN=${OSHRUN:-$SRC/build/bin/oshrun}
export HOSTS_FOLDER=${HOSTS_FOLDER:-$(mktemp -d)}
. "$SRC/test/hosts/lib.sh"
trap 'rm -rf "$HOSTS_FOLDER"' EXIT
hosts_up 2
need_mpirun
need_network
limit=300
work=$HOSTS_ISLAND
for one in gups meet; do "$OSHCC" -O2 -o "$work/$one" "$SRC/bench/net/$one.c" || exit 1; done
cc -O2 -pthread -o "$work/floor" "$SRC/bench/net/floor.c" || exit 1
"$OSHCC" -O2 "$SRC"/examples/graph/*.c -o "$work/graph" -lm || exit 1

echo "# random access, 2 hosts of one PE: hbmesh"
over 1 1 "$work/gups" 0.5
echo "# the same, each operation by itself (SHMEM_AGGREGATE=off)"
SHMEM_AGGREGATE=off over 1 1 -x SHMEM_AGGREGATE "$work/gups" 0.5
for peer in "$@"; do
    echo "# the same: ${peer%%=*}"
    "${peer#*=}" -O2 -o "$work/peer" "$SRC/bench/net/gups.c" &&
        over 1 1 --mca opal_common_ucx_opal_mem_hooks 0 --mca osc ^ucx "$work/peer" 0.5
done
echo "# a barrier, next to one of bare futexes and sockets"
for n in 4 1; do
    over $n $n "$work/meet"
    "$work/floor" $n
done
echo "# the graph: reads on demand next to a gather of everything"
over 2 2 "$work/graph" --hops 2 "$SRC/examples/data/debian-graph.gz"
