# Everything mixed at random over the transport, with small operations together and each by itself, in large and in small
# packets.
# timeout: 240
. "$SRC/test/ucx/lib.sh"
"$OSHCC" -O1 -I"$SRC/test/spec" "$SRC/test/spec/mixed.c" -o mixed || fail 'mixed.c does not build'

# $1: how many PEs; then settings
mixed() {
    npes=$1
    shift
    env SHMEM_MAPPED=off "$@" "$OSHRUN" --timeout 60 -n "$npes" ./mixed "$seed" >out 2>&1 || fail "$npes PEs, $*: $(cat out)"
}
seed=1
"$OSHRUN" --timeout 60 --machines 3+1 -n 4 ./mixed >out 2>&1 || fail "3 + 1 PEs: $(cat out)"
for npes in 2 3 8; do
    mixed $npes SHMEM_AGGREGATE=off
    for settings in SHMEM_AGGREGATE=on 'SHMEM_AGGREGATE_PACKET=600 SHMEM_AGGREGATE_POOL=4k SHMEM_AGGREGATE_CREDIT=8k' \
        'SHMEM_AGGREGATE_SIZE=16 SHMEM_AGGREGATE_DELAY=1'; do
        seed=$((seed + 1))
        mixed $npes $settings
    done
done
exit 0
