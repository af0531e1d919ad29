"""Atomics: every operation of every type that has it, and no other."""

import threading

import numpy as np
import pytest

INTEGERS = {
    "int": "i",
    "long": "l",
    "longlong": "q",
    "uint": "I",
    "ulong": "L",
    "ulonglong": "Q",
    "int32": "i4",
    "int64": "i8",
    "uint32": "u4",
    "uint64": "u8",
    "size": "u8",
    "ptrdiff": "i8",
}
BITS = ["uint", "ulong", "ulonglong", "int32", "int64", "uint32", "uint64"]
FLOATS = {"float": "f4", "double": "f8"}


def caller(shm, name):
    return lambda op: getattr(shm, f"{name}_atomic_{op}" if name else f"atomic_{op}")


@pytest.mark.parametrize("name,dtype", [*INTEGERS.items(), *((None, char) for char in "ilqILQ")])
def test_integers(shm, name, dtype):
    call, me = caller(shm, name), shm.my_pe()
    with shm.zeros(2, dtype) as x:
        at, fetch = x[1], np.zeros(1, dtype)
        call("set")(at, 5, me)
        call("inc")(at, pe=me)
        call("add")(at, 10, pe=me, ctx=shm.CTX_DEFAULT)
        got = call("fetch")(at, me)
        assert got == 16 and got.dtype == np.dtype(dtype) and x[0] == 0
        assert call("fetch_inc")(at, me) == 16 and call("fetch_add")(at, 3, me) == 17
        assert call("swap")(at, 7, me) == 20
        assert (
            call("compare_swap")(at, 6, 8, me) == 7
            and call("compare_swap")(target=at, cond=7, value=8, pe=me) == 7
        )
        assert call("fetch")(x[1:], me) == 8
        for op, args, after in (
            ("fetch", (), 8),
            ("swap", (9,), 9),
            ("compare_swap", (9, 11), 11),
            ("fetch_inc", (), 12),
            ("fetch_add", (5,), 17),
        ):
            before = x[1]
            call(op + "_nbi")(fetch, at, *args, me)
            shm.quiet()
            assert fetch[0] == before and x[1] == after, op
        if np.dtype(dtype).kind == "i":
            call("add")(at, -20, me)
            assert x[1] == -3
        shm.barrier_all()


@pytest.mark.parametrize(
    "name,dtype", [*((name, INTEGERS[name]) for name in BITS), *((None, char) for char in "ilqILQ")]
)
def test_bits(shm, name, dtype):
    call, me = caller(shm, name), shm.my_pe()
    with shm.zeros(1, dtype) as x:
        fetch = np.zeros(1, dtype)
        call("or")(x, 0b1100, me)
        call("xor")(x, 0b0110, me)
        call("and")(x, 0b0111, me)
        assert x[0] == 0b0010
        assert call("fetch_or")(x, 0b1100, me) == 0b0010 and call("fetch_xor")(x, 0b0011, me) == 0b1110
        assert call("fetch_and")(x, 0b1000, me) == 0b1101 and x[0] == 0b1000
        for op, value, after in (("fetch_or", 1, 9), ("fetch_xor", 3, 10), ("fetch_and", 2, 2)):
            before = x[0]
            call(op + "_nbi")(fetch, x, value, me)
            shm.quiet()
            assert fetch[0] == before and x[0] == after
        shm.barrier_all()


@pytest.mark.parametrize("name,dtype", [*FLOATS.items(), (None, "f4"), (None, "f8")])
def test_floats(shm, name, dtype):
    call, me = caller(shm, name), shm.my_pe()
    with shm.zeros(1, dtype) as x:
        fetch = np.zeros(1, dtype)
        call("set")(x, 1.5, me)
        got = call("fetch")(x[0], me)
        assert got == 1.5 and got.dtype == np.dtype(dtype)
        assert call("swap")(x, -2.25, me) == 1.5
        call("swap_nbi")(fetch, x, 3, me)
        shm.quiet()
        assert fetch[0] == -2.25 and x[0] == 3
        shm.barrier_all()


def test_what_types_lack(shm):
    me = shm.my_pe()
    assert (
        not hasattr(shm, "float_atomic_add")
        and not hasattr(shm, "long_atomic_and")
        and not hasattr(shm, "char_atomic_set")
    )
    with shm.zeros(1, "f4") as f, shm.zeros(1, "i2") as h, shm.zeros(1, "?") as b, shm.zeros(1, "g") as g:
        for x, op, args in (
            (f, "add", (1,)),
            (f, "inc", ()),
            (f, "fetch_or", (1,)),
            (h, "add", (1,)),
            (b, "set", (1,)),
            (g, "swap", (1,)),
            (h, "fetch", ()),
        ):
            with pytest.raises(TypeError, match=f"target: dtype {x.dtype} has no atomic {op}"):
                getattr(shm, "atomic_" + op)(x, *args, me)
        with pytest.raises(TypeError, match="float32.*int"):
            shm.int_atomic_add(f, 1, me)
        shm.barrier_all()


def test_named_operations(shm):
    me = shm.my_pe()
    with shm.zeros(1, "i8") as x:
        fetch = np.zeros(1, "i8")
        for op, value, after in (
            ("set", 6, 6),
            ("inc", None, 7),
            ("ADD", 3, 10),
            ("and", 6, 2),
            ("or", 5, 7),
            ("xor", 1, 6),
        ):
            before = x[0]
            shm.atomic_op(x, value, op, me)
            assert x[0] == after
            x[0] = before
            assert shm.atomic_fetch_op(x, value, op, pe=me) == before and x[0] == after
            x[0] = before
            shm.atomic_fetch_op_nbi(fetch, x, value, op, me)
            shm.quiet()
            assert fetch[0] == before and x[0] == after
        for wrong in ("mul", "", "fetch", "x" * 40):
            with pytest.raises(ValueError, match="op"):
                shm.atomic_op(x, 1, wrong, me)
        with pytest.raises(TypeError, match="op"):
            shm.atomic_op(x, 1, 3, me)
        shm.barrier_all()


def test_everybody_counts(shm):
    """Additions of all PEs and of two threads in each arrive, and each ticket is drawn once."""
    n, turns = shm.n_pes(), 200
    with shm.zeros(2, "i4") as x, shm.zeros(n * turns * 2, "i4") as drawn:

        def draw():
            for _ in range(turns):
                ticket = int(shm.int_atomic_fetch_inc(x[0], pe=0))
                shm.int_atomic_inc(drawn[ticket], pe=n - 1)
                shm.int_atomic_add(x[1], 2, pe=0)

        other = threading.Thread(target=draw)
        other.start()
        draw()
        other.join()
        shm.barrier_all()
        if shm.my_pe() == 0:
            assert x.tolist() == [n * turns * 2, n * turns * 4]
        if shm.my_pe() == n - 1:
            assert (drawn == 1).all()
        shm.barrier_all()
