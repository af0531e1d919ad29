"""Pi, as the area under 4 / (1 + x * x) from 0 to 1: every PE takes its strips, and a reduction adds them."""
import numpy as np
import shmem4py as shm

STRIPS = 1_000_000

shm.init()
me, n = shm.my_pe(), shm.n_pes()

middle = (np.arange(me, STRIPS, n) + 0.5) / STRIPS
area = shm.alloc(1, dtype=np.float64)
area[0] = np.sum(4 / (1 + middle * middle)) / STRIPS
shm.double_sum_reduce(area, area)  # on every PE: the sum over all

if me == 0:
    print(f"pi is about {area[0]:.9f}, on {n} PE" + "s" * (n > 1))
shm.finalize()
