"""How a PE leaves, and what becomes of the job: by its end, an exception, exit, a dying thread, a fork, a daemon."""

import time

import pytest

START = """
import os, sys, threading, time
import numpy as np
import shmem4py as shm
shm.init()
me, n = shm.my_pe(), shm.n_pes()
flag = shm.zeros(1, dtype=np.int64)
"""


def program(text):
    import textwrap
    return START + textwrap.dedent(text)


def test_falls_off_the_end(launch):
    r = launch(3, program("print('end of', me)"))
    assert r.returncode == 0 and sorted(r.stdout.split("\n")) == ["", "end of 0", "end of 1", "end of 2"], r.stderr


@pytest.mark.parametrize("leave", ["sys.exit(0)", "sys.exit()", "raise SystemExit", "shm.finalize()"])
def test_good_ends(launch, leave):
    r = launch(3, program(leave))
    assert r.returncode == 0 and r.stderr == "", r.stderr


def test_alone_without_a_launcher(launch):
    r = launch(0, program("assert (me, n) == (0, 1); shm.int64_p(flag, 3, pe=0); print(flag[0])"))
    assert r.returncode == 0 and r.stdout == "3\n", r.stderr


@pytest.mark.parametrize("leave, status, says", [
    ("raise KeyError('the reason')", 1, "KeyError: 'the reason'"),
    ("sys.exit(7)", 7, ""),
    ("sys.exit('in words')", 1, "in words"),
    ("def f():\n        raise ValueError('in a thread')\n    threading.Thread(target=f).start(); time.sleep(30)", 1,
     "ValueError: in a thread"),
    ("os._exit(5)", 5, ""),
    ("os.kill(os.getpid(), 9)", 137, "PE 1"),
])
@pytest.mark.parametrize("others", ["shm.wait_until(flag, 'eq', 1)", "shm.barrier_all()", "time.sleep(30)"])
def test_bad_end_ends_the_job(launch, leave, status, says, others):
    """PE 1 leaves badly while the others wait: the job ends at once with its status, and PE 1's traceback is there."""
    began = time.time()
    r = launch(3, program(f"""
if me == 1:
    time.sleep(0.3)
    {leave}
else:
    {others}
shm.barrier_all()
print('not reached')
"""))
    assert r.returncode == status and says in r.stderr and "not reached" not in r.stdout, (r.returncode, r.stderr)
    assert time.time() - began < 15


def test_exception_while_another_thread_waits(launch):
    """The interpreter would wait for its threads at its end; the job does not."""
    r = launch(2, program("""
if me == 1:
    threading.Thread(target=lambda: shm.wait_until(flag, 'eq', 1)).start()
    time.sleep(0.3)
    raise KeyError('main')
shm.barrier_all()
"""))
    assert r.returncode == 1 and "KeyError: 'main'" in r.stderr, r.stderr


def test_daemon_thread_in_a_wait(launch):
    r = launch(2, program("""
t = threading.Thread(target=lambda: shm.wait_until(flag, 'eq', 1), daemon=True)
t.start()
time.sleep(0.3)
print('end')
"""))
    assert r.returncode == 0 and r.stdout == "end\nend\n", (r.returncode, r.stderr)


def test_daemon_threads_in_copies_and_waits(launch):
    """They run until the process is gone: nothing that they use may go before."""
    r = launch(3, program("""
x, index = shm.zeros(1_000_000), np.random.default_rng(me).integers(0, 1_000_000, 10_000_000)
block, peer = np.zeros(1_000_000), (me + 1) % n
def put():
    while True:
        shm.put(x, block, peer)
        shm.int64_atomic_inc(flag, peer)
        shm.quiet()
for work in (lambda: shm.gather(x, index, peer), put, lambda: shm.wait_until(flag, 'eq', -1)):
    for _ in range(3):
        threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
print('end')
"""))
    assert r.returncode == 0 and r.stdout == "end\n" * 3 and r.stderr == "", (r.returncode, r.stderr)


def test_finalize_while_a_thread_is_in_a_call(launch):
    """finalize refuses; when the call is done, it works, and what threads begin afterwards raises."""
    r = launch(2, program("""
said = []
def wait():
    shm.wait_until(flag, 'eq', 1)
    try:
        while True:
            shm.int64_g(flag, pe=1 - me)
    except RuntimeError as e:
        said.append('finalize' in str(e))
t = threading.Thread(target=wait)
t.start()
time.sleep(0.2)
try:
    shm.finalize()
except RuntimeError as e:
    print('refused', 'finalize: 1 other calls' in str(e))
shm.barrier_all()
shm.int64_p(flag, 1, pe=1 - me)
shm.wait_until(flag, 'eq', 1)
while shm.query_initialized():
    try:
        shm.finalize()
    except RuntimeError:
        time.sleep(0.01)
t.join()
print('said', said)
"""))
    lines = sorted(r.stdout.split("\n"))
    assert r.returncode == 0 and lines == ["", *["refused True"] * 2, *["said [True]"] * 2], (r.stdout, r.stderr)


def test_fork_child_is_no_pe(launch):
    r = launch(2, program("""
sys.stdout.flush()
pid = os.fork()
if pid == 0:
    try:
        shm.barrier_all()
    except RuntimeError as e:
        print('child:', str(e)[:60])
    try:
        shm.init()
    except RuntimeError:
        print('child: no init')
    sys.exit(3)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
shm.barrier_all()
print('parent', me)
"""))
    lines = sorted(r.stdout.split("\n"))
    assert r.returncode == 0 and lines.count("child: no init") == 2 and "parent 0" in lines and "parent 1" in lines, r


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing(launch, method):
    """Workers of PEs, also those that import the program anew, leave the job alone."""
    r = launch(2, f"""
import multiprocessing, sys
import shmem4py as shm

def square(n):
    return n * n, shm.query_initialized()

if __name__ == '__main__':
    shm.init()
    x = shm.full(10, shm.my_pe())
    with multiprocessing.get_context('{method}').Pool(2) as pool:
        assert pool.map(square, [1, 2, 3]) == [(1, False), (4, False), (9, False)]
    shm.barrier_all()
    assert (x == shm.my_pe()).all()
    print('ok')
""")
    assert r.returncode == 0 and r.stdout == "ok\nok\n", r


def test_spawned_worker_that_imports_the_published_module(launch):
    """A worker imports the user's main module, and with it shmem4py.shmem: it must not join the job."""
    r = launch(2, """
import multiprocessing
from shmem4py import shmem

def work(n):
    try:
        shmem.my_pe()
    except RuntimeError as e:
        return 'PE' in str(e)

if __name__ == '__main__':
    with multiprocessing.get_context('spawn').Pool(1) as pool:
        assert pool.map(work, [1]) == [True]
    shmem.barrier_all()
    print('ok')
""")
    assert r.returncode == 0 and r.stdout == "ok\nok\n", r


def test_import_does_nothing(launch):
    r = launch(2, """
import shmem4py as shm
assert not shm.query_initialized()
try:
    shm.my_pe()
except RuntimeError as e:
    assert 'before shm.init' in str(e)
    print('ok')
""")
    assert r.returncode == 0 and r.stdout == "ok\nok\n", r


def test_one_count_of_inits(launch):
    r = launch(2, """
import shmem4py as shm
from shmem4py import shmem
shm.init()
shm.finalize()
assert shm.query_initialized() and shmem.my_pe() == shm.my_pe()
shmem.finalize()
assert not shm.query_initialized()
try:
    shmem.my_pe()
except RuntimeError as e:
    assert 'after shm.finalize' in str(e)
shm.init()
x = shm.zeros(3)
shm.barrier_all()
print('ok')
""")
    assert r.returncode == 0 and r.stdout == "ok\nok\n", r


def test_views_after_finalize(launch):
    r = launch(2, program("""
x = shm.full(100000, me + 1.0)
y = shm.ptr(x, 1 - me)
view = x[5:10]
shm.barrier_all()
shm.finalize()
assert (view == me + 1).all() and (x == me + 1).all() and (y == 2 - me).all()
try:
    shm.double_get(view, pe=0)
except RuntimeError as e:
    assert 'finalize' in str(e)
shm.init()
z = shm.full(100000, 9.0)
try:
    shm.double_get(view, pe=0)
except RuntimeError as e:
    print('stale')
assert (view == me + 1).all() and (y == 2 - me).all()
shm.barrier_all()
"""))
    assert r.returncode == 0 and r.stdout == "stale\nstale\n", r


def test_global_exit_flushes(launch):
    r = launch(3, program("""
print('printed by', me)
shm.barrier_all()
if me == 2:
    shm.global_exit(4)
shm.wait_until(flag, 'eq', 1)
"""))
    assert r.returncode == 4 and sorted(r.stdout.split("\n"))[1:] == [f"printed by {i}" for i in range(3)], r


def test_second_copy_of_the_library(launch, tmp_path):
    """Another file of the library in the process: init refuses, and names both."""
    r = launch(1, """
import ctypes, os, shutil
import shmem4py as shm
ours = next(line.split()[-1] for line in open('/proc/self/maps') if 'libhbmesh.so' in line)
other = os.path.join(os.getcwd(), 'libother.so')
shutil.copy(ours, other)
ctypes.CDLL(other)
try:
    shm.init()
except RuntimeError as e:
    print(other in str(e) and 'libhbmesh.so' in str(e))
""")
    assert r.returncode == 0 and r.stdout == "True\n", r
