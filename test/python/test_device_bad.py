"""Whatever a call is given instead of what it wants, DeviceArrays among it, it raises: nothing crashes, hangs or ends the job."""
# npes: 1 2

import os
import random

import numpy as np
import pytest

from test_calls_bad import NUMPY, WAITS, attempt, calls, right_arguments

KIND = os.environ.get("SHMEM_HEAP_KIND", "host")
pytestmark = [pytest.mark.skipif(KIND == "host", reason="SHMEM_HEAP_KIND is no kind of device memory"), pytest.mark.limit(150)]


@pytest.fixture(scope="module")
def things(shm):
    arrays = {char: shm.zeros((4, 3), char) for char in "?bhilqBHIQefdgFDG"}
    freed = shm.zeros(4, "f4")
    gone = [freed, freed[1], freed[1:3], freed[4:]]
    shm.free(freed)
    f, last = arrays["f"], shm.zeros(3, "f4")
    wrong = list(arrays.values()) + gone + [
        f[::2], f[::-1], f[:, 1], f[0], f[0, 1], f[None], f[..., :2], f[:0], f[4:], f[2:2, 1], f.reshape(12), arrays["i"][1, 1],
        last, last[3:], last[::-2], shm.zeros((), "f4"), shm.zeros(0, "f4"), shm.zeros((0, 3), "i4"), shm.zeros(2, "S3"),
        shm.zeros(2, ">f4"), shm.zeros(2, [("a", "f4"), ("b", "i8")]), shm.zeros(2, "M8[s]"), shm.zeros((4, 3), "f4", "F"),
        shm.zeros(4, "f4", kind="host"), shm.zeros(4, "i4", kind="host")[1], np.zeros(4, "f4"), np.arange(3), np.float32(1),
        None, True, 0, 1, -1, 3, 2 ** 63, 1.5, 1j, "", "eq", KIND, [], [1], (1, 2), object(), shm.Ctx, shm.CTX_INVALID,
        shm.TEAM_WORLD, shm.Array, shm.DeviceArray]
    right = {"pe": 0, "root": 0, "size": None, "ctx": None, "team": None, "index": [0], "cmp": "==", "value": 0, "values": [0] * 12,
             "status": None, "out": None, "tst": 1, "sst": 1, "cond": 0, "op": "add", "sigop": 0, "signal": arrays["Q"][0, 0],
             "lock": arrays["l"][0, 0]}
    still = {char: shm.zeros((4, 3), char) for char in "bhilqBHIQfdgFD"}  # nobody writes to these: waits for 0 are met
    yield {"right": right, "still": still, "wrong": wrong, "arrays": arrays, "nothing": wrong[-14:]}  # no number: it may be a comparison
    shm.barrier_all()


def works(shm):
    with shm.zeros(8, "i4") as x:
        x.copy_from_host(np.arange(8) + shm.my_pe())
        shm.barrier_all()
        assert (shm.int_get(x, 0) == np.arange(8)).all()
        shm.max_reduce(x, x)
        assert (x.copy_to_host() == np.arange(8) + shm.n_pes() - 1).all()


def some_calls(shm, rng):
    """All that have no type, and of each that has one of the types."""
    families = {}
    for name, call in calls(shm).items():
        typed = name.split("_")[0] in NUMPY
        families.setdefault(name.partition("_")[2] if typed else name, []).append((name, call))
    return [rng.choice(family) for family in families.values()]


def test_each_argument_wrong(shm, things):
    rng = random.Random(4)
    for name, call in some_calls(shm, rng):
        if any(word in name for word in ("new_", "del_")):
            continue
        waits = any(word in name for word in WAITS)
        choice = things["nothing"] if waits else things["wrong"]
        right = right_arguments(name, call, things)
        for i in range(len(right)):
            if waits and i == 2:
                continue  # another value would be waited for
            for wrong in choice:
                attempt(name, call, right[:i] + [wrong] + right[i + 1:])
    works(shm)


def test_all_arguments_wrong(shm, things):
    rng = random.Random(5)
    for name, call in some_calls(shm, rng):
        if any(word in name for word in WAITS):
            continue
        for _ in range(30):
            attempt(name, call, rng.choices(things["wrong"], k=rng.randrange(9)))
    works(shm)


def test_members_with_wrong_arguments(shm, things):
    rng = random.Random(6)
    x = shm.zeros((4, 3), "f4")
    for member in ("copy_to_host", "copy_from_host", "reshape", "item", "__getitem__", "__setitem__"):
        for wrong in things["wrong"]:
            attempt(member, getattr(x, member), [wrong])
            attempt(member, getattr(x, member), [wrong, rng.choice(things["wrong"])])
    for wrong in things["wrong"]:
        for keyword in ("stream", "max_version", "dl_device", "copy", "colour"):
            try:
                x.__dlpack__(**{keyword: wrong})
            except (TypeError, BufferError) as e:
                assert str(e)
    shm.barrier_all()
    shm.free(x)
    works(shm)


@pytest.mark.parametrize("edge", ["x[n:]", "shm.zeros(0, 'i4')", "x[2:2]", "x.reshape(2, 4)[:, 4:]"])
def test_arrays_of_no_elements(shm, edge):
    x, n, me = shm.zeros(8, "i4"), 8, shm.my_pe()
    e, none = eval(edge), np.zeros(0, "i4")
    none = none.reshape(e.shape)
    assert e.size == 0 and e.copy_to_host().shape == e.shape
    e.copy_from_host(none)
    shm.put(e, none, 0), shm.put_nbi(e, e, 0), shm.get(none, e, 0), shm.put(e, e, me), shm.iput(e, none, 0), shm.iget(none, e, 0)
    assert shm.int_get(e, pe=0).shape == e.shape
    shm.sum_reduce(e, e), shm.fcollect(e, e), shm.broadcast(e, e, 0), shm.alltoall(e, e)
    assert shm.gather(e, [], 0).size == 0 and shm.wait_until_all(e, "eq", 5) is None
    with pytest.raises(IndexError):
        shm.gather(e, [len(e)], 0)
    shm.peer_table(e), shm.addr_accessible(e, 0), shm.ptr(e, 0)
    shm.barrier_all()
    shm.free(x)
