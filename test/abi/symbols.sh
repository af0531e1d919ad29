# A program built yesterday runs tomorrow: what libhbmesh.so exports is what symbols.txt lists. No name is gone, none
# has come by accident, and no data is exported, whose size a program would have copied into itself.
# After a change that is meant: make symbols.
set -u
list=$SRC/test/abi/symbols.txt
sh "$SRC/tools/exports.sh" "$BUILD/lib/libhbmesh.so" >now.txt
[ -s now.txt ] || { echo "FAIL: nothing is exported, or nm is missing"; exit 1; }
failed=0
if grep '^[^TWi] ' now.txt; then
    echo "FAIL: exported, and no function"
    failed=1
fi
if grep -v -E '^. (p?shmemx?_|p?start_pes$|p?shmalloc$|p?shfree$|p?shrealloc$|p?shmemalign$|p?_(my|num)_pes?$|p?(my|num)_pes?$|_shmem)' now.txt; then
    echo "FAIL: exported, and no name of the API"
    failed=1
fi
cut -d' ' -f2 now.txt >now
cut -d' ' -f2 "$list" >before
if LC_ALL=C comm -13 now before | grep .; then
    echo "FAIL: gone from the library; programs that use it no longer start"
    failed=1
fi
if LC_ALL=C comm -23 now before | grep .; then
    echo "FAIL: not in test/abi/symbols.txt; if it is meant: make symbols"
    failed=1
fi
echo "$(wc -l <now) functions are exported"
exit $failed
