# Standard streams: bytes are unchanged, lines stay whole, labels, files, who reads the input.
# timeout: 180
. "$SRC/test/launch/lib.sh"
need_pe
head -c 100000000 /dev/urandom > big
sum=$(md5sum < big)

same() { [ "$(cat "$2" | md5sum)" = "$sum" ] || fail "$1: not the same bytes ($(wc -c < "$2"))"; }
timeout 60 "$OSHRUN" -n 2 sh -c '[ $SHMEM_PE = 0 ] && exec cat; exit 0' < big | cat > copy; same "file to pipe" copy
cat big | timeout 60 "$OSHRUN" -n 2 sh -c '[ $SHMEM_PE = 0 ] && exec cat; exit 0' > copy; same "pipe to file" copy
cat big | timeout 60 "$OSHRUN" -n 1 cat | cat > copy; same "one PE" copy
timeout 60 "$OSHRUN" -n 2 sh -c '[ $SHMEM_PE = 1 ] && exec cat big; exit 0' 2>&1 | cat > copy; same "both streams in one" copy
cat big | timeout 60 "$OSHRUN" -n 2 --stdin 1 sh -c '[ $SHMEM_PE = 1 ] && exec cat; exec wc -c >&2' 2> err > copy
same "--stdin 1" copy
[ "$(tr -d ' ' < err)" = 0 ] || fail "--stdin 1: PE 0 has input, too: $(cat err)"
# all of them, PE 1 reads nothing for as long as the others need
cat big | timeout 60 "$OSHRUN" -n 3 --stdin all sh -c '
    if [ $SHMEM_PE = 1 ]; then for i in $(seq 300); do [ -e done.0 ] && [ -e done.2 ] && break; sleep 0.1; done; fi
    md5sum > done.$SHMEM_PE' || fail "--stdin all: status $?"
for i in 0 1 2; do [ "$(cat done.$i)" = "$sum" ] || fail "--stdin all: PE $i has other bytes"; done
cat big | timeout 60 "$OSHRUN" -n 2 --stdin all sh -c '[ $SHMEM_PE = 1 ] && exit 0; md5sum > done.0' ||
    fail "--stdin all, one leaves: status $?"
[ "$(cat done.0)" = "$sum" ] || fail "--stdin all, one leaves: PE 0 has other bytes"
timeout 60 "$OSHRUN" -n 2 --stdin none sh -c '[ $(wc -c) = 0 ]' < big || fail "--stdin none: there is input"
# nobody reads: nobody is held up
cat big big big | timeout 20 "$OSHRUN" -n 2 true || fail "input that nobody reads: status $?"
# what a PE does not read is still there for the next command
printf 'one\ntwo\n' > lines
[ "$( { "$OSHRUN" -n 2 sh -c 'exit 0'; cat; } < lines | tr '\n' ,)" = one,two, ] || fail "oshrun swallowed the input"

# whole lines
cat > chatter.sh <<'END'
i=0
while [ $i -lt 300 ]; do printf "$SHMEM_PE:begin"; printf "middle"; echo "end"; i=$((i+1)); done
END
timeout 60 "$OSHRUN" -n 8 sh chatter.sh > out 2> err || fail "chatter: status $?"
[ "$(grep -cx '[0-7]:beginmiddleend' out)" = 2400 ] || fail "lines are broken: $(grep -vxc '[0-7]:beginmiddleend' out)"
timeout 60 "$OSHRUN" -n 8 -l sh chatter.sh > out 2> err || fail "chatter -l: status $?"
for i in 0 3 7; do [ "$(grep -cx "\[$i\] $i:beginmiddleend" out)" = 300 ] || fail "labelled lines of PE $i are broken"; done
"$OSHRUN" -l -n 2 sh -c 'echo e >&2; printf unfinished' > out 2> err
[ "$(sort err | tr '\n' ,)" = "[0] e,[1] e," ] || fail "labels on standard error: $(cat err)"
[ "$(grep -c '^\[[01]\] unfinished$' out)" -ge 1 ] || fail "labels of unfinished lines: $(cat out)"

# an unfinished line arrives while its PE still sleeps
"$OSHRUN" -n 2 sh -c '[ $SHMEM_PE = 0 ] || exit 0; printf prompt; sleep 600' > out 2> err < /dev/null & job=$!
wait_for 1 prompt out || fail "an unfinished line does not arrive"
kill -TERM $job; wait $job

# order of output and error in one file
"$OSHRUN" -n 2 sh -c 'for i in 1 2 3 4 5; do echo "o$i"; echo "e$i" >&2; done' > both 2>&1
[ "$(grep -c . both)" = 20 ] || fail "both: $(wc -l < both) lines"
"$OSHRUN" -n 2 sh -c '[ $SHMEM_PE = 0 ] || exit 0; for i in 1 2 3 4 5; do echo "o$i"; echo "e$i" >&2; done' > both 2>&1
[ "$(tr '\n' ' ' < both)" = "o1 e1 o2 e2 o3 e3 o4 e4 o5 e5 " ] || fail "order of output and error: $(tr '\n' ' ' < both)"

# files
expect 0 --output "$OSHRUN" -n 2 --output dir sh -c 'echo out $SHMEM_PE; echo err $SHMEM_PE >&2'
for i in 0 1; do [ "$(cat dir/$i.out dir/$i.err | tr '\n' ,)" = "out $i,err $i," ] || fail "--output: PE $i: $(cat dir/$i.*)"; done
[ ! -s out ] || fail "--output: there is output: $(cat out)"
expect 1 "--output a file" "$OSHRUN" -n 2 --output lines true; says "--output a file" '--output lines'

# a reader that goes, a reader that sleeps, a closed stream
timeout 20 "$OSHRUN" -n 2 sh -c 'yes' 2> err | head -2 > out
[ "$(wc -l < out)" = 2 ] || fail "head: $(cat out)"
timeout 60 "$OSHRUN" -n 4 sh -c 'seq 100000' | (sleep 1; wc -l) > out
[ "$(tr -d ' ' < out)" = 400000 ] || fail "a slow reader: $(cat out) lines instead of 400000"
timeout 20 "$OSHRUN" -n 2 "$pe" plain >&- 2> err || fail "closed output: status $? $(cat err)"
timeout 20 "$OSHRUN" -n 2 sh -c 'cat' <&- > out 2> err || fail "closed input: status $?"
[ -e /dev/full ] && timeout 20 "$OSHRUN" -n 2 echo x > /dev/full
nothing_left stdio
finish
