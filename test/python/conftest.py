"""What the Python tests share: how many PEs report as one, and how a job ends when one fails or hangs.

Every PE runs the same pytest. PE 0 reports as usual, the others only what fails. The first test that fails on
some PE of several ends the job: they are no longer in step, and what they would say from then on is noise.
"""

import faulthandler
import os
import subprocess
import sys
import textwrap
import time

import pytest

# As oshrun says it, or mpirun.
PE = int(os.environ.get("SHMEM_PE", os.environ.get("OMPI_COMM_WORLD_RANK", "0")))
NPES = int(os.environ.get("SHMEM_NPES", os.environ.get("OMPI_COMM_WORLD_SIZE", "1")))
LIMIT = 60.0    # seconds a test may take
GRACE = 1.0     # seconds the other PEs have to fail in the same test, too
SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD", os.path.join(SRC, "build"))
OSHRUN = os.environ.get("OSHRUN", os.path.join(BUILD, "bin", "oshrun"))


# --- one job, one report ---

def pytest_configure(config):
    if PE != 0:
        config.pluginmanager.unregister(name="terminalreporter")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    marker = item.get_closest_marker("limit")
    limit = marker.args[0] if marker else LIMIT
    # It works while a call that never returns holds the interpreter; then the launcher ends the other PEs.
    faulthandler.dump_traceback_later(limit, exit=True, file=sys.__stderr__)
    yield
    faulthandler.cancel_dump_traceback_later()


def pytest_runtest_logreport(report):
    if report.failed and NPES > 1:
        leave(f"{report.nodeid}, {report.when}", report)


def pytest_collectreport(report):
    if report.failed and NPES > 1:
        leave(report.nodeid, report)


def leave(where, report):
    text = f"\nPE {PE} of {NPES} failed: {where}\n{report.longreprtext}\n"
    for title, content in report.sections:
        text += f"--- {title}\n{content}\n"
    os.write(2, text.encode(errors="replace"))
    time.sleep(GRACE)
    os._exit(1)


# --- for the tests ---

@pytest.fixture(scope="session")
def shm():
    """The package, initialised."""
    import shmem4py
    shmem4py.init()
    return shmem4py


@pytest.fixture
def launch(tmp_path):
    """launch(npes, source, *arguments, options=(), env={}, timeout=60): a program under oshrun.

    source is the text of a Python program (indented as one likes); it runs in a folder of its own. Returns
    subprocess.CompletedProcess, with text. npes 0: without a launcher.
    """
    def run(npes, source, *arguments, options=(), env=None, timeout=60, stdin=subprocess.DEVNULL):
        program = tmp_path / "prog.py"
        program.write_text(textwrap.dedent(source))
        command = [sys.executable, str(program), *map(str, arguments)]
        if npes:
            command = [OSHRUN, "--timeout", str(timeout), "-n", str(npes), *options] + command
        return subprocess.run(command, cwd=tmp_path, env=launch_environment(env), stdin=stdin, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout + 20)
    return run


def launch_environment(changes=None):
    """For a job of its own: nothing of the job that runs this test, the package of the build tree first."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("SHMEM_")}
    path = os.path.join(BUILD, "python")
    if path not in env.get("PYTHONPATH", "").split(os.pathsep):
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [path, env.get("PYTHONPATH")]))
    for name, value in (changes or {}).items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    return env
