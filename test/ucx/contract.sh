# The transport by itself, without the library above it.
# timeout: 120
. "$SRC/test/ucx/lib.sh"
"$CC" -O1 -g -Wall -Wextra -I"$SRC/src" "$SRC/test/ucx/contract.c" -o contract -pthread -ldl ||
    fail 'contract.c does not build'
# as the library sets it for the module
export UCX_MEM_EVENTS=n UCX_MEM_MMAP_HOOK_MODE=none UCX_MEM_MALLOC_HOOKS=n UCX_HANDLE_ERRORS=none UCX_ERROR_SIGNALS= \
    UCX_VFS_ENABLE=n UCX_LOG_FILE=stderr
for case in '2' '4' '2 1048576'; do
    timeout 50 ./contract "$BUILD/lib/hbmesh/libhbmesh-ucx.so" $case >out 2>&1
    rc=$?
    [ $rc = 0 ] || { cat out; fail "PEs, bytes of an extent: $case: status $rc"; }
    cat out
done
exit 0
