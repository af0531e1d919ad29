# Every program of bench/micro compiles without a word; bench/run.py measures two of them and writes the report it should.
# timeout: 300
set -u
python=${PYTHON:-$(command -v python3)}
[ -n "$python" ] || { echo 'there is no Python'; exit 77; }
failed=0
fail() { echo "FAIL: $*"; failed=1; }
has() { grep -q -- "$2" "$1" || fail "$1 does not say: $2"; }

for source in "$SRC"/bench/micro/*.c; do
    case $source in
    *_mpi.c) command -v mpicc >mpicc && compiler=$(cat mpicc) || continue ;;
    *) compiler=$OSHCC ;;
    esac
    said=$("$compiler" -std=gnu11 -Wall -Wextra -Werror -fsyntax-only "$source" 2>&1) || fail "$source: $said"
done

run() { OSHCC=$OSHCC OSHRUN=$OSHRUN "$python" "$SRC/bench/run.py" "$@" >said 2>&1; }

# Without peers: rows, limits and what each table states, in Markdown and in JSON; text around the marks is kept.
mkdir report
cat >report/benchmarks.md <<'TEXT'
Before.
<!-- Written by bench/run.py from here on: what is changed by hand is lost. -->
an old report
<!-- End of what bench/run.py writes. -->
After.
TEXT
run --quick --no-peers --tables element meet --out report || fail "run.py: $(cat said)"
for text in '^Before' '^After' '^### p$' '^### barrier_all' '| heap | 8 B | .* ns | .* ns |' 'No peer was measured' \
    'load .* other processes running; hbmesh .*; values from 1 run'; do
    has report/benchmarks.md "$text"
done
grep -q 'an old report' report/benchmarks.md && fail 'the old report is still there'
"$python" - <<'PROGRAM' || fail 'benchmarks.json'
import json

document = json.load(open("report/benchmarks.json"))
lines = [line for run in document["runs"] for line in run["lines"]]
for table, series in (("p", "heap"), ("g", "static data"), ("p", "limit"), ("barrier", "all PEs"), ("barrier", "limit")):
    values = [line[3] for line in lines if line[:2] == [table, series]]
    assert values and all(value > 0 for value in values), (table, series, values)
assert [run["status"] for run in document["runs"]] == ["ok"] * len(document["runs"]), document["runs"]
PROGRAM

# The same report from the figures kept.
cp -r report again && run --from again/benchmarks.json --out again || fail "run.py --from: $(cat said)"
cmp report/benchmarks.md again/benchmarks.md || fail 'from the same figures comes another report'

# Figures of two files are one report, with twice as many values.
mkdir both && run --from report/benchmarks.json again/benchmarks.json --out both || fail "run.py --from two: $(cat said)"
has both/benchmarks.md 'values from 2 runs'
run --from both/benchmarks.json --out anew || fail "run.py --from the file of both: $(cat said)"
cmp both/benchmarks.md anew/benchmarks.md || fail 'from the figures of both comes another report'

# Peers that misbehave cost their own rows only: one that hangs with a child that has left its session, one that dies half
# way, one that does not compile.
cat >cc <<'TEXT'
#!/bin/sh
while [ $# -gt 0 ]; do [ "$1" = -o ] && echo >"$2"; shift; done
TEXT
seconds=1$$ # nobody else sleeps as long
cat >hang <<TEXT
#!/bin/sh
[ "\$1" = --version ] && exit
setsid sleep $seconds &
sleep $seconds
TEXT
cat >die <<'TEXT'
#!/bin/sh
[ "$1" = --version ] && exit
printf 'p\theap\t8\t1000000000\tns\n'
echo 'no more of this' >&2
exit 3
TEXT
printf '#!/bin/sh\n[ "$1" = --version ] || kill -SEGV $$\n' >crash
printf '#!/bin/sh\necho "In file included from x.c:1:"; echo "x.h:1: error: no such thing"; exit 1\n' >cannot
chmod +x cc hang die crash cannot
run --quick --tables element --limit 2 --out bad hangs=./cc,./hang dies=./cc,./die crashes=./cc,./crash \
    cannot=./cannot,./die || fail "run.py with bad peers: $(cat said)"
for text in 'hangs, micro/element with 2 PEs: timed out' 'dies, micro/element with 2 PEs: failed (`no more of this`)' \
    'crashes, micro/element with 2 PEs: failed (`ended by SIGSEGV`)' \
    'cannot, micro/element with 2 PEs: does not compile (`x.h:1: error: no such thing`)' \
    '| heap | 8 B | .* timed out | 1 s | failed | does not compile |' \
    'in \*\*1 of 1 rows\*\*'; do
    has bad/benchmarks.md "$text"
done
sleepers() {
    for process in /proc/[0-9]*; do
        { tr '\0' ' ' <"$process/cmdline"; } 2>/dev/null | grep -q "^sleep $seconds" && echo "$process"
    done
}
none_left() { [ -z "$(sleepers)" ] || fail "left behind: $(sleepers)"; }
none_left

# Ended from outside while a peer hangs: what was measured until then is reported, and nobody is left behind.
mkdir tmp
OSHCC=$OSHCC OSHRUN=$OSHRUN TMPDIR=$PWD/tmp "$python" "$SRC/bench/run.py" --quick --tables element --out cut \
    hangs=./cc,./hang >said 2>&1 &
measurement=$!
for _ in $(seq 300); do [ -n "$(sleepers)" ] && break || sleep 0.1; done
kill -TERM $measurement
wait $measurement
status=$?
[ $status = 130 ] || fail "an ended measurement has status $status: $(cat said)"
has said 'ended before its time'
has cut/benchmarks.md '| heap | 8 B | .* ns'
none_left
[ -z "$(ls tmp)" ] || fail "left behind: $(ls tmp)"

# What is asked wrongly is said.
run --tables nonsense && fail 'a program that there is not'
has said 'there is no such program'
run nonsense && fail 'a peer without compiler and launcher'
has said 'is no peer'
run x=/no/such,/no/such && fail 'a peer that is not there'
has said 'there is no program /no/such'
run --pes 3 && fail 'a number of PEs that nothing is run with'
has said 'none of the programs is run with so many PEs'
run --out cc && fail 'a file for a folder'
has said 'no report can be written there'
run --from /no/such.json && fail 'figures that are not there'
has said 'no figures of an earlier run are there'
exit $failed
