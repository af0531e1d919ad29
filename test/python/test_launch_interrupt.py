"""Ctrl-C: SIGINT to one PE, and from a terminal to the whole job, in every kind of call that waits."""

import os
import pty
import select
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from conftest import OSHRUN, launch_environment

START = """
import os, signal, sys, threading, time
import numpy as np
import shmem4py as shm
shm.init()
me, n = shm.my_pe(), shm.n_pes()
flag = shm.zeros(4, dtype=np.int64)
lock = shm.Lock()
shm.barrier_all()

def interrupt_soon(seconds=0.5):
    def run():
        time.sleep(seconds)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=run, daemon=True).start()
"""

WAITS = ["shm.wait_until(flag[:1], 'eq', 1)", "shm.int64_wait_until(flag[2], 'eq', 1)", "shm.wait_until_all(flag, 'eq', 1)",
         "shm.wait_until_any(flag, 'eq', 1)", "shm.wait_until_some(flag, 'eq', 1)",
         "shm.wait_until_any_vector(flag, 'eq', [1, 2, 3, 4])", "shm.signal_wait_until(flag.view('u8')[:1], 'eq', 1)",
         "lock.acquire()"]


@pytest.mark.parametrize("call", WAITS)
def test_wait_can_be_left(launch, call):
    """KeyboardInterrupt in the one PE; it goes on, and so does the job."""
    r = launch(2, START + textwrap.dedent(f"""
if me == 0:
    lock.acquire()
shm.barrier_all()
if me == 1:
    interrupt_soon()
    began = time.time()
    try:
        {call}
        print('not reached')
    except KeyboardInterrupt:
        print('interrupted')
        assert time.time() - began < 5
shm.barrier_all()
if me == 0:
    lock.release()
shm.barrier_all()
with lock:
    shm.int64_p(flag[3], 5, pe=me)
shm.barrier_all()
assert flag[3] == 5
"""))
    assert r.returncode == 0 and r.stdout == "interrupted\n", r


COLLECTIVES = ["shm.barrier_all()", "shm.sync_all()", "shm.alloc(10)", "shm.sync(pe=0)",
               "shm.sum_reduce(a, b)", "shm.finalize()"]


@pytest.mark.parametrize("call", COLLECTIVES)
def test_collective_ends_the_job(launch, call):
    """A collective cannot be left by one PE: the job ends, with the traceback of that PE and of no other."""
    r = launch(3, START + textwrap.dedent(f"""
a, b = shm.zeros(4), shm.zeros(4)
shm.barrier_all()
print('said before', me)
if me == 1:
    interrupt_soon()
    {call}
else:
    shm.wait_until(flag[:1], 'eq', 1)
print('not reached')
"""))
    assert r.returncode == 130 and "not reached" not in r.stdout, r
    assert r.stderr.count("KeyboardInterrupt") == 1 and r.stderr.count("Traceback") == 1 and "prog.py" in r.stderr, r.stderr
    assert r.stdout.count("said before") == 3


def test_own_handler_runs_in_a_wait(launch):
    """Any Python handler runs within 50 ms and more of a margin, and the wait goes on when it does not raise."""
    r = launch(2, START + textwrap.dedent("""
seen = []
signal.signal(signal.SIGUSR1, lambda *a: seen.append(time.time()))
if me == 0:
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
    threading.Timer(1.0, lambda: shm.int64_p(flag[0], 1, pe=0)).start()
    began = time.time()
    shm.wait_until(flag[:1], 'eq', 1)
    print(len(seen), seen[0] - began < 0.8)
shm.barrier_all()
"""))
    assert r.returncode == 0 and r.stdout == "1 True\n", r


def test_interrupt_of_all_waiters_of_a_lock(launch):
    r = launch(4, START + textwrap.dedent("""
if me == 0:
    lock.acquire()
shm.barrier_all()
if me in (1, 2):
    interrupt_soon(0.3 * me)
    try:
        lock.acquire()
    except KeyboardInterrupt:
        pass
    shm.atomic_inc(flag[1:2], 0)
elif me == 3:
    with lock:
        pass
    shm.int64_p(flag[0], 1, pe=0)
else:
    shm.wait_until(flag[1:2], 'eq', 2)
    lock.release()
    shm.wait_until(flag[:1], 'eq', 1)
shm.barrier_all()
with lock:
    shm.atomic_inc(flag[2:3], 0)
shm.barrier_all()
if me == 0:
    print(flag[2])
"""))
    assert r.returncode == 0 and r.stdout == "4\n", r


def terminal_job(tmp_path, source, npes, ready):
    """Runs the program on a terminal of its own and presses Ctrl-C when `ready` has been printed by all PEs."""
    (tmp_path / "prog.py").write_text(START + textwrap.dedent(source))
    master, slave = pty.openpty()
    job = subprocess.Popen([OSHRUN, "--timeout", "60", "-n", str(npes), sys.executable, "prog.py"], cwd=tmp_path, stdin=slave,
                           stdout=slave, stderr=slave, env=launch_environment(), start_new_session=True,
                           preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0))
    os.close(slave)
    text, pressed, deadline = "", False, time.time() + 60
    while time.time() < deadline:
        if select.select([master], [], [], 0.1)[0]:
            try:
                chunk = os.read(master, 65536)
            except OSError:
                break
            if not chunk:
                break
            text += chunk.decode(errors="replace")
        if not pressed and text.count(ready) == npes:
            time.sleep(0.3)
            os.write(master, b"\x03")
            pressed = True
    else:
        job.send_signal(signal.SIGKILL)
    os.close(master)
    return job.wait(timeout=20), text


@pytest.mark.parametrize("call", ["shm.wait_until(flag[:1], 'eq', 1)", "shm.barrier_all() if me else time.sleep(60)",
                                  "time.sleep(60)"])
def test_ctrl_c_on_a_terminal(tmp_path, call):
    status, text = terminal_job(tmp_path, f"print('ready', flush=True)\n{call}\nprint('not reached')\n", 3, "ready")
    assert status == 130, (status, text)
    assert "not reached" not in text and text.count("Traceback") == 1 and text.count("KeyboardInterrupt") == 1, text


def test_interrupt_while_init_waits_for_the_others(launch):
    r = launch(2, """
import os, signal, threading, time
import shmem4py as shm
if os.environ['SHMEM_PE'] == '0':
    time.sleep(30)
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
shm.init()
""")
    assert r.returncode == 130 and r.stderr.count("KeyboardInterrupt") == 1 and "prog.py" in r.stderr, r


def test_package_imported_by_another_thread(launch):
    """Ctrl-C is the main thread's, whoever imports and initialises."""
    r = launch(2, """
import os, signal, threading, time
def start():
    global shm
    import shmem4py as shm
    shm.init()
starter = threading.Thread(target=start)
starter.start()
starter.join()
flag = shm.zeros(1, dtype='l')
if shm.my_pe() == 1:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        shm.wait_until(flag, 'eq', 1)
    except KeyboardInterrupt:
        print('interrupted')
shm.barrier_all()
""", timeout=20)
    assert r.returncode == 0 and r.stdout == "interrupted\n", r
