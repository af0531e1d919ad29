# timeout: 300
# PEs that make different collective calls are told, not hung: every ordered pair of kinds, on the world, on a split team,
# and across the two. PE 0 makes one call, the others make the other; the job must end with a status that is not 0 and
# with a sentence that names both. The argument is the number of PEs (2).
npes=${1:-2}
limit=3 # seconds, after which it counts as hung
"$OSHCC" -O1 -g "$SRC/test/launch/agree.c" -o agree || exit 1
./agree list > pairs || exit 1
tried=0 failed=0 most=0 sum=0
while read -r where x y name_x name_y; do
    begin=${EPOCHREALTIME/[.,]/}
    "$OSHRUN" --timeout $limit -n "$npes" ./agree "$where" "$x" "$y" > out 2>&1 < /dev/null
    rc=$?
    took=$((${EPOCHREALTIME/[.,]/} - begin))
    tried=$((tried + 1)) sum=$((sum + took))
    [ $took -gt $most ] && most=$took slowest="$where $x $y"
    if [ $rc -eq 0 ] || [ $rc -eq 124 ] || [ $rc -ge 128 ] ||
        ! grep -q "^hbmesh: PE .*$name_x.*" out || ! grep -q "^hbmesh: PE .*$name_y.*" out; then
        failed=$((failed + 1))
        [ $failed -le 10 ] && echo "FAIL $where: PE 0 $x, others $y: status $rc" && head -5 out
    fi
done < pairs
"$OSHCC" -O1 -g "$SRC/test/launch/ring.c" -o ring || exit 1
"$OSHRUN" --timeout $limit -n 3 ./ring > out 2>&1 < /dev/null
rc=$?
if [ $rc -ne 1 ] || ! grep -q 'deadlock: .*PE 0 waits in shmemx_sync_pe for PE 1' out; then
    failed=$((failed + 1))
    echo "FAIL three PEs in a circle of pairs: status $rc"
    cat out
fi
echo "$tried pairs on $npes PEs, $failed failed; $((sum / tried / 1000)) ms each, at most $((most / 1000)) ms ($slowest)"
[ $tried -gt 500 ] && [ $failed -eq 0 ]
