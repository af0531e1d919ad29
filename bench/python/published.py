"""Access to one element through the API of the package of PyPI: run it with that package and with ours, and compare.

    oshrun -n 2 python3 bench/python/published.py
"""
import statistics
import sys
import timeit

import numpy as np
from shmem4py import shmem

x = shmem.zeros(1000, dtype="f")
value = np.zeros(1, dtype="f")
shmem.barrier_all()
if shmem.my_pe() == 0:
    print(f"from shmem4py import shmem: {sys.modules['shmem4py'].__version__} of {sys.modules['shmem4py'].__file__}")
    names = dict(shmem=shmem, x=x, value=value, i=5, p=shmem.n_pes() - 1)
    for statement in ("shmem.get(value, x[i:i+1], p); value[0]", "shmem.put(x[i:i+1], value, p)",
                      "shmem.my_pe()"):
        samples = [min(timeit.Timer(statement, globals=names).repeat(3, 10000)) / 10000 * 1e9 for _ in range(5)]
        print(f"{statement:45s} {statistics.median(samples):10.1f} ns")
shmem.barrier_all()
