# timeout: 240
# Each short example in Python, on 1, 2, 3 and 8 PEs and without a launcher, against NAME.expected: lines below
# "# oshrun -n N" are for N PEs, lines before any such line for all. PEs may print in any order: lines are compared sorted.
OSHRUN=${OSHRUN:?the launcher}
EXAMPLES=${EXAMPLES:-${SRC:?the source tree, or set EXAMPLES}/examples}/python
[ -n "${PYTHON:-}" ] || { echo "SKIP: no Python part in this build"; exit 77; }
export PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

expected_for() # FILE NPES
{
    awk -v n="$2" 'BEGIN { on = 1 } /^# oshrun -n / { on = $4 == n; next } on' "$1"
}

check() # NAME NPES COMMAND ...
{
    name=$1 n=$2
    shift 2
    expected_for "$EXAMPLES/$name.expected" "$n" | sort > "$work/expected"
    [ -s "$work/expected" ] || { echo "FAIL $name: nothing is expected on $n PEs"; failed=1; return; }
    "$@" > "$work/out" 2> "$work/err" < /dev/null
    rc=$?
    sort "$work/out" > "$work/sorted"
    if [ $rc -ne 0 ] || [ -s "$work/err" ] || ! cmp -s "$work/expected" "$work/sorted"; then
        echo "FAIL $name on $n PEs: status $rc"
        diff "$work/expected" "$work/sorted"
        cat "$work/err"
        failed=1
    fi
}

for source in "$EXAMPLES"/*.py; do
    name=$(basename "$source" .py)
    [ -f "$EXAMPLES/$name.expected" ] || { echo "FAIL $name: no $name.expected"; failed=1; continue; }
    check "$name" 1 "$PYTHON" "$source"
    for n in 1 2 3 8; do
        check "$name" $n "$OSHRUN" --timeout 60 -n $n "$PYTHON" "$source"
    done
done
[ $failed -eq 0 ] && echo "all examples print what is expected"
exit $failed
