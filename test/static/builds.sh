# timeout: 280
# Static data is shared however the program is built; where it is not, the first use says why and what to do.
set -u
failed=0 passed=0
fail() { echo "FAIL $*"; failed=$((failed + 1)); }
source=$SRC/test/static/job.c
# PREFIX of the command, BOUND in KiB, then the build
runs() {
    local before=$1 bound=$2
    shift 2
    if ! "$@" -w -O1 "$source" -o job 2>link.log; then fail "cannot build: $* $(head -2 link.log)"; return; fi
    for n in 1 3; do
        if timeout 60 $before "$OSHRUN" -n $n ./job $bound >out 2>&1; then passed=$((passed + 1))
        else fail "$before $* on $n PEs: $(head -3 out)"; fi
    done
}
have() { echo 'int main(void) { return 0; }' >try.c; "$@" try.c -o try 2>/dev/null && ./try; }
runs "" 40000 "$OSHCC"
runs "" 40000 "$OSHCC" -hm-static
runs "" 40000 "$OSHCC" -no-pie -fno-pie
setarch -R true 2>/dev/null && runs "setarch -R" 40000 "$OSHCC"
setarch -R true 2>/dev/null && runs "setarch -R" 40000 "$OSHCC" -no-pie -fno-pie
runs "" 40000 "$OSHCC" -Wl,-z,norelro
runs "" 40000 "$OSHCC" -Wl,-z,relro,-z,now
runs "" 40000 "$OSHCC" -Wl,-z,noseparate-code
runs "" 40000 "$OSHCC" -Wl,-z,max-page-size=65536
runs "" 40000 "$OSHCC" -Wl,--gc-sections -ffunction-sections -fdata-sections
have "$CC" -flto && runs "" 40000 "$OSHCC" -flto
have "$CC" -fuse-ld=gold && runs "" 40000 "$OSHCC" -fuse-ld=gold
have "$CC" -fuse-ld=lld && runs "" 40000 "$OSHCC" -fuse-ld=lld
runs "" 40000 "$OSHCXX" -x c++
runs "" 40000 "$OSHCXX" -x c++ -no-pie -fno-pie
have "$CC" -mcmodel=large -fno-pie -no-pie && runs "" 40000 "$OSHCC" -mcmodel=large -fno-pie -no-pie '-DBIG=(5ul<<30)'
have "$CC" -fsanitize=undefined && runs "" "" "$OSHCC" -fsanitize=undefined -fno-sanitize-recover=all
if have "$CC" -fsanitize=address; then
    export ASAN_OPTIONS=detect_leaks=0
    runs "" "" "$OSHCC" -fsanitize=address '-DBIG=(64ul<<20)'
    runs "" "" "$OSHCC" -fsanitize=address -hm-static '-DBIG=(64ul<<20)'
fi

# --- where it is not ---
# EXPECTED, then the command
says() {
    local re=$1 rc
    shift
    timeout 60 "$@" >out 2>&1
    rc=$?
    if [ $rc = 1 ] && [ "$(grep -c '^hbmesh' out)" = 1 ] && grep -qE "$re" out; then passed=$((passed + 1))
    else fail "$* (status $rc): $(head -3 out)"; fi
}
"$OSHCC" -w -O1 "$source" -o job || exit 1
says 'shmem_long_p: dest: .*static data is not shared: SHMEM_STATIC is off.*shmem_malloc' env SHMEM_STATIC=off "$OSHRUN" -n 2 ./job
says 'shmem_long_p: dest: .*static data is not shared: SHMEM_STATIC is off' env SHMEM_STATIC=No "$OSHRUN" -n 2 ./job
if have "$CC" -static; then
    "$OSHCC" -static -w -O1 "$source" -o job-static || fail "cannot link -static"
    says 'static data is not shared: .*linked statically.*shmem_malloc' "$OSHRUN" -n 2 ./job-static
    "$OSHRUN" -n 1 ./job-static || fail "-static on 1 PE"
fi
have "$CC" -static-pie && "$OSHCC" -static-pie -fPIE -w -O1 "$source" -o job-static-pie &&
    says 'static data is not shared: .*linked statically' "$OSHRUN" -n 2 ./job-static-pie
"$OSHCC" -w -O1 -DOTHER '-DBIG=(2ul<<20)' "$source" -o other || exit 1
says 'static data is not shared: .*different programs' "$OSHRUN" -n 1 ./job : -n 1 ./other
# One that cannot tells the others why.
says 'static data is not shared: SHMEM_STATIC is off' "$OSHRUN" -n 1 ./job : -n 1 -x SHMEM_STATIC=off ./job
cp job same # a copy is the same program if it has a build id
if readelf -n job 2>/dev/null | grep -q 'Build ID'; then
    "$OSHRUN" -n 1 ./job : -n 2 ./same || fail "two copies of one program"
fi

# --- versions of header and library ---
mkdir -p old && sed 's/^#define SHMEMX_HBMESH_MINOR .*/#define SHMEMX_HBMESH_MINOR 99/' "$SRC/include/shmem.h" >old/shmem.h
"$CC" -Iold -I"$SRC/include" -w -O1 -c "$source" -o job-old.o && "$OSHCC" job-old.o -o job-old || exit 1
says 'shmem_init: .*compiled with shmem.h of hbmesh [0-9]+\.99\.[0-9]+, but runs with library [0-9.]+;' "$OSHRUN" -n 2 ./job-old
says 'shmem_init: .*compiled with shmem.h of hbmesh' ./job-old
echo "$passed passed, $failed failed"
[ $failed = 0 ]
