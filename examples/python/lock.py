"""A lock: reading, adding and writing are three steps, and nobody may come between them.

Every PE makes 1000 deposits into one account, at PE 0. The PE that owns it does nothing for it.
"""
import numpy as np
import shmem4py as shm

DEPOSITS = 1000

shm.init()
n = shm.n_pes()
account = shm.zeros(1, dtype=np.int64)
lock = shm.Lock()  # collective, as all allocations are

for _ in range(DEPOSITS):
    with lock:
        balance = shm.int64_get(account[0], pe=0)
        shm.int64_p(account[0], balance + 1, pe=0)
shm.barrier_all()

if shm.my_pe() == 0:
    print(f"{n} PEs, {DEPOSITS} deposits each: the account holds {account[0]}")
shm.finalize()
