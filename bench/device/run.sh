# Puts, gets, atomics and signals on the heaps of software NPUs, over both of the links that they model. Tables on
# standard output. FIGURE: the name of a picture to make (.png and .svg).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export SHMEM_SYMMETRIC_SIZE=256M
unset SHMEM_HEAP_KIND SHMEM_MALLOC_ON HBMESH_TWIN_LATE HBMESH_TWIN_FAULT HBMESH_TWIN_STRICT HBMESH_TWIN_LOG
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$OSHCC" -O2 -I"$here/../.." -o "$work/device" "$here/device.c"
for link in roce hccs; do
    HBMESH_TWIN=links=$link "$OSHRUN" --twin -n 2 "$work/device" > "$work/$link.csv"
done
python=$(sh "$here/../../tools/python.sh" matplotlib 2>/dev/null) || python=python3
"$python" "$here/plot.py" ${FIGURE:+--figure "$FIGURE"} RoCE="$work/roce.csv" HCCS="$work/hccs.csv"
