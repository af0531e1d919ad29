# timeout: 240
# The examples on the heaps of NPUs in software: the graph has the same scores as on host memory, to the last bit; every
# word of the global memory is what it should be; a flag comes before the data without quiet every time, with it never.
OSHCC=${OSHCC:?the compiler wrapper} OSHRUN=${OSHRUN:?the launcher}
EXAMPLES=${EXAMPLES:-${SRC:?the source tree, or set EXAMPLES}/examples}
DATA=$EXAMPLES/data/debian-graph.gz
[ -f "$BUILD/twin/libascendcl.so" ] || { echo "SKIP: the software NPU is not built here"; exit 77; }
unset SHMEM_HEAP_KIND HBMESH_TWIN HBMESH_TWIN_LATE HBMESH_TWIN_FAULT HBMESH_TWIN_STRICT
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

fail()
{
    echo "FAIL $*"
    sed 's/^/    /' "$work/out" "$work/err"
    failed=1
}

# run NPES PROGRAM ARGUMENT ...: with the variables that stand before it; npus: with heaps on NPUs.
run()
{
    n=$1 program=$2
    shift 2
    "$OSHRUN" $heaps --timeout 100 -n "$n" "$work/$program" "$@" > "$work/out" 2> "$work/err" < /dev/null
}
heaps=
npus()
{
    heaps=--twin
    run "$@"
    set -- $?
    heaps=
    return "$1"
}

"$OSHCC" -O2 -Wall -Wextra -Werror "$EXAMPLES"/graph/*.c -o "$work/graph" -lm || exit 1
for program in memory lesson; do
    "$OSHCC" -O2 -Wall -Wextra -Werror "$EXAMPLES/npu/$program.c" "$EXAMPLES/npu/clock.c" -o "$work/$program" || exit 1
done

# --- the graph: what it prints, without the times and what moved ---
numbers()
{
    grep -E '^(Package graph|The sections|digest|verdict: the same)|right$|wrong' "$work/out" |
        sed 's/;.*//; s/on [0-9]* PEs*//'
}
modelled() { sed -n 's/^  Copies in the modelled.*demand \([0-9.]*\) ms.*thing \([0-9.]*\) ms$/\1 \2/p' "$work/out"; }

run 3 graph --hops 2 "$DATA" || fail "the graph on host memory: status $?"
numbers > "$work/numbers"
grep -q '^digest' "$work/numbers" && [ -z "$(modelled)" ] || fail "the graph on host memory: what it prints"
for n in 1 2 8; do
    npus $n graph --hops 2 "$DATA" || fail "the graph on $n NPUs: status $?"
    numbers | diff "$work/numbers" - || fail "the graph on $n NPUs: other numbers than on host memory"
    [ -s "$work/err" ] && fail "the graph on $n NPUs: it complains"
    [ "$(modelled | wc -w)" = 2 ] || fail "the graph on $n NPUs: no modelled times"
done
# What is not waited for is seen late; older documents want aligned addresses and page-locked memory.
HBMESH_TWIN_LATE=1 npus 3 graph --hops 2 "$DATA" || fail "the graph, late: status $?"
numbers | diff "$work/numbers" - || fail "the graph, late: other numbers"
HBMESH_TWIN_STRICT=1 npus 3 graph --hops 2 "$DATA" || fail "the graph, strict: status $?"
numbers | diff "$work/numbers" - || fail "the graph, strict: other numbers"

# --- the memory ---
for n in 1 3; do
    SHMEM_SYMMETRIC_SIZE=320M npus $n memory 256 600 || fail "the memory of $n NPUs: status $?"
    grep -q 'verdict: every word is what it should be' "$work/out" || fail "the memory of $n NPUs: verdict"
    grep -q "^$n NPUs, $n x 32 GB" "$work/out" || fail "the memory of $n NPUs: what is there"
    [ "$(grep -c 'Ascend910B-twin' "$work/out")" = $n ] || fail "the memory of $n NPUs: their names"
done
# 248 GB are there, and this machine does not need them.
SHMEM_SYMMETRIC_SIZE=31G npus 8 memory 31728 400 || fail "the memory of 8 NPUs: status $?"
grep -q 'one global memory of 248 GB' "$work/out" || fail "the memory of 8 NPUs: its size"
grep -q 'verdict: every word is what it should be' "$work/out" || fail "the memory of 8 NPUs: verdict"

refuse() # SENTENCE run|npus NPES PROGRAM ARGUMENT ...
{
    sentence=$1
    shift
    "$@" && fail "$sentence: status 0"
    [ "$(grep -cF -- "$sentence" "$work/err")" = 1 ] || fail "not said, or not once: $sentence"
}
SHMEM_SYMMETRIC_SIZE=320M refuse 'the heap is host memory' run 2 memory 256
SHMEM_SYMMETRIC_SIZE=64M refuse 'no heap of 256 MB' npus 2 memory 256
refuse 'usage: memory' run 2 memory 256 many
refuse 'usage: lesson' run 2 lesson

# --- the lesson ---
HBMESH_TWIN_LATE=1000000:2000000 npus 2 lesson 300 || fail "the lesson: status $?"
[ "$(sed -n 's/.*: *\([0-9]*\) of 300 times.*/\1/p' "$work/out" | tr '\n' ' ')" = '300 0 0 0 ' ] || fail "the lesson"

[ $failed -eq 0 ] && echo "the examples run on NPUs in software"
exit $failed
