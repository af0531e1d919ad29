"""Put and get: single elements, arrays, strided, signals, over all types and with contexts."""

import numpy as np
import pytest

NAMES = {
    "float": "f4",
    "double": "f8",
    "longdouble": "g",
    "char": "b",
    "schar": "i1",
    "short": "h",
    "int": "i",
    "long": "l",
    "longlong": "q",
    "uchar": "B",
    "ushort": "H",
    "uint": "I",
    "ulong": "L",
    "ulonglong": "Q",
    "int8": "i1",
    "int16": "i2",
    "int32": "i4",
    "int64": "i8",
    "uint8": "u1",
    "uint16": "u2",
    "uint32": "u4",
    "uint64": "u8",
    "size": "u8",
    "ptrdiff": "i8",
}
PLAIN = "?bBhHiIlLqQefdgFDG"


@pytest.fixture
def next_pe(shm):
    return (shm.my_pe() + 1) % shm.n_pes()


@pytest.fixture
def last_pe(shm):
    return (shm.my_pe() - 1) % shm.n_pes()


@pytest.mark.parametrize("name", NAMES)
def test_typed(shm, name, next_pe, last_pe):
    me, dtype = shm.my_pe(), np.dtype(NAMES[name])
    call = {
        stem: getattr(shm, f"{name}_{stem}")
        for stem in ("p", "g", "get", "put", "get_nbi", "put_nbi", "iput", "iget")
    }
    with shm.zeros(12, dtype) as x:
        call["p"](x[2], me + 1, pe=next_pe)
        call["p"](target=x[3], value=x[3].dtype.type(me + 2), pe=next_pe, ctx=shm.CTX_DEFAULT)
        shm.barrier_all()
        assert x[2] == last_pe + 1 and x[3] == last_pe + 2 and x[1] == 0 and x[4] == 0
        for got in (
            call["g"](x[2], next_pe),
            call["get"](x[2], pe=next_pe),
            call["g"](x[2:3], next_pe, shm.CTX_DEFAULT),
        ):
            assert got == me + 1 and got.dtype == dtype and isinstance(got, np.generic)
            assert not isinstance(got, type(x[0])), "a result is no element"
        row = call["get"](x[1:5], pe=next_pe)
        assert type(row) is np.ndarray and row.dtype == dtype and row.tolist() == [0, me + 1, me + 2, 0]
        out = np.zeros(2, dtype)
        assert call["get"](x[2:4], next_pe, out=out) is out and out.tolist() == [me + 1, me + 2]
        shm.barrier_all()
        call["put"](x[4:7], np.array([1, 2, 3], dtype), next_pe)
        call["put"](x[7], 9, pe=next_pe)
        call["put_nbi"](x[8:10], np.array([5, 6, 7], dtype), next_pe, size=2)
        shm.quiet()
        shm.barrier_all()
        assert x.tolist() == [0, 0, last_pe + 1, last_pe + 2, 1, 2, 3, 9, 5, 6, 0, 0]
        call["get_nbi"](out, x[8:10], next_pe)
        shm.quiet()
        assert out.tolist() == [5, 6]
        shm.barrier_all()
        call["iput"](x, np.arange(10, 20).astype(dtype), next_pe, tst=5, sst=2)
        shm.barrier_all()
        assert x[::5].tolist() == [10, 12, 14]
        every = np.zeros(6, dtype)
        call["iget"](every, x, next_pe, tst=2, sst=5)
        assert every.tolist() == [10, 0, 12, 0, 14, 0]
        shm.barrier_all()


@pytest.mark.parametrize("char", PLAIN)
def test_generic(shm, char, next_pe, last_pe):
    dtype = np.dtype(char)
    with shm.zeros((2, 6), dtype) as x:
        shm.p(x[0, 1], 1, next_pe)
        shm.put(x[1], np.array([0, 1, 1, 0, 1, 0], dtype), next_pe)
        shm.barrier_all()
        assert (x == np.array([[0, 1, 0, 0, 0, 0], [0, 1, 1, 0, 1, 0]], dtype)).all()
        got = shm.g(x[1, 4], next_pe)
        assert got == 1 and got.dtype == dtype and isinstance(got, np.generic)
        to = np.zeros(6, dtype)
        shm.get(to, x[1], next_pe)
        assert (to == np.array([0, 1, 1, 0, 1, 0], dtype)).all()
        shm.iget(to, x[1], next_pe, sst=2, size=2)
        assert to[0] == 0 and to[1] == 1
        shm.barrier_all()


def test_records_and_texts(shm, next_pe):
    record = np.dtype([("a", "i4"), ("b", "f8"), ("c", "S3")])
    with shm.zeros(4, record) as x, shm.zeros(3, "U5") as texts, shm.zeros(2, ">f4") as big:
        x["a"] = shm.my_pe()
        texts[:] = str(shm.my_pe())
        big[:] = shm.my_pe() + 0.5
        shm.barrier_all()
        to = np.zeros(4, record)
        shm.get(to, x, next_pe)
        assert to["a"].tolist() == [next_pe] * 4
        assert shm.g(x[:1], next_pe)["a"] == next_pe
        assert shm.g(texts[1:2], next_pe) == str(next_pe)
        assert shm.g(big[1:], next_pe) == next_pe + 0.5
        shm.iget(to[:2], x, next_pe, sst=3)
        shm.barrier_all()
        shm.p(x[1:2], (7, 0.5, b"xyz"), next_pe)
        shm.barrier_all()
        assert x[1].tolist() == (7, 0.5, b"xyz")
        with pytest.raises(TypeError, match="source"):
            shm.float_get(big, next_pe)
        with pytest.raises(TypeError, match="float32|>f4"):
            shm.put(big, np.zeros(2, "f4"), next_pe)
        shm.barrier_all()


def test_get_of_views(shm, next_pe):
    with shm.alloc((4, 5, 6), "f4") as x, shm.alloc((4, 5), "i8", order="F") as f:
        whole = np.arange(120, dtype="f4").reshape(4, 5, 6) + 1000 * next_pe
        x[:] = np.arange(120).reshape(4, 5, 6) + 1000 * shm.my_pe()
        f[:] = np.arange(20).reshape(4, 5)
        shm.barrier_all()
        for key in (
            np.s_[1],
            np.s_[:, 2],
            np.s_[..., 3],
            np.s_[::2, ::-1, 1:5:3],
            np.s_[::-1],
            np.s_[:, :, ::-2],
            np.s_[1:1],
            np.s_[..., None, 2],
            np.s_[3, 4, 5:6],
        ):
            got = shm.float_get(x[key], pe=next_pe)
            assert got.shape == whole[key].shape and (got == whole[key]).all(), key
            out = np.empty(whole[key].shape, "f4")
            assert shm.float_get(x[key], next_pe, out) is out and (out == whole[key]).all(), key
        assert (shm.float_get(x.T, next_pe) == whole.T).all()
        assert (shm.long_get(f, next_pe) == np.arange(20).reshape(4, 5)).all()
        for out in (np.zeros((4, 5), "i8"), np.zeros((4, 5), "i8", order="F")):
            assert (shm.long_get(f, next_pe, out=out) == np.arange(20).reshape(4, 5)).all()
        out = np.zeros((4, 3), "i8", order="F")
        assert (shm.long_get(f[:, ::2], next_pe, out=out) == np.arange(20).reshape(4, 5)[:, ::2]).all()
        assert shm.long_get(f[2, 3, ...], next_pe) == 13
        shm.barrier_all()


def test_elements_are_values_as_sources(shm, next_pe):
    with shm.zeros(3, "f8") as x:
        x[:] = [1, 2, 3]
        shm.barrier_all()
        old = x[1]
        x[1] = 50
        shm.barrier_all()
        shm.double_put(x[2], old, next_pe)
        shm.put(x[0], x[1], next_pe)
        shm.barrier_all()
        shm.p(x[1], old, next_pe)
        shm.barrier_all()
        assert x.tolist() == [50, 2, 2]
        shm.barrier_all()


def test_large_copies(shm, next_pe, last_pe):
    n = 300000
    with shm.zeros(n, "f4") as x:
        shm.put(x, np.arange(n, dtype="f4") + shm.my_pe(), next_pe)
        shm.barrier_all()
        assert (x == np.arange(n, dtype="f4") + last_pe).all()
        assert (shm.float_get(x[::3], next_pe) == (np.arange(n, dtype="f4") + shm.my_pe())[::3]).all()
        shm.barrier_all()


def test_contexts_and_teams(shm, last_pe):
    me, n = shm.my_pe(), shm.n_pes()
    team = shm.TEAM_WORLD.split_strided(n - 1, -1, n)  # numbered from behind
    assert team.my_pe() == n - 1 - me
    with team.create_ctx() as ctx, shm.zeros(4, "i4") as x:
        to = (team.my_pe() + 1) % n
        shm.int_p(x[0], me + 1, to, ctx=ctx)
        shm.put(x[1:3], np.full(2, me + 1, "i4"), to, ctx=ctx)
        shm.int_put_nbi(x[3], me + 1, to, ctx=ctx)
        shm.quiet(ctx)
        shm.barrier_all()
        assert x.tolist() == [(me + 1) % n + 1] * 4
        assert shm.int_g(x[0], to, ctx=ctx) == me + 1 == shm.int_get(x[0], to, ctx=ctx)
        with pytest.raises(IndexError, match="pe: .* 0 to"):
            shm.int_p(x[0], 1, n, ctx=ctx)
        shm.barrier_all()
    team.destroy()


def test_signals(shm, next_pe, last_pe):
    signal = shm.new_signal()
    assert signal.dtype == np.uint64 and signal.shape == (1,) and shm.signal_fetch(signal) == 0
    with shm.zeros(4, "f8") as x:
        shm.double_put_signal(x[:2], np.array([1.5, 2.5]), next_pe, signal, 3, shm.SIGNAL_SET)
        assert shm.signal_wait_until(signal, "==", 3) == 3 and x[:2].tolist() == [1.5, 2.5]
        shm.barrier_all()
        shm.put_signal(x[2:], np.array([7.0, 8.0]), next_pe, signal, 4, shm.SIGNAL.ADD, ctx=shm.CTX_DEFAULT)
        assert shm.signal_wait_until(signal[0], shm.CMP.GE, 7) == 7 and x[2:].tolist() == [7, 8]
        shm.barrier_all()
        shm.put_signal_nbi(x[0], 9, next_pe, signal, 1, "add")
        assert shm.signal_wait_until(signal, "gt", 7) == 8 and x[0] == 9
        shm.barrier_all()
        shm.signal_set(signal, 2**64 - 2, next_pe)
        shm.signal_wait_until(signal, "eq", 2**64 - 2)
        shm.barrier_all()
        shm.signal_add(signal, 1, next_pe)
        assert shm.signal_wait_until(signal, "==", 2**64 - 1) == 2**64 - 1 == shm.signal_fetch(signal)
        for wrong in (-1, 2**64):
            with pytest.raises(OverflowError, match="value"):
                shm.signal_set(signal, wrong, next_pe)
        with pytest.raises(ValueError, match="sigop"):
            shm.put_signal(x, x + 1, next_pe, signal, 1, 7)
        with pytest.raises(TypeError, match="signal"):
            shm.signal_set(x[0], 1, next_pe)
        with pytest.raises(ValueError, match="signal"):
            shm.del_signal(shm.zeros(2, "u8")[1:])
    shm.del_signal(signal)
    with pytest.raises(RuntimeError, match="signal.*freed"):
        shm.signal_fetch(signal)


def test_pointers(shm, next_pe):
    if shm.TEAM_SHARED.n_pes() < shm.n_pes():
        with shm.zeros(3) as x:
            assert sum(shm.ptr(x, pe) is not None for pe in range(shm.n_pes())) == shm.TEAM_SHARED.n_pes()
        return  # the others are on other machines
    with shm.zeros((3, 4), "i4") as x:
        x[:] = shm.my_pe()
        shm.barrier_all()
        theirs = shm.ptr(x[:, ::2], next_pe)
        assert type(theirs) is np.ndarray and theirs.shape == (3, 2) and (theirs == next_pe).all()
        shm.barrier_all()
        theirs[1, 1] = 77
        assert shm.ptr(x[0, 0], next_pe).shape == ()
        shm.barrier_all()
        assert x[1, 2] == 77
        assert shm.addr_accessible(x, next_pe) and shm.addr_accessible(x[1, 1], next_pe)
        assert not shm.addr_accessible(np.zeros(3), next_pe) and not shm.addr_accessible(x, shm.n_pes())
        assert shm.pe_accessible(next_pe) and not shm.pe_accessible(-1) and not shm.pe_accessible(shm.n_pes())
        with pytest.raises(ValueError, match="target"):
            shm.ptr(np.zeros(3), next_pe)
        shm.barrier_all()


def test_values(shm):
    me = shm.my_pe()
    with (
        shm.zeros(2, "f4") as f,
        shm.zeros(2, "i1") as i,
        shm.zeros(2, "u8") as u,
        shm.zeros(2, "g") as g,
        shm.zeros(2, "F") as c,
        shm.zeros(2, "?") as b,
    ):
        for value in (
            1,
            1.0,
            True,
            np.float32(1),
            np.float64(1),
            np.int8(1),
            np.longdouble(1),
            np.bool_(True),
            np.array(1),
            np.array(1, "f2"),
            i[0] + 1,
        ):
            for to in (f, g, c, b):
                shm.p(to[1], value, me)
                assert to[1] == 1, (to.dtype, value)
                to[1] = 0
        for value in (1, True, np.uint64(1), np.int8(1), np.bool_(True), np.array(1)):
            for to in (i, u):
                shm.p(to[1], value, me)
                assert to[1] == 1
                to[1] = 0
        b[0] = True
        shm.p(i[1], b[0], me)
        assert i[1] == 1
        shm.p(c[0], 1 + 2j, me)
        assert c[0] == 1 + 2j
        shm.p(g[0], np.longdouble(1) / 3, me)
        assert g[0] == np.longdouble(1) / 3
        shm.p(u[0], 2**64 - 1, me)
        shm.p(i[0], -128, me)
        assert u[0] == 2**64 - 1 and i[0] == -128
        shm.p(f[0], 1e300, me)
        assert np.isinf(f[0]), "as NumPy stores it"
        for to, value in ((i, 128), (i, -129), (u, -1), (u, 2**64), (i, 10**30), (i, np.int64(300))):
            with pytest.raises(OverflowError, match="value"):
                shm.p(to[0], value, me)
        for to, value in (
            (i, 1.0),
            (i, "1"),
            (i, None),
            (f, "1"),
            (f, None),
            (f, 1j),
            (f, [1]),
            (f, np.zeros(2)),
            (c, "1"),
            (i, np.float32(1)),
            (f, b"1"),
            (u, np.complex64(1)),
            (f, np.complex64(1)),
            (g, "x"),
        ):
            with pytest.raises(TypeError, match="value"):
                shm.p(to[0], value, me)
        shm.barrier_all()


def test_orders_of_memory(shm, next_pe):
    """Arrays of one shape whose memory is in different orders are not copied byte by byte into each other."""
    me = shm.my_pe()
    values = np.arange(6.0).reshape(2, 3)
    with shm.zeros((2, 3)) as c, shm.zeros((2, 3), order="F") as f, shm.new_signal() as signal:
        for target, source in ((c, np.asfortranarray(values)), (f, values)):
            plain = np.zeros((2, 3), order="F" if target is c else "C")
            for call in (
                lambda: shm.put(target, source, next_pe),
                lambda: shm.double_put(target, source, next_pe),
                lambda: shm.put_nbi(target, source, next_pe),
                lambda: shm.put_signal(target, source, next_pe, signal, 1, shm.SIGNAL.SET),
                lambda: shm.get(plain, target, next_pe),
                lambda: shm.double_get_nbi(plain, target, next_pe),
            ):
                with pytest.raises(ValueError, match="order"):
                    call()
        for call in (
            lambda: shm.sum_reduce(c, f),
            lambda: shm.double_max_reduce(f, c),
            lambda: shm.broadcast(c, f, 0),
        ):
            with pytest.raises(ValueError, match="order"):
                call()
        shm.put(f, np.asfortranarray(values + me), next_pe)
        shm.put(c, (values + me).ravel(), next_pe)
        shm.barrier_all()
        assert np.array_equal(c, f) and np.array_equal(shm.double_get(f, next_pe), values + me)
        shm.barrier_all()


def test_long_double_of_an_int(shm):
    me = shm.my_pe()
    with shm.zeros(1, "g") as x:
        shm.longdouble_p(x[0], 2**63 + 1, me)
        assert int(x[0]) == 2**63 + 1
        shm.put(x[0], -(2**62) - 1, me)
        assert int(x[0]) == -(2**62) - 1
        shm.barrier_all()
