"""Symmetric arrays that this PE computes on, in whatever memory they lie."""

import numpy as np
import shmem4py as shm


class Mirror:
    """A symmetric array, and `local`, the NumPy array that this PE computes with. Collective; all begins as zeros.

    In a host's memory the two are one. A device's memory (SHMEM_HEAP_KIND) no CPU can touch: there `local` is a copy in
    private memory. `show` brings what was computed into symmetric memory, `look` fetches what lies there.
    """

    def __init__(self, shape, dtype):
        self.symmetric = shm.alloc(shape, dtype=dtype)
        self.is_copy = not isinstance(self.symmetric, np.ndarray)
        self.local = np.empty(shape, dtype=dtype) if self.is_copy else self.symmetric
        self.local[...] = 0
        self.show()

    def show(self):
        if self.is_copy:
            self.symmetric.copy_from_host(self.local)

    def look(self):
        if self.is_copy:
            self.symmetric.copy_to_host(out=self.local)

    def free(self):
        shm.free(self.symmetric)
