# Large puts and gets, over loopback and on two make-believe machines.
# timeout: 240
. "$SRC/test/ucx/lib.sh"
"$OSHCC" -O1 -Wall -Wextra -I"$SRC/test/spec" "$SRC/test/ucx/large.c" -o large -lpthread || fail 'large.c does not build'

large() { # settings and oshrun's options
    env "$@" "$OSHRUN" --timeout 80 $layout ./large >out 2>&1 || fail "$layout, $*: $(cat out)"
}
layout='-n 2' large SHMEM_MAPPED=off
layout='-n 3' large SHMEM_MAPPED=off SHMEM_AGGREGATE=off
layout='--machines 2 -n 2' large SHMEM_AGGREGATE=on
layout='-n 2' large SHMEM_MAPPED=off SHMEM_EXTENT=1m           # a put's end has a key of its own
layout='-n 2' large SHMEM_MAPPED=off UCX_TCP_RX_SEG_SIZE=16k   # pieces that UCX cuts once more
exit 0
