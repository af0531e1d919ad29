# Bootstraps on several hosts by themselves, without the library above: which PEs are one machine, and who finds whom.
# cores: 1
# timeout: 120
[ -f "$SRC/test/hosts/lib.sh" ] || { echo "skipped: no test/hosts/lib.sh"; exit 77; }
. "$SRC/test/hosts/lib.sh"
[ -f "$BUILD/lib/hbmesh/crypto.so" ] || skip "built without OpenSSL (Debian: libssl-dev)"
"$CC" -O1 -g -I"$SRC/src" -I"$SRC/include" -o "$pe" "$here/joins.c" "$BUILD/lib/libhbmesh.a" -lpthread -ldl -lm -rdynamic ||
    { echo "cannot build joins.c"; exit 1; }
ln -s "$BUILD/lib/hbmesh" hbmesh # where the program looks for modules
hosts_up 3

# on_hosts CODES NAME "HOST HOST ..." COMMAND...: PE i on the i-th of them
on_hosts() {
    local want=$1 name=$2 hosts=$3 i=0 k n all=
    shift 3
    n=$(echo $hosts | wc -w) pids= port=$((port + 40))
    : >out; : >err
    for k in $hosts; do
        RANK=$i WORLD_SIZE=$n MASTER_ADDR=${master:-host1} MASTER_PORT=$port \
            on $k timeout -k 5 40 "$@" >>out 2>>err </dev/null &
        pids="$pids $!" i=$((i + 1)) all="$all $want"
    done
    collect
    [ "$codes" = "$want" ] || [ "$codes" = "${all# }" ] ||
        { fail "$name: statuses $codes instead of $want"; head -8 err | sed 's/^/    /'; }
}
machines() { lines "$1" "$2" "^machines $3\$"; }

export SHMEM_SECRET="known to all of the job"
on_hosts 0 "mixed" "1 2 2 3 3 3" "$pe" rounds 3
machines 3 "mixed" "0,1,1,2,2,2"
on_hosts 0 "cyclic" "1 2 3 1 2 3" "$pe" rounds 3
machines 3 "cyclic" "0,1,2,0,1,2"
[ -s err ] && fail "cyclic says $(head -1 err)"

# Containers that have the network of their host reach each other's memory; what they are called does not matter.
contained() { on_hosts 0 "$1" "$2" unshare --uts --ipc --pid --mount --fork --mount-proc sh -c 'hostname c$RANK; "$0" rounds 2; exit $?' "$pe"; }
contained "containers on one host" "1 1"
machines 2 "containers on one host" "0,0"
contained "containers on two hosts" "1 1 2 2"
machines 2 "containers on two hosts" "0,0,1,1"

# Bridges with the same addresses on all hosts, more than a PE tells of, and one that looks like a network.
for k in 1 2 3; do
    for i in 1 2 3 4 5; do
        on $k sh -c "ip link add name br-$i type bridge && ip addr add 172.17.$i.1/24 dev br-$i && ip link set br-$i up" ||
            fail "no bridge on host $k"
    done
    on $k sh -c "ip link add name same type bridge && ip addr add 172.18.0.1/24 dev same && ip link set same up"
done
on_hosts 0 "bridges" "1 2 3" "$pe" rounds 2
machines 2 "bridges" "0,1,2"

# A network of IPv6 only.
six() { for k in 1 2 3; do on $k sh -c "$1" sh $k || return 1; done; }
if six 'ip -6 addr add fd77::$1/64 dev eth0 nodad' 2>/dev/null; then
    six 'ip addr del 10.77.0.$1/24 dev eth0'
    master=fd77::1 on_hosts 0 "IPv6" "1 2 3" "$pe" rounds 2
    machines 2 "IPv6" "0,1,2"
    six 'ip addr add 10.77.0.$1/24 dev eth0; ip -6 addr del fd77::$1/64 dev eth0'
fi
for k in 1 2 3; do on $k sh -c 'for i in br-1 br-2 br-3 br-4 br-5 same; do ip link del $i; done'; done

# Another's service behind MASTER_PORT, which says nothing: PE 0 takes the next port, and the others find it there.
cat >mute.py <<'END_OF_PROGRAM'
import socket, sys, time
s = socket.socket()
s.bind(("", int(sys.argv[1])))
s.listen(9)
open("mute", "w")
time.sleep(8)
END_OF_PROGRAM
on 1 python3 mute.py $((port + 41)) &
mute=$!
for i in $(seq 100); do [ -e mute ] && break; sleep 0.05; done
[ -e mute ] || fail "no mute service"
on_hosts 0 "a mute service" "1 2 3" "$pe" rounds 2
machines 2 "a mute service" "0,1,2"
wait $mute

# Another version of the library on one host, as far as others see it.
"$CC" -O1 -g -I"$SRC/src" -I"$SRC/include" -DHM_VERSION_H -DHM_VERSION='"9.9.9"' -o other "$here/joins.c" "$SRC"/src/boot/meet.c \
    "$SRC"/src/boot/root.c "$SRC"/src/boot/shake.c "$BUILD/lib/libhbmesh.a" -lpthread -ldl -lm -rdynamic ||
    { echo "cannot build the other version"; exit 1; }
two_versions() {
    one_line "two versions, $1"
    says "two versions, $1" "PE [12] has library version 9.9.9, PE 0 has .*: have all use the same"
}
on_hosts 1 "two versions, uid" "1 2 2" sh -c 'case $(hostname) in host2) exec ./other rounds 1 ;; esac; exec "$0" rounds 1' "$pe"
two_versions uid

# A PE is killed: said once, and the same status everywhere, be it the leader of its machine or not.
for who in 0 1 2 3; do
    on_hosts 137 "PE $who is killed" "1 1 2 2" "$pe" kill $who
    one_line "PE $who is killed"
    says "PE $who is killed" "PE $who on host host[12] \(process [0-9]+\) (was killed by signal 9|has died)"
done
on_hosts 5 "global_exit" "1 1 2 2" "$pe" global-exit 3
[ -s err ] && fail "global_exit says $(head -1 err)"

# A leader that stands still for longer than any silence is taken for death.
(sleep 16; for p in $(alive); do kill -CONT $p; done) &
later=$!
SHMEM_HEARTBEAT=4 on_hosts 0 "a stopped leader" "1 1 2 2" "$pe" stop 2 17000
lines 4 "a stopped leader" "^well"
wait $later
nothing_left_on_hosts "machines"

command -v mpirun >/dev/null && [ -f "$BUILD/lib/hbmesh/pmix.so" ] || finish
need_mpirun
job 0 "mpirun" "1 2 1" "$pe" rounds 4
machines 4 "mpirun" "0,1,1,2"
job bad "mpirun, two versions" "1 2 0" sh -c 'case $(hostname) in host2) exec ./other rounds 1 ;; esac; exec "$0" rounds 1' "$pe"
two_versions mpirun
job 0 "mpirun, cyclic" "cyclic 2 2 0" "$pe" rounds 4
machines 4 "mpirun, cyclic" "0,1,0,1"
finish
