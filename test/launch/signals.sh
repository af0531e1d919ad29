# Signals to the launcher, --timeout, and the report of what each PE waits for.
# timeout: 120
. "$SRC/test/launch/lib.sh"
need_pe

start_job() {
    local lines=$1
    shift
    : > out 2> err # of the job before: its lines would count as this one's, until the shell has opened the file anew
    "$OSHRUN" "$@" > out 2> err < /dev/null &
    job=$!
    wait_for "$lines" . out || fail "$*: did not start: $(cat out err)"
}
ends() { # ends STATUS NAME
    wait $job
    local rc=$?
    [ $rc = "$1" ] || fail "$2: status $rc instead of $1"
    nothing_left "$2" 1
}

for pair in INT:130 TERM:143 HUP:129; do
    start_job 3 -n 3 "$pe" hang
    kill -${pair%:*} $job
    ends ${pair#*:} ${pair%:*}
done
# who handles the signal has time to end well, who does not is killed; a second signal kills at once
start_job 2 -n 2 sh -c 'trap "echo handled; exit 0" TERM; echo up; while :; do sleep 0.05; done'
kill -TERM $job; ends 143 "handled TERM"
[ "$(grep -c handled out)" = 2 ] || fail "handled TERM: $(cat out)"
# behind SIGINT there is time for more than that
start_job 2 -n 2 "$pe" slow
kill -INT $job; ends 130 "handled INT"
[ "$(grep -c handled out)" = 2 ] || fail "handled INT: $(cat out)"
start_job 2 -n 2 sh -c 'trap "" INT TERM; echo up; while :; do sleep 0.05; done'
kill -INT $job; ends 130 "ignored INT"
start_job 2 --grace 600 -n 2 sh -c 'trap "" INT TERM; echo up; while :; do sleep 0.05; done'
kill -INT $job; sleep 0.2; kill -INT $job; ends 130 "two INTs"
# nohup
: > out
(trap '' HUP; exec "$OSHRUN" -n 2 "$pe" signals) > out 2> err < /dev/null & job=$!
wait_for 2 ^up out; kill -HUP $job; sleep 0.3
[ "$(alive | wc -l)" = 2 ] || fail "nohup: gone"
kill -TERM $job; ends 143 nohup

start_job 3 -n 3 "$pe" signals
for s in USR1 USR2 WINCH; do
    kill -$s $job
    wait_for 3 "^${s,,}" out || fail "$s: reached $(grep -c "^${s,,}" out) PEs"
done
kill -TERM $job; ends 143 "passed on"

# through a shell, which has no handler
start_job 2 -n 2 sh -c '"$0" signals; :' "$pe"
wait_for 2 ^up out
kill -USR1 $job
wait_for 2 ^usr1 out || fail "USR1 through a shell: $(cat out)"
kill -TERM $job; ends 143 "through a shell"

# SIGQUIT asks, the job goes on
start_job 3 -n 3 "$pe" hang
sleep 0.5
kill -QUIT $job
wait_for 4 ^hbmesh: err || fail "SIGQUIT: no report: $(cat err)"
says SIGQUIT 'PE 0 .*outside the library'
for i in 1 2; do says SIGQUIT "PE $i .*waits in shmem_barrier_all.* for PE 0 .*since"; done
[ "$(alive | wc -l)" -ge 6 ] || fail "SIGQUIT ended the job"
kill -TERM $job; ends 143 SIGQUIT
expect 124 --timeout "$OSHRUN" --timeout 1.5 -n 3 "$pe" word
says --timeout 'PE 0 .*outside the library'
says --timeout 'PE 1 .*waits in shmem_long_wait_until on address 0x[0-9a-f]+ \(.*\) until it is == 42 \(it was 0\), since'
nothing_left --timeout
expect 124 "--timeout in init" "$OSHRUN" --timeout 1 -n 3 "$pe" half
says "--timeout in init" 'PE 0 .*has not called shmem_init'
says "--timeout in init" 'PE 2 .*waits in shmem_init for PE 0 .1 of 3 PEs have not come.'
nothing_left "--timeout in init"
expect 0 "--timeout not reached" "$OSHRUN" --timeout 30 -n 2 "$pe" plain

# stop and continue
start_job 3 -n 3 "$pe" hang
kill -TSTP $job
states() { for p in $(alive); do sed 's/.*) \(.\).*/\1/' /proc/$p/stat; done | sort | tr -d '\n'; }
all_in() { local i; for i in $(seq 60); do case $(states) in *[!$1]*) sleep 0.05 ;; *) return ;; esac; done; return 1; }
all_in T || fail "TSTP: processes are in states $(states)"
for i in $(seq 40); do case $(sed 's/.*) \(.\).*/\1/' /proc/$job/stat) in T) break ;; *) sleep 0.05 ;; esac; done
[ "$(sed 's/.*) \(.\).*/\1/' /proc/$job/stat)" = T ] || fail "TSTP: the launcher is not stopped"
kill -CONT $job
all_in SR || fail "CONT: processes are in states $(states)"
kill -TERM $job; ends 143 "stop and continue"
start_job 3 -n 3 "$pe" hang
kill -TSTP $job; all_in T || fail "second TSTP"
kill -9 $job; wait $job 2>/dev/null
gone 1 || nothing_left "killed while stopped" 0
finish
