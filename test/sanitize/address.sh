# Library, launcher and API tests built with AddressSanitizer and UBSan in a tree of their own; 2 and 3 PEs. Some of them once
# more with their heaps on the software NPU, which is built so, too.
# timeout: 3000
set -u
tree=$BUILD/asan
cmake -S "$SRC" -B "$tree" -DHBMESH_SANITIZE=address,undefined -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" \
    -DCMAKE_BUILD_TYPE=Sanitize -DCMAKE_C_FLAGS='-O1 -g1' -DCMAKE_CXX_FLAGS='-O1 -g1' \
    >configure.log 2>&1 || { cat configure.log; exit 1; }
# A system may lack the sanitizers' runtime: then there is nothing to run.
echo 'int main(void) { return 0; }' >probe.c
"$CC" -fsanitize=address,undefined probe.c -o probe && ./probe || exit 77
cmake --build "$tree" -j 2 >build.log 2>&1 && cmake --build "$tree" -j 2 --target tests >>build.log 2>&1 ||
    { tail -n 40 build.log; exit 1; }
(cd "$tree" && ctest --output-on-failure -j 2 -LE long) || exit 1

export SHMEM_HEAP_KIND=ascend SHMEM_ASCEND_LIBRARY=$tree/twin/libascendcl.so HBMESH_TWIN_LATE=1 HBMESH_TWIN_NODE=sanitize-$$
for t in amo signal wait; do
    "$tree/bin/oshrun" --timeout 60 -n 2 "$tree/test/spec/$t" || { echo "$t fails on the twin"; exit 1; }
done
"$tree/bin/oshcc" -O1 -g1 -o stream_order "$SRC/test/device/stream_order.c" -ldl -pthread &&
    "$tree/bin/oshrun" --timeout 60 -n 2 ./stream_order
