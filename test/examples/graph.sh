# timeout: 240
# The main example: right on 1, 2, 3 and 8 PEs, and a sentence for every kind of bad input.
OSHCC=${OSHCC:?the compiler wrapper} OSHRUN=${OSHRUN:?the launcher}
EXAMPLES=${EXAMPLES:-${SRC:?the source tree, or set EXAMPLES}/examples}
DATA=$EXAMPLES/data/debian-graph.gz
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

fail()
{
    echo "FAIL $*"
    [ -s "$work/out" ] && sed 's/^/    /' "$work/out"
    [ -s "$work/err" ] && sed 's/^/    /' "$work/err"
    failed=1
}

run() # NPES ARGUMENT ...
{
    n=$1
    shift
    "$OSHRUN" --timeout 60 -n "$n" "$work/graph" "$@" > "$work/out" 2> "$work/err" < /dev/null
}

# What the table says of a way: rows moved and accuracy.
column() { awk -v way="$1" -v at="$2" 'index($0, "  " way " ") == 1 && / s / { print $(NF - at); exit }' "$work/out"; }
rows() { column "$1" 6; }
accuracy() { column "$1" 1; }

"$OSHCC" -O2 -Wall -Wextra -Werror "$EXAMPLES"/graph/*.c -o "$work/graph" -lm || exit 1

# --- the real graph ---
nodes=$(gzip -dc "$DATA" | awk 'NR == 1 { print $3 }')
hops=2
first=
for n in 1 2 3 8; do
    run $n --hops $hops "$DATA" || { fail "$n PEs: status $?"; continue; }
    grep -q '^verdict: the same numbers in all three ways, bit for bit' "$work/out" || fail "$n PEs: verdict"
    [ -s "$work/err" ] && fail "$n PEs: no progress bar belongs into a file"
    [ "$(rows 'gather everything')" = $((nodes * (n - 1) * hops)) ] || fail "$n PEs: a gather brings every row to all"
    [ "$(rows 'one PE alone')" = 0 ] || fail "$n PEs: one PE moves nothing"
    if [ $n -gt 1 ]; then
        [ "$(rows 'reads on demand')" -gt 0 ] || fail "$n PEs: reads on demand moved nothing"
        [ "$(rows 'reads on demand')" -lt $((nodes * (n - 1) * hops / 4)) ] || fail "$n PEs: reads moved over a fourth"
    fi
    for way in 'one PE alone' 'reads on demand' 'gather everything'; do
        [ "$(accuracy "$way")" = "${first:=$(accuracy "$way")}" ] || fail "$n PEs: accuracy of $way"
    done
done
awk -v a="$first" 'BEGIN { exit !(a > 60 && a < 100) }' || fail "accuracy is $first %, about 65 % is usual"

# From another folder, the file found from where the program is.
mkdir -p "$work/a/b" "$work/examples/data"
cp "$work/graph" "$work/a/b/graph"
cp "$DATA" "$work/examples/data/"
(cd / && "$OSHRUN" -n 2 "$work/a/b/graph" --hops 1) > "$work/out" 2> "$work/err" < /dev/null
grep -q '^verdict: the same' "$work/out" || fail "the file is not found from the program's place"
rm -r "$work/examples"

# --- a graph small enough to think through ---
# Two triangles with one section each: whatever is hidden is predicted rightly as long as a neighbour is known.
cat > "$work/small" << 'END'
hbmesh-graph 1 6 6 2 by hand
red
blue
apple 0 1 2
brick 0 1
cherry 0
denim 1 1 2
ocean 1 1
sky 1
end
END
for n in 1 3 8; do # with 8, two PEs own nothing
    for seed in 0 1 2 3 4 5; do
        run $n --hops 3 --seed $seed "$work/small" || fail "small graph, seed $seed, $n PEs: status $?"
        grep -q '^verdict: the same' "$work/out" || fail "small graph, seed $seed, $n PEs: verdict"
        grep -q ' hidden' "$work/out" && ! grep -q 'wrong, it is' "$work/out" || fail "small graph, seed $seed: prediction"
    done
done

# --- bad input ---
# refuse NPES SENTENCE ARGUMENT ...: the sentence comes once, the status is not zero, nobody crashes or hangs.
refuse()
{
    pes=$1 sentence=$2
    shift 2
    run "$pes" "$@"
    rc=$?
    { [ $rc -gt 0 ] && [ $rc -lt 124 ]; } || fail "$sentence: status $rc"
    [ "$(grep -cF -- "$sentence" "$work/err")" = 1 ] || fail "not said, or not once: $sentence"
    grep -q '^verdict' "$work/out" && fail "$sentence: a verdict all the same"
}

# bad SENTENCE SED-SCRIPT: the small graph, changed.
bad()
{
    sed "$2" "$work/small" > "$work/bad"
    cmp -s "$work/small" "$work/bad" && fail "nothing changed by $2"
    refuse 2 "$1" "$work/bad"
}

bad 'this is no package graph' '1s/hbmesh-graph/hbmesh-tree/'
bad 'line 1: this is no package graph' '1s/ 1 / 2 /'
bad 'line 1: the header should give' '1s/ 6 6 2/ 6 x 2/'
bad 'line 1: the header should give' '1s/ 6 6 2/ 0 6 2/'
bad 'line 1: the header should give' '1s/ 6 6 2/ 6 6 -2/'
bad 'line 1: the header should give' '1s/ 6 6 2/ 6 6 99999999999999999999/'
bad 'more packages or links than the file has room for' '1s/ 6 6 2/ 1000000000 6 2/'
bad 'more packages or links than the file has room for' '1s/ 6 6 2/ 6 1000000000 2/'
bad 'line 4: the number of the section is out of range' '4s/apple 0/apple 2/'
bad 'line 4: the number of the section is out of range' '4s/apple 0/apple -1/'
bad 'line 6: a package needs a name' '6s/ .*//'
bad 'line 6: a package needs a name' '6s/.*//'
bad 'line 5: a link leads to no other package' '5s/1$/5/'
bad 'line 5: a link leads to no other package' '5s/1$/-2/'
bad 'line 5: a link leads to no other package' '5s/1$/0/'
bad 'line 5: a link leads to no other package' '5s/1$/1x/'
bad 'line 9: more links than the header promises' '9s/$/ -1/'
bad 'line 9: fewer links than the header promises' '8s/ 1$//'
bad 'line 10: the last line should be "end"' '10s/end/END/'
bad 'line 10: the last line should be "end"' '10s/$/\nmore/'
bad 'line 10: the file ends too early' '10d'
bad 'line 4: the file ends too early' '4,$d'

cut_at() { head -c "$2" "$1" > "$work/cut"; }
cut_at "$work/small" 60
refuse 2 'the file ends too early' "$work/cut"
cut_at "$DATA" 500000
refuse 3 'gzip could not unpack it' "$work/cut"
cut_at "$DATA" 2
refuse 1 'gzip could not unpack it' "$work/cut"
: > "$work/cut"
refuse 1 'this is no package graph' "$work/cut"
head -c 100000 /dev/zero > "$work/cut"
refuse 1 'this is no package graph' "$work/cut"
refuse 3 'nowhere: No such file or directory' "$work/nowhere"
refuse 1 "$work: Is a directory" "$work"

refuse 3 '--hops needs a number from 1 to 16' --hops 0
refuse 1 '--hops needs a number from 1 to 16' --hops 2x "$DATA"
refuse 1 '--fan-in needs a number from 1 to 1000000' "$DATA" --fan-in
refuse 3 '--hop is no option' --hop 3
refuse 1 'two is one file too many' one two
refuse 2 'no debian-graph.gz near the program'

run 3 --help || fail "--help: status $?"
[ "$(grep -c '^usage: graph' "$work/out")" = 1 ] || fail "--help: the text comes once"

[ $failed -eq 0 ] && echo "the graph is right, and bad input is told"
exit $failed
