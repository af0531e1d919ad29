# Everything built for aarch64; the API tests run under qemu-user, as far as it knows the system calls.
# label: long
# timeout: 3600
set -u
for program in aarch64-linux-gnu-gcc aarch64-linux-gnu-g++; do command -v $program >/dev/null || exit 77; done
command -v qemu-aarch64 >/dev/null || command -v qemu-aarch64-static >/dev/null || exit 77
tree=$BUILD/aarch64
cmake -S "$SRC" -B "$tree" -DCMAKE_TOOLCHAIN_FILE="$SRC/cmake/aarch64.cmake" >configure.log 2>&1 ||
    { cat configure.log; exit 1; }
cmake --build "$tree" -j 2 >build.log 2>&1 && cmake --build "$tree" -j 2 --target tests >>build.log 2>&1 ||
    { tail -n 40 build.log; exit 1; }
grep -i 'warning:' build.log && { echo "FAIL: warnings"; exit 1; }
cd "$tree" && ctest --output-on-failure -j 2 -LE long
