# What cannot be on two hosts is said in a sentence, and the job ends with a status.
# cores: 1
# timeout: 150
. "$SRC/test/hosts/lib.sh"
need_mpirun
need_network
need_host_pe
hosts_up 2
here_or_there() { echo 'case $(hostname) in host2) '"$1"' ;; *) '"$2"' ;; esac'; }

# refused NAME MOST PATTERN COMMAND...
refused() {
    local name=$1 most=$2 pattern=$3
    shift 3
    job bad "$name" "2 2" "$@"
    sentences "$name" "$most"
    says "$name" "$pattern"
    lines 0 "$name" "^(up|well)"
    nothing_left_on_hosts "$name"
}

refused "heap sizes differ" 2 "SHMEM_SYMMETRIC_SIZE differs: the heap of PE 0 has 67108864 bytes, that of PE [23] has 134217728" \
    sh -c "$(here_or_there 'SHMEM_SYMMETRIC_SIZE=128M exec "$0" move' 'SHMEM_SYMMETRIC_SIZE=64M exec "$0" move')" "$pe"

# A PE that fails before it knows the others' heaps: its host says so, and the others leave without a word.
for k in 1 2; do
    job 1 "a heap too large on host $k" "2 2" \
        sh -c 'case $(hostname) in '"host$k"') SHMEM_SYMMETRIC_SIZE=9000000000g ;; esac; export SHMEM_SYMMETRIC_SIZE; exec "$0" move' "$pe"
    sentences "a heap too large on host $k" 1
    says "a heap too large on host $k" "cannot make a symmetric heap|more than an address space"
done

mkdir other
"$OSHCC" -O2 -DOTHER -o "other/$(basename "$pe")" "$SRC/test/hosts/pe.c"
refused "another build of the program" 2 "PE [23].* another build" \
    sh -c "$(here_or_there 'exec "$1" move' 'exec "$0" move')" "$pe" "$PWD/other/$(basename "$pe")"

# An installation without the module, on all hosts and on one.
mkdir -p without/hbmesh
cp -P "$BUILD"/lib/libhbmesh.so* without/
for module in "$BUILD"/lib/hbmesh/*.so; do
    case $module in *ucx*) ;; *) cp "$module" without/hbmesh/ ;; esac
done
refused "no UCX module" 2 "ucx" env LD_LIBRARY_PATH="$PWD/without" "$pe" move
refused "no UCX module on one host" 2 "ucx" \
    sh -c "$(here_or_there 'LD_LIBRARY_PATH=$1 exec "$0" move' 'exec "$0" move')" "$pe" "$PWD/without"
LD_LIBRARY_PATH=$PWD/without job 0 "no UCX module on one host alone" "2 0" "$pe" move

# The wire carries what starts the job, but none of the ports that its data would take.
export UCX_TCP_PORT_RANGE=28000-28999
block 1 28000 28999
block 2 28000 28999
limit=40 refused "blocked ports" 4 "host[12]|PE [0-3]" "$pe" move
unblock 1
unblock 2
unset UCX_TCP_PORT_RANGE
job 0 "ports that are open again" "2 2" "$pe" move

# No transport in common.
UCX_TLS=self limit=40 refused "no common transport" 4 "reach|ucx|UCX" "$pe" move
finish
