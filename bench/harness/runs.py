"""Builds and runs: round robin over the peers, pass after pass, until all passes are made or time is up."""

import concurrent.futures
import contextlib
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

from harness import machine
from harness.peers import ENVIRONMENT

FLAGS = ["-O2", "-std=gnu11"]
LIBRARIES = ["-lpthread", "-lm"]
MARK = "HBMESH_BENCH_RUN"
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # by which a person or a system ends a measurement
GIVEN_UP = "given up"
HANGS = 3  # of a peer that has never printed a row, until it is given up
QUICK_S, MORE_PASSES = 4, 2  # a program that takes no longer with all peers is run so much more often
OUT_OF_TIME = "# out of time"  # what a program says that leaves rows out
# What a library that is killed leaves in /dev/shm.
SEGMENTS = ("vader_segment", "mpich_shar_tmp", "osc_rdma", "sm_segment", "ucx_shm", "psm2_shm", "memheap")


class Run:
    """How one start of one program went. status: ok, failed, timed out, does not compile, given up."""

    def __init__(self, job, peer, number, status, seconds=0.0, load=(0.0, 0), lines=(), said=""):
        self.job, self.peer, self.number, self.status = job, peer, number, status
        self.seconds, self.lines, self.said = seconds, list(lines), said
        self.load, self.running = load

    def describe(self):
        return {"program": self.job.path, "pes": self.job.npes, "peer": self.peer.name, "pass": self.number,
                "status": self.status, "seconds": round(self.seconds, 3), "load": round(self.load, 2),
                "running": self.running, "said": self.said, "lines": self.lines}


def ended_by(code):
    """What an exit status says where the program itself said nothing."""
    try:
        return f"exit status {code}" if code >= 0 else f"ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"ended by signal {-code}"


# --- build ---

def build_one(peer, source, target):
    """Returns what the compiler said, empty when it compiled."""
    command = peer.compiler + FLAGS + [source, "-o", target] + LIBRARIES
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode == 0:
        return ""
    lines = [line.strip() for line in done.stdout.decode(errors="replace").split("\n") if line.strip()]
    errors = [line for line in lines if "error" in line or "undefined reference" in line]
    return (errors + lines + [ended_by(done.returncode)])[0]


def folder_name(peer):
    return "".join(c if c.isalnum() else "-" for c in peer.name)


def build_all(peers, jobs, folder):
    """{(peer's name, program): (file, what was said)}; a program that a peer does not run is not in it."""
    wanted = {}
    for peer in peers:
        os.makedirs(os.path.join(folder, folder_name(peer)), exist_ok=True)
        for job in jobs:
            if peer.runs(job):
                target = os.path.join(folder, folder_name(peer), job.path.replace("/", "-"))
                wanted[peer.name, job.path] = (peer, job.source(peer.mpi), target)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        builds = [pool.submit(build_one, *w) for w in wanted.values()]
        try:
            said = [build.result() for build in builds]
        except KeyboardInterrupt:
            for build in builds:  # those that have not begun; who leaves the pool waits for the others
                build.cancel()
            raise
    return {key: (w[2], text) for (key, w), text in zip(wanted.items(), said)}


# --- run ---

def marked(mark):
    """The processes of a run, wherever they have moved to: their environment says so."""
    needle = f"{MARK}={mark}".encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if needle in file.read().split(b"\0"):
                    yield int(pid)
        except OSError:
            pass  # it has gone, or is somebody else's


def end_run(process, mark):
    """The launcher first, which may tidy up; whoever is still there a second later is killed."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(1)
        except subprocess.TimeoutExpired:
            pass
    for _ in range(20):
        pids = list(marked(mark))
        if not pids:
            break
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.05)
    process.wait()


@contextlib.contextmanager
def undisturbed():
    """No impatient second Ctrl-C leaves processes behind."""
    kept = {number: signal.signal(number, signal.SIG_IGN) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def segments():
    try:
        return {name for name in os.listdir("/dev/shm") if name.startswith(SEGMENTS)}
    except OSError:
        return set()


def remove_segments(names):
    for name in names:
        try:
            os.unlink(os.path.join("/dev/shm", name))
        except OSError:
            pass


def wait(process, limit):
    """Its exit status, or None when it is still there after so many seconds. Asked of the kernel: Python's own wait
    with a limit looks only every now and then, and the time of an empty job would be that of the looks."""
    try:
        watch = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        watch = None
    if watch is not None:
        ready = select.poll()
        ready.register(watch, select.POLLIN)
        gone = ready.poll(1000 * limit)
        os.close(watch)
        return process.wait() if gone else None
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        return None


def start(command, environment, limit, mark, folder):
    """(status, seconds, output, errors) of a command that has so many seconds."""
    with open(os.path.join(folder, "out"), "w+b") as out, open(os.path.join(folder, "err"), "w+b") as err:
        begin = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment,
                                   cwd=folder, start_new_session=True)
        try:
            code = wait(process, limit)
            took = time.monotonic() - begin
        finally:
            with undisturbed():
                end_run(process, mark)
        status = "timed out" if code is None else "failed" if code else "ok"
        out.seek(0)
        err.seek(0)
        said = first_words(err.read().decode(errors="replace")) or (ended_by(code) if code else "")
        return status, took, out.read().decode(errors="replace"), said


def data_lines(output):
    """(table, series, x, value, unit) of each line that is one."""
    lines = []
    for line in output.split("\n"):
        words = line.split("\t")
        if line.startswith("#") or len(words) != 5:
            continue
        try:
            lines.append((words[0], words[1], words[2], float(words[3]), words[4]))
        except ValueError:
            pass
    return lines


def first_words(text):
    """The line of the errors that says most: that of a crash, or the first that is none of a launcher's frames."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    crashes = [line for line in lines if "Caught signal" in line]
    plain = [line for line in lines if not line.startswith(("---", "===", "["))]
    return (crashes + plain + lines + [""])[0][:200]


def machine_load():
    """Before a run: the mean of the last minute, and who else runs at this moment."""
    return os.getloadavg()[0], machine.running()


class Runner:
    def __init__(self, programs, deadline, settings, limit=None):
        self.programs, self.deadline, self.settings, self.limit = programs, deadline, settings, limit
        self.count = 0
        self.hopeless = {}  # (peer, program, PEs): how often it has timed out
        self.heard, self.hung = set(), {}  # peers that have printed a row; how often others have timed out

    def left(self):
        return self.deadline - time.monotonic()

    def limit_of(self, job):
        """Seconds that a run may take: a program plans its own end, so this is for one that hangs."""
        return min(self.limit or 4 * float(job.seconds) + 15, max(1, self.left()))

    def once(self, job, peer, program, limit):
        self.count += 1
        mark = f"{os.getpid()}-{self.count}"
        folder = tempfile.mkdtemp(prefix="hbmesh-bench-")
        environment = {**os.environ, **ENVIRONMENT, **job.environment(), **self.settings, MARK: mark, "TMPDIR": folder}
        before = segments()
        status = "interrupted"
        try:
            status, took, out, said = start(peer.launch(job.npes, program, job.name), environment, limit, mark, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            if status != "ok":
                remove_segments(segments() - before)
        if status == "ok":
            said = OUT_OF_TIME if OUT_OF_TIME in out else ""
        elif status == "timed out":
            said = f"ended after {limit:.0f} s"
        return status, took, data_lines(out), said

    def whole_job(self, job, peer, program, number):
        """A program that is timed from outside: as often as goes into a second, five times at most."""
        lines, spent, load = [], 0.0, machine_load()
        while len(lines) < 5 and (not lines or spent < 1):
            status, took, _, said = self.once(job, peer, program, self.limit_of(job))
            spent += took
            if status != "ok":
                return Run(job, peer, number, status, spent, load, lines, said)
            lines.append((*job.whole, str(job.npes), took * 1e9, "ns"))
        return Run(job, peer, number, "ok", spent, load, lines)

    def job(self, job, peer, program, number):
        load = machine_load()
        limit = self.limit_of(job)
        status, took, lines, said = self.once(job, peer, program, limit)
        return Run(job, peer, number, status, took, load, lines, said)

    def is_given_up(self, peer):
        """A peer that only hangs would take the time of all."""
        return peer.name not in self.heard and self.hung.get(peer.name, 0) >= HANGS

    def run(self, job, peer, number):
        """None when there is nothing to run, or no time."""
        if (peer.name, job.path) not in self.programs:
            return None
        program, said = self.programs[peer.name, job.path]
        if said:
            return Run(job, peer, number, "does not compile", said=said[:500]) if number == 1 else None
        if self.is_given_up(peer):
            return Run(job, peer, number, GIVEN_UP, said=f"it hung {HANGS} times") if number == 1 else None
        key = (peer.name, job.path, job.npes)
        if self.left() < 1 or self.hopeless.get(key, 0) > 1:
            return None
        run = (self.whole_job if job.whole else self.job)(job, peer, program, number)
        if run.status == "timed out":
            self.hopeless[key] = self.hopeless.get(key, 0) + 1
            self.hung[peer.name] = self.hung.get(peer.name, 0) + 1
        if run.lines:
            self.heard.add(peer.name)
        return run


def run_all(runner, jobs, peers, passes, tell, runs):
    """All runs, pass by pass: what disturbs the machine for a while disturbs one run of each, not all runs of one. Each
    goes into `runs` when it is over: what there is then counts, whatever becomes of the next one. Programs that are quick
    are run in some passes more, since theirs are the rows that vary most."""
    spent = dict.fromkeys(jobs, 0.0)
    for number in range(1, passes + (MORE_PASSES if passes > 1 else 0) + 1):
        chosen = [job for job in jobs if number <= passes or spent[job] <= QUICK_S * passes]
        for place, job in enumerate(chosen):
            if runner.left() < 1:
                tell(f"time is up in pass {number}, before {job.path} with {job.npes} PEs")
                return
            for peer in peers:
                run = runner.run(job, peer, number)
                if run:
                    runs.append(run)
                    spent[job] += run.seconds
                    note = "" if run.status == "ok" else f"  {run.status}: {(run.said.splitlines() or [''])[0]}"
                    tell(f"pass {number}  {place + 1}/{len(chosen)}  {job.path:26} {job.npes:3} PEs  {peer.name:18} "
                         f"{run.seconds:6.2f} s{note}")
