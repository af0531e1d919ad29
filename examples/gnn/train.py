"""Training over all PEs: each takes batches of its own packages, and the gradients are summed over all."""

import time

import numpy as np
import shmem4py as shm
import torch
import torch.nn.functional as F

import model as models
from mirror import Mirror

WIDE = (10, 10)     # fan-out for scoring: wider than for training, and the same neighbours every time


class Result:
    """What one training gave. By epoch: `losses`, `scores` in validation, `seconds`, of these `reading`."""

    def __init__(self, name):
        self.name = name
        self.losses, self.scores, self.seconds, self.reading = [], [], [], []
        self.rows = 0           # feature rows that came from other PEs, over all epochs and PEs
        self.graph_bytes = 0
        self.test = 0.0


class Gradients:
    """The gradients of a model in one symmetric array: PyTorch writes them, and one reduction sums them."""

    def __init__(self, parameters):
        parameters = list(parameters)
        self.mirror = Mirror(sum(p.numel() for p in parameters) + 1, np.float32)
        self.tensor = torch.from_dlpack(self.mirror.local)  # the same memory; the last element counts packages
        at = 0
        for p in parameters:
            p.grad = self.tensor[at:at + p.numel()].view_as(p)
            at += p.numel()

    def clear(self):
        self.tensor.zero_()

    def average(self, packages):
        """The mean over all packages of all PEs' batches. Collective."""
        self.tensor[-1] = packages
        self.mirror.show()
        shm.float_sum_reduce(self.mirror.symmetric, self.mirror.symmetric)
        self.mirror.look()
        self.tensor[:-1] /= self.tensor[-1].item()


class Training:
    """One model on one way of getting features. The seed decides all: two ways train the same model."""

    def __init__(self, name, spread, section, part, options, ways, gather="", progress=None):
        self.spread, self.options, self.ways, self.gather = spread, options, ways, gather
        self.result = Result(name)
        self.progress = progress or (lambda name, done: None)
        mine = np.arange(spread.me * spread.block, min((spread.me + 1) * spread.block, spread.count))
        self.mine = [mine[part[mine] == use] for use in range(3)]
        self.section = torch.from_numpy(section)
        self.batch = -(-options.batch // spread.npes)
        # PEs have different numbers of packages to train with, but all take part in every reduction.
        owners = np.flatnonzero(part == 0) // spread.block
        self.steps = -(-int(np.bincount(owners, minlength=spread.npes).max()) // self.batch)
        self.totals = shm.alloc(4, dtype=np.float64, kind="host")

        torch.manual_seed(options.seed)
        self.model = models.Sage(spread.width, options.hidden, int(section.max()) + 1, ways)
        torch.manual_seed(options.seed * 1000 + spread.me)  # for what is dropped
        self.gradients = Gradients(self.model.parameters())
        self.optimizer = torch.optim.Adam(self.model.parameters(), options.rate)

    def run(self):
        """Train and score. Collective; the result is the same on all PEs."""
        rng = np.random.default_rng([self.options.seed, self.spread.me])
        if self.gather == "once":
            self.spread.feature_rows = 0
            self.spread.gather_all()
            self.result.rows = int(self.sum(self.spread.feature_rows)[0])
        for epoch in range(self.options.epochs):
            self.result.losses.append(self.epoch(epoch, rng))
            self.result.scores.append(self.score(1))
        self.result.test = self.score(2)
        if self.gather:
            self.spread.read_on_demand()
        return self.result

    def epoch(self, epoch, rng):
        spread, order, loss = self.spread, rng.permutation(self.mine[0]), 0.0
        spread.feature_rows = spread.graph_bytes = 0
        reading = 0.0
        shm.barrier_all()
        begin = time.perf_counter()
        if self.gather == "epoch":
            spread.gather_all()
        for step in range(self.steps):
            targets = order[step * self.batch:(step + 1) * self.batch]
            here, read = self.step(targets, rng)
            loss, reading = loss + here, reading + read
            self.progress(self.result.name, (epoch + (step + 1) / self.steps) / self.options.epochs)
        shm.barrier_all()
        self.result.seconds.append(time.perf_counter() - begin)
        loss, rows, graph_bytes, reading = self.sum(loss, spread.feature_rows, spread.graph_bytes, reading)
        self.result.reading.append(reading / spread.npes)
        self.result.rows += int(rows)
        self.result.graph_bytes += int(graph_bytes)
        return loss / max(self.sum(len(self.mine[0]))[0], 1)

    def step(self, targets, rng):
        """One batch. (sum of losses, seconds spent on getting features)"""
        batch = models.Batch(self.spread, targets, self.options.fan_out, self.ways, rng)
        begin = time.perf_counter()
        if self.gather == "batch":
            self.spread.gather_all()
        rows = torch.from_numpy(self.spread.rows(batch.nodes))
        read = time.perf_counter() - begin
        self.gradients.clear()
        loss = F.cross_entropy(self.model(rows, batch), self.section[targets], reduction="sum")
        loss.backward()
        self.gradients.average(len(targets))
        self.optimizer.step()
        return loss.item(), read

    def score(self, use):
        """The share of packages of that use whose section is predicted. Collective."""
        rng, hits = np.random.default_rng(self.spread.me), 0
        self.model.eval()
        with torch.no_grad():
            for at in range(0, len(self.mine[use]), 1024):
                targets = self.mine[use][at:at + 1024]
                batch = models.Batch(self.spread, targets, WIDE, self.ways, rng)
                guess = self.model(torch.from_numpy(self.spread.rows(batch.nodes)), batch).argmax(1)
                hits += int((guess == self.section[targets]).sum())
        self.model.train()
        hits, asked = self.sum(hits, len(self.mine[use]))
        return hits / max(asked, 1)

    def sum(self, *values):
        """The sums over all PEs. Collective."""
        part = self.totals[:len(values)]
        part[:] = values
        shm.double_sum_reduce(part, part)
        return part.tolist()

    def same_as(self, other):
        """Do the two models have the same weights, to the last bit, on all PEs? Collective."""
        pairs = zip(self.model.parameters(), other.model.parameters())
        return self.sum(sum(not torch.equal(a, b) for a, b in pairs))[0] == 0
