# timeout: 300
# The graph neural network: it learns on the real graph, the two ways of getting features give the same model, and bad
# input is told in a sentence.
OSHRUN=${OSHRUN:?the launcher}
EXAMPLES=${EXAMPLES:-${SRC:?the source tree, or set EXAMPLES}/examples}
[ -n "${PYTHON:-}" ] || { echo "SKIP: no Python part in this build"; exit 77; }
"$PYTHON" -c 'import torch, matplotlib' 2>/dev/null || { echo "SKIP: $PYTHON has no PyTorch or no matplotlib"; exit 77; }
export PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

fail()
{
    echo "FAIL $*"
    sed 's/^/    /' "$work/out" "$work/err"
    failed=1
}

run() # NPES ARGUMENT ...
{
    n=$1
    shift
    "$OSHRUN" --timeout 120 -n "$n" "$PYTHON" "$EXAMPLES/gnn/gnn.py" --out "$work/result" "$@" \
        > "$work/out" 2> "$work/err" < /dev/null
}

accuracy() { sed -n "s/^| $1 *| *\([0-9]*\)\..*/\1/p" "$work/out"; }

# One round on the real graph is enough to beat both the most frequent section (10 %) and the names alone.
run 3 --epochs 1 --hidden 32 || fail "the real graph: status $?"
grep -q '^verdict: the same weights in both ways' "$work/out" || fail "the real graph: verdict"
[ "$(accuracy 'reads on demand')" -gt 40 ] || fail "the real graph: accuracy"
[ "$(accuracy 'reads on demand')" = "$(accuracy 'gather everything')" ] || fail "the two ways differ"
[ "$(accuracy 'reads on demand')" -gt "$(accuracy 'without the graph')" ] || fail "the graph is of no use"
"$PYTHON" - "$work/result" <<'END_OF_PROGRAM' || fail "the files of results"
import json, sys
results = json.load(open(sys.argv[1] + "/results.json"))
on_demand, gathered, alone = results["trainings"]
assert 0 < on_demand["rows"] < gathered["rows"] / 10 and alone["rows"] == 0
assert gathered["rows"] % 63438 == 0  # whole matrices: three blocks of 21146 rows
assert on_demand["losses"] == gathered["losses"] and len(on_demand["losses"]) == 1
assert open(sys.argv[1] + "/training.png", "rb").read(8) == b"\x89PNG\r\n\x1a\n"
assert "reads on demand" in open(sys.argv[1] + "/table.md").read()
END_OF_PROGRAM

# A graph of a few packages, some PEs without any, and the other rhythms of gathering.
cat > "$work/small" <<'END_OF_GRAPH'
hbmesh-graph 1 10 9 2 by hand
red
blue
apple 0 1 2
apricot 0 1
anise 0
almond 0 -1
acorn 0 -1
brick 1 1 2
board 1 1
blade 1
bowl 1 -1
bell 1 -1
end
END_OF_GRAPH
for gather in epoch once; do
    run 8 --epochs 3 --batch 4 --gather $gather "$work/small" || fail "small graph, $gather: status $?"
    grep -q '^verdict: the same weights' "$work/out" || fail "small graph, $gather: verdict"
done

# refuse NPES SENTENCE ARGUMENT ...: the sentence comes once, the status is not zero, nobody crashes or hangs.
refuse()
{
    pes=$1 sentence=$2
    shift 2
    run "$pes" "$@"
    rc=$?
    { [ $rc -gt 0 ] && [ $rc -lt 124 ]; } || fail "$sentence: status $rc"
    [ "$(grep -cF -- "$sentence" "$work/err")" = 1 ] || fail "not said, or not once: $sentence"
    grep -q Traceback "$work/err" && fail "$sentence: a traceback"
}
refuse 3 'argument --epochs: needs a number from 1 to 1000' --epochs 0
refuse 1 'argument --rate: needs a number' --rate much
refuse 2 'argument --fan-out: needs two numbers' --fan-out 4
refuse 2 'unrecognized arguments: --epoch-count' --epoch-count 3
refuse 2 "$work/nowhere" "$work/nowhere"
sed 1s/hbmesh/other/ "$work/small" > "$work/bad"
refuse 2 'this is no package graph' "$work/bad"
sed 5d "$work/small" > "$work/bad"
refuse 1 'not as long as its first line says' "$work/bad"
sed 's/^acorn 0 -1/acorn 0 -9/' "$work/small" > "$work/bad"
refuse 2 'a link to a package that is not there' "$work/bad"
head -c 1000 "$EXAMPLES/data/debian-graph.gz" > "$work/bad"
refuse 2 'damaged' "$work/bad"
: > "$work/file"
refuse 2 'File exists' --out "$work/file"

run 3 --help || fail "--help: status $?"
[ "$(grep -c '^usage: gnn' "$work/out")" = 1 ] || fail "--help: the text comes once"

[ $failed -eq 0 ] && echo "the network learns, and bad input is told"
exit $failed
