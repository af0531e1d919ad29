"""Making and freeing arrays in symmetric memory."""
import operator

import numpy as np

from . import _core


def _shape(shape):
    """A shape as NumPy takes it, as a tuple of ints."""
    try:
        return (operator.index(shape),)
    except TypeError:
        pass
    try:
        return tuple(operator.index(n) for n in shape)
    except TypeError:
        raise TypeError(f'shape: a number or a tuple of numbers is needed, not {shape!r}') from None


def _nbytes(shape, dtype):
    n = dtype.itemsize
    for length in shape:
        if length < 0:
            raise ValueError(f'shape: {length} is negative')
        n *= length
    return n


def _dtype(dtype):
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise TypeError(f'dtype: {dtype} holds Python objects; they have no meaning on another PE')
    if dtype.itemsize == 0:
        raise TypeError(f'dtype: {dtype} has no size')
    return dtype


def _order(order):
    if order not in ('C', 'F'):
        raise ValueError(f"order: {order!r} is neither 'C' nor 'F'")
    return order


def alloc(shape, dtype=float, order='C', *, align=None, hints=None, clear=True, kind=None):
    """Allocate an array in symmetric memory. Collective: all PEs ask for the same.

    Parameters
    ----------
    shape : int or tuple of ints
        Shape of the array, as in NumPy.
    dtype : dtype, optional
        Type of the elements, float64 by default. Any NumPy dtype without Python objects.
    order : 'C' or 'F', optional
        Memory layout: rows or columns contiguous.
    align : int, optional
        What the address is to be a multiple of, in bytes: a power of two.
    hints : int, optional
        MALLOC_ATOMICS_REMOTE, MALLOC_SIGNAL_REMOTE, or both.
    clear : bool, optional
        Zero the array (default). False leaves what is there.
    kind : str, optional
        The kind of memory: 'host', or that of the job's device heap (``SHMEM_HEAP_KIND``, for instance 'ascend'). By default
        that of the device heap where there is one, unless hints or ``SHMEM_MALLOC_ON`` say otherwise.

    Returns
    -------
    Array or DeviceArray
        An array of that shape, on each PE in its own part of the global memory: in memory of the host an ndarray, in that
        of a device a DeviceArray, which is good for all calls here but not for NumPy.

    Raises
    ------
    ValueError
        On all PEs, if they ask for different things; or if an argument is out of range.
    TypeError
        If an argument is of the wrong type.
    MemoryError
        On all PEs, if the symmetric heap has no room (``SHMEM_SYMMETRIC_SIZE``).

    Notes
    -----
    The array is freed by ``shm.free(x)``, ``x.free()`` or at the end of ``with shm.alloc(...) as x:``. An array that is
    merely dropped gives its memory back at the next collective allocation after all PEs have dropped it.
    OpenSHMEM 1.6, section 9.5.
    """
    if not _core.query_initialized():
        _core.my_pe()  # raises, and says why
    shape, dtype, order = _shape(shape), _dtype(dtype), _order(order)
    block = _core.block_alloc(_nbytes(shape, dtype), align, hints, clear, f'{shape} {dtype}', kind)
    return _core.array_on(block, shape, dtype, order)


def empty(shape, dtype=float, order='C', *, align=None, hints=None, kind=None):
    """A new symmetric array of that shape whose elements are whatever is there. Collective; see ``alloc``."""
    return alloc(shape, dtype, order, align=align, hints=hints, clear=False, kind=kind)


def zeros(shape, dtype=float, order='C', *, align=None, hints=None, kind=None):
    """A new symmetric array of that shape, filled with 0. Collective; see ``alloc``."""
    return alloc(shape, dtype, order, align=align, hints=hints, kind=kind)


def ones(shape, dtype=float, order='C', *, align=None, hints=None, kind=None):
    """A new symmetric array of that shape, filled with 1. Collective; see ``alloc``."""
    return full(shape, 1, dtype, order, align=align, hints=hints, kind=kind)


def _write(x, values, casting):
    if isinstance(x, _core.DeviceArray):
        x.copy_from_host(values.astype(x.dtype, casting=casting, copy=False))
    else:
        np.copyto(x, values, casting=casting)
    _core.barrier_all()
    return x


def full(shape, fill_value, dtype=None, order='C', *, align=None, hints=None, kind=None):
    """A new symmetric array of that shape, filled with ``fill_value`` (each PE with its own). Collective; see ``alloc``.

    ``dtype`` is that of ``fill_value`` if not given.
    """
    value = np.asarray(fill_value)
    x = alloc(shape, value.dtype if dtype is None else dtype, order, align=align, hints=hints, clear=False, kind=kind)
    return _write(x, value, 'unsafe')


def array(obj, dtype=None, *, order='K', align=None, hints=None, kind=None):
    """A new symmetric array with the values of ``obj``, each PE with its own. Collective: shape and dtype are the same.

    ``order`` is as in ``numpy.array``, but what is neither in C nor in Fortran order becomes C-contiguous; see ``alloc``
    for the rest.
    """
    values = np.asarray(obj, dtype, order=order)
    fortran = values.flags.f_contiguous and not values.flags.c_contiguous
    x = alloc(values.shape, values.dtype, 'F' if fortran else 'C', align=align, hints=hints, clear=False, kind=kind)
    return _write(x, values, 'no')


def _block_to_free(x):
    block = x if isinstance(x, _core.Block) else None
    if block is None and isinstance(x, (np.ndarray, memoryview, _core.DeviceArray)):
        block = _core.block_of(x)
    if block is None:
        if isinstance(x, np.ndarray):
            raise ValueError('x: not in symmetric memory: only arrays made by shm.alloc and the like can be freed')
        raise TypeError(f'x: a symmetric array is needed, not {type(x).__name__}')
    if isinstance(x, _core.DeviceArray):
        part = x.address != block.address or x.nbytes < block.nbytes
    else:
        part = isinstance(x, np.ndarray) and (x.ctypes.data != block.address or x.nbytes < block.nbytes)
    if part:
        raise ValueError('x: a view of a symmetric array; free the array itself')
    return block


def free(x):
    """Free a symmetric array. Collective: all PEs free the same arrays in the same order.

    Afterwards every call on the array or a view of it raises RuntimeError. NumPy may still read a view that is held:
    the memory stays, and is not given out again while views live.

    Raises
    ------
    BufferError
        On all PEs, if some PE still has exports of the array: memoryviews, DLPack capsules, tensors made from them.
    ValueError
        On all PEs, if they free different arrays; or if ``x`` is a view, or not symmetric.
    RuntimeError
        If the array has been freed already.
    """
    _core.block_free(_block_to_free(x))
