# timeout: 300
# Each facility of the kernel that is used for speed is denied by a seccomp filter: the job works without it, and
# shmem-info says so. A filter on the launcher holds for the PEs, too.
"$OSHCC" -O1 -g "$SRC/test/launch/denied.c" -o denied && "$CC" -O1 "$SRC/test/launch/deny.c" -o deny || exit 1
./deny membarrier true
[ $? -eq 77 ] && exit 77
failed=0
try() # WHAT COMMAND ...
{
    local what=$1
    shift
    timeout 60 "$@" > out 2>&1 < /dev/null
    rc=$?
    if [ $rc -ne 0 ] || ! grep -q OK out || grep -q 'hbmesh' out; then
        echo "FAIL $what: status $rc"
        head -5 out
        failed=1
    fi
}
for what in membarrier membarrier_unknown memfd_create pidfd_open futex_bitset futex_wake_bitset futex_wait futex_wake \
    affinity pagemap mincore fallocate madvise membarrier,futex_wait,futex_wake,futex_bitset,futex_wake_bitset \
    membarrier,memfd_create,pidfd_open,affinity,pagemap,futex_bitset,futex_wake_bitset,fallocate,madvise; do
    for npes in 2 4; do
        try "$what, $npes PEs" ./deny "$what" "$OSHRUN" --timeout 50 -n $npes ./denied
    done
    try "$what, alone" ./deny "$what" ./denied
done
# One PE alone is denied it: all agree to do without.
for what in membarrier memfd_create affinity; do
    try "$what, on one PE" "$OSHRUN" --timeout 50 -n 1 ./deny $what ./denied : -n 2 ./denied
done
said() # FACILITY LINE
{
    ./deny "$1" "$BUILD/bin/shmem-info" > out 2>&1
    if ! grep -qE "$2" out; then
        echo "FAIL shmem-info does not say that $1 is denied: $(grep -i "${1%%_*}" out)"
        failed=1
    fi
}
said membarrier '^ *membarrier +(denied|not)'
said memfd_create '^ *memfd_create +(denied|not)'
said pidfd_open '^ *pidfd_open +(denied|not)'
said futex_bitset '^ *futex bit sets +(denied|not)'
said futex_wait '^ *futex +(denied|not)'
said pagemap '^ *pagemap +(denied|not)'
said affinity '^ *affinity mask +(denied|not)'
exit $failed
