"""Memory that dies well where the heap is small: jobs of their own."""

import os

import pytest

from conftest import BUILD

SMALL = {"SHMEM_SYMMETRIC_SIZE": "64M"}
START = """
import gc, sys
import numpy as np
import shmem4py as shm
from shmem4py import shmem
me, n = shm.my_pe(), shm.n_pes()
HALF = 5_000_000    # float64: two such arrays do not fit the heap
x = {make}
x[5] = 7
"""

# What looks at the memory of x after all variables of x are gone.
VIEWS = {
    "slice": "x[1:6]", "row": "x.reshape(2, -1)[0]", "plain": "np.asarray(x)", "element": "x[5]", "strided": "x[::5]",
    "structured": "x.view('f4,f4')", "slices in a tuple": "(x[2:], x[5:6])", "ptr": "shm.ptr(x, 1 - me)",
}
LATE_VIEWS = {"memoryview": "memoryview(x)", "dlpack": "np.from_dlpack(x)", "iterator": "iter(x)", "method": "x.sum"}


@pytest.mark.parametrize("make", ["shm.full(HALF, 9.0)", "shmem.full(HALF, 9.0)"])
@pytest.mark.parametrize("view", [*VIEWS, *LATE_VIEWS])
def test_memory_that_is_looked_at_is_not_given_out(launch, make, view):
    """The array is freed and its variable gone, but something still knows the address: no other array gets the memory."""
    late = f"view = {LATE_VIEWS.get(view)}\n"
    early = f"view = {VIEWS.get(view)}\n"
    r = launch(2, START.format(make=make) + (early if view in VIEWS else "") + "shm.free(x)\n"
               + (late if view in LATE_VIEWS else "") + """
del x
try:
    y = shm.zeros(HALF)
except MemoryError:
    print('kept')
view = y = None
y = shm.zeros(HALF)
shm.barrier_all()
""", env=SMALL)
    # The element of a plain ndarray is a copy, and asarray gives the array itself.
    copied = view in ("element", "plain") and "shmem." in make
    assert r.returncode == 0 and r.stdout == ("" if copied else "kept\n" * 2), (r.stdout, r.stderr)


@pytest.mark.parametrize("make", ["shm.full(HALF, 9.0)", "shmem.full(HALF, 9.0)"])
@pytest.mark.parametrize("holder", [
    "y = x", "held = [x, (x, {'x': x}), {1: x}]", "held = {'only': x}", "held = (x,)", "gc.collect(); held = {x.ctypes.data: (x,)}",
    "held = type('C', (), {})(); held.x = x", "held = type('C', (), {'__slots__': ('x',)})(); held.x = x",
    "held = lambda x=x: x", "held = (lambda y: lambda: y)(x)", "held = type('C', (), {'x': x})",
])
def test_variables_let_the_memory_go(launch, make, holder):
    """Variables and containers of a freed array do not keep its memory from being used; they read what it held."""
    r = launch(2, START.format(make=make) + f"""
{holder}
shm.free(x)
y = shm.zeros(HALF)
assert not y.any() and x[5] == 7 and x[6] == 9 and not shm.is_symmetric(x)
shm.barrier_all()
print('ok')
""", env=SMALL)
    assert r.returncode == 0 and r.stdout == "ok\nok\n", (r.stdout, r.stderr)


def test_variables_of_functions_let_the_memory_go(launch):
    r = launch(2, START.format(make="shm.full(HALF, 9.0)") + """
import threading
def inner(y, cell):
    local = y
    seen = lambda: cell
    shm.free(y)
    z = shm.zeros(HALF)
    z[0] = 1
    assert local[5] == 7 and seen() is y
    return z
def outer(y):
    z = inner(y, y)
    shm.free(z)
    before = locals()
    z = shm.zeros(HALF)
    assert not z.any() and before['y'] is y and before['z'][0] == 1
    shm.free(z)
outer(x)
gone = shm.zeros(HALF)     # the variables of outer are gone, nothing has kept them
assert not gone.any()
print('ok')
""", env=SMALL)
    assert r.returncode == 0 and r.stdout == "ok\nok\n", (r.stdout, r.stderr)


def test_heap_that_is_too_small_for_anything(launch):
    """init says so, and leaves nothing half done."""
    r = launch(2, """
import time
import shmem4py as shm
for call in (shm.init, lambda: shm.zeros(3), shm.barrier_all):
    try:
        call()
    except (MemoryError, RuntimeError) as e:
        print(type(e).__name__, 'SHMEM_SYMMETRIC_SIZE' in str(e))
""", env={"SHMEM_SYMMETRIC_SIZE": "4096"})
    assert r.returncode == 0 and sorted(r.stdout.split("\n")) == ["", *["MemoryError True"] * 2, *["RuntimeError False"] * 4], r


def test_with_after_free(launch):
    """An array that is freed in its with block, or whose memory has ended with finalize, is not freed again."""
    r = launch(2, """
import shmem4py as shm
shm.init()
with shm.zeros(10) as x:
    x.free()
with shm.zeros(10) as x:
    shm.finalize()
print('ok')
""")
    assert r.returncode == 0 and r.stdout == "ok\nok\n", r


@pytest.mark.parametrize("quiet", ["shm.quiet()", "shm.barrier_all()", "ctx.quiet()", "ctx.destroy()"])
def test_nonblocking_calls_keep_what_they_use(launch, quiet):
    """Between machines they go on behind their return, and nobody else may hold the array."""
    if not os.path.exists(os.path.join(BUILD, "lib", "hbmesh", "libhbmesh-ucx.so")):
        pytest.skip("there is no transport ucx")
    r = launch(2, f"""
        import gc
        import numpy as np
        import shmem4py as shm
        shm.init()
        me, N = shm.my_pe(), 2_000_000
        x, word, gone = shm.zeros(N), shm.zeros(1, dtype='i8'), []
        class Kept(np.ndarray):
            def __del__(self):
                gone.append(self.size)
        for turn in range(3):
            ctx = shm.Ctx.create() if 'ctx' in {quiet!r} else None
            shm.put_nbi(x, np.full(N, turn + 1.0).view(Kept), 1 - me, ctx=ctx)
            shm.get_nbi(np.zeros(N).view(Kept), x, 1 - me, ctx=ctx)
            shm.atomic_fetch_add_nbi(np.zeros(1, 'i8').view(Kept), word[0], 1, 1 - me, ctx=ctx)
            gc.collect()
            assert gone == [], gone
            junk = [np.full(N, -1.0) for _ in range(3)]
            {quiet}
            assert sorted(gone) == [1, N, N], gone
            gone.clear()
            shm.barrier_all()
            assert (x == turn + 1).all()
            shm.barrier_all()
        for _ in range(3000):
            shm.put_nbi(x[:4], np.arange(4.0).view(Kept), 1 - me)
        assert len(gone) >= 2000, 'what is kept is bounded'
        print('ok')
    """, options=("--machines", "2"))
    assert r.returncode == 0 and r.stdout == "ok\n" * 2, (r.stdout, r.stderr)
