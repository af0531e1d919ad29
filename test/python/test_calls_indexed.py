"""gather, scatter and scatter_add: elements and rows, every kind of index, and what is out of range."""

import numpy as np
import pytest

TYPES = "?bBhHiIlLqQefdgFDG"


def filled(shm, shape, dtype):
    """An array of all PEs, and a list of what each PE's copy holds."""
    x = shm.alloc(shape, dtype)
    copies = [
        (np.arange(x.size).reshape(shape) * 7 + pe * 3).astype("u1").astype(dtype)
        for pe in range(shm.n_pes())
    ]
    x[...] = copies[shm.my_pe()]
    shm.barrier_all()
    return x, copies


def wanted(copies, index, pe):
    pe = np.broadcast_to(pe, np.shape(index))
    rows = [copies[p][i] for i, p in zip(np.ravel(index), np.ravel(pe))]
    return np.array(rows, copies[0].dtype).reshape(np.shape(index) + copies[0].shape[1:])


@pytest.mark.parametrize("char", TYPES)
@pytest.mark.parametrize("shape", [(50,), (50, 3), (20, 2, 5)])
def test_gather(shm, char, shape):
    n, rng = shm.n_pes(), np.random.default_rng(3)
    x, copies = filled(shm, shape, char)
    for size in ((), (1,), (7,), (3, 4), (0,), (2500,)):
        index, pe = rng.integers(-shape[0], shape[0], size), rng.integers(0, n, size)
        got = shm.gather(x, index, pe)
        assert got.dtype == x.dtype and not isinstance(got, shm.Array)
        assert np.shape(got) == size + shape[1:] and (got == wanted(copies, index, pe)).all()
        assert (shm.gather(x, index, n - 1) == wanted(copies, index, n - 1)).all()
        out = np.zeros(size + shape[1:], char)
        assert shm.gather(x, index, pe, out=out) is out and (out == wanted(copies, index, pe)).all()
    shm.free(x)


def test_kinds_of_numbers(shm):
    n, rng = shm.n_pes(), np.random.default_rng(4)
    x, copies = filled(shm, (40, 2), "f4")
    index, pe = rng.integers(0, 40, (5, 6)), rng.integers(0, n, (5, 6))
    want = wanted(copies, index, pe)
    for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "q", "Q", ">i8", ">i4"):
        for other in ("i1", "i4", "u4", "i8", "u8"):
            assert (shm.gather(x, index.astype(kind), pe.astype(other)) == want).all(), (kind, other)
    assert (shm.gather(x, index.tolist(), pe.tolist()) == want).all()
    assert (shm.gather(x, index.T, pe.T) == wanted(copies, index.T, pe.T)).all()
    assert (shm.gather(x, index[::2, ::-1], pe[::2, ::-1]) == want[::2, ::-1]).all()
    assert (shm.gather(x, range(3), 0) == copies[0][:3]).all() and shm.gather(x, [], 0).shape == (0, 2)
    with shm.zeros(4, "i8") as symmetric:
        symmetric[:] = [3, 1, 4, 1]
        assert (shm.gather(x, symmetric, 0) == copies[0][[3, 1, 4, 1]]).all()
        assert (shm.gather(x, symmetric[2], np.int64(0)) == copies[0][4]).all()
    assert (shm.gather(x, np.array(-1), np.array(0)) == copies[0][-1]).all()
    one = shm.gather(x.reshape(80), 5, 0)
    assert one == copies[0].ravel()[5] and isinstance(one, np.float32)
    assert (shm.float_gather(x, index, pe) == want).all()
    shm.barrier_all()
    shm.free(x)


@pytest.mark.parametrize("char", TYPES)
@pytest.mark.parametrize("shape", [(), (3,)])
def test_scatter(shm, char, shape):
    """Each PE writes its own places in the memory of all."""
    me, n, places = shm.my_pe(), shm.n_pes(), 300
    with shm.zeros((n * places,) + shape, char) as x:
        rng = np.random.default_rng(me)
        index = me * places + rng.permutation(places)
        for pe in range(n):
            source = (rng.integers(0, 2, (places,) + shape)).astype(char)
            shm.scatter(x, index if pe % 2 else index - n * places, pe, source)
            shm.quiet()
            assert (shm.gather(x, index, pe) == source).all()
        pes = rng.integers(0, n, places)
        source = (rng.integers(0, 2, (places,) + shape)).astype(char)
        shm.scatter(x, index, pes, source)
        shm.quiet()
        assert (shm.gather(x, index, pes) == source).all()
        shm.barrier_all()


@pytest.mark.parametrize(
    "name,dtype",
    {
        "int": "i4",
        "long": "i8",
        "longlong": "q",
        "uint": "I",
        "ulong": "L",
        "int32": "i4",
        "uint64": "u8",
        "size": "u8",
        "float": "f4",
        "double": "f8",
    }.items(),
)
@pytest.mark.parametrize("shape", [(), (5,), (0,)])
def test_scatter_add(shm, name, dtype, shape):
    """Additions of all PEs to the same places, with repetitions."""
    me, n = shm.my_pe(), shm.n_pes()
    with shm.zeros((20,) + shape, dtype) as x:
        want = np.zeros((n, 20) + shape, dtype)
        for pe in range(n):
            rng = np.random.default_rng(pe)
            index, pes = rng.integers(-20, 20, 3000), rng.integers(0, n, 3000)
            source = rng.integers(0, 9, (3000,) + shape).astype(dtype)
            np.add.at(want, (pes, index), source)
            if pe == me:
                call = getattr(shm, name + "_scatter_add") if me % 2 else shm.scatter_add
                call(x, index.reshape(60, 50), pes.reshape(60, 50), source.reshape((60, 50) + shape))
        shm.barrier_all()
        assert (x == want[me]).all()
        shm.barrier_all()


def test_context(shm):
    me, n = shm.my_pe(), shm.n_pes()
    x, copies = filled(shm, (10,), "i4")
    team = shm.TEAM_WORLD.split_strided(n - 1, -1, n)
    with team.create_ctx() as ctx:
        pes = np.arange(30) % n
        assert (
            shm.gather(x, np.arange(30) % 10, pes, ctx=ctx) == wanted(copies, np.arange(30) % 10, n - 1 - pes)
        ).all()
        with pytest.raises(IndexError, match="pe"):
            shm.gather(x, [1], [n], ctx=ctx)
    shm.barrier_all()
    team.destroy()
    shm.free(x)


def test_out_of_range(shm):
    """The position and the value are named, and nothing has been moved."""
    n = shm.n_pes()
    with shm.zeros((10, 2), "i4") as x:
        for kind in ("i8", "i4", "i2"):
            for bad in (10, -11, 100):
                index = np.zeros(5000, kind)
                index[4321] = bad
                out = np.full((5000, 2), 5, "i4")
                with pytest.raises(IndexError, match=f"index: {bad} at position 4321 .* 10 rows"):
                    shm.gather(x, index, 0, out=out)
                assert (out == 5).all()
                with pytest.raises(IndexError, match=f"index: {bad} at position 4321"):
                    shm.scatter(x, index, 0, out)
                with pytest.raises(IndexError, match=f"index: {bad} at position 4321"):
                    shm.scatter_add(x, index, 0, out)
            for bad in (n, -1, 100):
                pes = np.zeros(5000, kind)
                pes[17] = bad
                with pytest.raises(IndexError, match=f"pe: {bad} at position 17 .* {n} PEs"):
                    shm.scatter(x, np.zeros(5000, "i8"), pes, out)
        assert (shm.gather(x, np.arange(10), shm.my_pe()) == 0).all()
        for index in (
            2**63,
            -(2**63),
            2**64 - 1,
            10**30,
            np.array([2**64 - 1], "u8"),
            np.array([2**63], "u8"),
        ):
            with pytest.raises(IndexError, match="index"):
                shm.gather(x, index, 0)
        for pe in (n, -1, 2**40, 10**30, [2**32], np.array([2**64 - 1], "u8")):
            with pytest.raises(IndexError, match="pe"):
                shm.gather(x, [0], pe)
        with pytest.raises(IndexError):
            shm.gather(x[:0], [0], 0)
        with shm.zeros(10, "f4") as flat:
            with pytest.raises(IndexError, match="index: 10 is out of range; there are 10 elements"):
                shm.gather(flat, 10, 0)
            shm.barrier_all()


def test_wrong_arguments(shm):
    with shm.zeros((10, 2), "i4") as x, shm.zeros(4, "?") as b:
        source = np.zeros((3, 2), "i4")
        for index in (
            1.5,
            "a",
            None,
            [1.5],
            ["a"],
            [True],
            np.zeros(3, "?"),
            np.zeros(3),
            object(),
            [[0], [1, 2]],
            {1},
            b[0],
        ):
            with pytest.raises((TypeError, ValueError)):
                shm.gather(x, index, 0)
        for pe in (1.5, "a", None, [0.0, 0.0, 0.0], object(), ["0"] * 3):
            with pytest.raises(TypeError, match="pe"):
                shm.gather(x, [0, 1, 2], pe)
        for pe in ([0, 0], [[0, 0, 0]], [0] * 4):
            with pytest.raises(ValueError, match="pe: its shape"):
                shm.gather(x, [0, 1, 2], pe)
        with pytest.raises(ValueError, match="pe: its shape"):
            shm.gather(x, 0, [0])
        for out in (
            np.zeros((3, 3), "i4"),
            np.zeros((2, 2), "i4"),
            np.zeros(6, "i4"),
            np.zeros((3, 2), "i4", order="F"),
            np.zeros((3, 4), "i4")[:, ::2],
        ):
            with pytest.raises(ValueError, match="out"):
                shm.gather(x, [0, 1, 2], 0, out)
            with pytest.raises(ValueError, match="source"):
                shm.scatter(x, [0, 1, 2], 0, out)
        for out in (np.zeros((3, 2), "f4"), [1], 5):
            with pytest.raises(TypeError, match="out"):
                shm.gather(x, [0, 1, 2], 0, out)
        readonly = np.zeros((3, 2), "i4")
        readonly.flags.writeable = False
        with pytest.raises(ValueError, match="out.*read-only"):
            shm.gather(x, [0, 1, 2], 0, readonly)
        shm.scatter(x, [0, 1, 2], 0, readonly)
        for wrong in (np.zeros((3, 2), "f4"), 1, [1, 2, 3]):
            with pytest.raises(TypeError, match="source"):
                shm.scatter(x, [0, 1, 2], 0, wrong)
        for wrong in (x.T, x[:, :1], np.zeros((3, 2), "i4")):
            with pytest.raises(ValueError, match="x"):
                shm.gather(wrong, [0], 0)
        for wrong in (x[0, 0], x[0, 0, ...], 5, None, [1]):
            with pytest.raises(TypeError, match="x"):
                shm.gather(wrong, [0], 0)
        with pytest.raises(TypeError, match="x.*int32.*float"):
            shm.float_gather(x, [0], 0)
        with pytest.raises(TypeError, match="x: dtype int16 cannot be added"):
            shm.scatter_add(x.view("i2"), [0], 0, np.zeros((1, 4), "i2"))
        shm.barrier_all()


def test_memory_in_two_roles(shm):
    """Indices, PEs, sources and results in the memory that the call itself writes: as if all were read first."""
    me, n, count = shm.my_pe(), shm.n_pes(), 5000
    with shm.zeros(count, "i8") as x:
        x[:] = np.arange(count)[::-1]
        shm.scatter(x, x, me, np.full(count, 2**60))
        assert (x == 2**60).all()
        x[:] = np.arange(count)[::-1]
        shm.scatter_add(x, x[:], me, np.full(count, 2**60))
        assert np.array_equal(x, 2**60 + np.arange(count)[::-1])
        x[:] = np.arange(count)
        shm.scatter(x, np.arange(1, count), me, x[:-1])
        assert np.array_equal(x[1:], np.arange(count - 1))
        x[:] = np.arange(count)
        assert np.array_equal(shm.gather(x, np.arange(count - 1), me, out=x[1:]), np.arange(count - 1))
        x[:] = 2**60
        shm.barrier_all()
        both = np.arange(count + 1)
        both[1:] = np.arange(count)
        shm.gather(x, both[1:], n - 1, out=both[:-1])
        assert (both[:-1] == 2**60).all()
        pe = np.full(count, n - 1)
        assert (shm.gather(x, np.arange(count), pe, out=pe) == 2**60).all()
        shm.barrier_all()
