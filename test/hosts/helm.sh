# Who serves what comes for a PE changes all the time among its threads, which wait, compute and are interrupted: see helm.c.
# timeout: 500
# label: long
. "$SRC/test/hosts/lib.sh"
need_mpirun
need_network
"$OSHCC" -O1 -g -Wall -Wextra -o helm "$SRC/test/hosts/helm.c" || { echo "cannot build helm.c"; exit 1; }
hosts_up 2
export SHMEM_SYMMETRIC_SIZE=16m
# helm NAME MAP ARGUMENTS...
helm() {
    local name=$1 map=$2
    shift 2
    limit=60 job 0 "$name" "$map" "$PWD/helm" "$@"
    ! grep '^hbmesh: ' err || fail "$name, PEs $map, said something"
    nothing_left_on_hosts "$name"
}
for map in "1 1" "2 2" "3 1"; do
    helm "computing" "$map" 200
    helm "calm" "$map" 600 calm
done
SHMEM_SLEEP_AFTER=10000000 helm "never asleep" "1 1" 100 calm
SHMEM_AGGREGATE=off helm "nothing packed" "2 2" 300 calm
finish
