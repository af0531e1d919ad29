#!/usr/bin/env python3
"""A graph neural network over one global memory: which section is a package in?

Trains GraphSAGE on Debian's package graph, spread over the PEs, three times: reading just the features that a
batch needs, gathering all features on all PEs, and without the graph. README.md tells the rest.
"""

import argparse
import os
import sys

# The PEs are the parallelism; threads of libraries would be in their way.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
DATA = os.path.join(HERE, "..", "data", "debian-graph.gz")
OUT = os.path.join(HERE, "..", "..", "build", "gnn")


def leave(shm, status, message):
    """All PEs come here with the same message: PE 0 says it and ends the job, the others wait for that."""
    if shm.my_pe() == 0:
        sys.stderr.write(message)
        sys.stderr.flush()
        shm.global_exit(status)
    shm.barrier_all()


class Parser(argparse.ArgumentParser):
    """Every PE reads the arguments, one talks."""

    def __init__(self, shm, **options):
        super().__init__(**options)
        self.shm = shm

    def error(self, message):
        leave(self.shm, 2, f"gnn: {message}; --help tells the arguments\n")

    def print_help(self, file=None):
        if self.shm.my_pe() == 0:
            super().print_help(file)


def number(kind, low, high):
    def check(text):
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not low <= value <= high:
            raise argparse.ArgumentTypeError(f"needs a number from {low} to {high}, not {text!r}")
        return value
    return check


def fan_out(text):
    fans = tuple(map(number(int, 1, 1000), text.split(",")))
    if len(fans) != 2:
        raise argparse.ArgumentTypeError(f"needs two numbers, as in 4,6, not {text!r}")
    return fans


def read_arguments(shm):
    parser = Parser(shm, prog="gnn", description=__doc__.split("\n\n")[0],
                    formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    add = parser.add_argument
    add("data", nargs="?", default=DATA, help="the graph, in the format of examples/data")
    add("--epochs", type=number(int, 1, 1000), default=12, help="rounds over the training packages")
    add("--batch", type=number(int, 1, 1 << 20), default=1024, help="packages in a batch, over all PEs")
    add("--fan-out", type=fan_out, default="4,6", metavar="A,B",
        help="neighbours taken of a package, and of each neighbour, in both directions of links")
    add("--hidden", type=number(int, 1, 4096), default=64, help="width of the hidden layer")
    add("--features", type=number(int, 8, 4096), default=128, help="floats in a package's features")
    add("--rate", type=number(float, 1e-6, 1), default=0.01, help="Adam's learning rate")
    add("--seed", type=number(int, 0, 1 << 30), default=0, help="of split, weights and sampling")
    add("--gather", choices=("batch", "epoch", "once"), default="batch",
        help="how often all features are gathered")
    add("--out", default=OUT, help="folder for table.md, results.json and training.png")
    return parser.parse_args()


def import_torch(shm):
    try:
        import torch
    except ImportError as error:
        leave(shm, 1, f"gnn: {sys.executable} has no PyTorch ({error}): apt-get install python3-torch, "
                      "pip install torch, or make demo-gnn\n")
    torch.set_num_threads(1)


def make_folder(shm, path):
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        leave(shm, 1, f"gnn: {error}\n")


def read_graph(shm, path):
    import packages
    try:
        return packages.read(path, shm.my_pe(), shm.n_pes())
    except (OSError, ValueError) as error:
        leave(shm, 1, f"gnn: {error}\n")


def majority_share(section, part):
    """How often "it is the most frequent section of the training packages" is right for a test package."""
    import numpy as np
    most = np.bincount(section[part == 0]).argmax()
    return float((section[part == 2] == most).mean())


def train_all(shm, graph, options, say):
    import packages
    import report
    from spread import Spread
    from train import Training

    spread = Spread(graph, options.features)
    part = packages.split(graph.count, options.seed)
    progress = report.Progress(3) if shm.my_pe() == 0 else None

    def training(name, ways, gather=""):
        run = Training(name, spread, graph.section, part, options, ways, gather, progress)
        run.run()
        return run

    on_demand = training("reads on demand", 2)
    gathered = training("gather everything", 2, options.gather)
    alone = training("without the graph", 0)
    if progress:
        progress.end()
    ways = [on_demand.result, gathered.result]
    majority = majority_share(graph.section, part)
    text = report.table(ways, alone.result, majority, options.features)
    same = gathered.same_as(on_demand)
    say(text)
    say()
    say_more(say, spread, ways, options)
    if shm.my_pe() == 0:
        report.write(options.out, text, ways, alone.result, majority, options)
    say(f"loss and accuracy by epoch: {os.path.join(os.path.relpath(options.out), 'training.png')}")
    say("verdict: " + ("the same weights in both ways, to the last bit" if same else "the two ways differ"))
    return same


def say_more(say, spread, ways, options):
    import report
    whole, part = (rows * spread.width * 4 for rows in (spread.count, spread.block))
    links = ways[0].graph_bytes / options.epochs
    once = whole * (spread.npes - 1)
    say(f"features: {report.megabytes(whole)} in all, {report.megabytes(part)} on each PE; "
        "gathered, all of them on each PE")
    say(f"links read from other PEs, both ways alike: {report.megabytes(links)} per epoch")
    say(f"features that never change need gathering only once: {report.megabytes(once)} for all epochs")


def main():
    import shmem4py as shm
    shm.init()
    options = read_arguments(shm)
    import_torch(shm)

    def say(text=""):
        if shm.my_pe() == 0:
            print(text, flush=True)

    make_folder(shm, options.out)
    graph = read_graph(shm, options.data)
    say(f"{graph.count} packages, {len(graph.sections)} sections, on {shm.n_pes()} PEs")
    same = train_all(shm, graph, options, say)
    shm.finalize()
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
