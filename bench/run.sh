# Builds and runs the benchmarks: what a call costs next to plain C, with a core for each PE and with fewer.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$OSHCC" -O2 -o "$work/calls" "$here/calls.c" -lpthread
"$OSHCC" -O2 -o "$work/heap" "$here/heap.c"
for n in 1 2; do
    "$OSHRUN" -n "$n" "$work/heap"
    echo
done
for n in 2 8; do
    "$OSHRUN" -n "$n" "$work/calls"
    echo
done
