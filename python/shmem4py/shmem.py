"""The module of the published package shmem4py 1.0.0: the same functions, arguments, defaults and results.

Importing it initialises, unless ``shmem4py.rc`` or the environment say otherwise. ``shm.init()`` of the flat
API counts together with it. The functions are those of the flat API (``import shmem4py as shm``); what
differs is made here: arrays are plain ``numpy.ndarray`` objects, atomics return Python numbers, ``alloc``
returns a memoryview.

``ffi`` and ``lib`` are those of `shmem4py.api`, which needs cffi; all else does without.
"""
import enum as _enum
import math as _math
import operator as _operator
import sys as _sys

import numpy as np

from . import _core
from . import _rc
from ._enums import CMP, CTX, MALLOC, SIGNAL, THREAD

if _sys.version_info >= (3, 11):
    from enum import StrEnum as _StrEnum
else:
    class _StrEnum(str, _enum.Enum):
        __str__ = str.__str__


def __getattr__(name):
    # What needs cffi is loaded when it is asked for.
    if name in ('ffi', 'lib'):
        from . import api
        return getattr(api, name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


# --- version, setup and exit ---

MAJOR_VERSION = _core.MAJOR_VERSION
MINOR_VERSION = _core.MINOR_VERSION
VENDOR_STRING = _core.VENDOR_STRING

info_get_version = _core.info_get_version
info_get_name = _core.info_get_name


THREAD_SINGLE, THREAD_FUNNELED, THREAD_SERIALIZED, THREAD_MULTIPLE = THREAD


def init():
    """Initialise. Collective; counted, so that each call has its `finalize`.

    Raises
    ------
    RuntimeError
        In a process that a PE has started and that is none itself.
    """
    _core.init_thread(_core.THREAD_MULTIPLE)


def init_thread(requested=THREAD_MULTIPLE):
    """Initialise with a thread level. Collective; counted as `init`.

    Returns the `THREAD` level there is, which may be higher. Raises ValueError for a number that is no level.
    """
    return THREAD(_core.init_thread(requested))


def query_thread():
    """The `THREAD` level in force."""
    return THREAD(_core.query_thread())


finalize = _core.finalize


def global_exit(status=0):
    """End the whole job with ``status``. Any PE may call it; it does not return."""
    _core.global_exit(status)


def _initialize():
    rc = _rc.rc
    _rc.read_environment(rc)
    # multiprocessing's spawn imports the main module again in a process that is no PE: calls raise there, the
    # import does not.
    if rc.initialize and not _core.is_descendant():
        if rc.threads:
            init_thread(THREAD[str(rc.thread_level).upper()])
        else:
            init()
        if rc.finalize is None:
            rc.finalize = True


_initialize()


# --- query ---

my_pe = _core.my_pe
n_pes = _core.n_pes
pe_accessible = _core.pe_accessible
addr_accessible = _core.addr_accessible
ptr = _core.ptr


# --- memory ---

MALLOC_ATOMICS_REMOTE, MALLOC_SIGNAL_REMOTE = MALLOC


def _length(value, name):
    n = _operator.index(value)
    if n < 0:
        raise ValueError(f'{name}: {n} is negative')
    return n


def alloc(count, size=1, align=None, hints=None, clear=True):
    """Allocate ``count * size`` bytes of symmetric memory of the host. Collective.

    Parameters
    ----------
    count, size : int
        Elements, and bytes of one.
    align : int, optional
        A power of two that the address is to be a multiple of.
    hints : int, optional
        Of `MALLOC`, combined with ``|``.
    clear : bool
        Set the memory to zero.

    Returns
    -------
    memoryview of bytes.

    Raises
    ------
    ValueError
        A negative number; an ``align`` that is no power of two; PEs that ask for different sizes.
    MemoryError
        On all PEs, when the heap of one is full.
    """
    nbytes = _length(count, 'count') * _length(size, 'size')
    return memoryview(_core.block_alloc(nbytes, align, hints, clear, None, 'host'))


def _block_of(mem):
    """The block that a memoryview of `alloc` or a whole array is of."""
    base = mem.base if isinstance(mem, np.ndarray) else mem
    if isinstance(base, memoryview):
        base = base.obj
    if not isinstance(base, _core.Block):
        if isinstance(mem, np.ndarray):
            raise TypeError('mem: not an array made here, but a slice of one or one in private memory')
        raise TypeError(f'mem: an array or memoryview made here is needed, not {type(mem).__name__}')
    return base


def free(mem):
    """Free the memory of an array or of a memoryview of `alloc`. Collective.

    Views of it, and tensors that share the memory, stay readable; every call on them raises.

    Raises
    ------
    KeyError
        It is free already.
    TypeError
        It is none of ours, or a slice.
    BufferError
        On all PEs, when one has exports of an array of the flat API.
    """
    block = _block_of(mem)
    if block.freed and _core.query_initialized():
        raise KeyError(f'mem: {block!r}')
    _core.block_free(block)


def fromalloc(mem, shape=None, dtype=None, order='C'):
    """An array on memory of `alloc`, without a copy.

    Parameters
    ----------
    mem : memoryview
    shape : int or sequence of int, optional
        By default one dimension, as long as the memory is. It must need all of it.
    dtype : data type, optional
        By default float64.
    order : {'C', 'F'}

    Returns
    -------
    numpy.ndarray
    """
    if not isinstance(mem, memoryview) or not isinstance(mem.obj, _core.Block):
        raise TypeError(f'mem: a memoryview of alloc is needed, not {type(mem).__name__}')
    flat = np.frombuffer(mem, _plain(dtype))
    shaped = flat if shape is None else flat.reshape(shape, order=order)
    if mem.nbytes != mem.obj.nbytes:
        return shaped
    return _core.array_on(mem, shaped.shape, flat.dtype, order, True)


def _plain(dtype):
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise TypeError(f'dtype: {dtype!r} holds Python objects; they have no meaning on another PE')
    return dtype


def _shape(shape):
    try:
        return (_length(shape, 'shape'),)
    except TypeError:
        return tuple(_length(n, 'shape') for n in shape)


def new_array(shape, dtype=float, order='C', *, align=None, hints=None, clear=True):
    """A new array in symmetric memory. Collective: all PEs ask for the same size.

    Parameters
    ----------
    shape : int or sequence of int
    dtype : data type
        TypeError when it holds Python objects.
    order : {'C', 'F'}
    align, hints, clear
        As in `alloc`.

    Returns
    -------
    numpy.ndarray
    """
    dtype, shape = _plain(dtype), _shape(shape)
    if order not in ('C', 'F'):
        raise ValueError(f"order: 'C' or 'F' is needed, not {order!r}")
    mem = alloc(_math.prod(shape), dtype.itemsize, align, hints, clear)
    return _core.array_on(mem, shape, dtype, order, True)


def del_array(a):
    """Free an array. Collective; as `free`."""
    if not isinstance(a, np.ndarray):
        raise TypeError(f'a: an array is needed, not {type(a).__name__}')
    free(a)


def array(obj, dtype=None, *, order='K', align=None, hints=None):
    """A new array in symmetric memory with the contents of ``obj``. Collective; ends with a barrier.

    Parameters are those of `numpy.array` and `alloc`; ``order`` 'K' keeps the layout of ``obj``.
    """
    source = np.asarray(obj, dtype, order=order)
    _plain(source.dtype)
    mem = alloc(source.size, source.itemsize, align, hints, False)
    layout = np.empty_like(source, order='K', subok=False)
    if layout.flags.c_contiguous or layout.flags.f_contiguous:
        a = _core.array_on(mem, source.shape, source.dtype, 'C' if layout.flags.c_contiguous else 'F', True)
    else:
        a = np.ndarray(source.shape, source.dtype, mem, 0, layout.strides)
    np.copyto(a, source, casting='no')
    _core.barrier_all()
    return a


def empty(shape, dtype=float, order='C', *, align=None, hints=None):
    """A new array with contents that mean nothing. Collective; parameters as in `new_array`."""
    return new_array(shape, dtype, order, align=align, hints=hints, clear=False)


def zeros(shape, dtype=float, order='C', *, align=None, hints=None):
    """A new array of zeros. Collective; parameters as in `new_array`."""
    return new_array(shape, dtype, order, align=align, hints=hints, clear=True)


def ones(shape, dtype=float, order='C', *, align=None, hints=None):
    """A new array of ones. Collective; parameters as in `new_array`; ends with a barrier."""
    return full(shape, 1, dtype, order, align=align, hints=hints)


def full(shape, fill_value, dtype=None, order='C', *, align=None, hints=None):
    """A new array of ``fill_value``, by default of its dtype. Collective; ends with a barrier."""
    fill_value = np.array(fill_value)
    dtype = fill_value.dtype if dtype is None else dtype
    a = new_array(shape, dtype, order, align=align, hints=hints, clear=False)
    np.copyto(a, fill_value, casting='unsafe')
    _core.barrier_all()
    return a


# --- what the tests of the published package look at ---

_names = {
    'c': 'char', 'b': 'schar', 'h': 'short', 'i': 'int', 'l': 'long', 'q': 'longlong',
    'B': 'uchar', 'H': 'ushort', 'I': 'uint', 'L': 'ulong', 'Q': 'ulonglong',
    'f': 'float', 'd': 'double', 'g': 'longdouble', 'F': 'complexf', 'D': 'complexd',
}
_ctypes = {
    'schar': 'signed char', 'longlong': 'long long', 'uchar': 'unsigned char', 'ushort': 'unsigned short',
    'uint': 'unsigned int', 'ulong': 'unsigned long', 'ulonglong': 'unsigned long long',
    'longdouble': 'long double', 'complexf': 'float _Complex', 'complexd': 'double _Complex',
}


def _getbuffer(obj, readonly=False):
    """(pointer of cffi, elements, name of the type) of a contiguous array."""
    if not isinstance(obj, np.ndarray):
        raise TypeError('obj: object is not a NumPy array')
    if not readonly and not obj.flags.writeable:
        raise ValueError('obj: array object is read-only')
    if not obj.flags.c_contiguous:
        if not obj.flags.f_contiguous:
            raise ValueError('obj: array object is not contiguous')
        obj = obj.T
    name = _names.get(obj.dtype.char)
    if name is None:
        raise TypeError(f'obj: OpenSHMEM has no type for {obj.dtype!r}')
    from .api import ffi
    return ffi.from_buffer(_ctypes.get(name, name) + '[]', obj), obj.size, name


# --- contexts and teams ---

CTX_PRIVATE, CTX_SERIALIZED, CTX_NOSTORE = CTX

Ctx = _core.Ctx
CTX_DEFAULT = _core.CTX_DEFAULT
CTX_INVALID = _core.CTX_INVALID

Team = _core.Team
TEAM_WORLD = _core.TEAM_WORLD
TEAM_SHARED = _core.TEAM_SHARED
TEAM_INVALID = _core.TEAM_INVALID


# --- put and get ---

put = _core._put
get = _core._get
iput = _core.iput
iget = _core.iget
put_nbi = _core._put_nbi
get_nbi = _core._get_nbi


# --- atomics ---

class AMO(_StrEnum):
    """What `atomic_op` and its kin do."""

    SET = 'set'
    INC = 'inc'
    ADD = 'add'
    AND = 'and'
    OR = 'or'
    XOR = 'xor'


AMO_SET, AMO_INC, AMO_ADD, AMO_AND, AMO_OR, AMO_XOR = AMO

atomic_set = _core.atomic_set
atomic_inc = _core.atomic_inc
atomic_add = _core.atomic_add
atomic_and = _core.atomic_and
atomic_or = _core.atomic_or
atomic_xor = _core.atomic_xor
atomic_op = _core.atomic_op

atomic_fetch_nbi = _core.atomic_fetch_nbi
atomic_swap_nbi = _core.atomic_swap_nbi
atomic_compare_swap_nbi = _core.atomic_compare_swap_nbi
atomic_fetch_inc_nbi = _core.atomic_fetch_inc_nbi
atomic_fetch_add_nbi = _core.atomic_fetch_add_nbi
atomic_fetch_and_nbi = _core.atomic_fetch_and_nbi
atomic_fetch_or_nbi = _core.atomic_fetch_or_nbi
atomic_fetch_xor_nbi = _core.atomic_fetch_xor_nbi
atomic_fetch_op_nbi = _core.atomic_fetch_op_nbi


def atomic_fetch(source, pe, ctx=None):
    """The value of the one element of ``source`` on PE ``pe``, a Python number."""
    return _core.atomic_fetch(source, pe, ctx).item()


def atomic_swap(target, value, pe, ctx=None):
    """Write ``value`` to ``target`` on PE ``pe``; returns what was there, a Python number."""
    return _core.atomic_swap(target, value, pe, ctx).item()


def atomic_compare_swap(target, cond, value, pe, ctx=None):
    """Write ``value`` to ``target`` on PE ``pe`` if ``cond`` is there; returns what was, a Python number."""
    return _core.atomic_compare_swap(target, cond, value, pe, ctx).item()


def atomic_fetch_inc(target, pe, ctx=None):
    """Add 1 to ``target`` on PE ``pe``; returns what was there, a Python number."""
    return _core.atomic_fetch_inc(target, pe, ctx).item()


def atomic_fetch_add(target, value, pe, ctx=None):
    """Add ``value`` to ``target`` on PE ``pe``; returns what was there, a Python number."""
    return _core.atomic_fetch_add(target, value, pe, ctx).item()


def atomic_fetch_and(target, value, pe, ctx=None):
    """Bitwise AND of ``target`` on PE ``pe`` with ``value``; returns what was there, a Python number."""
    return _core.atomic_fetch_and(target, value, pe, ctx).item()


def atomic_fetch_or(target, value, pe, ctx=None):
    """Bitwise OR of ``target`` on PE ``pe`` with ``value``; returns what was there, a Python number."""
    return _core.atomic_fetch_or(target, value, pe, ctx).item()


def atomic_fetch_xor(target, value, pe, ctx=None):
    """Bitwise XOR of ``target`` on PE ``pe`` with ``value``; returns what was there, a Python number."""
    return _core.atomic_fetch_xor(target, value, pe, ctx).item()


def atomic_fetch_op(target, value, op, pe, ctx=None):
    """Do ``op`` of `AMO` with ``value`` to ``target`` on PE ``pe``; returns what was, a Python number."""
    return _core.atomic_fetch_op(target, value, op, pe, ctx).item()


# --- signals ---

SIGNAL_SET, SIGNAL_ADD = SIGNAL

put_signal = _core._put_signal
put_signal_nbi = _core._put_signal_nbi
signal_fetch = _core.signal_fetch
signal_wait_until = _core.signal_wait_until


def _new_word(dtype, hints):
    mem = alloc(1, np.dtype(dtype).itemsize, None, hints, True)
    return _core.array_on(mem, (1,), dtype, 'C', True)


def _del_word(word, dtype, name):
    block = word.base.obj if isinstance(word, np.ndarray) and isinstance(word.base, memoryview) else None
    if not isinstance(block, _core.Block) or word.dtype != dtype or word.size != 1:
        raise TypeError(f'{name}: what new_{name} has made is needed, not {type(word).__name__}')
    if not block.freed:
        _core.block_free(block)


def new_signal():
    """A new signal, 0: a symmetric array of one uint64, ``signal[0]`` its value on this PE. Collective."""
    return _new_word(np.uint64, MALLOC_SIGNAL_REMOTE)


def del_signal(signal):
    """Free a signal. Collective; a second time does nothing. Raises TypeError for what is no signal."""
    _del_word(signal, np.uint64, 'signal')


# --- collectives ---

barrier_all = _core.barrier_all
sync_all = _core.sync_all
broadcast = _core._broadcast
collect = _core.collect
fcollect = _core.fcollect
alltoall = _core._alltoall
alltoalls = _core._alltoalls


def sync(team=None):
    """Meet the other members of ``team``, by default all PEs. Raises TypeError for what is no team."""
    if team is None:
        _core.sync_all()
    elif isinstance(team, Team):
        team.sync()
    else:
        raise TypeError(f'team: a Team or None is needed, not {type(team).__name__}')


class OP(_StrEnum):
    """What `reduce` does."""

    AND = 'and'
    OR = 'or'
    XOR = 'xor'
    MAX = 'max'
    MIN = 'min'
    SUM = 'sum'
    PROD = 'prod'


OP_AND, OP_OR, OP_XOR, OP_MAX, OP_MIN, OP_SUM, OP_PROD = OP

reduce = _core._reduce


def _reduction(op, what):
    def function(target, source, size=None, team=None):
        _core._reduce(target, source, op, size, team)
    function.__name__ = function.__qualname__ = f'{op}_reduce'
    function.__doc__ = f"""The {what} of the members' sources, element by element, to each target. Collective.

    size : int, optional
        Elements; by default as many as both arrays have.
    team : Team, optional
        By default all PEs.
    """
    return function


and_reduce = _reduction('and', 'bitwise AND')
or_reduce = _reduction('or', 'bitwise OR')
xor_reduce = _reduction('xor', 'bitwise exclusive OR')
max_reduce = _reduction('max', 'maximum')
min_reduce = _reduction('min', 'minimum')
sum_reduce = _reduction('sum', 'sum')
prod_reduce = _reduction('prod', 'product')


# --- waits and tests ---

CMP_EQ, CMP_NE, CMP_GT, CMP_LE, CMP_LT, CMP_GE = CMP

wait_until = _core.wait_until
wait_until_all = _core.wait_until_all
wait_until_any = _core.wait_until_any
wait_until_some = _core.wait_until_some
wait_until_all_vector = _core.wait_until_all_vector
wait_until_any_vector = _core.wait_until_any_vector
wait_until_some_vector = _core.wait_until_some_vector
test = _core.test
test_all = _core.test_all
test_any = _core.test_any
test_some = _core.test_some
test_all_vector = _core.test_all_vector
test_any_vector = _core.test_any_vector
test_some_vector = _core.test_some_vector


# --- order, locks, profiling ---

fence = _core.fence
quiet = _core.quiet

set_lock = _core.set_lock
test_lock = _core.test_lock
clear_lock = _core.clear_lock


def new_lock():
    """A new lock, free. Collective. Returns a symmetric array of one C long."""
    return _new_word(np.dtype('l'), None)


def del_lock(lock):
    """Free a lock. Collective; a second time does nothing. Raises TypeError for what is no lock."""
    _del_word(lock, np.dtype('l'), 'lock')


Lock = _core.Lock

pcontrol = _core.pcontrol
