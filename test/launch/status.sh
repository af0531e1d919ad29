# Exit statuses, and the one line that says how a job ended.
# timeout: 120
. "$SRC/test/launch/lib.sh"
need_pe
run=("$OSHRUN" -n 3)

expect 0 plain "${run[@]}" "$pe" plain
[ "$(grep -c ^up out)" = 3 ] || fail "plain: not three PEs"
expect 0 twice "${run[@]}" "$pe" twice
[ "$(grep -c ^up out)" = 9 ] || fail "twice: not three times three PEs"
expect 0 "no library" "${run[@]}" sh -c 'echo "$SHMEM_PE $SHMEM_NPES $SHMEM_LOCAL_PE $SHMEM_LOCAL_NPES"'
[ "$(sort out | tr '\n' ,)" = "0 3 0 3,1 3 1 3,2 3 2 3," ] || fail "numbers of the PEs: $(cat out)"
expect 6 "no library, status" "${run[@]}" sh -c '[ $SHMEM_PE = 2 ] && exit 6; sleep 60'
one_line "no library, status"
says "no library, status" 'PE 2 .*exited with status 6'

expect 7 exit "${run[@]}" "$pe" die exit7;        one_line exit;     says exit 'PE 1 .*exited with status 7'
nothing_left exit
expect 1 _exit0 "${run[@]}" "$pe" die _exit0;     one_line _exit0;   says _exit0 'PE 1 .*status 0 before shmem_finalize'
expect 5 _exit5 "${run[@]}" "$pe" die _exit5;     one_line _exit5;   says _exit5 'PE 1 .*status 5 before shmem_finalize'
expect 137 sigkill "${run[@]}" "$pe" die kill;    one_line sigkill;  says sigkill 'PE 1 .*signal 9'
expect 143 sigterm "${run[@]}" "$pe" die term;    one_line sigterm;  says sigterm 'PE 1 .*signal 15'
expect 139 segv "${run[@]}" "$pe" die segv;       one_line segv;     says segv 'PE 1 .*signal 11'
expect 1 exec "${run[@]}" "$pe" die exec;         one_line exec;     says exec 'PE 1 .*executed another program'
nothing_left "all these ends"
expect 0 closefrom "${run[@]}" "$pe" die closefrom
nothing_left closefrom

expect 7 "exit after finalize" "${run[@]}" "$pe" after exit7
says "exit after finalize" 'PE 1 .*exited with status 7'
[ "$(grep -c 'last words' out)" = 2 ] || fail "exit after finalize: the others could not finish: $(cat out)"
expect 0 "exec after finalize" "${run[@]}" "$pe" after none
expect 1 "never joins" "${run[@]}" "$pe" never
one_line "never joins"
says "never joins" 'PE 1 ended without calling shmem_init while'

expect 0 "global exit 0" "${run[@]}" "$pe" global 0
expect 99 "global exit 99" "${run[@]}" "$pe" global 99
[ ! -s err ] || fail "global exit says: $(cat err)"
for i in $(seq 20); do
    start=$(date +%s%N)
    expect 3 "global exit, others busy" "${run[@]}" "$pe" global-busy 3
    took=$(( ($(date +%s%N) - start) / 1000000 ))
    [ $took -lt 2000 ] || fail "global exit, others busy: $took ms"
done
nothing_left "global exit" 1

# through a shell, which oshrun started instead of the PE
expect 0 "shell" "${run[@]}" sh -c '"$0" plain; "$0" plain; :' "$pe"
[ "$(grep -c ^up out)" = 6 ] || fail "shell: two programs one after the other"
expect 139 "shell, segv" "${run[@]}" sh -c '"$0" die segv; :' "$pe"
says "shell, segv" 'PE 1 '
expect 1 "shell, one PE runs it once only" "${run[@]}" sh -c '"$0" plain; [ $SHMEM_PE = 1 ] || "$0" plain' "$pe"
says "shell, once only" 'PE 1 ended without calling shmem_init again'
expect 0 "a second process" "${run[@]}" "$pe" second
[ "$(grep -c '^refused' out)" = 3 ] || fail "a second process as the same PE was not refused: $(cat out err)"
says "a second process" 'was started by PE [012] .process [0-9]+. of a job and is no PE itself'
nothing_left "shells"

expect 127 "not found" "${run[@]}" no-such-program; one_line "not found"; says "not found" 'no-such-program: No such file'
echo data > plainfile
expect 126 "not executable" "${run[@]}" ./plainfile; says "not executable" 'Permission denied'
expect 0 quiet "$OSHRUN" -q -n 1 true
expect 4 quiet "$OSHRUN" -q -n 2 sh -c 'exit 4'
[ ! -s err ] || fail "-q says: $(cat err)"
expect 1 "few files" bash -c 'ulimit -n 64; exec "$0" -n 40 true' "$OSHRUN"; says "few files" 'ulimit -n'
expect 0 "soft limit of files" bash -c 'ulimit -Sn 64; exec "$0" -n 20 bash -c "[ \$(ulimit -Sn) = 64 ]"' "$OSHRUN"
expect 1 "small files" bash -c 'ulimit -f 1; exec "$0" -n 2 true' "$OSHRUN"; says "small files" 'ulimit -f'
finish
