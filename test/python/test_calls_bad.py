"""Wrong arguments: every call with every kind of nonsense.

Exceptions are right; a crash, a hang or a changed array is not.

All PEs make the same calls, so that collectives meet.
"""

# npes: 1 2 3

import inspect
import random

import numpy as np
import pytest

FITTING = (TypeError, ValueError, IndexError, RuntimeError, OverflowError, MemoryError)
# What ends or opens the job, waits for others as it is asked to, or belongs to the memory and setup chapters.
LEFT_OUT = {
    "finalize",
    "global_exit",
    "init_thread",
    "sync",
    "sync_all",
    "barrier_all",
    "pcontrol",
    "claim_report",
}
WAITS = ("wait_until", "set_lock")


def calls(shm):
    core = shm._core
    mine = type(core.put)
    names = [name for name in sorted(dir(core)) if type(getattr(core, name)) is mine and name not in LEFT_OUT]
    return {
        name: getattr(core, name)
        for name in names
        if not name.startswith(("block_", "array_", "memory_", "_array"))
    }


class Number:
    def __index__(self):
        raise ZeroDivisionError


@pytest.fixture(scope="module")
def things(shm):
    """Arguments that are right for some call, by the parameter's name, and things that are wrong for most."""
    me = shm.my_pe()
    freed = shm.zeros(4, "f4")
    freed_element, freed_view = freed[1], freed[1:]
    shm.free(freed)
    stale_ctx = shm.Ctx.create()
    kept_ctx = shm.Ctx(stale_ctx)
    stale_ctx.destroy()
    stale_team = shm.TEAM_WORLD.split_strided()
    kept_team = shm.Team(stale_team)
    stale_team.destroy()
    readonly = shm.zeros(4, "f4")
    readonly.flags.writeable = False
    arrays = {char: shm.zeros((4, 3), char) for char in "?bhilqBHIQefdgFDG"}
    symmetric = list(arrays.values()) + [
        readonly,
        readonly[1],
        arrays["f"][::2],
        arrays["f"].T,
        arrays["f"][:0],
        arrays["d"][0, 1],
        arrays["?"][0, 0],
        arrays["i"][1, 1],
        arrays["l"][0],
        arrays["f"][..., 1],
        arrays["f"].view("u1").ravel()[1:5].view("f4"),
        shm.zeros(2, "S3"),
        shm.zeros(2, ">f4"),
        shm.zeros(2, [("a", "f4"), ("b", "i8")]),
        shm.zeros(2, "M8[s]"),
        shm.zeros((), "f4"),
    ]
    local = [
        np.zeros(4, "f4"),
        np.zeros((), "f4"),
        np.zeros(0, "f4"),
        np.zeros(3, object),
        np.zeros(3, ">i4"),
        np.zeros(2, "U4"),
        np.zeros((4, 3), "f4")[::2, ::-1],
        np.arange(4),
        np.arange(4) - 10,
        np.array([2**63], "u8"),
        np.zeros(3, "M8[s]"),
        np.float32(1),
        np.int64(-1),
        np.datetime64("2020"),
        np.bool_(True),
        np.str_("x"),
        np.void(b"abc"),
    ]
    plain = [
        None,
        True,
        0,
        1,
        -1,
        3,
        me,
        2**31,
        -(2**31),
        2**63,
        2**64,
        -(2**63) - 1,
        10**30,
        1.5,
        float("nan"),
        1j,
        "",
        "x",
        "eq",
        "sum",
        "\udcff",
        "\0",
        "é" * 40,
        b"x",
        bytearray(3),
        [],
        [1],
        (1, 2),
        {},
        {1},
        object(),
        type,
        len,
        Ellipsis,
        Number(),
        range(3),
        memoryview(b"abcd"),
        [[1], [2, 3]],
        slice(1),
        NotImplemented,
    ]
    handles = [
        shm.CTX_INVALID,
        kept_ctx,
        shm.TEAM_INVALID,
        kept_team,
        shm.CTX_DEFAULT,
        shm.TEAM_WORLD,
        shm.Ctx,
        shm.Team,
    ]
    gone = [freed, freed_element, freed_view]
    right = {
        "pe": 0,
        "root": 0,
        "size": None,
        "ctx": None,
        "team": None,
        "index": [0],
        "cmp": "==",
        "value": 0,
        "values": [0] * 12,
        "status": None,
        "out": None,
        "tst": 1,
        "sst": 1,
        "cond": 0,
        "op": "add",
        "sigop": 0,
        "signal": arrays["Q"][0, 0],
        "lock": arrays["l"][0, 0],
        "fetch": arrays["i"][0, 0],
    }
    still = {
        char: shm.zeros((4, 3), char) for char in "bhilqBHIQfdgFD"
    }  # nobody writes to these: waits for 0 are met
    yield {
        "right": right,
        "still": still,
        "wrong": symmetric + local + plain + handles + gone,
        "arrays": arrays,
        "nothing": plain[13:],
    }
    shm.barrier_all()


NUMPY = {
    "float": "f",
    "double": "d",
    "longdouble": "g",
    "char": "b",
    "schar": "b",
    "short": "h",
    "int": "i",
    "long": "l",
    "longlong": "q",
    "uchar": "B",
    "ushort": "H",
    "uint": "I",
    "ulong": "Q",
    "ulonglong": "Q",
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "l",
    "uint8": "B",
    "uint16": "H",
    "uint32": "I",
    "uint64": "Q",
    "size": "Q",
    "ptrdiff": "l",
    "complexf": "F",
    "complexd": "D",
}


def right_arguments(name, call, things):
    """Nearly right ones: of the type that the name says."""
    char = NUMPY.get(name.split("_")[0], "i")
    x = things["arrays"][char]
    one = (
        any(word in name for word in ("atomic", "_p", "_g", "test", "wait_until"))
        and "all" not in name
        and "some" not in name
    )
    still = things["still"][char]
    own = {
        "target": x[0, 0] if one else x,
        "source": x[1, 1] if one else x,
        "ivar": still[0, 0],
        "ivars": still,
        "x": x,
        "addr": x,
        "fetch": x[0, 0],
    }
    return [own.get(p, things["right"].get(p)) for p in inspect.signature(call).parameters]


def attempt(name, call, args, keywords={}):
    try:
        call(*args, **keywords)
    except FITTING as e:
        assert str(e), f"{name}: an exception without a word"
    except ZeroDivisionError:
        pass  # what an argument itself raises


def test_numbers_of_arguments(shm, things):
    rng = random.Random(1)
    for name, call in calls(shm).items():
        if any(word in name for word in WAITS):
            continue
        required = [p for p in inspect.signature(call).parameters.values() if p.default is p.empty]
        for n in (0, 1, 7, 12):
            attempt(name, call, rng.choices(things["wrong"], k=n))
        if required:
            with pytest.raises(TypeError, match=name.lstrip("_")):
                call()
            with pytest.raises(TypeError, match="unexpected|multiple"):
                call(*[None] * len(required), **{required[0].name: 1})
        with pytest.raises(TypeError, match=r"nonsense|takes at most"):
            call(*[None] * len(required), nonsense=1)
        with pytest.raises(TypeError, match="takes at most"):
            call(*[None] * 12)
    works(shm)


@pytest.mark.limit(100)
def test_each_argument_wrong(shm, things):
    rng = random.Random(2)
    for name, call in calls(shm).items():
        if any(word in name for word in ("new_", "del_")):
            continue
        waits = any(word in name for word in WAITS)
        choice = things["nothing"] if waits else things["wrong"]
        right = right_arguments(name, call, things)
        typed = name.split("_")[0] in NUMPY
        for i in range(len(right)):
            if waits and i == 2:
                continue  # another value would be waited for
            for wrong in rng.sample(choice, 12) if typed else choice:
                attempt(name, call, right[:i] + [wrong] + right[i + 1 :])
    works(shm)


@pytest.mark.limit(100)
def test_all_arguments_wrong(shm, things):
    rng = random.Random(3)
    for name, call in calls(shm).items():
        if any(word in name for word in WAITS):
            continue
        names = list(inspect.signature(call).parameters)
        for _ in range(20):
            args = [rng.choice(things["wrong"]) for _ in names]
            cut = rng.randrange(len(args) + 1)
            attempt(name, call, args[:cut], dict(zip(names[cut:], args[cut:])))
    works(shm)


def works(shm):
    with shm.zeros(8, "i4") as x:
        x[:] = np.arange(8) + shm.my_pe()
        shm.barrier_all()
        assert (shm.int_get(x, 0) == np.arange(8)).all()
        shm.max_reduce(x, x)
        assert (x == np.arange(8) + shm.n_pes() - 1).all()


def test_freed(shm):
    """Every call on what has been freed raises, whatever the part it has in the call."""
    me = shm.my_pe()
    x, y = shm.zeros(4, "i4"), shm.zeros(4, "i4")
    view, element = x[1:3], x[1]
    shm.free(x)
    local = np.zeros(4, "i4")
    for gone in (x, view):
        for call in (
            lambda: shm.int_get(gone, me),
            lambda: shm.put(gone, local[: gone.size], me),
            lambda: shm.put(y[: gone.size], gone, me),
            lambda: shm.get(local[: gone.size], gone, me),
            lambda: shm.get(gone, y[: gone.size], me),
            lambda: shm.gather(gone, [0], me),
            lambda: shm.gather(y, [0], me, out=gone[:1]),
            lambda: shm.scatter(y, [0], me, gone[:1]),
            lambda: shm.int_wait_until_all(gone, "==", 0),
            lambda: shm.sum_reduce(gone, gone),
            lambda: shm.ptr(gone, me),
            lambda: shm.iput(y, gone, me),
            lambda: shm.g(gone[:1], me),
            lambda: shm.int_get(y[: gone.size], me, out=gone),
        ):
            with pytest.raises(RuntimeError, match="freed"):
                call()
    for call in (
        lambda: shm.int_get(element, me),
        lambda: shm.int_p(element, 1, me),
        lambda: shm.int_atomic_inc(element, me),
        lambda: shm.wait_until(element, "==", 0),
        lambda: shm.int_g(element, me),
    ):
        with pytest.raises(RuntimeError, match="freed"):
            call()
    shm.p(y[0], element, me)  # its value is its own
    shm.barrier_all()
    shm.free(y)


def test_messages(shm):
    me, n = shm.my_pe(), shm.n_pes()
    with shm.zeros((4, 3), "f4") as x:
        for call, error, words in (
            (lambda: shm.int_get(x[0, 0], me), TypeError, ["source", "float32", "int"]),
            (
                lambda: shm.double_put(x, np.zeros(12), me),
                TypeError,
                ["target", "float32", "double", "float64"],
            ),
            (lambda: shm.put(x, np.zeros((4, 3)), me), TypeError, ["source", "float64", "float32", "target"]),
            (lambda: shm.put(x, np.zeros(5, "f4"), me), ValueError, ["source", "5", "12"]),
            (lambda: shm.put(x, np.zeros(12, "f4"), me, 13), ValueError, ["size", "13", "12"]),
            (lambda: shm.put(x, np.zeros(12, "f4"), n), IndexError, ["pe", str(n)]),
            (lambda: shm.float_g(x[0, 0], -1), IndexError, ["pe", "-1"]),
            (lambda: shm.float_g(x[0, 0], 1.0), TypeError, ["pe", "float"]),
            (lambda: shm.float_g(x[0], me), ValueError, ["source", "3"]),
            (lambda: shm.put(x[:, 0], np.zeros(4, "f4"), me), ValueError, ["target", "contiguous"]),
            (lambda: shm.put(x, np.zeros((3, 4), "f4").T[::-1], me), ValueError, ["source", "contiguous"]),
            (lambda: shm.put(x + 1, x, me), ValueError, ["target", "symmetric"]),
            (lambda: shm.float_get(x * 2, me), ValueError, ["source", "symmetric"]),
            (lambda: shm.float_get([1.0], me), TypeError, ["source", "list"]),
            (lambda: shm.put(x, [1.0], me), TypeError, ["source", "list"]),
            (lambda: shm.float_get(x, me, out=np.zeros((3, 4), "f4")), ValueError, ["out", "shape"]),
            (lambda: shm.float_get(x, me, out=np.zeros((4, 3))), TypeError, ["out", "float64"]),
            (lambda: shm.iput(x, x, me, tst=0), ValueError, ["tst", "0"]),
            (
                lambda: shm.iget(np.zeros(12, "f4"), x, me, sst=3, size=5),
                ValueError,
                ["size", "5", "4", "source"],
            ),
            (lambda: shm.put(x.ravel()[1:], x.ravel()[:-1], me), ValueError, ["source", "overlaps"]),
        ):
            with pytest.raises(error) as caught:
                call()
            assert str(caught.value).startswith(words[0] + ":"), caught.value
            assert all(word in str(caught.value) for word in words), (caught.value, words)
        assert not x.any(), "nothing arrived from refused calls"
        shm.barrier_all()
