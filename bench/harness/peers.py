"""Who is measured: this library, other forms of it, and every other OpenSHMEM or MPI that is installed or named."""

import os
import re
import shlex
import shutil
import signal
import subprocess

# More PEs than cores is asked of everybody, and as root too: Open MPI wants to be told that this is meant. It yields
# only when asked to, and its hooks into malloc disturb UCX (both are in its own documentation).
OPENMPI_FLAGS = ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
OPENMPI_SHMEM_FLAGS = ["--mca", "opal_common_ucx_opal_mem_hooks", "0"]
# Its one-sided component "rdma" dies in MPI_Accumulate with flushes (4.1.4, inside one machine); the others do not.
OPENMPI_ACCUMULATE_FLAGS = ["--mca", "osc", "^rdma"]
ACCUMULATES = ("atomic", "gups", "histogram")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ANSWER_SECONDS = 10
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def answer(command, given="", errors=subprocess.DEVNULL):
    """What a tool says when it is asked for something simple; empty when it fails, or does not answer."""
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                                   env={**os.environ, **ENVIRONMENT}, start_new_session=True)
    except OSError:
        return ""
    try:
        said = process.communicate(given.encode(), timeout=ANSWER_SECONDS)[0].decode(errors="replace")
    except subprocess.TimeoutExpired:
        said = ""
    finally:
        if process.poll() is None:  # it and whom it has started, who would keep the pipe open
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return said if process.returncode == 0 else ""


def first_line(command):
    return answer(command, errors=subprocess.STDOUT).split("\n")[0].strip()


# oshcc's option for single-element calls that are inlined, and the programs that it makes a difference to.
INLINE = "-hm-inline"
INLINED = ("element", "copy", "atomic", "rate", "gups", "histogram", "gather", "updates_global", "neighbours_global")


class Peer:
    """One library: how it compiles and starts a program. own: a form of this library, so nobody to be ahead of.
    only: the names of the programs it is measured with, or None for all."""

    def __init__(self, name, compiler, launcher, mpi=False, own=False, only=None):
        self.name, self.mpi, self.own, self.only = name, mpi, own, only
        self.compiler, self.launcher = compiler, launcher
        self.about = first_line([launcher[0], "--version"])
        self.openmpi = "Open MPI" in self.about or "OpenRTE" in self.about
        self.version = self.find_version()

    def find_version(self):
        if self.own:
            tool = os.path.join(os.path.dirname(self.launcher[0]), "shmem-info")
            return first_line([tool, "--version"]) or self.about
        library = "" if self.mpi else shmem_version(self.compiler)
        if not library:
            return self.launcher_version()
        # An OpenSHMEM without a launcher of its own is started by that of an MPI.
        return library if self.about == "" else f"{library}, started by {self.launcher_version()}"

    def launcher_version(self):
        if self.about.startswith("HYDRA"):
            return "MPICH " + hydra_version(self.launcher[0])
        number = re.search(r"\d+\.\d+(\.\d+)*", self.about)
        return ("Open MPI " if self.openmpi else "") + (number.group() if number else self.about or "version unknown")

    def runs(self, job):
        return job.source(self.mpi) is not None and (self.only is None or job.name in self.only)

    def launch(self, npes, program, job):
        flags = []
        if self.openmpi:
            flags += OPENMPI_FLAGS + ([] if self.mpi else OPENMPI_SHMEM_FLAGS)
            if self.mpi and job in ACCUMULATES:
                flags += OPENMPI_ACCUMULATE_FLAGS
        return self.launcher + flags + ["-n", str(npes), program]

    def shown(self):
        """How a program is started, for the reader of a report."""
        words = self.launch(2, "PROGRAM", "")
        return " ".join(shlex.quote(word) for word in [short(words[0])] + words[1:])

    def describe(self):
        return {"name": self.name, "version": self.version, "mpi": self.mpi, "own": self.own,
                "compiler": " ".join([short(self.compiler[0])] + self.compiler[1:]), "started": self.shown()}


class KeptPeer:
    """One that was measured before, as Peer.describe said."""

    def __init__(self, kept):
        self.name, self.version, self.mpi, self.own = kept["name"], kept["version"], kept["mpi"], kept["own"]
        self.kept = kept

    def shown(self):
        return self.kept["started"]

    def describe(self):
        return self.kept


def shmem_version(compiler):
    """What shmem.h says of its library; empty where that is no more than who made it, as Open MPI's."""
    program = "#include <shmem.h>\nBENCH_VERSION SHMEM_VENDOR_STRING SHMEM_MAJOR_VERSION SHMEM_MINOR_VERSION\n"
    said = answer(compiler + ["-E", "-P", "-x", "c", "-"], program)
    found = re.search(r'^BENCH_VERSION "([^"]*)" (\d+) (\d+)', said, re.MULTILINE)
    if not found or "://" in found.group(1):
        return ""
    return f"{found.group(1)}, OpenSHMEM {found.group(2)}.{found.group(3)}"


def hydra_version(launcher):
    found = re.search(r"Version:\s*(\S+)", answer([launcher, "--version"]))
    return found.group(1) if found else ""


def resolved(words, what, advice):
    words = shlex.split(words)
    program = shutil.which(words[0]) if words else None
    if not program:
        raise SystemExit(f"run.py: {what}: there is no program {words[0] if words else '(empty)'}. {advice}")
    return [os.path.abspath(program)] + words[1:]


def short(program):
    """Without what only this machine knows: from the root of the source tree on, or the name alone."""
    return os.path.relpath(program, ROOT) if program.startswith(ROOT + os.sep) else os.path.basename(program)


def is_mpi(compiler):
    return bool(re.search(r"mpi(i?cc|gcc|clang)?\b", os.path.basename(compiler))) and "osh" not in compiler


def parse(text, mpi_names=(), own=False):
    """name=compiler,launcher as a Peer."""
    name, _, pair = text.partition("=")
    compiler, comma, launcher = pair.partition(",")
    if not name or not comma:
        raise SystemExit(f"run.py: {text!r} is no peer. Write name=oshcc,oshrun or name=mpicc,mpirun")
    advice = ("Build this library first (make), or say where it is by --oshcc and --oshrun" if own else
              "A peer is written name=compiler,launcher, each with flags behind it if need be")
    compiler, launcher = resolved(compiler, name, advice), resolved(launcher, name, advice)
    return Peer(name, compiler, launcher, name in mpi_names or is_mpi(compiler[0]), own)


def find_inlined(ours):
    """The inlined form of this library, where its oshcc has one: a macro says so, since others ignore the option."""
    compiler = ours.compiler + [INLINE]
    if "SHMEMX_INLINE" not in answer(compiler + ["-E", "-dM", "-x", "c", os.devnull]):
        return []
    return [Peer(f"{ours.name} {INLINE}", compiler, ours.launcher, own=True, only=INLINED)]


# (name, compiler, launcher): where Debian's packages put them; the plain name counts where it is that library's.
KNOWN = (
    ("Open MPI oshmem", ("/usr/bin/oshcc", "oshcc"), ("/usr/bin/oshrun", "oshrun"), "Open MPI|OpenRTE"),
    ("Open MPI", ("mpicc.openmpi", "mpicc"), ("mpirun.openmpi", "mpirun"), "Open MPI|OpenRTE"),
    ("MPICH", ("mpicc.mpich", "mpicc"), ("mpirun.mpich", "mpirun"), "HYDRA|MPICH"),
)


def find_installed(ours):
    """The peers that are there without anybody naming them."""
    found = []
    for name, compilers, launchers, about in KNOWN:
        for pair in zip(compilers, launchers):
            tools = [shutil.which(tool) for tool in pair]
            if all(tools) and re.search(about, first_line([tools[1], "--version"])) and tools[0] != ours.compiler[0]:
                found.append(Peer(name, [tools[0]], [tools[1]], is_mpi(tools[0])))
                break
    return found
