# Two PEs joined by a network of two namespaces and a veth pair (as root), or by the loopback device: what an operation
# costs next to bare UCX and a TCP stream.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
space=hbm-wire-$$
cleanup() {
    for i in 0 1; do ip netns del $space-$i 2>/dev/null || :; done
    rm -rf "$work"
}
trap cleanup EXIT
"$OSHCC" -O2 -o "$work/wire" "$here/wire.c" -lucp -lpthread

exec_there="exec \"\$@\""
if ip netns add $space-0 2>/dev/null && ip netns add $space-1; then
    ip -n $space-0 link add veth0 type veth peer name veth0 netns $space-1
    for i in 0 1; do
        ip -n $space-$i addr add 10.79.0.$((i + 1))/24 dev veth0
        ip -n $space-$i link set veth0 up
        ip -n $space-$i link set lo up
    done
    sleep 1 # until the links are there
    exec_there="exec ip netns exec $space-\$SHMEM_LOCAL_PE \"\$@\""
else
    echo 'no namespaces can be made here: over the loopback device'
fi
printf '#!/bin/sh\n%s\n' "$exec_there" >"$work/there"
chmod +x "$work/there"
# UCX is linked to the program here, not loaded by the library, which would set these.
export UCX_MEM_EVENTS=n UCX_MEM_MMAP_HOOK_MODE=none UCX_MEM_MALLOC_HOOKS=n UCX_HANDLE_ERRORS=none UCX_ERROR_SIGNALS= \
    UCX_VFS_ENABLE=n UCX_LOG_FILE=stderr
SHMEM_MAPPED=off "$OSHRUN" -n 2 "$work/there" "$work/wire" "$@"
