# torchrun on two hosts, with torch.distributed (gloo) in the same processes: its store holds MASTER_PORT.
# timeout: 150
. "$SRC/test/hosts/lib.sh"
need_network
command -v torchrun >/dev/null || skip "no torchrun (Debian: python3-torch)"
[ -n "${PYTHON:-}" ] && "$PYTHON" -c 'import torch.distributed' 2>/dev/null || skip "no PyTorch for $PYTHON"
sed -n '/^cat >both.py/,/^END$/p' "$here/torchrun.sh" | sed '1d;$d' >both.py
hosts_up 2
export SHMEM_SECRET="known to all of the job" GLOO_SOCKET_IFNAME=eth0 OMP_NUM_THREADS=1

# run WHAT: -r and -t because torchrun 1.13 under Python 3.11 cannot read its own defaults of them
run() {
    local k
    port=$((port + 5))
    : >out; : >err
    pids=
    for k in 1 2; do
        PYTHONPATH=$BUILD/python on $k timeout -k 5 60 torchrun -r 1 -t 1 --log_dir logs$k --nnodes 2 --node_rank $((k - 1)) \
            --nproc_per_node 2 --master_addr host1 --master_port $port --no_python "$PYTHON" both.py "$1" \
            >>out 2>>err </dev/null &
        pids="$pids $!"
    done
    collect
}
run plain
[ "$codes" = "0 0" ] || { fail "statuses $codes"; grep -v '^\*' err | head -20; }
lines 4 "plain" "well [0-3]$"
lines 4 "plain" "end [0-3]$"
run kill
case $codes in *0*) fail "a killed PE: statuses $codes" ;; esac
lines 4 "kill" "well [0-3]$"
lines 0 "kill" "end [0-3]$"
says "kill" "^hbmesh: .*PE 1 .*(was killed by signal 9|has died)"
nothing_left_on_hosts "torchrun"
finish
