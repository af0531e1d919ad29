"""The graph and its features in symmetric memory: every PE holds a block, and reads from all of them."""

import numpy as np
import shmem4py as shm

import packages
from mirror import Mirror


class Spread:
    """Blocks of rows in symmetric arrays. `rows` and `sample` read, and count what came from other PEs."""

    def __init__(self, graph, width):
        self.me, self.npes = shm.my_pe(), shm.n_pes()
        self.block, self.count = graph.block, graph.count
        self.width = width
        # Every PE allocates the same; the last block may be shorter than the others.
        self.features = self.spread(packages.name_features(graph.names, width), self.block)
        self.links = [self.spread_links(way, most) for way, most in zip(graph.links, graph.most_links)]
        self.whole = None       # all features, once they were gathered
        self.fetched = np.empty((0, width), dtype=np.float32)
        self.feature_rows = 0   # that came from other PEs
        self.graph_bytes = 0    # links that did
        shm.barrier_all()

    def spread_links(self, way, most):
        return self.spread(way[0], self.block), self.spread(way[1], max(most, 1))

    def spread(self, rows, count):
        """A symmetric array of `count` rows that begins with these. Collective."""
        mirror = Mirror((count,) + rows.shape[1:], rows.dtype)
        mirror.local[:len(rows)] = rows
        mirror.show()
        return mirror.symmetric

    def place(self, nodes):
        """Package numbers as (row, PE)."""
        pe = nodes // self.block
        return nodes - pe * self.block, pe

    def sample(self, way, nodes, fan, rng):
        """At most `fan` neighbours of each package, by chance where there are more (one may come twice).

        Returns (packages, which): packages[i] is a neighbour of nodes[which[i]].
        """
        span, ends = self.links[way]
        at, pe = self.place(nodes)
        here = shm.gather(span, at, pe)
        start, degree = here[:, 0], here[:, 1]
        taken = np.minimum(degree, fan)
        which = np.repeat(np.arange(len(nodes)), taken)
        nth = np.arange(len(which)) - (np.cumsum(taken) - taken)[which]
        chance = (rng.random(len(which)) * degree[which]).astype(np.int64)
        pick = start[which] + np.where(degree[which] > fan, chance, nth)
        self.graph_bytes += 16 * np.count_nonzero(pe != self.me) + 8 * np.count_nonzero(pe[which] != self.me)
        return shm.gather(ends, pick, pe[which]), which

    def rows(self, nodes):
        """The features of these packages, whoever owns them: a float32 matrix, until the next call."""
        if self.whole is not None:
            return self.whole.local[nodes]
        at, pe = self.place(nodes)
        if len(nodes) > len(self.fetched):
            self.fetched = np.empty((2 * len(nodes), self.width), dtype=np.float32)
        self.feature_rows += np.count_nonzero(pe != self.me)
        return shm.gather(self.features, at, pe, out=self.fetched[:len(nodes)])

    def gather_all(self):
        """What message passing does: every PE gets all rows."""
        if self.whole is None:
            self.whole = Mirror((self.npes * self.block, self.width), np.float32)
        shm.fcollect(self.whole.symmetric, self.features)
        self.whole.look()
        self.feature_rows += self.block * (self.npes - 1)

    def read_on_demand(self):
        if self.whole is not None:
            self.whole.free()
            self.whole = None
