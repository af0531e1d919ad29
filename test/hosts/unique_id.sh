# A unique id over two hosts: whichever PE has made it, all find each other, and what cannot be is said.
# timeout: 150
. "$SRC/test/hosts/lib.sh"
need_network
need_pe
[ -f "$BUILD/lib/hbmesh/crypto.so" ] || skip "built without OpenSSL (Debian: libssl-dev)"
hosts_up 2

# by_id CODES NAME "HOST HOST ..." WHAT: PE i on the i-th of them; slow: this PE takes a second until it joins
by_id() {
    local want=$1 name=$2 hosts=$3 what=$4 n=$(echo $3 | wc -w) i=0 k all=
    pids=
    : >out; : >err
    for k in $hosts; do
        on $k timeout -k 5 40 "$pe" id $i $n $what $([ "${slow:-}" != $i ] || echo 1000) >>out 2>>err </dev/null &
        pids="$pids $!" i=$((i + 1)) all="$all $want"
    done
    collect
    [ "$codes" = "${all# }" ] || { fail "$name: statuses $codes instead of $want"; head -8 err | sed 's/^/    /'; }
}
for maker in 0 1 2 3; do
    for hosts in "1 1 2 2" "2 1 2 1"; do
        rm -f id
        by_id 0 "PE $maker has made it, hosts $hosts" "$hosts" by$maker
        lines 4 "PE $maker has made it, hosts $hosts" "^well [0-3] of 4$"
        [ -s err ] && fail "PE $maker has made it says $(head -1 err)"
    done
done
# PE 0 and the maker on one host: either may be the first there.
for slow in 0 1; do
    rm -f id
    by_id 0 "PE 1 has made it, PE $slow is slow" "1 1 2" by1
    lines 3 "PE 1 has made it, PE $slow is slow" "^well [0-2] of 3$"
done
slow=

# By a process that is no PE, on one of the hosts and elsewhere.
for k in 1 2; do
    rm -f id
    on $k timeout 20 "$pe" make-id 15 & outside=$!
    for i in $(seq 100); do [ -e id ] && break; sleep 0.05; done
    SHMEM_BOOT_TIMEOUT=3 by_id 1 "made on host $k by none of the PEs" "1 2" by-1
    says "made on host $k by none of the PEs" "a PE of the job must have made the id"
    sentences "made on host $k by none of the PEs" 2
    by_id 0 "all PEs where it was made, host $k" "$k $k" by-1
    kill $outside $(processes_on $k) # nsenter, and what it has started there
done
nothing_left_on_hosts "unique id"
finish
