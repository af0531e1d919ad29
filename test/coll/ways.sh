# timeout: 120
# SHMEM_COLL: each way of the collectives forced at all sizes, and at one; values that are malformed; PEs that do not agree.
. "$SRC/test/launch/lib.sh"
"$OSHCC" -O1 -g "$SRC/test/spec/coll_ways.c" -o ways || exit 1

slots=broadcast:slots,collect:slots,fcollect:slots,alltoall:slots,reduce:slots,scan:slots
direct=broadcast:flat,collect:flat,fcollect:flat,alltoall:flat,reduce:sliced,scan:sliced
some=broadcast:flat@256,collect:flat@257,fcollect:flat@16k,alltoall:flat@1k,reduce:sliced@2k,scan:sliced@2056
for coll in $slots $direct $some; do
    for n in 1 2 3 8; do
        SHMEM_COLL=$coll expect 0 "$coll, $n PEs" "$OSHRUN" --timeout 60 -n $n ./ways
    done
done

bad() { # value, what is said about it
    SHMEM_COLL=$1 "$OSHRUN" --timeout 60 -n 2 ./ways > out 2>&1 && fail "SHMEM_COLL=$1 is taken"
    grep -q "SHMEM_COLL: .*$2" out || fail "SHMEM_COLL=$1: $(cat out)"
}
bad sort:slots 'sort:slots: there is no such collective'
bad reduce 'no way behind a colon'
bad reduce:flat 'reduce:flat: the collective has no such way'
bad reduce:slots@4k 'have no size'
bad scan:slots,reduce:sliced@many 'reduce:sliced@many: the size is no number'
bad '' 'no way behind a colon'

"$OSHRUN" --timeout 60 -n 1 -x SHMEM_COLL=broadcast:slots ./ways : -n 1 -x SHMEM_COLL=broadcast:flat ./ways > out 2>&1 &&
    fail "PEs with different choices go on"
grep -q 'do not agree.*in slots' out || fail "PEs with different choices: $(cat out)"
finish
