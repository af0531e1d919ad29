"""GraphSAGE in two layers, and its mini-batches."""

import numpy as np
import torch
import torch.nn.functional as F

DROP = 0.3


class Layer(torch.nn.Module):
    """out = own @ A + mean(what it depends on) @ B + mean(what depends on it) @ C"""

    def __init__(self, width, out, ways):
        super().__init__()
        self.own = torch.nn.Linear(width, out)
        self.near = torch.nn.ModuleList(torch.nn.Linear(width, out, bias=False) for _ in range(ways))

    def forward(self, rows, hop):
        out = self.own(rows[hop.own])
        for near, (source, which) in zip(self.near, hop.links):
            out = out + near(mean(rows, source, which, len(hop.own)))
        return out


def mean(rows, source, which, count):
    """Row i: the mean of rows[source[j]] over all j with which[j] == i; zeros where there is none."""
    total = torch.zeros(count, rows.shape[1]).index_add(0, which, rows[source])
    return total / torch.bincount(which, minlength=count).clamp(min=1).unsqueeze(1)


class Sage(torch.nn.Module):
    """Two layers; with ways=0 a network that sees the package alone."""

    def __init__(self, width, hidden, sections, ways):
        super().__init__()
        self.ways = ways
        self.first = Layer(width, hidden, ways)
        self.second = Layer(hidden, sections, ways)

    def forward(self, rows, batch):
        hidden = F.dropout(torch.relu(self.first(rows, batch.hops[0])), DROP, self.training)
        return self.second(hidden, batch.hops[1])


class Hop:
    """Which rows of the layer below a layer reads: `own` for the packages themselves, `links` by way."""

    def __init__(self, below, nodes, links):
        def place(packages):
            return torch.from_numpy(np.searchsorted(below, packages))

        self.own = place(nodes)
        self.links = [(place(near), torch.from_numpy(which)) for near, which in links]


class Batch:
    """Packages with their sampled neighbourhoods. `nodes`: whose features are needed, each once, sorted."""

    def __init__(self, spread, targets, fan_out, ways, rng):
        nodes, self.hops = targets, []
        for fan in fan_out:  # from the targets outwards
            links = [spread.sample(way, nodes, fan, rng) for way in range(ways)]
            below = np.unique(np.concatenate([nodes] + [near for near, _ in links]))
            self.hops.insert(0, Hop(below, nodes, links))
            nodes = below
        self.nodes = nodes
