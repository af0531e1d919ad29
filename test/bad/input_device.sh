# timeout: 280
# label: device long
# The same wrong uses with the program's blocks in device memory, on the software NPU.
export SHMEM_HEAP_KIND=ascend SHMEM_ASCEND_LIBRARY=$BUILD/twin/libascendcl.so HBMESH_TWIN_LATE=1 HBMESH_TWIN_NODE=input-$$
. "$SRC/test/bad/input.sh"
