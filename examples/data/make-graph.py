#!/usr/bin/env python3
"""Make debian-graph.gz anew from the package lists of apt.

    apt-get update && examples/data/make-graph.py [-o FILE] [LIST]

LIST is a Packages file of Debian, plain or .gz, .xz or .lz4; left out, it is the one of main amd64
that `apt-get update` put into /var/lib/apt/lists. The same list always gives the same bytes.
README.md, next to this script, describes the format.
"""

import argparse
import glob
import gzip
import hashlib
import os
import re
import subprocess
import sys
from collections import defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
RELATIONS = ("Pre-Depends", "Depends", "Recommends")
HUB = 256           # a package with more neighbours says nothing about which packages belong together
ORDERS = {"related": "related packages together", "name": "by name", "hash": "by hash"}
SWEEPS = 8          # rounds of label propagation on each level of the clustering


def find_list():
    """The Packages file of main amd64, without the updates and the security archive."""
    found = [f for f in glob.glob("/var/lib/apt/lists/*_main_binary-amd64_Packages*")
             if "security" not in f and "updates" not in f]
    if not found:
        sys.exit("make-graph: no Packages list of main amd64 in /var/lib/apt/lists: "
                 "run apt-get update, or name a file")
    return sorted(found)[0]


def read_text(path):
    """A package list as text; apt's own helper knows every compression that apt uses."""
    if not re.search(r"\.(gz|xz|lz4|bz2|zst)$", path):
        with open(path, encoding="utf-8") as f:
            return f.read()
    helper = subprocess.run(["/usr/lib/apt/apt-helper", "cat-file", path],
                            capture_output=True, text=True, encoding="utf-8")
    if helper.returncode:
        sys.exit(f"make-graph: cannot read {path}: {helper.stderr.strip()}")
    return helper.stdout


def read_packages(text):
    """{name: fields}, by the first stanza of each name."""
    packages = {}
    for stanza in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in stanza.split("\n")
                      if ": " in line and not line.startswith(" "))
        if "Package" in fields:
            packages.setdefault(fields["Package"], fields)
    return packages


def read_edges(packages):
    """{name: names it depends on}: every alternative counts, versions and virtual packages do not."""
    edges = {}
    for name, fields in packages.items():
        wanted = set()
        for relation in RELATIONS:
            for clause in re.split("[,|]", fields.get(relation, "")):
                target = re.split(r"[ (:\[]", clause.strip(), maxsplit=1)[0]
                if target in packages and target != name:
                    wanted.add(target)
        edges[name] = wanted
    return edges


def weigh(names, edges):
    """Undirected neighbours {node: {node: weight}} for the clustering, hubs left out."""
    index = {name: i for i, name in enumerate(names)}
    near = [set() for _ in names]
    for name, targets in edges.items():
        for target in targets:
            near[index[name]].add(index[target])
            near[index[target]].add(index[name])
    graph = {}
    for v, others in enumerate(near):
        small = [] if len(others) > HUB else [u for u in sorted(others) if len(near[u]) <= HUB]
        graph[v] = {u: 1.0 / (len(others) * len(near[u])) ** 0.5 for u in small}
    return graph


def cluster(graph, size, limit):
    """One level: each node joins the cluster it is tied to most, while that stays within limit."""
    home = {v: v for v in graph}
    load = dict(size)
    for _ in range(SWEEPS):
        moved = 0
        for v in sorted(graph, key=lambda n: (len(graph[n]), n)):
            ties = defaultdict(float)
            for u, weight in graph[v].items():
                ties[home[u]] += weight
            best, best_tie = home[v], ties.get(home[v], 0.0)
            for c in sorted(ties):
                if ties[c] > best_tie + 1e-12 and load[c] + size[v] <= limit:
                    best, best_tie = c, ties[c]
            if best != home[v]:
                load[home[v]] -= size[v]
                load[best] += size[v]
                home[v] = best
                moved += 1
        if not moved:
            break
    return home


def contract(graph, size, home):
    """The graph whose nodes are the clusters."""
    coarse = {c: defaultdict(float) for c in sorted(set(home.values()))}
    coarse_size = defaultdict(int)
    for v, others in graph.items():
        coarse_size[home[v]] += size[v]
        for u, weight in others.items():
            if home[u] != home[v]:
                coarse[home[v]][home[u]] += weight
    return coarse, coarse_size


def chain(graph):
    """Clusters in a row, each followed by the one that is tied most to what stands already."""
    ties = {v: 0.0 for v in graph}
    row = []
    while ties:
        v = max(ties, key=lambda n: (ties[n], -n))
        del ties[v]
        row.append(v)
        for u, weight in graph[v].items():
            if u in ties:
                ties[u] = ties[u] * 0.5 + weight
    return row


def related_order(graph):
    """Nodes in an order that keeps related packages together, so that a block is a partition.

    Clusters of clusters, by the edges alone: sections play no part, for they are to be predicted.
    """
    nodes = len(graph)
    size = {v: 1 for v in graph}
    members = {v: [v] for v in graph}
    limit = 8
    while limit <= nodes // 8:
        home = cluster(graph, size, limit)
        grouped = defaultdict(list)
        for v in sorted(home):
            grouped[home[v]].extend(members[v])
        members = grouped
        graph, size = contract(graph, size, home)
        limit *= 4
    return [v for c in chain(graph) for v in members[c]]


def write_graph(path, packages, edges, order, order_words):
    sections = sorted({fields.get("Section", "none") for fields in packages.values()})
    label = {section: i for i, section in enumerate(sections)}
    index = {name: i for i, name in enumerate(order)}
    total = sum(map(len, edges.values()))
    lines = [f"hbmesh-graph 1 {len(order)} {total} {len(sections)} {order_words}"]
    lines += sections
    for v, name in enumerate(order):
        targets = sorted(index[target] for target in edges[name])
        deltas = [str(target - v) for target in targets]
        lines.append(" ".join([name, str(label[packages[name].get("Section", "none")])] + deltas))
    lines.append("end")
    data = "\n".join(lines) + "\n"
    with open(path, "wb") as raw:
        # No name and no time in the header: the same list gives the same bytes.
        with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=raw, mtime=0) as packed:
            packed.write(data.encode("ascii"))
    print(f"{path}: {len(order)} packages, {total} edges, {len(sections)} sections, "
          f"{os.path.getsize(path)} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("list", nargs="?", help="a Packages file (default: main amd64 of apt)")
    parser.add_argument("-o", "--output", default=os.path.join(HERE, "debian-graph.gz"))
    parser.add_argument("--order", choices=ORDERS, default="related",
                        help="how packages are numbered; the last two are there to compare with")
    args = parser.parse_args()

    packages = read_packages(read_text(args.list or find_list()))
    edges = read_edges(packages)
    order = sorted(packages)
    if args.order == "related":
        order = [order[v] for v in related_order(weigh(order, edges))]
    elif args.order == "hash":
        order.sort(key=lambda name: hashlib.sha256(name.encode()).digest())
    write_graph(args.output, packages, edges, order, ORDERS[args.order])


if __name__ == "__main__":
    main()
