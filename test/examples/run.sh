# timeout: 240
# Builds each short example with oshcc and compares what it prints on 1, 2, 3 and 8 PEs with NAME.expected:
# lines below "# oshrun -n N" are for N PEs, lines before any such line for all. PEs may print in any order,
# so lines are compared sorted.
OSHCC=${OSHCC:?the compiler wrapper} OSHRUN=${OSHRUN:?the launcher}
EXAMPLES=${EXAMPLES:-${SRC:?the source tree, or set EXAMPLES}/examples}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

fail()
{
    echo "FAIL $*"
    failed=1
}

expected_for() # FILE NPES
{
    awk -v n="$2" 'BEGIN { on = 1 } /^# oshrun -n / { on = $4 == n; next } on' "$1"
}

run_one() # NAME NPES
{
    expected_for "$EXAMPLES/$1.expected" "$2" | sort > "$work/expected"
    [ -s "$work/expected" ] || { fail "$1: nothing is expected on $2 PEs"; return; }
    "$OSHRUN" --timeout 60 -n "$2" "$work/$1" > "$work/out" 2> "$work/err" < /dev/null
    rc=$?
    sort "$work/out" > "$work/sorted"
    if [ $rc -ne 0 ] || [ -s "$work/err" ] || ! cmp -s "$work/expected" "$work/sorted"; then
        fail "$1 on $2 PEs: status $rc"
        diff "$work/expected" "$work/sorted"
        cat "$work/err"
    fi
}

for source in "$EXAMPLES"/*.c; do
    name=$(basename "$source" .c)
    [ -f "$EXAMPLES/$name.expected" ] || { fail "$name: no $name.expected"; continue; }
    "$OSHCC" -O2 -Wall -Wextra -Werror "$source" -o "$work/$name" || { fail "$name: does not compile"; continue; }
    for n in 1 2 3 8; do
        run_one "$name" $n
    done
done

# Cells that cannot be shared evenly: a sentence and a status, on all PEs.
"$OSHRUN" --timeout 60 -n 7 "$work/pairwise" > "$work/out" 2> "$work/err" < /dev/null && fail "pairwise on 7 PEs: status 0"
grep -q '^pairwise: 240 cells cannot be shared evenly by 7 PEs$' "$work/err" || fail "pairwise on 7 PEs: no sentence"

[ $failed -eq 0 ] && echo "all examples print what is expected"
exit $failed
