"""shmem4py.shmem: memory and arrays, as the published package has them."""
# npes: 1 2 3
import gc

import numpy as np
import pytest

from shmem4py import _core, shmem

DTYPES = [np.dtype(t) for t in 'bhilqBHILQfdgFD']


def test_alloc_gives_a_memoryview_of_bytes():
    mem = shmem.alloc(3, 8)
    assert isinstance(mem, memoryview)
    assert (mem.format, mem.nbytes, len(mem), mem.readonly) == ('B', 24, 24, False)
    assert bytes(mem) == bytes(24)
    shmem.free(mem)


@pytest.mark.parametrize('align', [None, 8, 64, 4096])
def test_alloc_aligns(align):
    mem = shmem.alloc(5, 3, align)
    address = np.frombuffer(mem, 'B').ctypes.data
    assert address % (align or 1) == 0
    shmem.free(mem)


@pytest.mark.parametrize('order', 'CF')
@pytest.mark.parametrize('shape', [0, 5, (), (0,), (2, 3), (3, 0, 2), (2, 3, 4)])
def test_arrays_are_plain(shape, order):
    for make in (shmem.new_array, shmem.empty, shmem.zeros, shmem.ones):
        a = make(shape, 'i4', order)
        like = np.empty(shape, 'i4', order)
        assert type(a) is np.ndarray
        assert (a.shape, a.dtype) == (like.shape, like.dtype)
        assert not a.size or a.strides == like.strides
        assert a.flags.writeable
        assert isinstance(a.base, memoryview) and isinstance(a.base.obj, _core.Block)
        shmem.free(a)


def test_defaults_of_dtype():
    for a, dtype in ((shmem.zeros(2), float), (shmem.full(2, 7), int), (shmem.full(2, 7, 'f'), 'f'),
                     (shmem.array([1, 2]), int), (shmem.array([1, 2], 'f'), 'f')):
        assert a.dtype == np.dtype(dtype)
        shmem.free(a)


@pytest.mark.parametrize('dtype', DTYPES)
def test_values(dtype):
    for a, value in ((shmem.zeros(3, dtype), 0), (shmem.ones(3, dtype), 1), (shmem.full(3, 5, dtype), 5)):
        assert (a == np.full(3, value, dtype)).all()
        shmem.del_array(a)


@pytest.mark.parametrize('axes', [(0, 1, 2), (2, 1, 0), (1, 0, 2), (0, 2, 1)])
def test_array_keeps_the_layout(axes):
    source = np.arange(24).reshape(2, 3, 4).transpose(axes)
    a = shmem.array(source)
    assert (a == source).all()
    assert a.strides == source.strides
    shmem.free(a)
    every_other = np.arange(24.).reshape(4, 6)[:, ::2]
    a = shmem.array(every_other)
    assert (a == every_other).all() and a.flags.c_contiguous
    shmem.free(a)


def test_fromalloc():
    mem = shmem.alloc(6, 8)
    assert shmem.fromalloc(mem).shape == (6,)
    assert shmem.fromalloc(mem, dtype='i4').shape == (12,)
    a = shmem.fromalloc(mem, (2, 3), 'i8', 'F')
    assert a.shape == (2, 3) and a.flags.f_contiguous
    a[1, 2] = 9
    assert shmem.fromalloc(mem, dtype='i8')[5] == 9
    assert shmem.fromalloc(mem, (-1, 2), 'i8').shape == (3, 2)
    part = shmem.fromalloc(mem[40:], dtype='i8')
    assert part.shape == (1,) and part[0] == 9
    with pytest.raises(ValueError):
        shmem.fromalloc(mem, (7,), 'i8')
    with pytest.raises(TypeError, match='mem'):
        shmem.fromalloc(memoryview(bytearray(8)))
    with pytest.raises(TypeError, match='mem'):
        shmem.fromalloc(bytes(8))
    with pytest.raises(TypeError, match='dtype'):
        shmem.fromalloc(mem, dtype=object)
    shmem.free(mem)


def test_free_twice_is_a_KeyError():
    mem = shmem.alloc(1)
    shmem.free(mem)
    with pytest.raises(KeyError):
        shmem.free(mem)
    a = shmem.zeros((2, 2))
    shmem.free(a)
    with pytest.raises(KeyError):
        shmem.free(a)


def test_free_of_what_is_not_ours():
    a = shmem.zeros(4)
    for wrong in (a[1:], np.zeros(3), [1], None, memoryview(b'abc'), a + 1):
        with pytest.raises(TypeError, match='mem'):
            shmem.free(wrong)
    with pytest.raises(TypeError, match='a:'):
        shmem.del_array(memoryview(b'abc'))
    shmem.free(a)


def test_a_freed_array_is_refused_and_still_read():
    a = shmem.full(4, 3.0)
    view = a[1:]
    shmem.free(a)
    assert (view == 3).all()
    for call in (lambda: shmem.put(a, np.zeros(4), 0), lambda: shmem.get(np.zeros(3), view, 0),
                 lambda: shmem.sum_reduce(a, a)):
        with pytest.raises(RuntimeError):
            call()
    shmem.barrier_all()


def test_dropped_arrays_come_back():
    before = _core.memory_info()['owned']
    for _ in range(20):
        a = shmem.zeros(1000)
    del a
    gc.collect()
    shmem.barrier_all()
    shmem.free(shmem.zeros(1))
    shmem.free(shmem.zeros(1))
    assert _core.memory_info()['owned'] <= before + 1


def test_bad_arguments_of_allocations():
    for bad in (lambda: shmem.alloc(-1), lambda: shmem.alloc(1, -1), lambda: shmem.zeros(-1),
                lambda: shmem.zeros((2, -1)), lambda: shmem.zeros(2, order='K'),
                lambda: shmem.alloc(8, 1, 3)):
        with pytest.raises(ValueError):
            bad()
    for bad in (lambda: shmem.alloc(1.5), lambda: shmem.zeros(2.5), lambda: shmem.zeros(2, object),
                lambda: shmem.array([object()])):
        with pytest.raises(TypeError):
            bad()


def test_too_much_is_a_MemoryError_on_all():
    with pytest.raises(MemoryError):
        shmem.zeros(1 << 44, 'B')
    shmem.barrier_all()


def test_flat_arrays_are_welcome(shm):
    x = shm.zeros(4, np.int32)
    shmem.put(x, np.arange(4, dtype='i'), shmem.my_pe())
    shmem.quiet()
    assert list(x) == [0, 1, 2, 3]
    shmem.free(x)
    with pytest.raises(RuntimeError):
        shm.put(x, np.arange(4, dtype='i'), 0)
    a = shmem.zeros(4, 'i')
    assert shm.is_symmetric(a)
    shm.free(a)
    with pytest.raises(KeyError):
        shmem.free(a)
    shmem.barrier_all()


def test_ptr_sees_the_peer():
    me, n = shmem.my_pe(), shmem.n_pes()
    a = shmem.full((2, 3), me, 'i', 'F')
    shmem.barrier_all()
    for pe in range(n):
        there = shmem.ptr(a, pe)
        assert type(there) is np.ndarray
        assert (there.shape, there.strides, there.dtype) == (a.shape, a.strides, a.dtype)
        assert (there == pe).all()
    shmem.barrier_all()
    shmem.ptr(a, (me + 1) % n)[1, 2] = 100 + me
    shmem.barrier_all()
    assert a[1, 2] == 100 + (me - 1) % n
    shmem.free(a)


def test_accessible():
    a = shmem.zeros(2)
    assert shmem.addr_accessible(a, 0) is True
    assert shmem.addr_accessible(np.zeros(2), shmem.n_pes() - 1) is False
    assert shmem.pe_accessible(0) is True
    assert shmem.pe_accessible(shmem.n_pes()) is False
    shmem.free(a)
