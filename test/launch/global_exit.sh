# timeout: 900
# label: long
# global_exit ends a job whose other PEs never come to the library: 200 times, each with the caller's status and output.
runs=${1:-200} worst=0
"$OSHCC" -O1 "$SRC/test/launch/global_exit.c" -o busy || exit 1
for i in $(seq 1 "$runs"); do
    begin=$(date +%s%N)
    timeout 10 "$OSHRUN" -n 3 ./busy >out 2>err </dev/null
    rc=$?
    took=$((($(date +%s%N) - begin) / 1000000))
    [ $took -gt $worst ] && worst=$took
    [ $rc = 7 ] || { echo "FAIL: run $i: status $rc"; cat err; exit 1; }
    grep -qx 'last words of the caller' out || { echo "FAIL: run $i: the caller's buffer was not flushed"; exit 1; }
done
echo "$runs runs, the longest $worst ms"
