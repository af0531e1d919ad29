# The main example on two hosts: the same numbers in all ways, and reads on demand move less than a gather.
# timeout: 120
. "$SRC/test/hosts/lib.sh"
need_mpirun
need_network
"$OSHCC" -O2 "$SRC"/examples/graph/*.c -o graph -lm || exit 1
hosts_up 2
limit=100 job 0 "the graph" "2 2" "$PWD/graph" --hops 2 "$SRC/examples/data/debian-graph.gz"
grep -q '^verdict: the same numbers in all three ways, bit for bit' out || { fail "verdict"; tail -20 out; }
rows() { awk -v way="$1" 'index($0, "  " way " ") == 1 && / s / { print $(NF - 6); exit }' out; }
[ "$(rows 'reads on demand')" -lt "$(rows 'gather everything')" ] || fail "reads on demand moved as much as a gather"
nothing_left_on_hosts "the graph"
finish
