"""Neighbour aggregation, as in a graph neural network: every node sums its neighbours' features.

The graph is the karate club that Zachary observed in 1977: 34 members, and who is friends with whom outside
of it. Nodes are dealt out to the PEs in blocks. Each PE reads the features of its nodes' neighbours from their
owners, on demand, one at a time; the owners take no part in it. (Millions of neighbours take one call:
shm.gather, see ../gnn.)
"""
from collections import defaultdict, namedtuple

import numpy as np
import shmem4py as shm

FRIENDS = """1-2 1-3 1-4 1-5 1-6 1-7 1-8 1-9 1-11 1-12 1-13 1-14 1-18 1-20 1-22 1-32 2-3 2-4 2-8 2-14
2-18 2-20 2-22 2-31 3-4 3-8 3-9 3-10 3-14 3-28 3-29 3-33 4-8 4-13 4-14 5-7 5-11 6-7 6-11 6-17 7-17 9-31
9-33 9-34 10-34 14-34 15-33 15-34 16-33 16-34 19-33 19-34 20-34 21-33 21-34 23-33 23-34 24-26 24-28 24-30
24-33 24-34 25-26 25-28 25-32 26-32 27-30 27-34 28-34 29-32 29-34 30-33 30-34 31-33 31-34 32-33 32-34
33-34"""
MEMBERS = 34

Neighbor = namedtuple("Neighbor", "owner_pe local_idx")
Node = namedtuple("Node", "member local_idx neighbors")


def nodes_of(pe):
    """The nodes in a PE's block, with the places of their neighbours."""
    near = defaultdict(list)
    for pair in FRIENDS.split():
        a, b = map(int, pair.split("-"))
        near[a - 1].append(b - 1)
        near[b - 1].append(a - 1)
    block = range(pe * NODES_PER_PE, min((pe + 1) * NODES_PER_PE, MEMBERS))
    return [Node(v + 1, v % NODES_PER_PE, tuple(Neighbor(*divmod(u, NODES_PER_PE)) for u in near[v]))
            for v in block]


shm.init()
my_pe = shm.my_pe()
NODES_PER_PE = -(-MEMBERS // shm.n_pes())
local_nodes = nodes_of(my_pe)

# One float for each local node. The array is symmetric: the same name reaches the part of any other PE.
local_features = shm.alloc(NODES_PER_PE, dtype=np.float32)
remote_features = local_features
for node in local_nodes:
    local_features[node.local_idx] = len(node.neighbors)
shm.barrier_all()  # all features are there

aggregated = defaultdict(float)
for node in local_nodes:
    for neighbor in node.neighbors:
        # The neighbour may be on another PE: its feature is read there, and that PE need not help.
        remote_pe = neighbor.owner_pe
        remote_offset = neighbor.local_idx
        neighbor_feat = shm.float_get(remote_features[remote_offset], pe=remote_pe)
        aggregated[node] += neighbor_feat
shm.fence()

for node in local_nodes:
    if len(node.neighbors) >= 9:
        print(f"member {node.member} has {len(node.neighbors)} friends, and they have {aggregated[node]:.0f}")
shm.finalize()
