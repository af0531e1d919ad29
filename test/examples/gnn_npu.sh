# timeout: 300
# The graph neural network with its arrays on the heaps of NPUs in software: the same losses and accuracies as on host
# memory, to the last bit.
OSHRUN=${OSHRUN:?the launcher}
EXAMPLES=${EXAMPLES:-${SRC:?the source tree, or set EXAMPLES}/examples}
[ -n "${PYTHON:-}" ] || { echo "SKIP: no Python part in this build"; exit 77; }
[ -f "$BUILD/twin/libascendcl.so" ] || { echo "SKIP: the software NPU is not built here"; exit 77; }
"$PYTHON" -c 'import torch, matplotlib' 2>/dev/null || { echo "SKIP: $PYTHON has no PyTorch or no matplotlib"; exit 77; }
unset SHMEM_HEAP_KIND HBMESH_TWIN HBMESH_TWIN_LATE HBMESH_TWIN_FAULT HBMESH_TWIN_STRICT
export PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# The first packages of the real graph: enough for batches whose neighbours are on every PE.
gzip -dc "$EXAMPLES/data/debian-graph.gz" | awk '
    NR == 1 { sections = $5; keep = 1500; next }
    NR <= sections + 1 { names = names $0 "\n"; next }
    NR - sections - 2 < keep && $0 != "end" {
        v = NR - sections - 2; line = $1 " " $2
        for (i = 3; i <= NF; i++) if (v + $i < keep && v + $i >= 0) { line = line " " $i; links++ }
        lines = lines line "\n"
    }
    END { printf "hbmesh-graph 1 %d %d %d a part\n%s%send\n", keep, links, sections, names, lines }' > "$work/part"

# train NAME NPES OPTION-OF-OSHRUN ARGUMENT ...
train()
{
    name=$1 n=$2 heaps=$3
    shift 3
    "$OSHRUN" $heaps --timeout 100 -n "$n" "$PYTHON" "$EXAMPLES/gnn/gnn.py" --out "$work/$name" --epochs 2 --batch 256 \
        --hidden 16 --features 32 "$@" "$work/part" > "$work/out" 2> "$work/err" < /dev/null
    status=$?
    if [ $status -ne 0 ] || ! grep -q '^verdict: the same weights in both ways' "$work/out"; then
        echo "FAIL $name: status $status"
        sed 's/^/    /' "$work/out" "$work/err"
        failed=1
    fi
}

for n in 2 8; do
    train host$n $n ''
    train npus$n $n --twin
    "$PYTHON" - "$work/host$n" "$work/npus$n" << 'END_OF_PROGRAM' || { echo "FAIL $n PEs: other results"; failed=1; }
import json, sys
host, npus = (json.load(open(folder + "/results.json"))["trainings"] for folder in sys.argv[1:])
for a, b in zip(host, npus):
    for what in ("losses", "scores", "test", "rows", "graph_bytes"):
        assert a[what] == b[what], (a["name"], what, a[what], b[what])
assert len(host) == len(npus) == 3 and len(host[0]["losses"]) == 2
END_OF_PROGRAM
done
HBMESH_TWIN_LATE=1 train late 2 --twin --gather once

[ $failed -eq 0 ] && echo "the network on NPUs in software is the network on host memory"
exit $failed
