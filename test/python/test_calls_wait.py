"""Waits and tests on words of this PE."""

import threading
import time

import numpy as np
import pytest

NAMES = {
    "short": "h",
    "ushort": "H",
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
HOLDS = {
    "eq": 5,
    "==": 5,
    "ne": 4,
    "!=": 4,
    "gt": 4,
    ">": 4,
    "ge": 5,
    ">=": 5,
    "lt": 6,
    "<": 6,
    "le": 5,
    "<=": 5,
}
FAILS = {"eq": 4, "!=": 5, "gt": 5, "ge": 6, "<": 5, "LE": 4}


@pytest.mark.parametrize("name", [*NAMES, None])
def test_all_variants(shm, name):
    call = lambda op: getattr(shm, f"{name}_{op}" if name else op)  # noqa: E731
    dtype = NAMES.get(name, "i4")
    with shm.zeros(4, dtype) as x:
        x[:] = [5, 6, 5, 7]
        for cmp, value in HOLDS.items():
            assert call("wait_until")(x[0], cmp, value) is None and call("test")(x[0], cmp, value) is True
            assert call("wait_until")(x[:1], cmp, np.dtype(dtype).type(value)) is None
        for cmp, value in FAILS.items():
            assert call("test")(x[2], cmp, value) is False
        for cmp in (shm.CMP_GE, shm.CMP.GE, int(shm.CMP_GE), np.int8(shm.CMP_GE)):
            assert call("test_all")(x, cmp, 5) is True and call("test_all")(x, cmp, 6) is False
        mask = [0, 1, 0, 0]
        for status in (mask, tuple(mask), np.array(mask, bool), np.array(mask, "i4"), np.array(mask, "i8")):
            assert (
                call("test_all")(x, "!=", 6, status) is True
                and call("wait_until_all")(x, "!=", 6, status) is None
            )
            assert (
                call("test_any")(x, "==", 6, status) is None
                and call("test_some")(x, "==", 6, status=status) == []
            )
            assert sorted(call("test_some")(x, ">", 4, status)) == [0, 2, 3]
        assert call("test_any")(x, "==", 7) == 3 == call("wait_until_any")(x, "==", 7)
        assert sorted(call("wait_until_some")(x, "==", 5)) == [0, 2] == sorted(call("test_some")(x, "==", 5))
        same = np.array([5, 6, 5, 7], dtype)
        for values in (same, same.tolist(), same.astype("f8").astype("i8")):
            assert (
                call("test_all_vector")(x, "==", values) is True
                and call("wait_until_all_vector")(x, "==", values) is None
            )
        values = [0, 6, 5, 0]
        assert call("test_all_vector")(x, "==", values) is False
        assert call("test_any_vector")(x, "==", values) in (1, 2) and call("wait_until_any_vector")(
            x, "==", values
        ) in (1, 2)
        assert sorted(call("test_some_vector")(x, "==", values)) == [1, 2]
        assert sorted(call("wait_until_some_vector")(x, "==", values)) == [1, 2]
        everything = [1] * 4
        assert (
            call("wait_until_any")(x, "==", 0, everything) is None
            and call("wait_until_some")(x, "==", 0, everything) == []
        )
        assert call("wait_until_all")(x, "==", 0, everything) is None
        none = x[:0]
        assert call("wait_until_all")(none, "==", 0) is None and call("wait_until_any")(none, "==", 0) is None
        assert call("test_some_vector")(none, "==", []) == [] and call("test_all")(none, "==", 0) is True
        shm.barrier_all()


def test_waits_for_others(shm):
    me, n = shm.my_pe(), shm.n_pes()
    with shm.zeros(n, "i8") as x:
        for pe in range(n):
            shm.long_p(x[me], pe + 1, pe)
        seen = set()
        while len(seen) < n:
            seen.update(shm.wait_until_some(x, "==", me + 1, [i in seen for i in range(n)]))
        shm.barrier_all()
        x[:] = 0
        shm.barrier_all()
        shm.atomic_set(x[me], 5, (me + 1) % n)
        assert shm.long_wait_until(x[(me - 1) % n], ">=", 5) is None and x[(me - 1) % n] == 5
        shm.barrier_all()


def test_sign_matters(shm):
    with shm.zeros(1, "u8") as u, shm.zeros(1, "i8") as i:
        u[0], i[0] = 2**63 + 1, -1
        assert shm.test(u, ">", 5) and not shm.test(i, ">", 5) and shm.test(i[0], "lt", 0)
        shm.wait_until(u, ">", 2**63)
        with pytest.raises(OverflowError, match="value"):
            shm.wait_until(u, "==", -1)
        with pytest.raises(OverflowError, match="values"):
            shm.wait_until_all_vector(i, "==", [2**63])
        shm.barrier_all()


def test_other_threads_run(shm):
    """A thread that waits leaves the interpreter to the others, one of which ends the wait."""
    me = shm.my_pe()
    with shm.zeros(3, "i4") as x:

        def later():
            for i in range(3):
                time.sleep(0.02)
                shm.int_p(x[i], 1, me)

        thread = threading.Thread(target=later)
        thread.start()
        shm.int_wait_until(x[0], "==", 1)
        assert 0 in shm.wait_until_some(x, "==", 1)
        shm.wait_until_all(x, "==", 1)
        thread.join()
        shm.barrier_all()


def test_wrong_arguments(shm):
    with shm.zeros(4, "i4") as x, shm.zeros(4, "f4") as f:
        for call in (shm.wait_until, shm.test):
            with pytest.raises(ValueError, match="ivar"):
                call(x, "==", 0)
            with pytest.raises(ValueError, match="ivar"):
                call(np.zeros(1, "i4"), "==", 0)
        with pytest.raises(TypeError, match="ivar: dtype float32"):
            shm.wait_until(f[0], "==", 0)
        for cmp in ("===", 0, 7, "", 10**30):
            with pytest.raises(ValueError, match="cmp"):
                shm.test(x[0], cmp, 0)
        for cmp in (None, 1.0, []):
            with pytest.raises(TypeError, match="cmp"):
                shm.test(x[0], cmp, 0)
        for status in ([0], np.zeros(3, "i4")):
            with pytest.raises(ValueError, match="status"):
                shm.test_all(x, "==", 0, status)
        for values in ([0], np.zeros(3, "i4")):
            with pytest.raises(ValueError, match="values"):
                shm.test_all_vector(x, "==", values)
        for values in (5, ["a"] * 4, [0.5] * 4, None):
            with pytest.raises(TypeError, match="values"):
                shm.test_all_vector(x, "==", values)
        with pytest.raises(TypeError):
            shm.test_all(x, "==", 0, 7)
        with pytest.raises(ValueError, match="address"):
            odd = x.view("u1")[1:5].view("i4")
            shm.wait_until(odd, "==", 0)
        shm.barrier_all()
