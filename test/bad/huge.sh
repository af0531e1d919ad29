# timeout: 90
# One global memory larger than the machine's.
set -u
"$OSHCC" -g -O1 -o huge "$SRC/test/bad/huge.c" || exit 1
total=$(awk '/MemTotal/ { print $2 }' /proc/meminfo)
SHMEM_SYMMETRIC_SIZE=32G timeout 60 "$OSHRUN" -n 8 ./huge $((31 << 30)) || { echo "FAIL: 8 x 32G: status $?"; exit 1; }
echo "8 x 32 GiB on $((total >> 20)) GiB of memory: all ends reached"
