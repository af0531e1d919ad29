# The command line: what is understood, what is refused with a sentence and status 2, several programs, environment.
. "$SRC/test/launch/lib.sh"

count() { [ "$(grep -c . out)" = "$1" ] || fail "$2: $(grep -c . out) PEs instead of $1"; }
for n in "-n 3" "-np 3" "--np 3" "-n3" "-n=3" "--np=3" "-q -n 3 -v -l"; do expect 0 "$n" "$OSHRUN" $n echo x; count 3 "$n"; done
expect 0 "no -n" "$OSHRUN" echo x; count 1 "no -n"
expect 0 "--" "$OSHRUN" -n 2 -- echo : -n
[ "$(sort -u out)" = ": -n" ] || fail "--: $(cat out)"
expect 0 "arguments" "$OSHRUN" -n 1 printf '<%s>' '' 'a  b' '*' -- -n --help "'"
[ "$(cat out)" = "<><a  b><*><--><-n><--help><'>" ] || fail "arguments: $(cat out)"

refused() { # refused PATTERN ARGUMENT...
    local pattern=$1
    shift
    expect 2 "$*" "$OSHRUN" "$@"
    says "$*" "^oshrun: .*$pattern"
}
refused 'program is missing'
refused 'program is missing' -n 2
refused 'missing beside' -n 2 true :
refused 'missing beside' : true
refused 'did you mean --label' --lable true
refused 'did you mean --timeout' --time-out 3 true
refused 'unknown option' --completely-different true
refused 'whole number' -n 0 true
refused 'whole number' -n -1 true
refused 'whole number' -n 2x true
refused 'whole number' -n 5000 true
refused 'too many' -n 4000 true : -n 4000 true
refused 'needs a value' -n
refused 'needs a value' --heap
refused 'takes no value' --label=yes true
refused 'a size is' --heap big true
refused 'number of seconds' --timeout soon true
refused 'number of seconds' --timeout -1 true
refused 'number of seconds' --timeout nan true
refused 'number of a PE' --stdin first true
refused 'no such PE' --stdin 2 -n 2 true
refused 'none, core or thread' --bind=socket true
refused 'no such variable' -x NOT_SET_ANYWHERE true
refused 'name of a variable' -x =x true
refused 'name of the program' -n 2 ''

expect 0 --help "$OSHRUN" --help
for word in -n -x --label --heap --timeout --bind --wdir --output --stdin --verbose --quiet --check --machines --hosts --hostfile --launcher --version; do
    grep -q -- "$word" out || fail "--help does not name $word"
done
[ "$(wc -L < out)" -le 90 ] || fail "--help has lines of $(wc -L < out) columns"
expect 0 --version "$OSHRUN" --version; grep -q '[0-9]\.[0-9]' out || fail "--version: $(cat out)"

# environment and folder
export OUTSIDE=$'two words\nand = more'
expect 0 -x "$OSHRUN" -n 2 -x OUTSIDE -x A=1 -x B= sh -c '[ "$OUTSIDE" = "two words
and = more" ] && [ "$A$B" = 1 ] && [ -n "${B+set}" ]'
mkdir -p dir
expect 0 --wdir "$OSHRUN" -n 2 --wdir dir pwd; [ "$(sort -u out)" = "$work/dir" ] || fail "--wdir: $(cat out)"
expect 127 "--wdir of nothing" "$OSHRUN" -n 2 --wdir nothing pwd; says "--wdir of nothing" 'wdir nothing'
expect 0 "--heap --check" "$OSHRUN" -n 2 --heap 16m --check sh -c '[ "$SHMEM_SYMMETRIC_SIZE $SHMEM_CHECK" = "16m 1" ]'
expect 0 "several programs" "$OSHRUN" -n 2 -x A=1 sh -c 'echo $SHMEM_PE $SHMEM_NPES $A' : -n 1 --wdir dir sh -c 'echo $SHMEM_PE ${PWD##*/} $A' : sh -c 'echo $SHMEM_PE'
[ "$(sort out | tr '\n' ,)" = "0 4 1,1 4 1,2 dir,3," ] || fail "several programs: $(cat out)"
expect 0 "a job in a job" "$OSHRUN" -n 2 sh -c '"$0" -n 2 sh -c "echo \$SHMEM_PE \$SHMEM_NPES"' "$OSHRUN"
[ "$(sort out | tr '\n' ,)" = "0 2,0 2,1 2,1 2," ] || fail "a job in a job: $(cat out)"

# signals, limits, descriptors and the rest reach a PE as they reached oshrun
cat > state.sh <<'END'
grep -E '^(Sig(Blk|Ign|Cgt)|Groups|Umask|Seccomp|NoNewPrivs|Cpus_allowed)' /proc/self/status
ulimit -a
ls /proc/self/fd | sort -n | tr '\n' ' '
END
( trap '' USR1 CHLD PIPE; umask 027; ulimit -c 0; ulimit -Sn 200; exec 7< /dev/null
  bash state.sh > direct 2>&1 < /dev/null
  "$OSHRUN" -n 1 bash -c 'IFS=: read -r fd _ <<< "$SHMEM_LAUNCH"; eval "exec $fd>&-"; exec bash state.sh' > one 2>&1 < /dev/null
  "$OSHRUN" -n 2 --output two bash -c 'IFS=: read -r fd _ <<< "$SHMEM_LAUNCH"; eval "exec $fd>&-"; exec bash state.sh 2>&1' < /dev/null )
diff direct one || fail "one PE: its state differs"
diff direct two/0.out || fail "PE 0: its state differs"
diff direct two/1.out || fail "PE 1: its state differs"
expect 3 "SIGCHLD ignored" bash -c 'trap "" CHLD; exec "$0" -n 2 sh -c "exit 3"' "$OSHRUN"

# one core for each PE, never two PEs on one unless asked
expect 0 "not bound" "$OSHRUN" -n 2 sh -c 'grep Cpus_allowed_list /proc/self/status'
[ "$(cut -f2 out | sort -u)" = "$(grep Cpus_allowed_list /proc/self/status | cut -f2)" ] || fail "bound without --bind"
refused 'let' --bind core -n 4000 true
expect 0 "--bind" "$OSHRUN" --bind -n 1 grep Cpus_allowed_list /proc/self/status
if [ "$(nproc)" -ge 2 ]; then
    expect 0 "--bind thread" "$OSHRUN" --bind thread -n 2 grep Cpus_allowed_list /proc/self/status
    [ "$(sort -u out | wc -l)" = 2 ] || fail "--bind thread: $(cat out)"
fi
expect 0 "--bind core:overload" "$OSHRUN" --bind core:overload -n $((2 * $(nproc))) true
finish
