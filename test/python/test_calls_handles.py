"""Contexts, teams and locks."""

import threading
import time

import numpy as np
import pytest

# --- contexts ---


def test_ctx(shm):
    assert shm.Ctx() == shm.CTX_INVALID == shm.Ctx(None) and not shm.CTX_INVALID and shm.CTX_DEFAULT
    assert shm.CTX_DEFAULT != shm.CTX_INVALID and shm.CTX_DEFAULT != 1 and not shm.CTX_INVALID == 0
    for wrong in (123, "x", shm.TEAM_WORLD, 1.5):
        with pytest.raises(TypeError, match="unexpected type"):
            shm.Ctx(wrong)
    alias = shm.Ctx(shm.CTX_DEFAULT)
    assert alias == shm.CTX_DEFAULT and alias is not shm.CTX_DEFAULT
    alias.destroy()
    shm.CTX_DEFAULT.destroy()
    assert not alias and shm.CTX_DEFAULT
    with pytest.raises(TypeError):
        hash(shm.CTX_DEFAULT)
    assert shm.CTX_DEFAULT.get_team() == shm.TEAM_WORLD
    with pytest.raises(RuntimeError):
        shm.CTX_INVALID.get_team()
    for ctx in (shm.CTX_DEFAULT, shm.CTX_INVALID, None):
        shm.fence(ctx)
        shm.quiet(ctx=ctx)


def test_ctx_create(shm):
    for options in (
        0,
        shm.CTX_PRIVATE,
        shm.CTX_SERIALIZED,
        shm.CTX.NOSTORE,
        shm.CTX.PRIVATE | shm.CTX.NOSTORE,
    ):
        with shm.Ctx.create(options) as ctx:
            assert ctx and ctx != shm.CTX_DEFAULT and ctx.get_team() == shm.TEAM_WORLD
            ctx.fence()
            ctx.quiet()
        assert ctx == shm.CTX_INVALID
        ctx.destroy()
    with shm.Ctx.create(options=0, team=shm.TEAM_WORLD) as ctx, shm.zeros(1, "i4") as x:
        stale = shm.Ctx(ctx)
        shm.int_p(x, 5, shm.my_pe(), ctx=ctx)
        ctx.destroy()
        for call in (
            stale.quiet,
            stale.fence,
            stale.get_team,
            stale.destroy,
            lambda: shm.quiet(stale),
            lambda: shm.int_p(x, 1, 0, ctx=stale),
            lambda: shm.gather(x, [0], 0, ctx=stale),
        ):
            with pytest.raises(RuntimeError, match="destroyed"):
                call()
        with pytest.raises(ValueError, match="ctx: CTX_INVALID"):
            shm.int_p(x, 1, 0, ctx=ctx)
        for wrong in (5, "x", shm.TEAM_WORLD):
            with pytest.raises(TypeError, match="ctx"):
                shm.int_g(x, 0, wrong)
        shm.barrier_all()
    for wrong, error in (
        (1 << 20, ValueError),
        (-1, ValueError),
        ("x", TypeError),
        (10**30, (ValueError, OverflowError)),
    ):
        with pytest.raises(error):
            shm.Ctx.create(wrong)
    with pytest.raises(TypeError, match="team"):
        shm.Ctx.create(0, 5)


def test_ctx_subclass(shm):
    class Mine(shm.Ctx):
        pass

    with Mine.create() as ctx:
        assert type(ctx) is Mine and ctx.ob_ctx
        ctx.note = 1


# --- teams ---


def test_team(shm):
    me, n = shm.my_pe(), shm.n_pes()
    assert (
        shm.Team() == shm.TEAM_INVALID and not shm.TEAM_INVALID and shm.Team(shm.TEAM_WORLD) == shm.TEAM_WORLD
    )
    for wrong in (123, "x", shm.CTX_DEFAULT):
        with pytest.raises(TypeError, match="unexpected type"):
            shm.Team(wrong)
    assert (shm.TEAM_WORLD.my_pe(), shm.TEAM_WORLD.n_pes()) == (me, n)
    for call in ("my_pe", "n_pes", "get_config", "sync", "split_strided", "create_ctx", "translate_pe"):
        with pytest.raises(RuntimeError, match="TEAM_INVALID"):
            getattr(shm.TEAM_INVALID, call)()
    for team in (shm.TEAM_WORLD, shm.TEAM_SHARED):
        with team as same:
            assert same is team
        assert team
    shm.TEAM_INVALID.destroy()
    assert "PE %d of %d" % (me, n) in repr(shm.TEAM_WORLD)


def test_split(shm):
    me, n = shm.my_pe(), shm.n_pes()
    even = shm.TEAM_WORLD.split_strided(0, 2)
    assert bool(even) == (me % 2 == 0)
    if even:
        assert (even.my_pe(), even.n_pes()) == (me // 2, (n + 1) // 2)
        assert even.translate_pe() == me and even.translate_pe(0) == 0
        assert even.translate_pe(team=even) == me // 2
        for pe in (even.n_pes(), -1, n + 5):
            with pytest.raises(RuntimeError, match="pe"):
                even.translate_pe(pe)
        even.sync()
        stale = shm.Team(even)
        even.destroy()
        assert even == shm.TEAM_INVALID
        for call in (
            stale.sync,
            stale.my_pe,
            stale.destroy,
            lambda: shm.sync(stale),
            stale.create_ctx,
            stale.split_strided,
        ):
            with pytest.raises(RuntimeError, match="destroyed"):
                call()
    back = shm.TEAM_WORLD.split_strided(n - 1, -1)
    assert back.n_pes() == n and back.my_pe() == n - 1 - me
    back.destroy()


def test_split_config(shm):
    world = shm.TEAM_WORLD
    for args, want in (
        ({}, 0),
        ({"config": {"num_contexts": 1}}, 1),
        ({"num_contexts": 2}, 2),
        ({"config": {"NUM_CONTEXTS": 1}, "num_contexts": 3}, 3),
    ):
        with world.split_strided(size=world.n_pes(), **args) as team:
            assert team.get_config() == {"num_contexts": want}
    for args, error in (
        ({"config": {"x": 1}}, TypeError),
        ({"y": 1}, TypeError),
        ({"config": 5}, TypeError),
        ({"start": "x"}, TypeError),
        ({"num_contexts": "x"}, TypeError),
        ({"start": 10**30}, ValueError),
        ({"num_contexts": -1}, ValueError),
        ({"size": 0}, RuntimeError),
        ({"stride": 0}, ValueError),
        ({"start": -1}, RuntimeError),
        ({"size": world.n_pes() + 1}, RuntimeError),
    ):
        with pytest.raises(error):
            world.split_strided(**args)
    with pytest.raises(TypeError):
        world.split_strided(0, 1, 1, None, 5)


def test_split_2d(shm):
    me, n = shm.my_pe(), shm.n_pes()
    row, column = shm.TEAM_WORLD.split_2d(2)
    assert row.my_pe() == me % 2 and column.my_pe() == me // 2
    assert row.n_pes() == min(2, n - me // 2 * 2) and column.n_pes() == len(range(me % 2, n, 2))
    column.destroy()
    row.destroy()
    row, column = shm.TEAM_WORLD.split_2d(xrange=n, xaxis_config={"num_contexts": 1})
    assert row.n_pes() == n and column.n_pes() == 1 and row.get_config() == {"num_contexts": 1}
    row.destroy()
    column.destroy()
    for wrong, error in ((0, ValueError), (-3, ValueError), ("x", TypeError), (None, Exception)):
        with pytest.raises(error):
            shm.TEAM_WORLD.split_2d(wrong)


def test_split_differs(shm):
    me, n = shm.my_pe(), shm.n_pes()
    if n == 1:
        pytest.skip("needs two PEs")
    with pytest.raises(ValueError, match=f"start: 0 on PE 0 of the team, but 1 on PE {n - 1}"):
        shm.TEAM_WORLD.split_strided(int(me == n - 1), 1, 1)
    with pytest.raises(
        TypeError if me == 0 else RuntimeError, match="config" if me == 0 else "PE 0 of the team.*TypeError"
    ):
        shm.TEAM_WORLD.split_strided(config=5 if me == 0 else None)
    shm.barrier_all()


# --- locks ---


def test_lock_excludes(shm):
    """A counter that is read, and written a moment later, comes out right under the lock."""
    n, turns = shm.n_pes(), 20
    lock = shm.new_lock()
    assert lock.shape == (1,) and lock.dtype == np.dtype("l")
    other = shm.Lock()
    with shm.zeros(2, "i8") as x:
        for _ in range(turns):
            shm.set_lock(lock)
            value = shm.g(x[0], 0)
            time.sleep(0)
            shm.p(x[0], value + 1, 0)
            shm.quiet()
            shm.clear_lock(lock)
            with other:
                shm.p(x[1], shm.g(x[1], 0) + 1, 0)
                shm.quiet()
        shm.barrier_all()
        assert shm.g(x[0], 0) == n * turns == shm.g(x[1], 0)
        shm.barrier_all()
    other.destroy()
    other.destroy()
    with pytest.raises(RuntimeError, match="destroyed"):
        other.acquire()
    shm.del_lock(lock)
    with pytest.raises(RuntimeError, match="lock.*freed"):
        shm.set_lock(lock)


def test_lock_errors(shm):
    me = shm.my_pe()
    lock = shm.Lock()
    word = shm.zeros(3, "l")
    for clear in (lock.release, lambda: shm.clear_lock(word[0])):
        with pytest.raises(RuntimeError, match="does not hold"):
            clear()
    shm.barrier_all()
    if me == 0:
        assert lock.acquire() is True and shm.test_lock(word[1]) is False
        for again in (lock.acquire, lock.__enter__, lambda: shm.set_lock(word[1:2])):
            with pytest.raises(RuntimeError, match="already"):
                again()
        assert lock.acquire(blocking=False) is False and shm.test_lock(word[1]) is True
    shm.barrier_all()
    if me:
        assert lock.acquire(False) is False and shm.test_lock(word[1]) is True
        with pytest.raises(RuntimeError, match="does not hold"):
            lock.release()
    shm.barrier_all()
    if me == 0:
        lock.release()
        shm.clear_lock(word[1])
    shm.barrier_all()
    for wrong, error in (
        (5, TypeError),
        (word, ValueError),
        (np.zeros(1, "l"), ValueError),
        (None, TypeError),
        ("x", TypeError),
    ):
        for call in (shm.set_lock, shm.test_lock, shm.clear_lock, shm.del_lock):
            with pytest.raises(error, match="lock"):
                call(wrong)
    with shm.zeros(1, "f8") as f:
        with pytest.raises(TypeError, match="lock"):
            shm.set_lock(f)
        shm.barrier_all()
    shm.free(word)
    lock.destroy()


def test_lock_between_threads(shm):
    """A lock that one thread of a PE holds lets its other threads wait."""
    with shm.zeros(1, "l") as word:
        if shm.my_pe() == 0:
            order = []
            shm.set_lock(word)

            def other():
                shm.set_lock(word)
                order.append("other")
                shm.clear_lock(word)

            thread = threading.Thread(target=other)
            thread.start()
            time.sleep(0.05)
            order.append("first")
            shm.clear_lock(word)
            thread.join()
            assert order == ["first", "other"]
        shm.barrier_all()
