# Make-believe hosts for tests, and what such tests share. OSHCC, OSHRUN, BUILD and SRC are set, the folder is empty.
#
# A test that reads this file goes on inside an island: network, UTS, IPC, PID and mount namespaces without names, which end
# with their last process. The island is the head, a machine without PEs that holds the wire (a bridge); its hosts are
# namespaces inside it, host1 .. hostN at 10.77.0.1 .. 10.77.0.N, each with a /dev/shm, a /tmp and process ids of its own.
# Nothing needs removal, and no two tests meet: the kernel ends all of it when the test ends, even by SIGKILL.
#
#   hosts_up N            N hosts; skips the test where that cannot be had
#   on K COMMAND...       COMMAND on host K, in this folder, with this environment
#   over MAP COMMAND...   COMMAND by mpirun, MAP is the number of PEs on each host: "2 2", "3 1", or "cyclic 2 2"
#   cut K, mend K         the link of host K goes down and comes back
#   block K FIRST LAST    host K drops what comes to these TCP ports; unblock K
#   nothing_left_on_hosts NAME    no process but what the hosts began with
set -u
net=10.77.0

skip() { echo "skipped: $*"; exit 77; }

if [ -z "${HOSTS_ISLAND:-}" ]; then
    command -v ip >/dev/null || skip "no ip(8) for make-believe hosts (Debian: iproute2)"
    command -v nsenter >/dev/null || skip "no nsenter for make-believe hosts (Debian: util-linux)"
    island="--net --uts --ipc --pid --mount --fork --kill-child --mount-proc"
    [ "$(id -u)" = 0 ] || island="--map-root-user $island"
    why=$(unshare $island sh -c "mount -t tmpfs tmpfs /dev/shm && ip link add name wire type bridge &&
        ip link add name end0 type veth peer name end1 && hostname there" 2>&1) ||
        skip "no namespaces for make-believe hosts here (root may, in a container with CAP_SYS_ADMIN): $(echo "$why" | head -1)"
    export HOSTS_ISLAND=${HOSTS_FOLDER:-$PWD/hosts}
    exec unshare $island bash "$0" "$@"
fi
trap 'exit 143' TERM INT HUP # process 1 of a namespace hears only what it asked for

. "$SRC/test/boot/lib.sh"

# hosts_up N
hosts_up() {
    local k pid
    nhosts=$1
    rm -rf "$HOSTS_ISLAND" && mkdir -p "$HOSTS_ISLAND" || exit 1
    hostname head
    mount -t tmpfs tmpfs /dev/shm
    { echo "127.0.0.1 localhost"; echo "$net.254 head"
      for k in $(seq "$nhosts"); do echo "$net.$k host$k"; done; } >"$HOSTS_ISLAND/names"
    mount --bind "$HOSTS_ISLAND/names" /etc/hosts
    ip link set lo up
    ip link add name wire type bridge && ip addr add $net.254/24 dev wire && ip link set wire up
    for k in $(seq "$nhosts"); do
        unshare --net --uts --ipc --pid --mount --fork --kill-child bash "$SRC/test/hosts/init" "$k" \
            </dev/null 2>>"$HOSTS_ISLAND/log" &
    done
    for k in $(seq "$nhosts"); do
        for i in $(seq 200); do [ -s "$HOSTS_ISLAND/$k" ] && break; sleep 0.02; done
        pid=$(cat "$HOSTS_ISLAND/$k") || { echo "host $k does not come up"; cat "$HOSTS_ISLAND/log"; exit 1; }
        ip link add name "port$k" type veth peer name eth0 netns "$pid" && ip link set "port$k" master wire up &&
            on "$k" sh -c "ip addr add $net.$k/24 dev eth0 && ip link set eth0 up" ||
            { echo "host $k cannot be joined to the wire"; exit 1; }
    done
}

on() {
    local k=$1
    shift
    nsenter -t "$(cat "$HOSTS_ISLAND/$k")" --net --uts --ipc --pid --mount sh -c 'cd "$0" && exec "$@"' "$PWD" "$@"
}

cut() { ip link set "port$1" down; }
mend() { ip link set "port$1" up; }

# By rules of routing, which every kernel has: the table of local addresses is asked after them instead of first.
block() {
    on "$1" sh -c "ip rule add pref 100 lookup local && ip rule del pref 0 &&
        ip rule add pref 10 iif eth0 ipproto tcp dport $2-$3 blackhole" || fail "cannot block ports of host $1"
}
unblock() { on "$1" ip rule del pref 10; }

# over [cyclic] PES PES ... COMMAND: its status; limit: seconds
over() {
    local by=slot hosts= k=1 n=0
    [ "$1" = cyclic ] && by=node && shift
    while [ "$k" -le "$nhosts" ]; do
        [ "$1" = 0 ] || hosts=$hosts,host$k:$1
        n=$((n + $1)) k=$((k + 1))
        shift
    done
    timeout -k 5 "${limit:-60}" mpirun --mca plm_rsh_agent "$SRC/test/hosts/agent" --leave-session-attached \
        --mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include $net.0/24 --mca btl_tcp_if_include $net.0/24 \
        --host "${hosts#,}" --map-by $by --bind-to none -n $n "$@" </dev/null
}

# job STATUS NAME MAP COMMAND...: over, with its output in out and err; MAP is one word: "2 2". STATUS "bad": any but 0.
job() {
    local want=$1 name=$2 map=$3 rc
    shift 3
    over $map "$@" >out 2>err
    rc=$?
    { [ "$want" = bad ] && [ $rc != 0 ] && [ $rc != 124 ]; } || [ $rc = "$want" ] || {
        fail "$name, PEs $map: status $rc instead of $want"
        head -8 err | sed 's/^/    /'
    }
}

# Processes on host K but its first.
processes_on() {
    local first=$(cat "$HOSTS_ISLAND/$1") space p
    space=$(readlink "/proc/$first/ns/pid")
    for p in /proc/[0-9]*; do
        [ "${p#/proc/}" != "$first" ] && [ "$(readlink "$p/ns/pid" 2>/dev/null)" = "$space" ] || continue
        case $(sed 's/.*) //' "$p/stat" 2>/dev/null) in Z* | X* | '') ;; *) echo "${p#/proc/}" ;; esac
    done
}

# Names and seconds: what is there after 5 s, or the seconds given, is told and killed.
nothing_left_on_hosts() {
    local k i left=
    for i in $(seq $((${2:-5} * 10))); do
        left=
        for k in $(seq "$nhosts"); do left="$left $(processes_on "$k")"; done
        [ -z "${left# }" ] || [ -z "$(echo $left)" ] && break
        sleep 0.1
    done
    left=$(echo $left)
    if [ -n "$left" ]; then
        fail "$1: processes left on hosts:"
        for i in $left; do echo "    $(tr '\0' ' ' <"/proc/$i/cmdline" 2>/dev/null)"; done
        kill -9 $left 2>/dev/null
    fi
    for k in $(seq "$nhosts"); do
        left=$(on "$k" sh -c 'ls -A /dev/shm /tmp' | grep -iE 'hbmesh|shmem')
        [ -z "$left" ] || fail "$1: files left on host $k: $left"
    done
}

# The machine-side of the transport: without it no job spans hosts.
need_network() {
    [ -f "$BUILD/lib/hbmesh/libhbmesh-ucx.so" ] || skip "built without UCX (Debian: libucx-dev)"
}
need_host_pe() { "$OSHCC" -O1 -g -o "$pe" "$SRC/test/hosts/pe.c" || { echo "cannot build pe.c"; exit 1; }; }

# sentences NAME MOST: at least one line of ours in err, and no more than so many
sentences() {
    local n=$(grep -c '^hbmesh: ' err)
    { [ "$n" -ge 1 ] && [ "$n" -le "$2" ]; } || { fail "$1: $n lines of ours, not 1 to $2"; head -8 err | sed 's/^/    /'; }
}

# start_uid_on PES COMMAND...: what any launcher could be, PES of each host; by environment as torchrun sets it. collect
# brings the statuses, in the order of the PEs.
start_uid_on() {
    local each=$1 k i rank=0
    shift
    pids=
    : >out; : >err
    port=$((port + 4))
    for k in $(seq "$nhosts"); do
        for i in $(seq "$each"); do
            RANK=$rank WORLD_SIZE=$((each * nhosts)) MASTER_ADDR=host1 MASTER_PORT=$port \
                on "$k" timeout -k 5 "${limit:-40}" "$@" >>out 2>>err </dev/null &
            pids="$pids $!"
            rank=$((rank + 1))
        done
    done
}
# uid_on CODES NAME PES COMMAND...: CODES are the statuses, or one for all, or "bad": none is 0
uid_on() {
    local want=$1 name=$2 each=$3 code all= wrong=
    shift 3
    start_uid_on "$each" "$@"
    collect
    for code in $codes; do
        all="$all $want"
        if [ "$want" = bad ]; then { [ "$code" != 0 ] && [ "$code" != 124 ]; } || wrong=1; fi
    done
    [ "$want" = bad ] || [ "$codes" = "$want" ] || [ "$codes" = "${all# }" ] || wrong=1
    [ -z "$wrong" ] || { fail "$name, $each PEs on each host: statuses $codes instead of $want"; head -8 err | sed 's/^/    /'; }
}

# wait_for N PATTERN [SECONDS]: until out has so many lines like it
wait_for() {
    local i
    for i in $(seq $((${3:-20} * 10))); do [ "$(grep -cE -- "$2" out)" -ge "$1" ] && return; sleep 0.1; done
    fail "after ${3:-20} s $(grep -cE -- "$2" out) instead of $1 lines like /$2/"
    head -8 err | sed 's/^/    /'
    return 1
}
