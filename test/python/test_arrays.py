"""Arrays in symmetric memory and their elements: what is symmetric, and that values behave as NumPy's own."""

import copy
import json
import math
import operator
import pickle

import numpy as np
import pytest

NUMBERS = "bhilqBHILQefdgFDG?"


@pytest.fixture
def x(shm):
    x = shm.alloc(10, dtype=np.float32)
    x[:] = np.arange(10)
    yield x
    if not shm.block_of(x).freed:
        shm.free(x)


# --- elements ---

@pytest.mark.parametrize("char", NUMBERS)
def test_element_is_the_value_of_its_moment(shm, char):
    with shm.alloc(4, dtype=char) as a:
        a[:] = [1, 0, 1, 1]
        mine, his = a[0], np.array([1, 0, 1, 1], dtype=char)[0]
        assert isinstance(mine, type(his))
        assert mine == his and not mine != his and hash(mine) == hash(his)
        assert mine.dtype == his.dtype and mine.item() == his.item() and type(mine.item()) is type(his.item())
        assert str(mine) == str(his) and repr(mine) == repr(his) and f"{mine}" == f"{his}"
        assert {his: "found"}[mine] == "found"
        for op in (operator.add, operator.mul):
            assert type(op(mine, mine)) is type(op(his, his)) and op(mine, mine) == op(his, his)
            assert type(op(mine, his)) is type(op(his, his)) and type(op(his, mine)) is type(op(his, his))
        assert copy.copy(mine) == his and isinstance(copy.copy(mine), type(his))
        assert type(pickle.loads(pickle.dumps(mine))) is type(pickle.loads(pickle.dumps(his)))
        assert np.array([mine, mine]).dtype == his.dtype
        a[0] = 0
        assert mine == his, "an element keeps the value it was made with"
        shm.barrier_all()


@pytest.mark.parametrize("char", "bhilqBHILQfd")
def test_element_swap(shm, char):
    with shm.alloc((2, 3), dtype=char) as a:
        a[:] = [[1, 2, 3], [4, 5, 6]]
        a[0, 0], a[0, 1] = a[0, 1], a[0, 0]
        a[0, 2], a[1, 2] = a[1, 2], a[0, 2]
        assert a.tolist() == [[2, 1, 6], [4, 5, 3]]
        shm.barrier_all()


def test_element_uses(x):
    assert math.sqrt(x[4]) == 2.0 and f"{x[3]:6.2f}" == "  3.00" and round(x[3]) == 3 and int(x[3]) == 3
    assert [type(v).__name__ for v in x] == ["float32"] * 10 and list(x) == list(range(10))
    assert sum(x) == 45 and max(x) == 9 and 3 in x and sorted(x, reverse=True)[0] == 9
    assert isinstance(x[0], np.floating) and not isinstance(x[0], float)
    x[2] += x[3]
    assert x[2] == 5
    assert np.sqrt(x[4]) == 2 and type(np.sqrt(x[4])) is np.float32


def test_element_of_double_is_a_float(shm):
    with shm.alloc(2) as a:
        a[0] = 2.5
        assert isinstance(a[0], float) and json.dumps(a[0]) == "2.5" and "%.1f" % a[0] == "2.5"
        assert math.floor(a[0]) == 2 and a[0].is_integer() is False
        shm.barrier_all()


def test_element_of_int_as_index(shm):
    with shm.alloc(3, dtype=np.int64) as a:
        a[:] = [2, 0, 1]
        assert a[a[0]] == 1 and [10, 20, 30][a[2]] == 20 and range(a[0]) == range(2)
        shm.barrier_all()


def test_element_bool(shm):
    with shm.alloc(3, dtype=bool) as a:
        a[1] = True
        t, f = a[1], a[0]
        assert t and not f and (t & f) == False and (t | f) == True and (t ^ t) == False  # noqa: E712
        assert ~t == False and isinstance(t, np.bool_) and {True: 1}[t] == 1  # noqa: E712
        assert np.array([t, f]).dtype == bool and t + 1 == 2 and (1 - f) == 1
        shm.barrier_all()


@pytest.mark.parametrize("use", [
    "f'{v}', f'{v:8.3f}', f'{v:5d}', format(v, '>8d'), str(v), repr(v), '%d' % v", "divmod(v, True)", "v[()]", "v[...]",
    "bytes(memoryview(v))", "np.arange(3) + v", "np.arange(3, dtype='i1') * v", "np.full(3, 2.5) == v", "v + np.arange(3)",
    "np.arange(3)[v]", "np.asarray([v, v])", "np.where(v, 1, 2)", "copy.copy(v), copy.deepcopy([v])",
    "pickle.loads(pickle.dumps(v))", "[v, not v, v is None, v == 1, v != 0, v > 0]", "{v: 1}[True]", "v.item(), v.dtype, v.shape",
])
@pytest.mark.parametrize("value", [True, False])
def test_element_bool_is_used_as_numpys(shm, use, value):
    def result(v):
        try:
            return eval(use, {"np": np, "copy": copy, "pickle": pickle}, {"v": v})
        except Exception as e:
            return type(e)
    with shm.full(2, value) as a:
        ours, numpys = result(a[0]), result(np.bool_(value))
        assert type(ours) is type(numpys) and repr(ours) == repr(numpys)
        shm.barrier_all()


def test_index_errors_are_those_of_numpy(x):
    y = np.arange(10, dtype=np.float32)
    for key in (10, -11, "a", 1.5, (0, 0), 1 << 70):
        try:
            y[key]
        except Exception as e:
            with pytest.raises(type(e)) as mine:
                x[key]
            assert str(mine.value) == str(e)


def test_other_keys_are_those_of_numpy(x):
    y = np.arange(10, dtype=np.float32)
    for key in (slice(2, 5), slice(None, None, -2), Ellipsis, None, True, [1, 2], y > 3, np.int64(3), np.uint8(3), -1):
        assert np.array_equal(x[key], y[key]) and np.shape(x[key]) == np.shape(y[key])


# --- what is symmetric ---

def test_views_are_symmetric(shm, x):
    m = x.reshape(2, 5)
    for view in (x[2:5], x[::2], x[::-1], x[...], m, m[1], m[:, 1], m.T, x.view("i4"), x[5:5], x[10:], x[None]):
        assert type(view) is shm.Array
    assert shm.is_symmetric(x) and shm.is_symmetric(m[1]) and shm.is_symmetric(x[3]) and shm.is_symmetric(np.asarray(x))


def test_results_are_plain(shm, x):
    for plain in (x + 1, 1 + x, -x, x.copy(), copy.deepcopy(x), x.astype("d"), x[[1, 2]], x[x > 3], np.sort(x), x.cumsum(),
                  np.zeros_like(x), np.where(x > 3, x, 0), np.concatenate([x, x]), x.take([1]), x.repeat(2), x > 3,
                  pickle.loads(pickle.dumps(x)), np.array(x), x[x > 99], x[[]], x.reshape(2, 5).T.ravel(), x.flatten(), np.exp(x)):
        assert type(plain) is np.ndarray and not shm.is_symmetric(plain)
    for scalar in (x.sum(), x.max(), x.mean(), np.dot(x, x), x.take(3)):
        assert type(scalar) is np.float32


def test_in_place_stays(shm, x):
    y = x
    x += 1
    np.multiply(x, 2, out=x)
    assert x is y and type(x) is shm.Array and x.tolist() == [2 * (v + 1) for v in range(10)]


def test_dtypes_and_orders(shm):
    for dtype in ("S5", "M8[s]", [("a", "i4"), ("b", "f8")], ">i4", "V3"):
        with shm.alloc(3, dtype=dtype) as a:
            assert a.dtype == np.dtype(dtype) and a.nbytes == 3 * np.dtype(dtype).itemsize
            assert np.array_equal(a[1], np.zeros(3, dtype)[1])
            shm.barrier_all()
    with shm.zeros((3, 4), order="F") as a:
        assert a.flags.f_contiguous and a.shape == (3, 4)
    with shm.alloc(()) as a:
        assert a.shape == () and a[()] == 0 and shm.is_symmetric(a[()])
    with shm.alloc(0) as a:
        assert a.size == 0


def test_constructors(shm):
    with shm.full((2, 2), 7) as a, shm.ones(3, dtype="i2") as b, shm.array([[1, 2], [3, 4]], order="F") as c:
        assert a.dtype == np.asarray(7).dtype and (a == 7).all() and b.tolist() == [1, 1, 1] and b.dtype == np.int16
        assert c.flags.f_contiguous and c.tolist() == [[1, 2], [3, 4]]
    with shm.alloc(3, align=4096) as a:
        assert a.ctypes.data % 4096 == 0 and (a == 0).all()
    with shm.alloc(3, hints=shm.MALLOC.SIGNAL_REMOTE | shm.MALLOC.ATOMICS_REMOTE) as a:
        assert (a == 0).all()


@pytest.mark.parametrize("kind, args, kwargs, says", [
    (TypeError, ("a",), {}, "shape"), (ValueError, (-1,), {}, "shape"), (TypeError, (2.5,), {}, "shape"),
    (TypeError, (3, object), {}, "dtype"), (TypeError, (3, "S0"), {}, "dtype"), (TypeError, (3, "nonsense"), {}, ""),
    (ValueError, (3, float, "X"), {}, "order"), (ValueError, (3,), {"align": 3}, "align"),
    (ValueError, (3,), {"align": -8}, "align"), (MemoryError, (1 << 45,), {}, "SHMEM_SYMMETRIC_SIZE"),
    (TypeError, ([("a", 3)],), {}, "shape"),
])
def test_wrong_arguments(shm, kind, args, kwargs, says):
    with pytest.raises(kind, match=says):
        shm.alloc(*args, **kwargs)


def test_free_of_what_is_not_to_be_freed(shm, x):
    with pytest.raises(ValueError, match="view"):
        shm.free(x[1:])
    with pytest.raises(ValueError, match="not in symmetric"):
        shm.free(np.zeros(3))
    for other in (None, 3, "x", [1]):
        with pytest.raises(TypeError, match="x: "):
            shm.free(other)
    assert shm.is_symmetric(x)
