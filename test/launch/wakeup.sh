# timeout: 600
# The stress of wake-ups (test/stress/wakeup.c) in each mode of waiting: argument 1 rounds in each (20000), argument 2 with
# how many PEs at the most (8).
rounds=${1:-20000} most=${2:-8}
"$OSHCC" -O2 "$SRC/test/stress/wakeup.c" -o wakeup || exit 1
failed=0
mode() # NPES VARIABLE=VALUE ...
{
    npes=$1
    shift
    [ "$npes" -le "$most" ] || [ "$npes" -le 3 ] || return 0
    [ "$npes" -le "$most" ] || npes=$most
    if env SHMEM_POLL=off "$@" "$OSHRUN" --timeout $((60 + rounds / 2000)) -n "$npes" ./wakeup "$rounds" > out 2>&1 < /dev/null
    then echo "$*: $(cat out)"
    else echo "FAIL $npes PEs, $*"; cat out; failed=1
    fi
}
for membarrier in on off; do
    mode 2 SHMEM_MEMBARRIER=$membarrier SHMEM_CORES=64                     # spin
    mode 2 SHMEM_MEMBARRIER=$membarrier SHMEM_CORES=1                      # yield, then sleep
    mode 3 SHMEM_MEMBARRIER=$membarrier SHMEM_CORES=1 SHMEM_SLEEP_AFTER=0  # sleep at once, meet at a counter
    mode 3 SHMEM_MEMBARRIER=$membarrier SHMEM_CORES=64 SHMEM_SLEEP_AFTER=0 # sleep at once, meet by dissemination
    mode 2 SHMEM_MEMBARRIER=$membarrier SHMEM_CORES=1 SHMEM_SLEEP_AFTER=5  # sleep now and then
    mode 8 SHMEM_MEMBARRIER=$membarrier SHMEM_CORES=1 SHMEM_SLEEP_AFTER=0
done
# PEs that were told different numbers of cores must still meet in the same way.
if ! "$OSHRUN" --timeout 60 -n 3 sh -c 'SHMEM_CORES=$((SHMEM_PE * 32 + 1)) exec ./wakeup 2000' > out 2>&1 < /dev/null
then echo "FAIL different SHMEM_CORES"; cat out; failed=1
fi
exit $failed
