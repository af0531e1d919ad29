"""DeviceArrays: what they are, and every call on them, as remote and as local side, against the same on NumPy arrays.

They run where SHMEM_HEAP_KIND is a kind of device memory (tests.cmake: the software NPU)."""
# machines: 3

import ctypes
import gc
import os
import pickle
import threading
import weakref

import numpy as np
import pytest

KIND = os.environ.get("SHMEM_HEAP_KIND", "host")
pytestmark = pytest.mark.skipif(KIND == "host", reason="SHMEM_HEAP_KIND is no kind of device memory")

READ = "cannot be read by the CPU.*copy_to_host"


def filled(shm, values, kind=None):
    """A symmetric array with these values, of this PE's own."""
    return shm.array(np.asarray(values), kind=kind)


def held(x):
    return x.copy_to_host() if hasattr(x, "copy_to_host") else np.array(x)


def mine(shm):
    return shm.my_pe(), shm.n_pes(), (shm.my_pe() + 1) % shm.n_pes()


# --- what it is ---

def test_it_says_what_it_is(shm):
    with shm.alloc((3, 4), dtype="f4") as x:
        assert type(x) is shm.DeviceArray and not isinstance(x, np.ndarray)
        assert (x.shape, x.ndim, x.size, x.itemsize, x.nbytes, x.strides) == ((3, 4), 2, 12, 4, 48, (16, 4))
        assert x.dtype == np.float32 and len(x) == 3 and x.kind == KIND and isinstance(x.device, int)
        assert x.address and x[1].address == x.address + 16
        assert repr(x) == f"<DeviceArray: shape (3, 4), dtype float32, in {KIND} memory of device {x.device}>"
        assert shm.is_symmetric(x) and shm.block_of(x[1]) is shm.block_of(x) and shm.block_of(x).kind == KIND
        assert KIND in repr(shm.block_of(x))
        assert weakref.ref(x)() is x
        assert not x.copy_to_host().any()
        shm.barrier_all()


def test_device_info(shm):
    info = shm.device_info()
    with shm.alloc(1) as x:
        assert info["kind"] == KIND and info["number"] == x.device and info["name"]
        assert 0 < info["free"] <= info["total"]
        shm.barrier_all()


KEYS = [(2,), (-1,), (slice(2, 5),), (slice(None, None, -2),), (1, 2), (1, 2, 3), (Ellipsis, 1), (slice(None), 1), (None, 3),
        (slice(5, 2),), (np.int32(2), np.uint8(1)), (Ellipsis,), (1, Ellipsis, slice(0, 2)), (-6, -5, -4)]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_views_are_those_of_numpy(shm, key):
    values = np.arange(6 * 5 * 4, dtype=np.int32).reshape(6, 5, 4)
    x = filled(shm, values)
    for k in (key, key[0] if len(key) == 1 else key):
        view, want = x[k], values[k]
        assert type(view) is shm.DeviceArray and view.shape == want.shape and view.dtype == want.dtype
        got = view.copy_to_host()
        assert np.array_equal(got, want) and got.shape == want.shape
    shm.free(x)


def test_elements_rows_and_shapes(shm):
    x = filled(shm, np.arange(12).reshape(3, 4))
    assert [row.copy_to_host().tolist() for row in x] == np.arange(12).reshape(3, 4).tolist()
    e = x[1, 2]
    assert e.shape == () and e.size == 1 and e.item() == 6 and type(e.item()) is int
    assert type(e.copy_to_host()) is np.int64 and x[1:2, 0].item() == 4
    assert x.reshape(2, 6)[1].copy_to_host().tolist() == x.reshape((2, -1))[1].copy_to_host().tolist() == [6, 7, 8, 9, 10, 11]
    assert x.reshape(-1).shape == (12,)
    with pytest.raises(ValueError, match="reshape: the array is not C-contiguous"):
        x[:, 1].reshape(3, 1)
    with pytest.raises(ValueError, match="one element is needed, not an array of 4"):
        x[0].item()
    for bad in (3, -4, (0, 4), (0, 0, 0)):
        with pytest.raises(IndexError):
            x[bad]
    for bad in ([0, 1], True, np.array([0, 1]), np.bool_(True), "name", 1.5, (0, [1]), x[0, 0]):
        with pytest.raises(TypeError, match="index: a DeviceArray takes integers, slices"):
            x[bad]
    with pytest.raises(TypeError, match="without dimensions"):
        len(e)
    with pytest.raises(TypeError, match="without dimensions"):
        iter(e)
    shm.free(x)


@pytest.mark.parametrize("read", [
    np.asarray, np.array, np.sum, np.sqrt, float, int, bool, abs, lambda x: x + 1, lambda x: 1 + x, lambda x: np.arange(4.0) * x,
    lambda x: x == x, lambda x: x != 0, lambda x: x < 1, lambda x: -x, lambda x: x @ x, lambda x: x ** 2, lambda x: 3 in x,
    lambda x: np.copyto(np.zeros(4), x), lambda x: np.concatenate([x, x]), lambda x: np.zeros(4) + x, lambda x: np.array([x, x]),
])
def test_the_cpu_is_refused(shm, read):
    with shm.alloc(4) as x:
        with pytest.raises(TypeError, match=READ):
            read(x)
        shm.barrier_all()


def test_what_else_is_refused(shm):
    x = shm.alloc(4)
    with pytest.raises(TypeError, match=r"cannot be written by the CPU.*copy_from_host"):
        x[1] = 2
    with pytest.raises(TypeError, match=r"cannot be written by the CPU.*copy_from_host"):
        x[:] = np.zeros(4)
    for use in (memoryview, hash, pickle.dumps, bytes):
        with pytest.raises(TypeError):
            use(x)
    with pytest.raises(BufferError, match=f"{KIND} memory, which the CPU cannot read"):
        memoryview(shm.block_of(x))
    with pytest.raises(TypeError, match="cannot create"):
        shm.DeviceArray()
    assert shm.ptr(x, shm.my_pe()) is None
    shm.free(x)


# --- to and from the host ---

@pytest.mark.parametrize("dtype", ["b1", "i1", "u2", "f2", "i4", "f4", "i8", "f8", "c8", "c16", "g", "S5", "M8[s]", ">i4", "i4,f8"])
@pytest.mark.parametrize("order", "CF")
def test_copies_keep_all_bytes(shm, dtype, order):
    rng = np.random.default_rng(shm.my_pe())
    raw = rng.integers(0, 2 if dtype == "b1" else 256, 21 * np.dtype(dtype).itemsize, dtype=np.uint8).tobytes()
    values = np.ndarray((7, 3), dtype, bytearray(raw), order=order)
    x = shm.alloc((7, 3), dtype=dtype, order=order)
    assert not np.frombuffer(x.copy_to_host().tobytes(), np.uint8).any()
    x.copy_from_host(values)
    got = x.copy_to_host()
    assert got.dtype == values.dtype and got.tobytes("A") == values.tobytes("A")
    assert got.flags.c_contiguous == values.flags.c_contiguous
    shm.free(x)


@pytest.mark.parametrize("n", [0, 1, 15, 64, 4097, 300_001])
def test_copies_of_any_length(shm, n):
    values = np.arange(n, dtype=np.uint8)
    with shm.alloc(n + 3, dtype=np.uint8) as x:
        x[1:n + 1].copy_from_host(values)
        want = np.zeros(n + 3, np.uint8)
        want[1:n + 1] = values
        assert np.array_equal(x.copy_to_host(), want) and np.array_equal(x[1:n + 1].copy_to_host(), values)
        shm.barrier_all()


def test_copy_to_host_out(shm):
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    x = filled(shm, values)
    out = np.zeros((3, 4), np.float32)
    assert x.copy_to_host(out) is out and np.array_equal(out, values)
    out = np.zeros((3, 4), np.float32, order="F")
    assert x.copy_to_host(out=out) is out and np.array_equal(out, values)
    column = np.zeros(3, np.float32)
    assert np.array_equal(x[:, 2].copy_to_host(out=column), values[:, 2])
    for bad, error, text in [(np.zeros((4, 3), "f4"), ValueError, "out: its shape"), (np.zeros((3, 4)), TypeError, "out: its dtype"),
                             ([1], TypeError, "out: an ndarray is needed, not list"), (x, TypeError, "out: an ndarray is needed"),
                             (np.zeros((3, 8), "f4")[:, ::2], ValueError, "not contiguous")]:
        with pytest.raises(error, match=text):
            x.copy_to_host(bad)
    shm.free(x)


def test_copy_from_host_values(shm):
    x = shm.alloc((3, 4), dtype=np.float32)
    x.copy_from_host(7)
    assert (x.copy_to_host() == 7).all()
    x.copy_from_host([1, 2, 3, 4])
    assert (x.copy_to_host() == [[1, 2, 3, 4]] * 3).all()
    x[1].copy_from_host(np.arange(4)[::-1])
    assert x.copy_to_host()[1].tolist() == [3, 2, 1, 0]
    x[2, 3].copy_from_host(np.float64(2.5))
    assert x[2, 3].item() == 2.5
    with pytest.raises(TypeError, match="values: their dtype is complex128.*astype"):
        x.copy_from_host(np.zeros((3, 4), complex))
    with pytest.raises(ValueError, match="broadcast"):
        x.copy_from_host(np.zeros(5))
    with pytest.raises(ValueError, match="not contiguous"):
        x[:, 1].copy_from_host(np.zeros(3))
    with pytest.raises(TypeError, match="host memory is needed, not a DeviceArray"):
        x.copy_from_host(x)
    shm.free(x)


def test_makers(shm):
    me = shm.my_pe()
    assert shm.ones((2, 2)).copy_to_host().tolist() == [[1, 1], [1, 1]]
    assert shm.full(3, me).copy_to_host().tolist() == [me] * 3
    assert shm.full(2, 2.9, dtype=int).copy_to_host().tolist() == [2, 2]
    assert shm.array([me, 1.5]).copy_to_host().tolist() == [me, 1.5]
    f = shm.array(np.asfortranarray(np.arange(6).reshape(2, 3)))
    assert f.strides == (8, 16) and f.copy_to_host().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert shm.zeros(4, "u1").nbytes == 4 and shm.empty(5).size == 5
    assert not shm.alloc(100_000, align=4096).copy_to_host().any()
    assert shm.alloc(3, align=4096).address % 4096 == 0


# --- kinds ---

def test_kinds(shm):
    from shmem4py import shmem
    assert type(shm.alloc(3, kind="host")) is shm.Array and type(shm.alloc(3, kind=KIND)) is shm.DeviceArray
    assert type(shm.zeros(3, kind="host")) is shm.Array and type(shm.full(3, 1, kind=KIND)) is shm.DeviceArray
    assert type(shm.alloc(1, hints=shm.MALLOC.SIGNAL_REMOTE)) is shm.Array, "words that others change by signals are on the host"
    assert type(shm.alloc(1, hints=shm.MALLOC.SIGNAL_REMOTE, kind=KIND)) is shm.DeviceArray
    assert type(shm.new_signal()) is shm.Array and type(shm.new_lock()) is shm.Array
    for x in (shmem.zeros(3), shmem.array([1, 2]), shmem.new_array(2), shmem.new_signal()):
        assert type(x) is np.ndarray and x.any() in (True, False)
    with pytest.raises(ValueError, match=f"kind: this job has no heap of kind 'tape'; it has 'host' and '{KIND}'"):
        shm.alloc(3, kind="tape")
    with pytest.raises(TypeError, match="kind: a string or None is needed, not int"):
        shm.alloc(3, kind=3)
    shm.barrier_all()


def test_pes_that_ask_for_different_kinds(shm):
    me, n, _ = mine(shm)
    if n == 1:
        return
    with pytest.raises(ValueError, match=f"kind: PE 0 asks for 'host', PE {n - 1} for '{KIND}'"):
        shm.alloc(3, kind=KIND if me == n - 1 else "host")
    with pytest.raises(ValueError, match="kind: PE 0 asks for None"):
        shm.alloc(3, kind=None if me == 0 else "host")


# --- put and get ---

@pytest.fixture(params=["device", "host"])
def local(request, shm):
    """make(values): a local side of a call in that memory."""
    if request.param == "host":
        yield np.array
        return
    made = []

    def make(values):
        made.append(shm.array(np.asarray(values), kind=KIND))
        return made[-1]
    yield make
    shm.barrier_all()
    for x in made:
        shm.free(x)


@pytest.fixture(params=["device", "host"])
def remote(request):
    return KIND if request.param == "device" else "host"


@pytest.mark.parametrize("n", [1, 3, 1000, 200_000])
def test_put_and_get(shm, local, remote, n):
    me, _, right = mine(shm)
    source, target = local(np.arange(n, dtype=np.int32) + 1000 * me), local(np.zeros(n, np.int32))
    with shm.alloc(n + 2, dtype=np.int32, kind=remote) as x:
        for put in (shm.put, shm.put_nbi, shm.int32_put):
            put(x[1:n + 1], source, right)
            shm.barrier_all()
            left = (me - 1) % shm.n_pes()
            assert np.array_equal(held(x), np.r_[0, np.arange(n) + 1000 * left, 0])
            shm.barrier_all()
        for get in (shm.get, shm.get_nbi):
            get(target, x[1:n + 1], right)
            shm.quiet()
            assert np.array_equal(held(target), np.arange(n) + 1000 * me)
        shm.barrier_all()


def test_elements(shm, remote):
    me, n, right = mine(shm)
    x = shm.alloc(4, dtype=np.float32, kind=remote)
    shm.float_p(x[1], me + 0.5, pe=right)
    shm.p(x[2], me, right)
    shm.put(x[3], 9.5, right)
    shm.barrier_all()
    left = (me - 1) % n
    assert held(x).tolist() == [0, left + 0.5, left, 9.5]
    assert shm.float_get(x[1], pe=right) == shm.float_g(x[1], right) == shm.g(x[1], right) == me + 0.5
    assert type(shm.float_get(x[1], pe=right)) is np.float32
    assert shm.float_get(x[1:3], pe=right).tolist() == [me + 0.5, me]
    with pytest.raises(TypeError, match="x: its dtype|source: its dtype"):
        shm.int_get(x[1], pe=right)
    with pytest.raises(IndexError, match="pe"):
        shm.float_get(x[1], pe=n)
    shm.free(x)


@pytest.mark.parametrize("dtype", ["i1", "u2", "c16", "g", "S3", "i4,f8", "M8[s]", "f2", "?"])
def test_elements_of_any_dtype(shm, dtype):
    me, _, right = mine(shm)
    values = np.frombuffer(bytes([1, 0, 1, 1] * 64), "u1")[:4 * np.dtype(dtype).itemsize].view(dtype)
    if dtype == "g":
        values = np.array([1, 2.5, 3, 4], "g")
    x = shm.alloc(4, dtype=dtype)
    shm.p(x[2], values[1], right)
    shm.barrier_all()
    assert x.copy_to_host()[2] == values[1] and shm.g(x[2], right) == values[1]
    shm.free(x)


@pytest.mark.parametrize("key", [(slice(1, 4),), (2,), (slice(None), 1), (slice(None, None, 2),), (slice(None), slice(1, 3)), (1, 2)],
                         ids=str)
def test_typed_get_of_views(shm, key):
    me, _, right = mine(shm)
    values = np.arange(30).reshape(6, 5)
    x = filled(shm, values + 100 * me)
    got, want = shm.long_get(x[key], pe=right), values[key] + 100 * right
    assert np.array_equal(got, want)
    if np.ndim(want):
        out = shm.alloc(want.shape, dtype=int)
        assert shm.long_get(x[key], pe=right, out=out) is out and np.array_equal(out.copy_to_host(), want)
        f = shm.alloc(want.shape, dtype=int, order="F")
        assert np.array_equal(shm.long_get(x[key], pe=right, out=f).copy_to_host(), want)
        host = np.zeros_like(want)
        assert np.array_equal(shm.long_get(x[key], pe=right, out=host), want)
    shm.barrier_all()
    shm.free(x)


@pytest.mark.parametrize("dtype", ["i1", "u2", "f4", "i8", "c16", "S3"])
def test_strided(shm, local, remote, dtype):
    me, n, right = mine(shm)
    values = (np.arange(12) + me).astype(dtype)
    x = shm.alloc(24, dtype=dtype, kind=remote)
    shm.iput(x, local(values), right, tst=3, sst=2)
    shm.barrier_all()
    want = np.zeros(24, dtype)
    want[:18:3] = (np.arange(12) + (me - 1) % n).astype(dtype)[::2]
    assert np.array_equal(held(x), want)
    target = local(np.zeros(12, dtype))
    shm.iget(target, x, right, tst=2, sst=3)
    want = np.zeros(12, dtype)
    want[::2] = np.r_[values[::2], np.zeros(2, dtype)][:6]
    assert np.array_equal(held(target), want)
    shm.barrier_all()
    shm.free(x)


def test_wrong_arguments(shm):
    me, n, right = mine(shm)
    x = shm.alloc(8, dtype=np.int64)
    for call, error, text in [
            (lambda: shm.put(x, np.zeros(9, int), right), ValueError, "9 elements and target has 8"),
            (lambda: shm.put(x, np.zeros(8), right), TypeError, "source: its dtype is float64"),
            (lambda: shm.put(x[::2], np.zeros(4, int), right), ValueError, "target: the array is not contiguous"),
            (lambda: shm.put(np.zeros(8, int), x, right), ValueError, "target: not in symmetric memory"),
            (lambda: shm.p(x[0], x[1], right), TypeError, "value: host memory is needed, not a DeviceArray"),
            (lambda: shm.p(x, 3, right), ValueError, "target: one element is needed, not an array of 8"),
            (lambda: shm.p(x[0], 2 ** 63, right), OverflowError, "value"),
            (lambda: shm.put(x[0:4], x[2:6], me), ValueError, "overlaps target"),
            (lambda: shm.gather(x, x, right), TypeError, "index: host memory is needed, not a DeviceArray"),
            (lambda: shm.gather(x, [1], x[:1]), TypeError, "pe: host memory is needed, not a DeviceArray"),
            (lambda: shm.gather(x, [8], right), IndexError, "index: 8 at position 0 is out of range"),
            (lambda: shm.gather(x, x[1], right), TypeError, "index: host memory is needed"),
            (lambda: shm.wait_until_all(x, "eq", 0, status=x), TypeError, "status: host memory is needed"),
            (lambda: shm.wait_until_all_vector(x, "eq", x), TypeError, "values: host memory is needed"),
            (lambda: shm.wait_until(x[0], "eq", x[1]), TypeError, "value: host memory is needed"),
            (lambda: shm.float_get(x, pe=right), TypeError, "source: its dtype"),
            (lambda: shm.long_get(x, pe=right, out=[0] * 8), TypeError, "out: an array is needed, not list"),
            (lambda: shm.atomic_fetch(x, right), ValueError, "one element"),
            (lambda: shm.signal_set(x[0], 1, right), TypeError, "signal: its dtype"),
            (lambda: shm.free(x[1:]), ValueError, "a view of a symmetric array"),
            (lambda: shm.free(x[:4]), ValueError, "a view of a symmetric array")]:
        with pytest.raises(error, match=text):
            call()
    assert not x.copy_to_host().any()
    shm.free(x)


def test_addresses(shm):
    me, n, right = mine(shm)
    word = shm.new_signal()
    with shm.alloc(4) as x:
        assert shm.addr_accessible(x, right) and shm.addr_accessible(x[2], right) and not shm.addr_accessible(x, n)
        table, of_third = shm.peer_table(x), shm.peer_table(x[2])
        assert len(table) == n and table[me] == x.address
        here = [pe for pe in range(n) if shm.ptr(word, pe) is not None]
        assert [pe for pe in range(n) if table[pe]] == here and all(of_third[pe] == table[pe] + 16 for pe in here)
        shm.barrier_all()
    shm.free(word)


# --- indexed ---

@pytest.mark.parametrize("shape", [(50,), (50, 3)])
def test_gather_and_scatter(shm, local, remote, shape):
    me, n, _ = mine(shm)
    rng = np.random.default_rng(7 * me)
    base = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    x = shm.array(base + 1000 * me, kind=remote)
    index, pe = rng.integers(-50, 50, (4, 6)), rng.integers(0, n, (4, 6))
    lead = pe.reshape(pe.shape + (1,) * (len(shape) - 1))
    want = base[index] + 1000 * lead
    assert np.array_equal(shm.gather(x, index, pe), want)
    out = local(np.zeros(want.shape, np.float32))
    assert shm.gather(x, index, pe, out=out) is out and np.array_equal(held(out), want)
    assert np.array_equal(shm.gather(x, 3, n - 1), base[3] + 1000 * (n - 1))
    shm.barrier_all()
    rows = rng.permutation(50)[:9]  # of the next PE: nobody else writes them
    shm.scatter(x, rows, (me + 1) % n, local(base[rows] + 5000 * (me + 1)))
    shm.barrier_all()
    left = (me - 1) % n
    theirs = np.random.default_rng(7 * left)
    theirs.integers(-50, 50, (4, 6)), theirs.integers(0, n, (4, 6))
    theirs = theirs.permutation(50)[:9]
    want = base + 1000 * me
    want[theirs] = base[theirs] + 5000 * (left + 1)
    assert np.array_equal(held(x), want)
    shm.barrier_all()
    shm.free(x)


@pytest.mark.parametrize("dtype", ["i4", "u8", "f4", "f8"])
def test_scatter_add(shm, local, remote, dtype):
    me, n, _ = mine(shm)
    x = shm.alloc((5, 2), dtype=dtype, kind=remote)
    shm.scatter_add(x, [0, 3, 0, -1], [0, n - 1, 0, 0], local(np.full((4, 2), me + 1, dtype)))
    shm.barrier_all()
    total, want = n * (n + 1) // 2, np.zeros((5, 2))
    want[0] += 2 * total * (me == 0)
    want[4] += total * (me == 0)
    want[3] += total * (me == n - 1)
    assert np.array_equal(held(x), want)
    shm.barrier_all()
    shm.free(x)


def test_indexed_in_one_place(shm):
    """What is written must not change what is still to be read."""
    me = shm.my_pe()
    x = filled(shm, np.arange(10))
    shm.gather(x, np.arange(9), me, out=x[1:])
    assert x.copy_to_host().tolist() == [0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    x.copy_from_host(np.arange(10))
    shm.scatter(x, np.arange(1, 10), me, x[:9])
    shm.quiet()
    assert x.copy_to_host().tolist() == [0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    shm.free(x)


# --- atomics, signals, waits, locks ---

@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_atomics(shm, dtype):
    me, n, right = mine(shm)
    x = filled(shm, np.array([10, 20, 0xF0, 7], dtype))
    call = {name: getattr(shm, f"{dtype}_atomic_{name}") for name in (
        "fetch set swap compare_swap inc add fetch_inc fetch_add and or xor fetch_and fetch_or fetch_xor").split()}
    assert call["fetch_add"](x[0], 5, right) == 10 and call["fetch_inc"](x[0], right) == 15
    assert call["swap"](x[1], 21, right) == 20 and call["compare_swap"](x[1], 20, 99, right) == 21
    assert call["compare_swap"](x[1], 21, 22, right) == 21 and call["fetch"](x[1], right) == 22
    call["inc"](x[0], right), call["add"](x[0], 3, right), call["set"](x[3], 8, right)
    assert call["fetch_or"](x[2], 0x0F, right) == 0xF0 and call["fetch_and"](x[2], 0x3C, right) == 0xFF
    assert call["fetch_xor"](x[2], 0xFF, right) == 0x3C
    call["or"](x[2], 4, right), call["and"](x[2], 0xC5, right), call["xor"](x[2], 1, right)
    assert shm.atomic_fetch_op(x[3], 2, "add", right) == 8
    for fetch in (np.zeros(1, dtype), shm.alloc(1, dtype=dtype)):
        getattr(shm, f"{dtype}_atomic_fetch_add_nbi")(fetch, x[3], 1, right)
        shm.quiet()
        assert held(fetch)[0] >= 10
    on_host, fetch = shm.zeros(1, dtype, kind="host"), shm.zeros(1, dtype, kind=KIND)
    getattr(shm, f"{dtype}_atomic_swap_nbi")(fetch, on_host[0], 5, me)
    getattr(shm, f"{dtype}_atomic_fetch_nbi")(fetch, on_host[0], me)
    shm.quiet()
    assert held(fetch)[0] == 5
    shm.barrier_all()
    getattr(shm, f"{dtype}_atomic_fetch_inc_nbi")(fetch, on_host[0], right)
    shm.quiet()
    assert held(fetch)[0] == 5
    shm.barrier_all()
    assert x.copy_to_host().tolist() == [20, 22, ((0xC3 | 4) & 0xC5) ^ 1, 12]
    shm.free(x)


def test_atomics_of_all_at_once(shm):
    me, n, _ = mine(shm)
    with shm.alloc(2, dtype=np.int64) as x:
        seen = [int(shm.long_atomic_fetch_add(x[0], 1, 0)) for _ in range(50)]
        shm.long_atomic_add(x[1], me + 1, 0)
        shm.barrier_all()
        assert sorted(set(seen)) == seen
        assert shm.long_get(x, pe=0).tolist() == [50 * n, n * (n + 1) // 2]
        shm.barrier_all()


def test_floats_are_set_and_swapped(shm):
    me, _, right = mine(shm)
    with shm.alloc(1) as x:
        shm.double_atomic_set(x[0], 2.5, right)
        assert shm.double_atomic_swap(x[0], -1.0, right) == 2.5 and shm.double_atomic_fetch(x[0], right) == -1.0
        with pytest.raises(TypeError, match="dtype float64 has no atomic add"):
            shm.atomic_add(x[0], 1, right)
        shm.barrier_all()


@pytest.mark.parametrize("data", ["device", "host"])
@pytest.mark.parametrize("signal", ["device", "host"])
def test_data_and_its_signal(shm, data, signal):
    me, n, right = mine(shm)
    x = shm.alloc(1000, dtype=np.int64, kind=KIND if data == "device" else "host")
    s = shm.alloc(1, dtype=np.uint64, kind=KIND if signal == "device" else "host")
    ready = shm.alloc(1, dtype=np.uint64, kind=KIND if signal == "device" else "host")
    for turn in range(1, 21):
        put = shm.put_signal if turn % 2 else shm.put_signal_nbi
        values = np.full(1000, 1000 * me + turn)
        put(x, values, right, s[0], turn, shm.SIGNAL.SET)
        assert shm.signal_wait_until(s, "ge", turn) == turn and shm.signal_fetch(s[0]) == turn
        assert (held(x) == 1000 * ((me - 1) % n) + turn).all()
        shm.quiet()
        shm.signal_add(ready[0], 1, (me - 1) % n)
        shm.wait_until(ready[0], "ge", turn)
    shm.signal_set(s[0], 77, right)
    shm.barrier_all()
    assert shm.signal_fetch(s) == 77
    shm.barrier_all()
    for a in (x, s, ready):
        shm.free(a)


@pytest.mark.parametrize("dtype", ["short", "uint32", "int64"])
def test_waits_and_tests(shm, dtype):
    me, n, right = mine(shm)
    np_dtype = {"short": np.int16}.get(dtype, dtype)
    x = shm.alloc(4, dtype=np_dtype)
    f = {name: getattr(shm, f"{dtype}_{name}") for name in
         [a + b + c for a in ("wait_until", "test") for b, c in (("", ""), ("_all", ""), ("_any", ""), ("_some", ""),
                                                                ("_all", "_vector"), ("_any", "_vector"), ("_some", "_vector"))]}
    assert f["test"](x[0], "eq", 0) is True and f["test"](x[0], "gt", 0) is False
    assert f["test_any"](x, "ne", 0) is None and f["test_some"](x, "ne", 0) == [] and f["test_all"](x, "eq", 0)
    shm.barrier_all()
    shm.p(x[2], 5, right)
    assert f["wait_until_any"](x, "ne", 0) == 2 and f["wait_until_some"](x, "ne", 0) == [2]
    f["wait_until"](x[2], "==", 5)
    shm.barrier_all()
    shm.put(x[:2], np.array([1, 2], np_dtype), right)
    shm.quiet()
    f["wait_until_all"](x[:3], "ge", 1)
    f["wait_until_all_vector"](x, "eq", [1, 2, 5, 0])
    assert f["wait_until_any_vector"](x, "eq", [9, 9, 5, 9]) == 2
    assert f["wait_until_some_vector"](x, "eq", [1, 9, 9, 0]) == [0, 3]
    assert f["test_all_vector"](x, "eq", np.array([1, 2, 5, 0], np_dtype)) and not f["test_all_vector"](x, "eq", [1, 2, 5, 1])
    assert f["test_any_vector"](x, "eq", [9, 2, 9, 9]) == 1 and f["test_some_vector"](x, "eq", [1, 2, 9, 9]) == [0, 1]
    assert f["wait_until_any"](x, "ne", 0, status=[1, 1, 0, 0]) == 2
    shm.barrier_all()
    shm.free(x)


def test_locks(shm):
    me, n, _ = mine(shm)
    word, count = shm.alloc(1, dtype="l"), shm.alloc(1, dtype="l")
    for _ in range(5):
        shm.set_lock(word)
        shm.p(count[0], shm.g(count[0], 0) + 1, 0)
        shm.clear_lock(word)
    shm.barrier_all()
    assert shm.g(count[0], 0) == 5 * n
    shm.barrier_all()
    if me == 0:
        assert shm.test_lock(word[0]) is False
        with pytest.raises(RuntimeError, match="holds the lock already"):
            shm.set_lock(word)
    shm.barrier_all()
    if me:
        assert shm.test_lock(word) is True
    shm.barrier_all()
    if me == 0:
        shm.clear_lock(word)
    with shm.Lock():
        pass
    shm.free(word)
    shm.free(count)


def test_contexts_and_teams(shm):
    me, n, right = mine(shm)
    x = shm.alloc(n, dtype=np.int64)
    with shm.Ctx.create() as ctx:
        shm.put(x[me:me + 1], np.array([me + 1]), right, ctx=ctx)
        shm.put_nbi(x[me:me + 1], np.array([me + 1]), right, ctx=ctx)
        shm.long_atomic_add(x[me], 1, right, ctx=ctx)
        ctx.fence()
        ctx.quiet()
    shm.barrier_all()
    assert x.copy_to_host()[(me - 1) % n] == (me - 1) % n + 2
    team = shm.TEAM_WORLD.split_strided(n - 1, -1, n)  # the PEs backwards
    ctx = team.create_ctx()
    shm.put(x[me:me + 1], np.array([1000 + me]), n - 1 - right, ctx=ctx)
    ctx.quiet()
    shm.barrier_all()
    assert x.copy_to_host()[(me - 1) % n] == 1000 + (me - 1) % n
    ctx.destroy()
    team.destroy()
    shm.free(x)


def test_threads(shm):
    n = shm.n_pes()
    x = shm.alloc(8, dtype=np.int64)
    errors = []

    def work(i):
        try:
            for k in range(20):
                shm.long_atomic_fetch_add(x[i], 1, (i + k) % n)
                shm.long_get(x, pe=k % n)
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    shm.barrier_all()
    assert not errors
    assert sum(shm.long_get(x, pe=p).sum() for p in range(n)) == 80 * n
    shm.barrier_all()
    shm.free(x)


# --- collectives ---

SIDES = [("device", "device"), ("device", "host"), ("host", "device")]


def sides(shm, where, values, target_size):
    to, source = (KIND if side == "device" else "host" for side in where)
    return shm.zeros(target_size, values.dtype, kind=to), shm.array(values, kind=source)


@pytest.mark.parametrize("where", SIDES, ids=str)
@pytest.mark.parametrize("size", [1, 5, 3000])
def test_collectives_that_copy(shm, where, size):
    me, n, _ = mine(shm)
    values = np.arange(size) + 10_000 * me
    all_values = np.concatenate([np.arange(size) + 10_000 * p for p in range(n)])
    target, source = sides(shm, where, values, size * n)
    shm.fcollect(target, source)
    assert np.array_equal(held(target), all_values)
    shm.collect(target, source, size=min(me, size))
    parts = np.concatenate([all_values[p * size:p * size + min(p, size)] for p in range(n)])
    assert np.array_equal(held(target)[:parts.size], parts)
    shm.broadcast(target, source, n - 1, size=size)
    assert np.array_equal(held(target)[:size], np.arange(size) + 10_000 * (n - 1))
    wide, out = shm.array(np.tile(values, n), kind=source.kind if where[1] == "device" else "host"), target
    shm.alltoall(out, wide)
    assert np.array_equal(held(out), all_values)
    shm.alltoalls(out, wide, tst=1, sst=1)
    assert np.array_equal(held(out), all_values)
    for x in (target, source, wide):
        shm.free(x)


@pytest.mark.parametrize("where", SIDES, ids=str)
@pytest.mark.parametrize("dtype", ["i1", "u4", "i8", "f4", "f8", "c8"])
@pytest.mark.parametrize("size", [1, 1000])
def test_reductions_have_the_bits_of_host_memory(shm, where, dtype, size):
    rng = np.random.default_rng(shm.my_pe())
    values = (rng.random(size) * 7 + 1).astype(dtype)
    target, source = sides(shm, where, values, size)
    on_host, host_source = shm.zeros(size, dtype, kind="host"), shm.array(values, kind="host")
    names = ["sum", "prod"] + (["max", "min"] if dtype[0] != "c" else []) + (["and", "or", "xor"] if dtype[0] in "iu" else [])
    for name in names:
        getattr(shm, f"{name}_reduce")(target, source)
        getattr(shm, f"{name}_reduce")(on_host, host_source)
        assert held(target).tobytes() == on_host.tobytes(), name
    for scan in (shm.sum_inscan, shm.sum_exscan):
        scan(target, source)
        scan(on_host, host_source)
        assert held(target).tobytes() == on_host.tobytes(), scan
    shm.reduce(target, source, "max" if dtype[0] != "c" else "sum")
    for x in (target, source, on_host, host_source):
        shm.free(x)


def test_reduction_in_place_and_of_a_team(shm):
    me, n, _ = mine(shm)
    x = shm.array(np.arange(100) * (me + 1))
    shm.long_sum_reduce(x, x)
    assert np.array_equal(x.copy_to_host(), np.arange(100) * (n * (n + 1) // 2))
    evens = shm.TEAM_WORLD.split_strided(0, 2)
    x.copy_from_host(me)
    shm.barrier_all()
    if evens:
        shm.sum_reduce(x, x, team=evens)
        assert (x.copy_to_host() == sum(range(0, n, 2))).all()
    shm.barrier_all()
    shm.free(x)


def test_collectives_with_wrong_arguments(shm):
    me, n, _ = mine(shm)
    on_device, on_host = shm.alloc(4, dtype=int, kind=KIND), shm.alloc(4, dtype=int, kind="host")
    if n > 1:
        with pytest.raises(ValueError, match="memory: target and source on the host on PE 0 of the team, but target on the device, "
                                             f"source on the host on PE {n - 1}"):
            shm.sum_reduce(on_device if me == n - 1 else on_host, on_host)
        with pytest.raises((ValueError, RuntimeError), match="size|wrong arguments"):
            shm.sum_reduce(on_device, on_device, size=3 + (me == 1))
    with pytest.raises(ValueError, match="size"):
        shm.broadcast(on_device, on_device, 0, size=5)
    with pytest.raises(TypeError, match="float64 has no and reduction|its dtype"):
        shm.and_reduce(shm.alloc(2, kind=KIND), shm.alloc(2, kind=KIND))
    with pytest.raises(ValueError, match="source: not in symmetric memory"):
        shm.sum_reduce(on_device, np.zeros(4, int))
    shm.sum_reduce(on_device, on_host)
    shm.free(on_device)
    shm.free(on_host)


def test_published_calls_take_them(shm):
    from shmem4py import shmem
    me, n, right = mine(shm)
    x = shm.alloc(10, dtype="i")
    shmem.put(x, np.arange(10, dtype="i") + me, right)
    shmem.barrier_all()
    target = np.zeros(10, "i")
    shmem.get(target, x, right)
    assert target.tolist() == (np.arange(10) + me).tolist()
    assert shmem.atomic_fetch_add(x[0], 1, right) == me
    shmem.barrier_all()
    shmem.sum_reduce(x, x)
    with pytest.raises(TypeError, match="mem: an array or memoryview made here is needed, not DeviceArray"):
        shmem.free(x)
    shm.free(x)


# --- life ---

def owned(shm):
    return shm.memory_info()["owned"]


def give_back(shm):
    shm.barrier_all()
    shm.free(shm.alloc(1))
    shm.free(shm.alloc(1))


def test_free(shm):
    x = filled(shm, np.arange(10.0))
    view, element = x[2:5], x[3]
    shm.free(x)
    assert not shm.is_symmetric(x) and "freed" in repr(view)
    for call in (lambda: x.copy_to_host(), lambda: view.copy_to_host(), lambda: element.item(), lambda: x.copy_from_host(1),
                 lambda: shm.double_get(view, pe=0), lambda: shm.put(x, np.zeros(10), 0), lambda: shm.double_p(element, 1, 0),
                 lambda: shm.gather(x, [1], 0), lambda: x.__dlpack_device__()):
        with pytest.raises(RuntimeError, match="freed"):
            call()
    with pytest.raises(RuntimeError, match="freed already"):
        shm.free(x)
    with shm.alloc(3) as y:
        pass
    assert shm.block_of(y).freed
    z = shm.alloc(3)
    z.free()
    assert shm.block_of(z).freed


def test_dropped_arrays_go_back(shm):
    give_back(shm)
    before = owned(shm)
    for _ in range(10):
        x = shm.alloc(1000)
        view = x[3:7]
        del x
        assert view.copy_to_host().tolist() == [0] * 4
    del view
    gc.collect()
    give_back(shm)
    assert owned(shm) <= before + 2


def test_frees_that_differ(shm):
    me, n, _ = mine(shm)
    if n == 1:
        return
    a, b = shm.alloc(5), shm.alloc(5)
    with pytest.raises(ValueError, match="the PEs free different arrays"):
        shm.free(a if me else b)
    assert shm.is_symmetric(a) and shm.is_symmetric(b)
    shm.free(a)
    shm.free(b)


# --- DLPack ---

class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("owner", ctypes.c_void_p), ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p))]


def taken(capsule):
    """As a consumer does: the tensor, and the name that says so."""
    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
    pointer = api.PyCapsule_GetPointer(capsule, b"dltensor")
    api.PyCapsule_SetName(capsule, taken.name)
    return ctypes.cast(pointer, ctypes.POINTER(Managed)), pointer


taken.name = b"used_dltensor"


@pytest.mark.parametrize("dtype, code", [("i1", 0), ("u8", 1), ("f2", 2), ("f4", 2), ("c16", 5), ("?", 6)])
def test_dlpack(shm, dtype, code):
    x = shm.alloc((4, 6), dtype=dtype)
    number = shm.device_info()["dlpack"]
    if not number:
        for call in (x.__dlpack__, x.__dlpack_device__):
            with pytest.raises(BufferError, match=f"devices of kind {KIND} have no number in DLPack"):
                call()
        shm.free(x)
        return
    assert x.__dlpack_device__() == (number, x.device)
    managed, pointer = taken(x[1:, ::2].__dlpack__(stream=None, max_version=(1, 0), dl_device=(number, x.device), copy=None))
    t = managed.contents.tensor
    assert (t.data, t.device_type, t.device_id, t.ndim, t.byte_offset) == (x[1].address, number, x.device, 2, 0)
    assert (t.code, t.bits, t.lanes) == (code, 8 * x.itemsize, 1)
    assert t.shape[:2] == [3, 3] and t.strides[:2] == [6, 2]
    with pytest.raises(BufferError, match="PE 0 still has exports"):
        shm.free(x)
    managed.contents.deleter(pointer)
    untaken = x.__dlpack__()
    assert shm.block_of(x).exports == 1
    del untaken
    assert shm.block_of(x).exports == 0
    for keywords, text in [({"copy": True}, "never a copy"), ({"dl_device": (1, 0)}, "another device than dl_device")]:
        with pytest.raises(BufferError, match=text):
            x.__dlpack__(**keywords)
    with pytest.raises((BufferError, RuntimeError, TypeError)):
        np.from_dlpack(x)
    gc.collect()
    shm.free(x)


@pytest.mark.parametrize("dtype", ["S4", "M8[s]", ">i4", "g", "i4,f4"])
def test_dlpack_has_no_code_for_it(shm, dtype):
    with shm.alloc(4, dtype=dtype) as x:
        with pytest.raises(BufferError, match="no code for this dtype|no number in DLPack"):
            x.__dlpack__()
        shm.barrier_all()
