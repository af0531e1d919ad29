# A PE, a host or a link that goes while all PEs are asleep, without a word between the hosts since shmem_init: every PE
# ends within 10 s and says what went, and a PE that only stands still is not taken for dead.
# timeout: 200
. "$SRC/test/hosts/lib.sh"
need_mpirun
need_network
need_host_pe
hosts_up 2
most=10 # seconds

# What each host's PEs say goes to a file on that host, as its link may be down: err.host1, err.host2.
each='exec "$0" "$@" 2>>"err.$(hostname)"'

# begin NAME WAY PES ARGUMENT...: WAY is mpirun or uid; a job that runs until something happens to it
begin() {
    name="$1 ($2)" way=$2
    local each_pes=$3
    shift 3
    rm -f err.host*
    : >out; : >err
    if [ "$way" = mpirun ]; then
        (limit=60 over "$each_pes" "$each_pes" sh -c "$each" "$pe" "$@" >out 2>err) &
        pids=$!
    else
        limit=60 start_uid_on "$each_pes" sh -c "$each" "$pe" "$@"
    fi
    wait_for $((2 * each_pes)) '^up' && began=yes || began=
    sleep 0.3
    start=$(date +%s%N)
}

# ends: all PEs are gone from all hosts in time
ends() {
    local i left=
    for i in $(seq 300); do
        left=$(alive)
        [ -z "$left" ] && break
        sleep 0.05
    done
    took=$((($(date +%s%N) - start) / 1000000))
    [ -z "$left" ] || { fail "$name: still there after $took ms: $(echo $left)"; kill -9 $left; }
    [ $took -le $((most * 1000)) ] || fail "$name: it took $took ms"
    echo "$name: $took ms"
}

# over_with: what started the job is ended, whatever it waits for. All processes to be seen are those of this test.
over_with() {
    local i p status
    for i in $(seq 30); do [ -z "$(pgrep -x mpirun)" ] && break; sleep 0.1; done
    pkill -TERM -x mpirun
    for i in $(seq 30); do [ -z "$(pgrep -x mpirun)" ] && break; sleep 0.1; done
    pkill -KILL -x mpirun
    for p in $pids; do
        wait $p 2>/dev/null
        status=$?
        [ $status != 0 ] || fail "$name: status 0"
    done
    for p in $(processes_on 1) $(processes_on 2); do kill -9 $p 2>/dev/null; done
}

# tells K PATTERN: a PE of host K says it, and its host's PEs do not all repeat it
tells() {
    [ -n "$began" ] || return
    grep -qE -- "^hbmesh: .*$2" "err.host$1" 2>/dev/null ||
        { fail "$name: host $1 says nothing like /$2/ but:"; cat "err.host$1" 2>/dev/null | head -6 | sed 's/^/    /'; }
    [ "$(grep -c '^hbmesh: ' "err.host$1" 2>/dev/null)" -le 2 ] ||
        { fail "$name: host $1 says it too often:"; head -8 "err.host$1" | sed 's/^/    /'; }
}
process_of() { sed -nE "s/^up $1 of .* on host([12]), process ([0-9]+)\$/\1 \2/p" out; }
# signal PE SIGNAL
signal() { set -- $2 $(process_of $1); [ $# = 3 ] && on "$2" kill "-$1" "$3"; }

for way in mpirun uid; do
    export SHMEM_SECRET="known to all of the job"
    for who in 0 3; do
        begin "PE $who is killed" $way 2 asleep
        signal $who KILL
        ends
        over_with
        there=$((who / 2 + 1))
        tells $there "PE $who on host host$there \(process [0-9]+\) was killed by signal 9"
    done

    begin "the link is cut" $way 2 asleep
    cut 2
    ends
    tells 1 "host2"
    tells 2 "host1"
    mend 2
    over_with
    nothing_left_on_hosts "$name"
done

# Stopped, and longer so than a host may be silent.
export SHMEM_HEARTBEAT=2
begin "PE 2 stands still" mpirun 2 pause 5
signal 2 STOP
sleep 3.5
signal 2 CONT
wait $pids
status=$?
[ $status = 0 ] || { fail "$name: status $status"; cat err.host* | head -6 | sed 's/^/    /'; }
lines 4 "$name" "^well"
unset SHMEM_HEARTBEAT

# The host goes with all it has; this one is the last.
begin "host 2 dies" mpirun 2 moved-asleep
wait_for 4 '^moved'
sleep 0.3
start=$(date +%s%N)
kill -9 "$(cat "$HOSTS_ISLAND/2")"
ends
tells 1 "host2"
finish
