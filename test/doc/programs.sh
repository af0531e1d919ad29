# Every program in the README files and the guide compiles without a word and runs. A block of C that has a main is one;
# "<!-- run: N -->" before it says on how many PEs.
# timeout: 180
set -u
for file in README.md README.zh-CN.md doc/guide.md; do
    awk -v name="$(basename "$file" .md)" '
        /^<!-- run: / { npes = $3 }
        /^```c$/ { inside = 1; text = ""; next }
        /^```/ && inside {
            inside = 0
            if (text ~ /int main\(/) {
                n++
                printf "%s", text > (name "-" n ".c")
                print name "-" n, npes ? npes : 3
            }
            npes = 0
        }
        inside { text = text $0 "\n" }' "$SRC/$file"
done >list
[ "$(wc -l <list)" -ge 8 ] || { echo "FAIL: only $(wc -l <list) programs were found"; exit 1; }
failed=0
while read -r name npes; do
    "$OSHCC" -O2 -Wall -Wextra -Werror "$name.c" -o "$name" || { echo "FAIL: $name does not compile"; failed=1; continue; }
    "$OSHRUN" --timeout 30 -n "$npes" "./$name" >out 2>err </dev/null
    rc=$?
    if [ $rc != 0 ] || [ -s err ] || ! [ -s out ]; then
        echo "FAIL: $name on $npes PEs: status $rc"
        cat out err
        failed=1
    fi
done <list
expect() { # PROGRAM TEXT
    "$OSHRUN" -n 4 "./$1" 2>&1 | grep -qF "$2" || { echo "FAIL: $1 does not say: $2"; failed=1; }
}
expect guide-1 "PE 0: my left neighbour is 3"
expect guide-2 "last element: 127.5"
expect guide-3 "last element: 127.5"
expect guide-4 "PE 2: 103"
expect guide-5 "1000 tasks done"
expect guide-7 "PE 1: vertices 51 15 16"
"$OSHRUN" -n 8 ./guide-6 | grep -qF "number 2 in its row: the row adds up to 22" || { echo "FAIL: guide-6"; failed=1; }
exit $failed
