# timeout: 120
# A library whose constructor starts a thread: oshcc's start object shares static data before it; without that object it is
# left alone, and the first remote use of it says why.
set -u
failed=0
fail() { echo "FAIL $*"; failed=$((failed + 1)); }
"$CC" -O1 -fPIC -shared "$SRC/test/static/early_library.c" -o libearly.so -lpthread || exit 1
library="-L. -learly -Wl,-rpath,$PWD"
for how in "" -hm-static "-no-pie -fno-pie" "-Wl,-z,now" "-Wl,--gc-sections"; do
    # shellcheck disable=SC2086
    "$OSHCC" $how -O1 "$SRC/test/static/early.c" -o early $library || { fail "cannot link [$how]"; continue; }
    for n in 2 3; do
        timeout 60 "$OSHRUN" -n $n ./early >out 2>&1 || fail "[$how] on $n PEs: $? $(head -3 out)"
    done
done
# linked by hand
"$CC" -O1 -I"$SRC/include" "$SRC/test/static/early.c" -o by_hand -L"$BUILD/lib" -lhbmesh -Wl,-rpath,"$BUILD/lib" $library || exit 1
timeout 60 "$OSHRUN" -n 2 ./by_hand >out 2>&1
[ $? = 1 ] && grep -q 'shmem_long_p: dest: .*static data is not shared: other threads ran already at shmem_init (link with oshcc' out ||
    fail "without the start object: $(cat out)"
# a shared object has no such entry: it could not be linked
echo 'int f(void) { return 1; }' >f.c
"$OSHCC" -shared -fPIC f.c -o libf.so || fail "oshcc -shared"
readelf -SW libf.so | grep -q preinit_array && fail "a shared object with .preinit_array"
readelf -SW early | grep -q preinit_array || fail "a program without .preinit_array"
[ $failed = 0 ]
