# kill -9 of the launcher, of its guard, of a PE, at every stage: within a second nothing is left, descendants included.
# timeout: 120
. "$SRC/test/launch/lib.sh"
need_pe

# start_job LINES ARGUMENTS...: in the background; job is its number
start_job() {
    local lines=$1
    shift
    : > out 2> err # of the job before: its lines would count as this one's, until the shell has opened the file anew
    "$OSHRUN" "$@" > out 2> err < /dev/null &
    job=$!
    [ "$lines" = 0 ] || wait_for "$lines" ^up out || fail "$*: did not start: $(cat out err)"
}
guard_of() { children "$1" | tr -d ' ' | head -1; }

for stage in "plain after:0" "hang during:3" "half before:3" "word wait:3"; do
    set -- $stage
    lines=${2#*:}
    # the launcher
    start_job "$lines" -n 3 "$pe" "$1"
    guard=$(guard_of $job)
    kill -9 $job; wait $job 2>/dev/null
    gone 1 || nothing_left "$stage: launcher killed" 0
    for i in $(seq 20); do [ -n "$guard" ] && running $guard && sleep 0.05; done
    [ -z "$guard" ] || ! running $guard || fail "$stage: the guard stayed"
    # the guard
    [ "$lines" = 0 ] && continue
    start_job "$lines" -n 3 "$pe" "$1"
    kill -9 "$(guard_of $job)"
    gone 1 || nothing_left "$stage: guard killed" 0
    wait $job; rc=$?
    [ $rc = 137 ] || fail "$stage: guard killed: status $rc"
    # a PE: the children of the guard
    start_job "$lines" -n 3 "$pe" "$1"
    kill -9 $(children "$(guard_of $job)" | tail -1)
    gone 1 || nothing_left "$stage: PE killed" 0
    wait $job; rc=$?
    [ $rc = 137 ] || fail "$stage: PE killed: status $rc"
done

# one that waits: the line names the call
start_job 3 -n 3 "$pe" hang
sleep 0.3
kill -9 $(children "$(guard_of $job)" | tail -1)
wait $job
says "killed in a wait" 'PE 2 .*signal 9.*waiting in shmem_barrier_all'

# at any moment of the start
for delay in 0 0.002 0.004 0.006 0.01 0.015 0.02 0.03 0.05; do
    start_job 0 -n 4 "$pe" hang
    sleep $delay
    kill -9 $job; wait $job 2>/dev/null
    gone 1 || nothing_left "launcher killed after $delay s" 0
done

# through shells and what they left
start_job 2 -n 2 sh -c '"$0" half; :' "$pe"
kill -9 $job; wait $job 2>/dev/null
gone 1 || nothing_left "launcher of shells killed" 0
start_job 2 -n 2 sh -c '("$0" sleeper &) ; "$0" hang; :' "$pe"
[ "$(alive | wc -l)" -ge 4 ] || fail "the sleepers did not start"
kill -9 $(for p in $(alive); do grep -qz ^hang "/proc/$p/cmdline" && echo $p; done | head -1)
gone 2 || nothing_left "a process of a shell killed" 0
wait $job; [ $? != 0 ] || fail "a process of a shell killed: status 0"

# a whole process group, as `kill -9 %1` does
: > out
setsid "$OSHRUN" -n 2 "$pe" hang > out 2> err < /dev/null &
wait_for 2 ^up out || fail "group: did not start"
front=$(ps -eo pid=,comm=,args= | awk -v pe="$pe" '$2 == "oshrun" && index($0, pe) { print $1; exit }')
kill -9 -- -"$front"
gone 1 || nothing_left "group killed" 0

# a job that ends well takes along what it left in the background
expect 0 "background" "$OSHRUN" -n 2 sh -c '"$0" sleeper & exit 0' "$pe"
gone 1 || nothing_left "background" 0
finish
