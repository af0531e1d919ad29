# Under the torchrun that is installed, with torch.distributed (gloo) in the same processes: its store holds MASTER_PORT.
# timeout: 220
. "$SRC/test/boot/lib.sh"
command -v torchrun >/dev/null || { echo "skipped: no torchrun (Debian: python3-torch)"; exit 77; }
[ -n "${PYTHON:-}" ] && "$PYTHON" -c 'import torch.distributed' 2>/dev/null || { echo "skipped: no PyTorch for $PYTHON"; exit 77; }
cat >both.py <<'END'
import os
import signal
import sys

import numpy as np
import shmem4py as shm
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
shm.init()
me, n = shm.my_pe(), shm.n_pes()
assert (dist.get_rank(), dist.get_world_size()) == (me, n)
x = shm.zeros(1000)
shm.put(x, np.full(1000, float(me)), (me + 1) % n)
shm.barrier_all()
assert (x == (me - 1) % n).all()
total = torch.tensor([float(me)])
dist.all_reduce(total)
assert total.item() == n * (n - 1) / 2
sys.stdout.write(f"well {me}\n")
sys.stdout.flush()
shm.barrier_all()
if sys.argv[1] == "kill" and me == 1:
    os.kill(os.getpid(), signal.SIGKILL)
shm.barrier_all()
sys.stdout.write(f"end {me}\n")
dist.destroy_process_group()
END
# run WHAT: -r and -t because torchrun 1.13 under Python 3.11 cannot read its own defaults of them
run() {
    PYTHONPATH=$BUILD/python timeout -k 5 100 torchrun -r 1 -t 1 --log_dir logs --nproc_per_node 3 --master_port $((port + 2)) \
        --no_python "$PYTHON" both.py "$1" >out 2>err </dev/null
}
run plain || { fail "status $?"; grep -v '^\*' err | head -20; }
lines 3 "plain" "well [0-2]$"
lines 3 "plain" "end [0-2]$"
run kill && fail "a killed PE: status 0"
lines 3 "kill" "well [0-2]$"
lines 0 "kill" "end [0-2]$"
says "kill" "^hbmesh: PE [02]: PE 1 \(process [0-9]+\) (was killed by signal 9|has died)"
finish
