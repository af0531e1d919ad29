# timeout: 300
# PEs that make different collective calls are told, not hung: every ordered pair of kinds, on the world, on a split team,
# and across the two. PE 0 makes one call, the others make the other; the job must end with a status that is not 0 and
# with a sentence that names both. The argument is the number of PEs (2). Workers share the pairs: most of the time
# of a pair goes into waiting.
npes=${1:-2}
workers=4
limit=6 # seconds, after which it counts as hung
"$OSHCC" -O1 -g "$SRC/test/launch/agree.c" -o agree || exit 1
"$OSHCC" -O1 -g "$SRC/test/launch/ring.c" -o ring || exit 1
./agree list > pairs || exit 1

try() # OUT WHERE X Y NAME_OF_X NAME_OF_Y
{
    local begin=${EPOCHREALTIME/[.,]/}
    "$OSHRUN" --timeout $limit -n "$npes" ./agree "$2" "$3" "$4" > "$1" 2>&1 < /dev/null
    local rc=$?
    echo "$((${EPOCHREALTIME/[.,]/} - begin)) $2 $3 $4"
    [ $rc -ne 0 ] && [ $rc -ne 124 ] && [ $rc -lt 128 ] && grep -qE "^hbmesh: PE .*$5" "$1" && grep -qE "^hbmesh: PE .*$6" "$1" &&
        return
    echo "FAIL $2: PE 0 $3, others $4: status $rc: $(head -3 "$1")" >> failures
}

: > failures
for w in $(seq 0 $((workers - 1))); do
    awk -v w=$w -v n=$workers 'NR % n == w' pairs | while read -r pair; do try out.$w $pair; done > times.$w &
done
wait
"$OSHRUN" --timeout $limit -n 3 ./ring > out 2>&1 < /dev/null
rc=$?
if [ $rc -ne 1 ] || ! grep -q 'deadlock: .*PE 0 waits in shmemx_sync_pe for PE 1' out; then
    echo "FAIL three PEs in a circle of pairs: status $rc: $(cat out)" >> failures
fi
head -20 failures
sort -n times.* | awk -v n="$npes" -v bad="$(grep -c FAIL failures)" '{ sum += $1 } END {
    printf "%d pairs on %d PEs, %d failed; %d ms each, at most %d ms (%s %s %s)\n", NR, n, bad, sum / NR / 1000, $1 / 1000, $2, $3, $4 }'
[ "$(cat times.* | wc -l)" -gt 500 ] && [ ! -s failures ]
