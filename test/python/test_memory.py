"""The life of blocks: explicit frees, what the collector drops, views that outlive their array."""

import gc

import numpy as np
import pytest


def owned(shm):
    return shm.memory_info()["owned"]


def give_back(shm):
    """What all PEs have dropped goes back in the next collective allocation."""
    shm.barrier_all()
    shm.free(shm.alloc(1))
    shm.free(shm.alloc(1))


def test_dropped_everywhere_goes_back(shm):
    give_back(shm)
    before = owned(shm)
    arrays = [shm.alloc(1000) for _ in range(20)]
    assert before + 18 <= owned(shm) <= before + 20
    del arrays
    give_back(shm)
    assert owned(shm) <= before + 2


def test_dropped_by_one_pe_stays(shm):
    """One PE's drop neither blocks nor frees; the others go on using the array."""
    me, n = shm.my_pe(), shm.n_pes()
    give_back(shm)
    before = owned(shm)
    a = shm.alloc(1000, dtype=np.int64)
    a[:] = me
    other = (me + 1) % n
    if me == 0:
        del a
        gc.collect()
    give_back(shm)
    if n > 1:
        assert owned(shm) > before
    if me != 0:
        got = shm.int64_get(a, pe=other) if other != 0 else None
        assert got is None or (got == other).all()
        del a
    give_back(shm)
    give_back(shm)
    assert owned(shm) <= before + 2


def test_order_of_drops_differs(shm):
    """Each PE drops in another order and at other times; all is given back, and live arrays are untouched."""
    me, n = shm.my_pe(), shm.n_pes()
    keep = shm.full(100, me, dtype=np.int64)
    rng = np.random.default_rng(me)
    arrays = {i: shm.full(50 + i, i, dtype=np.int64) for i in range(40)}
    for turn in range(4):
        for i in rng.permutation(sorted(arrays))[:10]:
            del arrays[i]
        extra = shm.full(64, turn, dtype=np.int64)
        for i, a in arrays.items():
            assert (a == i).all()
        assert (keep == me).all() and (extra == turn).all()
    shm.barrier_all()
    arrays.clear()
    extra = None
    give_back(shm)
    give_back(shm)
    assert (keep == me).all()
    shm.free(keep)


def test_view_keeps_its_block(shm):
    a = shm.alloc(1000)
    a[:] = 5
    view = a[10:20]
    del a
    gc.collect()
    others = [shm.full(1000, 7.0) for _ in range(4)]
    assert (view == 5).all() and shm.is_symmetric(view)
    del others, view


def test_freed_array_reads_on(shm):
    """NumPy may read a view of a freed array: the memory is not given out again while it lives."""
    a = shm.alloc(1000)
    a[:] = 5
    view = a[10:20]
    shm.free(a)
    others = [shm.full(1000, 7.0) for _ in range(4)]
    assert (view == 5).all() and (a == 5).all()
    for stale in (a, view):
        assert not shm.is_symmetric(stale)
        with pytest.raises(RuntimeError, match="freed"):
            shm.double_get(stale, pe=0)
        with pytest.raises(RuntimeError, match="freed"):
            shm.put(stale, np.zeros(stale.size), 0)
    with pytest.raises(RuntimeError, match="freed"):
        shm.double_p(view[3], 1.0, pe=0)
    with pytest.raises(RuntimeError, match="freed already"):
        shm.free(a)
    assert (view == 5).all()
    for other in others:
        shm.free(other)


@pytest.mark.parametrize("export", ["memoryview", "dlpack", "frombuffer", "view"])
def test_export_forbids_free(shm, export):
    """An export on any PE: BufferError on all of them, and the array is as it was."""
    a = shm.full(100, 3.0)
    held = None
    if shm.my_pe() == shm.n_pes() - 1:
        held = {"memoryview": lambda: memoryview(a), "dlpack": lambda: np.from_dlpack(a),
                "frombuffer": lambda: np.frombuffer(a), "view": lambda: memoryview(a[5:7])}[export]()
    with pytest.raises(BufferError, match=f"PE {shm.n_pes() - 1}"):
        shm.free(a)
    assert (a == 3).all() and shm.is_symmetric(a)
    shm.barrier_all()
    del held
    shm.free(a)


def test_dlpack_keeps_the_block(shm):
    a = shm.full(100, 3.0)
    b = np.from_dlpack(a)
    assert b.ctypes.data == a.ctypes.data
    del a
    gc.collect()
    c = shm.full(100, 4.0)
    assert (b == 3).all()
    del b
    shm.free(c)


def test_torch_sees_the_same_memory(shm):
    torch = pytest.importorskip("torch")
    a = shm.zeros(10, dtype=np.float32)
    t = torch.from_dlpack(a)
    t[3] = 5
    assert a[3] == 5 and t.data_ptr() == a.ctypes.data
    shm.float_p(a[4], 6, pe=shm.my_pe())
    assert t[4] == 6
    shm.barrier_all()
    del t
    shm.free(a)


def test_heap_is_used_again(shm):
    """free(x); x = alloc(...) of more than half the heap, again and again: the old array gives way to the new one."""
    probe = 1 << 20
    while True:
        try:
            shm.free(shm.alloc(2 * probe, dtype="u1", clear=False))
            probe *= 2
        except MemoryError:
            break
    x = shm.alloc(probe, dtype="u1", clear=False)
    x[5] = 1
    for turn in range(2, 5):
        shm.free(x)
        y = x
        x = shm.alloc(probe, dtype="u1", clear=False) if turn % 2 else None
        if x is None:
            x = shm.alloc(probe // 2, dtype="u1", clear=False)
        x[5] = turn
        assert y[5] == turn - 1 or y is x
        del y
    shm.free(x)


def test_different_requests(shm):
    """PEs that ask for different things: ValueError on all of them, and they go on together."""
    me, n = shm.my_pe(), shm.n_pes()
    if n == 1:
        return
    with pytest.raises(ValueError, match="shape, dtype.*PE 0"):
        shm.alloc(100 if me == 0 else 101)
    with pytest.raises(ValueError, match="shape, dtype"):
        shm.alloc(8, dtype=np.float64 if me == 0 else np.int64)
    with pytest.raises(ValueError, match="align"):
        shm.alloc(8, align=64 if me == 0 else 128)
    a, b = shm.alloc(10), shm.alloc(10)
    with pytest.raises(ValueError, match="free different"):
        shm.free(a if me == 0 else b)
    with pytest.raises(ValueError, match="same collective"):
        if me == 0:
            shm.free(a)
        else:
            shm.alloc(10)
    assert shm.is_symmetric(a) and shm.is_symmetric(b)
    shm.free(a)
    shm.free(b)


def test_many_blocks(shm):
    before = owned(shm)
    arrays = [shm.alloc(3, dtype=np.int32) for _ in range(1000)]
    for i, a in enumerate(arrays):
        a[:] = i
    assert all((a == i).all() for i, a in enumerate(arrays))
    assert shm.is_symmetric(arrays[500][1])
    del arrays, a
    for _ in range(4):
        give_back(shm)
    assert owned(shm) <= before + 2
