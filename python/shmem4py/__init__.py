"""hbmesh for Python: one global memory of many processing elements (PEs), NumPy-first.

    import shmem4py as shm
    shm.init()
    x = shm.alloc(1000, dtype=np.float32)     # on every PE, reachable by every PE
    shm.float_p(x[3], 2.5, pe=1)              # write an element of PE 1
    y = shm.float_get(x[10:20], pe=1)         # read ten of its elements
    shm.barrier_all()

Importing this module does nothing; ``shm.init()`` joins the job. Start programs with ``oshrun -n 4 python3 prog.py``, or
alone as one PE. The API of the package shmem4py of PyPI is ``from shmem4py import shmem``.
"""
import importlib as _importlib
import sys as _sys

try:
    import numpy as _np
except ImportError as _e:
    raise ImportError('shmem4py needs NumPy: install python3-numpy, or run pip install numpy') from _e

try:
    from . import _core
except ImportError as _e:
    if 'numpy' in str(_e) or '_ARRAY_API' in str(_e):
        raise ImportError(f'shmem4py was built for NumPy of before 2.0, but this is NumPy {_np.__version__}: build it again '
                          'with NumPy 2, which makes it work with both (pip install . does that)') from _e
    from . import _missing
    _missing.explain(_e)
    raise

from ._core import *  # noqa: F401,F403
from ._core import Array, Block, DeviceArray
from ._enums import CMP, CTX, MALLOC, SIGNAL, THREAD
from ._arrays import alloc, array, empty, free, full, ones, zeros
from ._rc import rc
from . import _conflict

_conflict.warn()
del _conflict

__version__ = '0.1.0'


def init(requested=THREAD.MULTIPLE):
    """Join the job. Collective; counted: the last ``finalize`` leaves it.

    Parameters
    ----------
    requested : THREAD, optional
        What threads of this PE will do; MULTIPLE by default, as Python programs may have threads.

    Returns
    -------
    THREAD
        The level provided.

    Raises
    ------
    RuntimeError
        In a child process of a PE, or if another copy of the library is loaded.

    Notes
    -----
    A program that ends without ``finalize``, with status 0, finalizes; one that ends by an exception or another status ends
    the job. OpenSHMEM 1.6, section 9.1.
    """
    return THREAD(_core.init_thread(requested))


def __getattr__(name):
    if name in ('shmem', 'api'):
        return _importlib.import_module(f'{__name__}.{name}')
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


_sys.modules[__name__ + '.rc'] = rc
