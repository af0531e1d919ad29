# The make-believe hosts themselves: what each has of its own, mpirun over them, links and ports, and that a test that is
# killed leaves nothing.
# timeout: 60
. "$SRC/test/hosts/lib.sh"
if [ "${1:-}" = killed ]; then
    hosts_up 2
    on 1 sleep 12321 &
    on 2 sleep 12321 &
    for i in $(seq 100); do [ "$(processes_on 1 | wc -l)" = 1 ] && [ "$(processes_on 2 | wc -l)" = 1 ] && break; sleep 0.05; done
    echo up
    sleep 60
fi

hosts_up 3
for k in 1 2 3; do
    [ "$(on $k hostname)" = host$k ] || fail "the name of host $k"
    [ "$(on $k sh -c 'ls -A /dev/shm | wc -l')" = 0 ] || fail "host $k has things in /dev/shm"
    [ "$(on $k pwd)" = "$(pwd -P)" ] || fail "the folder on host $k"
    [ -r "$SRC/test/hosts/lib.sh" ] && on $k test -r "$SRC/test/hosts/lib.sh" || fail "host $k does not see the sources"
    nothing_left_on_hosts "at the start"
done
on 1 touch /tmp/mine /dev/shm/mine
on 2 test -e /tmp/mine && fail "a /tmp for two"
on 2 test -e /dev/shm/mine && fail "a /dev/shm for two"
on 2 sh -c '(sleep 0.1 &)'
sleep 0.3
nothing_left_on_hosts "after an orphan" 1
[ "$(on 2 sh -c 'ls /proc' | grep -c '^[0-9]')" -le 3 ] || fail "host 2 does not reap"

cat >listen.py <<'END_OF_PROGRAM'
import socket
import sys
sockets = []
for port in sys.argv[1:]:
    sockets.append(socket.create_server(("", int(port)), backlog=16))
open("listening", "w").close()
import time
time.sleep(60)
END_OF_PROGRAM
reach() { on "$1" timeout 1 bash -c "exec 3<>/dev/tcp/host$2/$3" 2>/dev/null; }
# What goes out before all of the way is there again is lost, and TCP says it again only after a second.
reach_soon() { for i in 1 2 3 4 5; do reach "$@" && return; done; false; }
on 2 python3 listen.py 7001 7002 &
for i in $(seq 100); do [ -e listening ] && break; sleep 0.05; done
reach_soon 1 2 7001 && reach_soon 3 2 7002 || fail "the hosts do not reach each other"
block 2 7001 7001
reach 1 2 7001 && fail "a blocked port"
reach 1 2 7002 || fail "the port beside a blocked one"
unblock 2
reach_soon 1 2 7001 || fail "a port that was unblocked"
cut 2
reach 1 2 7001 && fail "a link that is cut"
mend 2
reach_soon 1 2 7001 || fail "a link that was mended"
kill -9 $(processes_on 2)

if command -v mpirun >/dev/null && mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    job 0 "mpirun" "1 2 1" sh -c 'echo $OMPI_COMM_WORLD_RANK $(hostname)'
    [ "$(sort out | tr '\n' ' ')" = "0 host1 1 host2 2 host2 3 host3 " ] || fail "mpirun: $(cat out)"
    job 0 "mpirun in turns" "cyclic 1 2 1" sh -c 'echo $OMPI_COMM_WORLD_RANK $(hostname)'
    [ "$(sort out | tr '\n' ' ')" = "0 host1 1 host2 2 host3 3 host2 " ] || fail "mpirun in turns: $(cat out)"
    job 7 "a status" "1 1 1" sh -c 'exit 7'
    nothing_left_on_hosts "mpirun"
fi

# A test inside this one, as the kernel ends it with whoever started it.
mkdir inner
(cd inner && unset HOSTS_ISLAND && exec bash "$0" killed >out 2>&1) &
inner=$!
for i in $(seq 200); do grep -q up inner/out && break; sleep 0.05; done
grep -q up inner/out || fail "the test inside: $(cat inner/out)"
asleep() { grep -alE '^sleep.12321' /proc/[0-9]*/cmdline 2>/dev/null | wc -l; }
[ "$(asleep)" = 2 ] || fail "the test inside has $(asleep) sleepers instead of 2"
kill -9 $inner
for i in $(seq 40); do [ "$(asleep)" = 0 ] && break; sleep 0.05; done
[ "$(asleep)" = 0 ] || fail "a test that was killed left processes"
[ "$(ip -o link | wc -l)" = 5 ] || fail "a test that was killed left links: $(ip -o link)"
finish
