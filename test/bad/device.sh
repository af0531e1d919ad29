# timeout: 200
# label: device
# Wrong uses of device memory, and devices that are missing, small, few, failing or lost: one sentence, a clean end, and
# nothing of the node left behind. On the software NPU.
set -u
"$OSHCC" -O1 -o device "$SRC/test/bad/device.c" || exit 1
. "$SRC/test/bad/lib.sh"
program=device
export SHMEM_HEAP_KIND=ascend SHMEM_ASCEND_LIBRARY=$BUILD/twin/libascendcl.so HBMESH_TWIN_LATE=1
export HBMESH_TWIN_NODE=bad-$$
unset HBMESH_TWIN HBMESH_TWIN_FAULT

# The driver of the node is gone some time after the last of its users.
nothing_left() {
    for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        grep -q "hbmesh-twin.*$HBMESH_TWIN_NODE" /proc/net/unix || return 0
        sleep 0.25
    done
    echo "FAIL $1: the driver of node $HBMESH_TWIN_NODE is still there"
    failed=$((failed + 1))
}
wrong() { both "$@"; nothing_left "$1"; }
# NPES EXPECTED... : no case of wrong use, so it must end well, and say so
fine() {
    local n=$1 re
    shift
    if ! timeout 60 "$OSHRUN" -n "$n" ./device right >out 2>&1 </dev/null ||
        [ "$(grep -c survived out)" != "$n" ]; then
        echo "FAIL right on $n PEs"; sed 's/^/    /' out | head -5
        failed=$((failed + 1))
        return
    fi
    for re in "$@"; do
        grep -qE -- "$re" out && continue
        echo "FAIL right on $n PEs: no match for /$re/"; sed 's/^/    /' out | head -5
        failed=$((failed + 1))
    done
    passed=$((passed + 1))
}

fine 2 'right, on ascend'
nothing_left right

# the CPU at an address of the device
wrong load 'SIGSEGV: read from 0x[0-9a-f]+, offset [0-9]+ of the device heap of this PE, which the CPU cannot touch: use shmem_put'
wrong store 'SIGSEGV: write to 0x[0-9a-f]+, offset [0-9]+ of the device heap of this PE, which the CPU cannot touch'
wrong in_libc 'SIGSEGV: read from .* of the device heap of this PE, which the CPU cannot touch'
wrong index_on_device 'of the device heap of this PE, which the CPU cannot touch'
wrong status_on_device 'of the device heap of this PE, which the CPU cannot touch'
timeout 20 "$OSHRUN" -n 1 ./device own_handler >out 2>&1 </dev/null
rc=$?
if [ $rc = 7 ] && grep -q 'own handler' out; then passed=$((passed + 1)); else
    echo "FAIL own_handler: status $rc"; sed 's/^/    /' out | head -5
    failed=$((failed + 1))
fi

# wrong places and kinds
wrong free_of_host 'shmem_free: ptr: .*inside the block'
wrong double_free 'shmem_free: ptr: .*device heap.*freed'
wrong behind_the_end 'shmem_long_p: dest: .*device heap'
wrong misaligned 'shmem_long_atomic_inc: dest: .*aligned to the 8'
wrong kind_unknown 'shmemx_malloc_on: kind: .*"gold".*host and ascend'
expect 2 heaps_differ 'do not agree'

# no kind, no library, no device
SHMEM_HEAP_KIND=gold wrong right 'SHMEM_HEAP_KIND: "gold" is no kind of memory; there are host, ascend'
SHMEM_ASCEND_LIBRARY=$PWD/none.so wrong right 'SHMEM_HEAP_KIND is ascend, but there is no such device here: .*none.so'
HBMESH_TWIN=devices=0 wrong right 'SHMEM_HEAP_KIND is ascend, but there is no such device here: '
SHMEM_DEVICE=8 wrong right 'SHMEM_DEVICE: "8" is no device here; there are 8 of kind ascend'
SHMEM_DEVICE=first wrong right 'SHMEM_DEVICE: "first" is no device here'
SHMEM_MALLOC_ON=cuda wrong right 'SHMEM_MALLOC_ON: "cuda" is not what this job has; use host, ascend or auto'

# half a runtime: said, and the other way taken
if [ -e "$BUILD/twin/half/libascendcl.so" ]; then
    SHMEM_ASCEND_LIBRARY=$BUILD/twin/half/libascendcl.so fine 2 'right, on ascend' 'warning: .*aclrtMapMem'
fi

# fewer devices than PEs, and all on one: allowed
HBMESH_TWIN=devices=1 SHMEM_DEBUG=on fine 3 'right, on ascend' '3 PEs of this machine share 1 device'
SHMEM_DEVICE=5 fine 3 'right, on ascend'

# too little memory: asked, free, total
HBMESH_TWIN=devices=2,hbm=64M SHMEM_SYMMETRIC_SIZE=1G wrong right \
    'the symmetric heap of 1073741824 bytes does not fit on device [01] \(Ascend910B-twin\): [0-9]+ bytes of its 67108864 are free'

# a call of the runtime fails: its name, the code, its own words
HBMESH_TWIN_FAULT=aclrtSetDevice:1=507899 wrong right 'aclrtSetDevice: error 507899' 'fault on demand'
HBMESH_TWIN_FAULT=aclrtMapMem:1=507899 wrong right 'aclrtMapMem: error 507899' 'fault on demand'
HBMESH_TWIN_FAULT=aclrtMemcpy:20-=507899,aclrtMemcpyAsync:20-=507899 wrong work 'aclrtMemcpy(Async)?: error 507899' 'fault on demand'
HBMESH_TWIN_FAULT=aclrtSynchronizeStream:20-=507899 wrong work 'aclrtSynchronizeStream: error 507899' 'fault on demand'
# a device is lost in mid-job
HBMESH_TWIN_FAULT=device:0@400=lost wrong work 'device 0 is lost'

echo "$passed passed, $failed failed"
[ $failed = 0 ]
