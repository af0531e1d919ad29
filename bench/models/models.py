#!/usr/bin/env python3
"""Three jobs in three models of communication: builds and runs what is in this folder, and writes tables in Markdown.

    bench/models/models.py                                   # with build/bin of this tree, and MPI where there is one
    bench/models/models.py --layouts 2 8 2/2 --runs 5        # 2/2: two PEs on two make-believe machines, by the network
    bench/models/models.py --layouts 8 --save figures.json   # adds to what the file has, and shows all of it
    bench/models/models.py --layouts --save figures.json     # shows it only

Programs run in turn, and the median of the runs counts. The digests of the three models have to be equal, or the exit
status is 1. Lines of code are counted between "model: begin" and "model: end" (see model.h). It needs Python only."""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
JOBS = ("updates", "handover", "neighbours")
MODELS = ("message_mpi", "message", "push", "global")
MPI_BY_TCP = ["--mca", "pml", "ob1", "--mca", "btl", "self,tcp"]
LIMIT_S = 60


def code_lines(text):
    """Lines that somebody had to write: no blank ones, no comments, no counting of what is moved."""
    text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment.group().count("\n"), text, flags=re.S)
    return sum(1 for line in text.splitlines() if line.strip() and not re.match(r"\s*moved\(.*\);\s*$", line))


def regions(program):
    """Lines of each region of a program's source: by the name of the variant, or "" for the one without a name."""
    source = program.replace("_message", "_message_mpi") if program.endswith("_message") else program
    with open(os.path.join(HERE, source + ".c")) as file:
        found = re.findall(r"/\* model: begin *(.*?) *\*/\n(.*?)/\* model: end \*/", file.read(), re.S)
    return {name: code_lines(text) for name, text in found}


def lines_of(program, series):
    of = regions(program)
    named = [name for name in of if name and series.endswith(name)]
    return of[named[0] if named else ""]


def build(options, folder):
    programs = {}
    for job in JOBS:
        for model in MODELS:
            name = f"{job}_{model}"
            compiler = options.mpicc if model == "message_mpi" else options.oshcc
            if not compiler:
                continue
            programs[name] = os.path.join(folder, name)
            subprocess.run([compiler, "-O2", os.path.join(HERE, name + ".c"), "-o", programs[name]], check=True)
    return programs


def command(options, program, path, layout):
    pes, _, machines = layout.partition("/")
    if program.endswith("_mpi"):
        extra = options.mpirun_flags.split() + (MPI_BY_TCP if machines else [])
        return [options.mpirun, *extra, "-n", pes, path]
    return [options.oshrun, "-n", pes, *(["--machines", machines] if machines else []), path]


def run(options, program, path, layout):
    """What one run prints: its digests, and its figures by series and quantity."""
    line = command(options, program, path, layout) + options.sizes.get(program.split("_")[0], [])
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        sys.exit(f"models.py: {' '.join(line)} was not through after {LIMIT_S} s: give smaller sizes (--size)")
    if done.returncode != 0:
        sys.exit(f"models.py: {' '.join(line)} ended with status {done.returncode}:\n{done.stderr}")
    digests = re.findall(r"^# digest of \w+: (\w+)$", done.stdout, re.M)
    figures = {}
    for row in done.stdout.splitlines():
        if row.count("\t") == 4 and not row.startswith("#"):
            table, series, _, value, _ = row.split("\t")
            figures.setdefault(series, {})[table.split(", ")[1]] = float(value)
    if not digests or not figures:
        sys.exit(f"models.py: {' '.join(line)} printed no digest or no figures")
    return digests, figures


def measure(options, programs, layout):
    """For each job and series: the program, and the median of each quantity."""
    results, digests = {}, {}
    for _ in range(options.runs):
        for program, path in programs.items():
            job = program.split("_")[0]
            found, figures = run(options, program, path, layout)
            digests.setdefault(job, set()).update(found)
            for series, values in figures.items():
                entry = results.setdefault(job, {}).setdefault(series, {"program": program, "runs": []})
                entry["runs"].append(values)
    for job, all_of_it in digests.items():
        if len(all_of_it) != 1:
            sys.exit(f"models.py: {job} on {layout}: the models come to different digests: {sorted(all_of_it)}")
    return results


def median(entry, quantity):
    return statistics.median(values[quantity] for values in entry["runs"])


def short(number):
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def time_and_spread(entry):
    times = [values["time"] for values in entry["runs"]]
    return short(statistics.median(times)) + (f" ({short(min(times))}-{short(max(times))})" if len(times) > 1 else "")


def layout_title(layout):
    pes, _, machines = layout.partition("/")
    return f"{pes} PEs on {machines} machines" if machines else f"{pes} PEs"


def show(saved):
    layouts = sorted(saved, key=lambda layout: ("/" in layout, int(layout.split("/")[0])))
    for job in JOBS:
        series_of = list(dict.fromkeys(s for layout in layouts for s in saved[layout].get(job, {})))
        print(f"\n**{job}**\n")
        print("| model | lines | " + " | ".join(f"{layout_title(layout)}, ms" for layout in layouts) +
              f" | MB moved, {layout_title(layouts[0])} | operations |\n|---|---|{'---|' * len(layouts)}---|---|")
        for series in series_of:
            entries = [saved[layout].get(job, {}).get(series) for layout in layouts]
            one = next(entry for entry in entries if entry)
            times = [time_and_spread(e) if e else "-" for e in entries]
            print(f"| {series} | {lines_of(one['program'], series)} | {' | '.join(times)} | "
                  f"{median(one, 'moved') / 1e6:.1f} | {median(one, 'operations'):.0f} |")


def parse():
    build_folder = os.path.join(HERE, "..", "..", "build", "bin")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oshcc", default=os.environ.get("OSHCC", os.path.join(build_folder, "oshcc")))
    parser.add_argument("--oshrun", default=os.environ.get("OSHRUN", os.path.join(build_folder, "oshrun")))
    parser.add_argument("--mpicc", default=shutil.which("mpicc"), help="empty: no MPI")
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--mpirun-flags", default="--allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1")
    parser.add_argument("--layouts", nargs="*", default=["2"], metavar="PES[/MACHINES]")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--save", metavar="FILE", help="figures of this and earlier calls, in JSON")
    parser.add_argument("--size", action="append", default=[], metavar="JOB=ARGUMENT[,ARGUMENT]",
                        help="sizes other than the programs' own, for instance neighbours=4096")
    options = parser.parse_args()
    options.sizes = {job: sizes.split(",") for job, _, sizes in (one.partition("=") for one in options.size)}
    wrong = set(options.sizes) - set(JOBS)
    if wrong:
        parser.error(f"--size: {', '.join(sorted(wrong))}: the jobs are {', '.join(JOBS)}")
    return options


def main():
    options = parse()
    saved = {}
    if options.save and os.path.exists(options.save):
        with open(options.save) as file:
            saved = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        programs = build(options, folder) if options.layouts else {}
        for layout in options.layouts:
            saved[layout] = measure(options, programs, layout)
    if options.save:
        with open(options.save, "w") as file:
            json.dump(saved, file, indent=1)
    show(saved)


if __name__ == "__main__":
    main()
