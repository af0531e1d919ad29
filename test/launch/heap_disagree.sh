# timeout: 200
# PEs that allocate, free or resize differently, or hand in what is no block, are told so in one sentence that names the
# call, and the job ends with a status that is not 0, at 2 and 8 PEs, with and without --check.
set -u
"$OSHCC" -O1 -Wno-unused-result -Wno-free-nonheap-object -o heap "$SRC/test/launch/heap_disagree.c" || exit 1
failed=0 passed=0
# NPES CASE REGEX ... : the only line of the library must match all of them
expect() {
    local n=$1 name=$2 rc why= re
    shift 2
    "$OSHRUN" ${flags:-} --timeout 20 -n "$n" ./heap "$name" >out 2>err </dev/null
    rc=$?
    [ $rc != 0 ] || why="status 0"
    [ $rc != 124 ] || why="it hung"
    grep -q survived out && why="it went on"
    for re in "$@"; do
        grep -qE -- "$re" err || why="${why:-no match for /$re/}"
    done
    [ "$(grep -c '^hbmesh' err)" = 1 ] || why="${why:-$(grep -c '^hbmesh' err) lines of the library}"
    if [ -z "$why" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $name at $n PEs ${flags:-} (status $rc): $why"
        sed 's/^/    /' err | head -4
    fi
}
disagree() { # CASE, what the others called, what the last PE called
    for n in 2 8; do expect "$n" "$1" 'do not agree' "$2" "$3" "PE $((n - 1))"; done
}
misuse() { # CASE REGEX ...: everybody does it
    for flags in '' --check; do expect 2 "$@"; done
    flags=
    expect 1 "$@"
}

disagree malloc_size 'shmem_malloc \(64 bytes\)' 'shmem_malloc \(65 bytes\)'
disagree malloc_large 'shmem_malloc \(64 bytes\)' 'shmem_malloc \(1125899906842624 bytes\)'
disagree malloc_nothing 'shmem_malloc \(64 bytes\)' 'shmem_barrier_all'
disagree malloc_calloc 'shmem_malloc \(64 bytes\)' 'shmem_calloc \(64 bytes\)'
disagree malloc_free 'shmem_malloc \(64 bytes\)' 'shmem_free \(block at heap offset 0\)'
disagree malloc_barrier 'shmem_malloc \(64 bytes\)' 'shmem_barrier_all'
disagree malloc_finalize 'shmem_malloc \(64 bytes\)' 'shmem_finalize'
disagree malloc_realloc 'shmem_malloc \(64 bytes\)' 'shmem_realloc \(block at heap offset 0, 64 bytes\)'
disagree calloc_count 'shmem_calloc \(64 bytes\)' 'shmem_calloc \(72 bytes\)'
disagree align_size 'shmem_align \(64 bytes' 'shmem_align \(128 bytes'
disagree align_alignment 'alignment 64' 'alignment 32'
disagree hints_size '\(64 bytes' '\(60 bytes'
disagree hints_hints 'hints 0' 'hints [1-9]'
disagree free_block 'shmem_free \(block at heap offset 0\)' 'shmem_free \(block at heap offset [1-9]'
disagree free_nothing 'shmem_free \(block at heap offset 0\)' 'shmem_barrier_all'
disagree free_sync 'shmem_free \(block at heap offset 0\)' 'shmem_sync_all'
disagree realloc_block 'shmem_realloc \(block at heap offset 0, 100' 'shmem_realloc \(block at heap offset [1-9]'
disagree realloc_size '0, 100 bytes' '0, 200 bytes'
disagree realloc_free 'shmem_realloc \(block at heap offset 0, 100 bytes\)' 'shmem_realloc \(block at heap offset 0\)'
disagree realloc_null 'block at heap offset 0, 100 bytes' 'shmem_realloc \(100 bytes\)'

misuse free_inside 'shmem_free: ptr: .* is 16 bytes inside the block of 64 bytes at heap offset 0'
misuse free_padding 'shmem_free: ptr: .* is (12 bytes behind the end|.*nothing is allocated)'
misuse free_twice 'shmem_free: ptr: .* is the beginning of the block of 64 bytes at heap offset 0 that was freed'
misuse free_page_twice 'shmem_free: ptr: .* is the beginning of the block of 3145728 bytes .* that was freed'
misuse free_static 'shmem_free: ptr: ' 'shmem_malloc'
misuse free_stack 'shmem_free: ptr: .*stack'
misuse free_private 'shmem_free: ptr: .*malloc memory'
misuse free_above 'shmem_free: ptr: .* bytes behind the end of the block of 3145728 bytes'
expect 2 free_peer 'shmem_free: ptr: .*' 'shmem_malloc'
misuse realloc_inside 'shmem_realloc: ptr: .* is 8 bytes inside the block of 64 bytes'
misuse realloc_freed 'shmem_realloc: ptr: .* that was freed'
misuse realloc_static 'shmem_realloc: ptr: '
misuse align_odd 'shmem_align: alignment: 48 is not a power of two'
misuse align_zero 'shmem_align: alignment: 0 is not a power of two'
echo "$passed of $((passed + failed)) as expected"
[ $failed = 0 ]
