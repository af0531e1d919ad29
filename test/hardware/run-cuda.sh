#!/usr/bin/env bash
# timeout: 480
# label: long
# On a machine with a GPU, in under 8 minutes: builds, runs the conformance suite of kind cuda on the real driver, the spec tests
# with their heaps on the GPU and a table of bandwidth, and prints date and device. Keep what it prints.
#   bash test/hardware/run-cuda.sh [--twin]     --twin: a rehearsal on the software devices of the build, which says nothing about GPUs
# BUILD: a build folder to use. Without a GPU: status 77. MINUTES: less than 8.
set -u
src=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${BUILD:-$src/build}
start=$(date +%s)
end=$((start + ${MINUTES:-8} * 60 - 20))
jobs=$(nproc)
failed=0
left() { local s=$((end - $(date +%s))); [ "$1" -lt "$s" ] && s=$1; [ "$s" -lt 1 ] && s=1; echo "$s"; }
section() { printf '\n--- %s (after %d s)\n' "$*" $(($(date +%s) - start)); }

if [ "${1:-}" = --twin ]; then
    library=$build/twin/libcuda.so.1
elif [ -e /dev/nvidiactl ] || [ -e /dev/dxg ] || nvidia-smi -L > /dev/null 2>&1; then
    library=${SHMEM_CUDA_LIBRARY:-libcuda.so.1}
else
    echo 'there is no GPU here: nothing was run'
    exit 77
fi

date -u '+%Y-%m-%d %H:%M:%S UTC'
uname -srm
if [ "${1:-}" = --twin ]; then
    echo 'rehearsal: the software devices of this build, no hardware'
else
    nvidia-smi --query-gpu=index,name,driver_version,memory.total,memory.free --format=csv || echo 'nvidia-smi: not here'
    nvidia-smi topo -m 2> /dev/null | sed -n '/^$/q;p'
fi
git -C "$src" describe --always --dirty 2> /dev/null | sed 's/^/hbmesh /'

section 'build'
make -C "$src" BUILD="$build" J="$jobs" > "$build.hardware.log" 2>&1 || { tail -30 "$build.hardware.log"; exit 1; }
targets='test-conform-memkind_device'
for f in "$src"/test/spec/*.c; do targets="$targets test-spec-$(basename "$f" .c)"; done
# shellcheck disable=SC2086
timeout "$(left 300)" cmake --build "$build" -j "$jobs" --target $targets >> "$build.hardware.log" 2>&1 ||
    { tail -30 "$build.hardware.log"; exit 1; }
rm -f "$build.hardware.log"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SHMEM_CUDA_LIBRARY=$library BUILD=$build
"$build/bin/shmem-info" --machine 2> /dev/null | grep -i -A1 cuda

section 'conformance of the kind cuda'
SHMEM_ASCEND_LIBRARY=/none timeout "$(left 200)" "$build/test/conform/memkind_device" > "$work/conform" 2>&1
rc=$?
grep -v '^ascend' "$work/conform"
[ $rc = 0 ] || { echo "conformance: status $rc"; failed=1; }

section 'spec tests, heaps on the device, 2 and 3 PEs'
export SHMEM_HEAP_KIND=cuda
says() { sed -n "1,20s,^/\\* $2: \\(.*\\) \\*/\$,\\1,p" "$1"; } # what a test says of itself
one() { # BUILD SOURCE NPES FOLDER: a line of the verdict and, if it failed, of the reason
    name=$(basename "$2" .c)
    # shellcheck disable=SC2046
    if env $(says "$2" env) timeout 60 "$1/bin/oshrun" --timeout 50 -n "$3" "$1/test/spec/$name" $(says "$2" args) \
        > "$4/$name.$3" 2>&1; then
        echo "passed $name $3"
    else
        rc=$?
        [ $rc = 77 ] && echo "skipped $name $3" || echo "failed $name $3: $(head -1 "$4/$name.$3" | cut -c1-200)"
    fi
}
export -f one says
for f in "$src"/test/spec/*.c; do
    grep -q '^/\* not-for-devices:' "$f" && continue # it is about memory that the CPU can touch
    for n in 2 3; do
        npes=$(says "$f" npes)
        case " ${npes:-$n} " in *" $n "*) echo "$build $f $n $work" ;; esac
    done
done > "$work/todo"
timeout "$(left 240)" xargs -P $(((jobs + 3) / 4)) -L 1 bash -c 'one "$@"' one < "$work/todo" > "$work/spec"
for v in passed skipped failed; do echo "$v: $(grep -c "^$v" "$work/spec")"; done
echo "not run: $(($(wc -l < "$work/todo") - $(wc -l < "$work/spec")))"
grep '^failed' "$work/spec"
[ "$(grep -c '^passed' "$work/spec")" -gt 0 ] && ! grep -q '^failed' "$work/spec" || failed=1

section 'bandwidth, wall clock, PE 0 to PE 1'
"$build/bin/oshcc" -O2 -o "$work/bandwidth" "$src/test/hardware/bandwidth.c" &&
    SHMEM_SYMMETRIC_SIZE=256M timeout "$(left 60)" "$build/bin/oshrun" -n 2 "$work/bandwidth" 64 50 || failed=1

section "done: $([ $failed = 0 ] && echo passed || echo FAILED)"
exit $failed
