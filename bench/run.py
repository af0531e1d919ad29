#!/usr/bin/env python3
"""Benchmarks side by side: this library, the machine's limits, and every OpenSHMEM and MPI that is there, in one run.

    bench/run.py                                     build/bin/oshcc and oshrun, beside what is installed
    bench/run.py sos=/opt/sos/bin/oshcc,/opt/sos/bin/oshrun intel=mpicc,'mpirun -genv I_MPI_FABRICS shm'
    bench/run.py --tables copy atomic --pes 2        only those programs, only with two PEs
    bench/run.py --from doc/benchmarks.json          the report anew from figures taken before

Writes OUT/benchmarks.md (the part between its marks), OUT/benchmarks.json (every value) and OUT/plots. OUT is doc/ for a
whole measurement; for one of some programs, or one that was ended by Ctrl-C, build/bench, so that it does not take the
place of a whole one. The programs are those of bench/micro, bench/apps and bench/models; what they print is said in
bench/micro/bench.h. Only Python's own library is needed; plots need matplotlib.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

from harness import machine, peers, plots, programs, report, results, runs  # noqa: E402

QUICK = {"BENCH_ROW_MS": "2", "BENCH_BYTES": "65536"}
INTERRUPTED = 128 + signal.SIGINT
NO_PEERS = ("no other library is installed here to compare with: install some (Debian: apt-get install libopenmpi-dev "
            "openmpi-bin libmpich-dev mpich), or name them: bench/run.py name=oshcc,oshrun name=mpicc,mpirun")


def tell(line):
    print(line, flush=True)


def more_than_zero(number):
    def convert(text):
        if number(text) <= 0:
            raise argparse.ArgumentTypeError(f"{text} is not more than 0")
        return number(text)

    convert.__name__ = number.__name__
    return convert


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("peers", nargs="*", metavar="NAME=CC,RUN",
        help="a peer: its compiler and its launcher, each with flags behind it if need be. Whether it is an OpenSHMEM "
        "or an MPI is told from the compiler's name. Default: what is found installed")
    add("--no-peers", action="store_true", help="this library and the limits alone")
    add("--mpi", action="append", default=[], metavar="NAME", help="the peer of this name is an MPI")
    add("--name", default="hbmesh", help="what this library is called in the report (%(default)s)")
    add("--oshcc", default=os.environ.get("OSHCC") or os.path.join(ROOT, "build/bin/oshcc"),
        help="this library's compiler, with flags ($OSHCC, else build/bin/oshcc)")
    add("--oshrun", default=os.environ.get("OSHRUN") or os.path.join(ROOT, "build/bin/oshrun"),
        help="this library's launcher, with flags ($OSHRUN, else build/bin/oshrun)")
    add("--own", action="append", default=[], metavar="NAME=CC,RUN",
        help="another form of this library: shown beside it, not counted as a peer (default: the inlined form, where "
        "oshcc has one)")
    add("--tables", nargs="+", default=["all"], metavar="PROGRAM",
        help="which programs: copy, atomic, ..., or micro, apps, models (default: all)")
    add("--pes", nargs="+", type=int, metavar="N", help="only with these numbers of PEs")
    add("--repeats", type=more_than_zero(int), default=3,
        help="runs of each program (%(default)s); if more than one, two more of those that take a moment")
    add("--minutes", type=more_than_zero(float), default=17, help="no run begins later than this (%(default)s)")
    add("--limit", type=more_than_zero(float),
        help="seconds one run of a program may take (four times what it plans, and 15)")
    add("--quick", action="store_true", help="one short run of each, up to 64 KiB and 2 PEs: to see that it works")
    add("--out", help="where the report goes (doc/, or build/bench for a part)")
    add("--build", help="where the programs are built (a folder that is gone afterwards)")
    add("--from", dest="sources", nargs="+", metavar="JSON",
        help="run nothing: write the report from figures taken before; those of several files, of the same machine, "
        "count as of one run")
    add("--list", action="store_true", help="say what would be run, by whom, and end")
    return parser.parse_args()


def find_out(args, whole):
    """Where the report goes. It is asked before a quarter of an hour is spent on what goes into it."""
    out = args.out or os.path.join(ROOT, "doc" if whole else "build/bench")
    try:
        os.makedirs(out, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise SystemExit(f"run.py: --out {out}: no report can be written there ({error.strerror}). Name a folder that "
                         "is yours") from None
    path = os.path.join(out, "benchmarks.md")
    problem = report.problem(path)
    if problem:
        raise SystemExit(f"run.py: {path} {problem}")
    return out


def find_peers(args):
    ours = peers.parse(f"{args.name}={args.oshcc},{args.oshrun}", own=True)
    owns = [peers.parse(text, own=True) for text in args.own] or peers.find_inlined(ours)
    if args.no_peers:
        return [ours] + owns
    named = [peers.parse(text, args.mpi) for text in args.peers]
    found = [ours] + owns + (named or peers.find_installed(ours))
    names = [peer.name for peer in found]
    for name in names:
        if names.count(name) > 1:
            raise SystemExit(f"run.py: two peers are called {name}. Give each a name of its own")
    return found


# --- figures kept ---

def keep(path, about, everybody, taken):
    """A run on each line, so that two such files can be compared."""
    lines = [json.dumps(run.describe(), separators=(",", ":"), ensure_ascii=False) for run in taken]
    head = json.dumps({"machine": about, "peers": [p.describe() for p in everybody]}, indent=1, ensure_ascii=False)
    with open(path, "w", encoding="utf-8") as file:
        file.write(head[:-2] + ',\n "runs": [\n' + ",\n".join(lines) + "\n ]\n}\n")


def recall(paths):
    documents = []
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                documents.append(json.load(file))
        except (OSError, ValueError) as error:
            raise SystemExit(f"run.py: --from {path}: no figures of an earlier run are there ({error}). Name a "
                             "benchmarks.json") from None
    by_name = {kept["name"]: peers.KeptPeer(kept) for document in documents for kept in document["peers"]}
    taken = []
    for kept in (run for document in documents for run in document["runs"]):
        job = programs.Job(kept["program"], kept["pes"])
        taken.append(runs.Run(job, by_name[kept["peer"]], kept["pass"], kept["status"], kept["seconds"],
                              (kept["load"], kept["running"]), kept["lines"], kept["said"]))
    return documents[0]["machine"], list(by_name.values()), taken


# --- the whole ---

def measure(args, everybody, jobs, taken):
    """Appends each run to `taken`."""
    deadline = time.monotonic() + 60 * args.minutes
    with tempfile.TemporaryDirectory(prefix="hbmesh-bench-") as own:
        folder = os.path.abspath(args.build or own)
        tell(f"building the programs for {', '.join(peer.name for peer in everybody)}")
        built = runs.build_all(everybody, jobs, folder)
        for (name, path), (_, said) in built.items():
            if said:
                tell(f"{name} does not compile {path}: {said}")
        tell(f"measuring: {args.minutes:g} minutes at most")
        runner = runs.Runner(built, deadline, QUICK if args.quick else {}, args.limit)
        runs.run_all(runner, jobs, everybody, 1 if args.quick else args.repeats, tell, taken)


def write_report(out, about, everybody, taken):
    passes = max([run.number for run in taken], default=0)
    found = results.Results(taken, everybody)
    if not found.rows:
        raise SystemExit("run.py: no program printed a figure; what each said is above")
    pictures = plots.draw_all(found, os.path.join(out, "plots"))
    if pictures is None:
        again = f"bench/run.py --from {os.path.join(out, 'benchmarks.json')} --out {out}"
        tell(f"no plots: this Python has no matplotlib. Install it (Debian: apt-get install python3-matplotlib), then: "
             f"/usr/bin/python3 {again}")
    path = os.path.join(out, "benchmarks.md")
    report.write(path, report.generated(found, about, passes, pictures))
    tell("\n".join(line for line in report.summary(found)).split("\n")[0].replace("**", ""))
    tell(f"the report is in {path}")


def report_again(args):
    about, everybody, taken = recall(args.sources)
    out = find_out(args, whole=True)
    if len(args.sources) > 1:
        keep(os.path.join(out, "benchmarks.json"), about, everybody, taken)
    write_report(out, about, everybody, taken)


def main():
    for number in runs.ENDING:  # the run that is going on is ended, too
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup has it
            signal.signal(number, signal.default_int_handler)
    args = arguments()
    if args.sources:
        report_again(args)
        return 0
    everybody = find_peers(args)
    jobs = programs.chosen(programs.all_jobs(args.quick), args.tables, args.pes)
    if args.list:
        for peer in everybody:
            tell(f"{peer.name}: {peer.version}; {peer.describe()['compiler']}; {peer.shown()}")
        tell("\n".join(f"{job.path} with {job.npes} PEs" for job in jobs))
        return 0
    out = find_out(args, whole=args.tables == ["all"] and not args.quick and not args.pes)
    about = machine.describe(ROOT)
    taken, status = [], 0
    try:
        measure(args, everybody, jobs, taken)
    except KeyboardInterrupt:
        tell(f"\nended before its time, after {len(taken)} runs")
        if not taken:
            return INTERRUPTED
        out, status = find_out(args, whole=False), INTERRUPTED
    if len(everybody) == sum(peer.own for peer in everybody) and not args.no_peers:
        tell(NO_PEERS)
    keep(os.path.join(out, "benchmarks.json"), about, everybody, taken)
    write_report(out, about, everybody, taken)
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
