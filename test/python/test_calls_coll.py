"""Collectives: results over all types and teams, and disagreement between the PEs."""

import numpy as np
import pytest

TYPES = "bBhHiIlLqQfdg"
SIZES = (0, 1, 3, 500)


@pytest.mark.parametrize("char", TYPES + "?eFDG")
def test_moves(shm, char):
    me, n, dtype = shm.my_pe(), shm.n_pes(), np.dtype(char)
    if char == "?":
        value = lambda pe, i: (pe + i) % 2  # noqa: E731
    else:
        value = lambda pe, i: pe + i % 50  # noqa: E731
    for size in SIZES:
        parts = [np.array([value(pe, i) for i in range(size)], dtype) for pe in range(n)]
        with (
            shm.zeros(size, dtype) as x,
            shm.zeros(n * size, dtype) as all_of,
            shm.zeros(n * size, dtype) as blocks,
        ):
            x[:] = parts[me]
            to = shm.zeros(size, dtype)
            shm.broadcast(to, x, n - 1)
            assert (to == parts[n - 1]).all()
            shm.fcollect(all_of, x)
            assert (all_of == np.concatenate(parts)).all()
            all_of[:] = 0
            shm.collect(all_of, x, team=shm.TEAM_WORLD)
            assert (all_of == np.concatenate(parts)).all()
            shm.alltoall(blocks, all_of)
            mine = parts[me] if size else parts[0]
            assert (blocks == np.tile(mine, n)).all()
            shm.free(to)
            shm.barrier_all()


def test_in_place(shm):
    me, n = shm.my_pe(), shm.n_pes()
    with shm.zeros(4 * n, "i4") as x:
        x[:4] = me + 1
        shm.fcollect(x, x[:4])
        assert x.tolist() == [pe + 1 for pe in range(n) for _ in range(4)]
        mine = x[4 * me : 4 * me + 4]
        mine[:] = me + 5
        shm.fcollect(x, mine)
        assert x.tolist() == [pe + 5 for pe in range(n) for _ in range(4)]
        shm.broadcast(x, x, 0)
        shm.sum_reduce(x, x)
        assert x[0] == 5 * n
        shm.barrier_all()
        for call, args in ((shm.broadcast, (0,)), (shm.sum_reduce, ()), (shm.sum_inscan, ())):
            with pytest.raises(ValueError, match="source.*overlaps"):
                call(x[1:4], x[:3], *args)
        with pytest.raises(ValueError, match="source.*overlaps"):
            shm.alltoall(x, x)
        shm.barrier_all()


def test_collect_of_different_sizes(shm):
    me, n = shm.my_pe(), shm.n_pes()
    total = n * (n + 1) // 2
    with shm.zeros(total, "f8") as x, shm.zeros(n, "f8") as mine:
        mine[:] = me
        shm.collect(x, mine, size=me + 1)
        assert x.tolist() == [pe for pe in range(n) for _ in range(pe + 1)]
        shm.collect(x, mine[: n - me])
        assert x.tolist() == [pe for pe in range(n) for _ in range(n - pe)]
        shm.barrier_all()
        if n > 1:
            room = x if me == n - 1 else x[:-1]  # too small on all but one
            for sizes in ([pe + 1 for pe in range(n)], [n - pe for pe in range(n)]):
                with pytest.raises(ValueError, match="target"):
                    shm.collect(room, mine, size=sizes[me])
            with pytest.raises(ValueError, match="target"):
                shm.collect(x[: n - 1] if me else x, mine[:1])
        shm.barrier_all()


@pytest.mark.parametrize("dtype", [*"bhilfdgFDG?", "S3", [("a", "i4"), ("b", "i2")]])
def test_alltoalls(shm, dtype):
    me, n = shm.my_pe(), shm.n_pes()
    raw = np.dtype(dtype)
    for size in (0, 1, 4):
        source_bytes = np.random.default_rng(5).integers(0, 2, (n, n * size * 3, raw.itemsize), "u1")
        with shm.zeros(n * size * 3 + 1, raw) as x, shm.zeros(n * size * 2 + 1, raw) as to:
            x.view(np.void(raw.itemsize).dtype)[:-1] = (
                source_bytes[me].view(np.void(raw.itemsize).dtype).ravel()
            )
            shm.barrier_all()
            shm.alltoalls(to, x, tst=2, sst=3, size=size)
            got = to.view("u1").reshape(-1, raw.itemsize)[:-1:2][: n * size]
            for pe in range(n):
                want = source_bytes[pe][::3][me * size : (me + 1) * size]
                assert (got[pe * size : (pe + 1) * size] == want).all()
            shm.barrier_all()


@pytest.mark.parametrize(
    "name",
    "char schar short int long longlong uchar ushort uint ulong ulonglong int8 int16 int32 int64 "
    "uint8 uint16 uint32 uint64 size ptrdiff float double longdouble complexf complexd".split(),
)
def test_reductions(shm, name):
    me, n = shm.my_pe(), shm.n_pes()
    dtypes = {
        "float": "f4",
        "double": "f8",
        "longdouble": "g",
        "complexf": "F",
        "complexd": "D",
        "char": "b",
        "schar": "b",
        "uchar": "B",
        "ushort": "H",
        "uint": "I",
        "ulong": "L",
        "ulonglong": "Q",
        "size": "u8",
        "ptrdiff": "i8",
        "short": "h",
        "int": "i",
        "long": "l",
        "longlong": "q",
    }
    dtype = np.dtype(dtypes.get(name, name))
    for size in SIZES:
        data = (
            np.array([[(pe * 3 + i) % 4 + 1 for i in range(size)] for pe in range(n)])
            .astype(dtype)
            .reshape(n, size)
        )
        with shm.zeros(size, dtype) as x, shm.zeros(size, dtype) as to:

            def check(op, want):
                found = 0
                for call in filter(None, (getattr(shm, f"{name}_{op}", None), getattr(shm, op))):
                    x[:], to[:] = data[me], 0
                    shm.barrier_all()
                    call(to, x)
                    assert (to == want.astype(dtype)).all(), op
                    found += 1
                if op.endswith("_reduce"):
                    x[:] = data[me]
                    shm.barrier_all()
                    shm.reduce(x, x, op[: -len("_reduce")])
                    assert (x == want.astype(dtype)).all(), op
                return found

            sums = np.cumsum(data, axis=0, dtype=dtype)
            assert check("sum_reduce", sums[-1]) == 2
            assert check("prod_reduce", np.prod(data, axis=0, dtype=dtype)) == 2
            assert check("sum_inscan", sums[me]) == 2
            assert check("sum_exscan", sums[me - 1] if me else np.zeros(size)) == 2
            if dtype.kind in "iuf":
                assert (
                    check("max_reduce", data.max(axis=0)) == 2 and check("min_reduce", data.min(axis=0)) == 2
                )
            if dtype.kind in "iu":
                for op in ("and", "or", "xor"):
                    check(f"{op}_reduce", getattr(np, f"bitwise_{op}").reduce(data, axis=0))
            shm.barrier_all()


def test_what_types_lack(shm):
    with shm.zeros(2, "f4") as f, shm.zeros(2, "D") as c, shm.zeros(2, "?") as b, shm.zeros(2, "e") as h:
        for call, x in (
            (shm.and_reduce, f),
            (shm.max_reduce, c),
            (shm.sum_reduce, b),
            (shm.sum_reduce, h),
            (shm.sum_inscan, b),
        ):
            with pytest.raises(TypeError, match=f"source: dtype {x.dtype}"):
                call(x, x)
        with pytest.raises(TypeError, match="float32"):
            shm.int_sum_reduce(f, f)
        b[:] = [shm.my_pe() == 0, True]
        shm.or_reduce(b, b)
        shm.and_reduce(b, b)
        assert b.tolist() == [True, True]
        shm.barrier_all()


def test_teams(shm):
    me, n = shm.my_pe(), shm.n_pes()
    team = shm.TEAM_WORLD.split_strided(me % 2 if n < 2 else 0, 2) if n > 1 else shm.Team(shm.TEAM_WORLD)
    with shm.zeros(n, "i4") as x, shm.zeros(1, "i4") as mine:
        mine[0] = me
        shm.barrier_all()
        if team:
            shm.fcollect(x[: team.n_pes()], mine, team=team)
            assert x[: team.n_pes()].tolist() == list(range(0, n, 2))
            shm.sum_reduce(mine, mine, team=team)
            assert mine[0] == sum(range(0, n, 2))
            shm.sync(team)
            team.sync()
            if team != shm.TEAM_WORLD:
                team.destroy()
                assert not team
        else:
            with pytest.raises(ValueError, match="team: TEAM_INVALID"):
                shm.sum_reduce(mine, mine, team=team)
            with pytest.raises(ValueError, match="team"):
                shm.sync(team)
        shm.barrier_all()


def test_meetings(shm):
    me, n = shm.my_pe(), shm.n_pes()
    shm.barrier_all()
    shm.sync_all()
    shm.sync()
    shm.sync(team=shm.TEAM_WORLD)
    shm.sync(shm.TEAM_SHARED)
    if n > 1 and me < n - n % 2:
        shm.sync(pe=me ^ 1)
        shm.sync(me ^ 1)
    shm.sync(pe=me)
    with pytest.raises(IndexError, match="pe"):
        shm.sync(pe=n)
    with pytest.raises(TypeError, match="team and pe"):
        shm.sync(shm.TEAM_WORLD, 0)
    for wrong in ("x", 1.5, []):
        with pytest.raises(TypeError, match="team"):
            shm.sync(wrong)
    shm.barrier_all()


# --- disagreement: an exception on all PEs, and the next collective works ---


def works(shm):
    with shm.zeros(1, "i4") as x:
        x[0] = 1
        shm.sum_reduce(x, x)
        assert x[0] == shm.n_pes()


@pytest.mark.parametrize("what", ["size", "root", "op", "dtype", "call", "stride"])
def test_differences(shm, what):
    me, n = shm.my_pe(), shm.n_pes()
    if n == 1:
        pytest.skip("needs two PEs")
    odd = me == n - 1
    with shm.zeros(40, "i4") as x, shm.zeros(40 * n, "i4") as y:
        if what == "size":
            with pytest.raises(ValueError, match=rf"size: 3 on PE 0 of the team, but 5 on PE {n - 1}"):
                shm.sum_reduce(y[:40], x, size=5 if odd else 3)
        elif what == "root":
            with pytest.raises(ValueError, match=rf"root: 0 on PE 0 of the team, but 1 on PE {n - 1}"):
                shm.broadcast(y, x, size=4, root=int(odd))
        elif what == "op":
            with pytest.raises(ValueError, match=rf"op: 'sum' on PE 0 of the team, but 'max' on PE {n - 1}"):
                shm.reduce(y[:40], x, "max" if odd else "sum")
        elif what == "dtype":
            with pytest.raises(ValueError, match=rf"dtype: 'i4' on PE 0 of the team, but 'f4' on PE {n - 1}"):
                kind = "f4" if odd else "i4"
                shm.sum_reduce(y[:40].view(kind), x.view(kind))
        elif what == "call":
            with pytest.raises(ValueError, match=r"call: fcollect on PE 0 of the team, but alltoall"):
                shm.alltoall(y, x, size=0) if odd else shm.fcollect(y, x)
        else:
            with pytest.raises(ValueError, match="tst: 1 on PE 0 of the team, but 2"):
                shm.alltoalls(y, x, tst=1 + odd, size=1)
        works(shm)


@pytest.mark.parametrize("who", ["first", "last", "all"])
@pytest.mark.parametrize("error", [TypeError, ValueError, IndexError, RuntimeError])
def test_errors_of_one(shm, who, error):
    """The others learn which PE could not come, and what its exception is."""
    me, n = shm.my_pe(), shm.n_pes()
    mine = who == "all" or me == (0 if who == "first" else n - 1)
    freed = shm.zeros(3, "i4")
    shm.free(freed)
    with shm.zeros(3, "i4") as x, shm.zeros(3, "i4") as y:
        target = (
            {TypeError: None, ValueError: np.zeros(3, "i4"), IndexError: y, RuntimeError: freed}[error]
            if mine
            else y
        )
        root = n if mine and error is IndexError else 0
        with pytest.raises(error if mine else RuntimeError) as caught:
            shm.broadcast(target, x, root)
        if mine:
            assert str(caught.value).startswith("root" if error is IndexError else "target")
        else:
            assert f"PE {0 if who == 'first' else n - 1} of the team" in str(caught.value)
            assert error.__name__ in str(caught.value)
        works(shm)


def test_sizes(shm):
    n = shm.n_pes()
    with shm.zeros(4, "i4") as x, shm.zeros(4 * n, "i4") as y:
        for call, args, match in (
            (shm.broadcast, (y, x, 0, 5), "size"),
            (shm.broadcast, (y, x, 0, -1), "size"),
            (shm.sum_reduce, (x, x, 5), "size"),
            (shm.fcollect, (x, y, 4 * n + 1), "size"),
            (shm.fcollect, (y[1:], x), "size"),
            (shm.alltoall, (y, y[:0], 1), "size"),
            (shm.alltoalls, (y, x, 0), "tst"),
            (shm.alltoalls, (y, x, 1, -1), "sst"),
            (shm.alltoalls, (y, y[:0], 1, 1, 1), "size"),
            (shm.sum_reduce, (x, y[:5]), "source" if n > 1 else "source|size"),
            (shm.collect, (y, x, 5), "size"),
            (shm.fcollect, (y, x, 2**62), "size"),
            (shm.alltoall, (y, y.copy(), 2**63), "source"),
            (shm.sum_reduce, (y[::2], x), "target.*contiguous"),
        ):
            if n == 1 and args[-1] is not None and call is shm.sum_reduce and match == "source|size":
                continue
            with pytest.raises(ValueError, match=match):
                call(*args)
        if n > 1:
            with pytest.raises(ValueError, match="no multiple"):
                shm.alltoall(y[: n + 1], y[2 * n : 3 * n + 1])
        for size in (1.0, "1", []):
            with pytest.raises(TypeError, match="size"):
                shm.sum_reduce(x, x, size)
        x.flags.writeable = False
        with pytest.raises(ValueError, match="target.*read-only"):
            shm.sum_reduce(x, x)
        works(shm)
