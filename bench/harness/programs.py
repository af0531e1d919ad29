"""What is run: the programs of bench/, with how many PEs, and what each gets of time and memory."""

import glob
import os

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MANY = (1, 2, 4, 8, 16, 32, 64)


class Job:
    """A program with a number of PEs. seconds: after this it begins no further row; whole: it is timed from outside."""

    def __init__(self, path, npes, seconds=3.0, heap=None, whole=None):
        self.path, self.npes, self.seconds, self.heap, self.whole = path, npes, seconds, heap, whole
        self.name = os.path.basename(path)

    def source(self, mpi):
        """The program's file for this kind of library, or None."""
        path = os.path.join(HERE, self.path + ("_mpi.c" if mpi else ".c"))
        return path if os.path.exists(path) else None

    def environment(self):
        settings = {"BENCH_SECONDS": str(self.seconds)}
        if self.heap:
            settings["SHMEM_SYMMETRIC_SIZE"] = self.heap
        return settings


# The order is that of importance: when time is up, what is further down has fewer runs. (program, PEs, settings)
PROGRAMS = (
    ("micro/element", (2,), {"heap": "64M"}),
    ("micro/copy", (2,), {"heap": "256M", "seconds": 4}),
    ("micro/atomic", (2, 8), {"heap": "64M"}),
    ("micro/signal", (2,), {"heap": "64M", "seconds": 2}),
    ("micro/meet", MANY, {"heap": "32M", "seconds": 2}),
    ("micro/ring", (2, 8), {"heap": "64M", "seconds": 2}),
    ("micro/collective", (2, 8, 16), {"heap": "64M", "seconds": 3}),
    ("micro/empty", MANY, {"whole": ("empty job", "start to exit")}),
    ("micro/start", MANY, {}),
    ("micro/strided", (2,), {"heap": "256M"}),
    ("micro/rate", (2, 8), {"heap": "128M", "seconds": 2}),
    ("micro/lock", (2, 8), {"heap": "64M", "seconds": 2}),
    ("micro/heap", (1, 2, 8), {"heap": "128M", "seconds": 2}),
)
APPLICATIONS = (("apps", (2, 8)), ("models", (2, 8)))


def find_applications():
    """Every program of bench/apps and bench/models, by its name."""
    for folder, npes in APPLICATIONS:
        stems = (os.path.basename(source)[:-2] for source in glob.glob(os.path.join(HERE, folder, "*.c")))
        names = sorted({stem[:-4] if stem.endswith("_mpi") else stem for stem in stems})
        for name in names:
            yield os.path.join(folder, name), npes, {"seconds": 4}


def all_jobs(quick=False):
    jobs = []
    for path, counts, settings in list(PROGRAMS) + list(find_applications()):
        for npes in counts:
            if quick and npes > 2:
                continue
            job = Job(path, npes, **settings)
            job.seconds = 1 if quick else job.seconds
            jobs.append(job)
    return jobs


def chosen(jobs, names, counts=None):
    """Those jobs whose program is named (copy, apps, micro/copy, all), with those numbers of PEs."""
    def fits(job):
        return any(n in ("all", job.name, job.path, job.path.split("/")[0]) for n in names)

    for name in names:
        if not any(name in ("all", j.name, j.path, j.path.split("/")[0]) for j in jobs):
            known = " ".join(sorted({j.name for j in jobs}))
            raise SystemExit(f"run.py: --tables {name}: there is no such program. There are: micro, apps, models, "
                             f"{known}")
    named = [j for j in jobs if fits(j)]
    picked = [j for j in named if not counts or j.npes in counts]
    if not picked:
        there = " ".join(str(n) for n in sorted({j.npes for j in named}))
        raise SystemExit(f"run.py: --pes {' '.join(map(str, counts))}: none of the programs is run with so many PEs. They "
                         f"are run with {there}")
    return picked
