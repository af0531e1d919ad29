"""The graph of packages: this PE's block of it, read from the data file (../data/README.md)."""

import gzip
import re
import zlib

import numpy as np

GRAM = 3  # letters in a piece of a name


class Graph:
    """The packages first ... first + owned of all, their sections, names and links in both directions.

    Every PE owns a block of `block` consecutive packages, the last one perhaps less. `links` holds two pairs
    (span, ends): what a package depends on, and what depends on it. The packages at the other end of package
    v's links are ends[span[v, 0]:][:span[v, 1]]. All numbers of packages count over all PEs.
    """

    def __init__(self, names, sections, section, links, count, block, first, most_links):
        self.names = names              # of this block
        self.sections = sections        # all names of sections
        self.section = section          # of every package: int64; only for training and scoring
        self.links = links
        self.count = count              # packages, of all PEs
        self.block = block
        self.first = first
        self.most_links = most_links    # for each direction, links of the PE that has most


def read(path, pe, npes):
    """The block of that PE. OSError and ValueError say what is wrong with the file."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        lines = text.decode("ascii").split("\n")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: damaged: {error}") from None
    count, nsections = read_header(path, lines)
    sections = lines[1:1 + nsections]
    names, section, source, target = [], [], [], []
    for v, line in enumerate(lines[1 + nsections:1 + nsections + count]):
        try:
            words = line.split()
            names.append(words[0])
            section.append(int(words[1]))
            for delta in words[2:]:
                source.append(v)
                target.append(v + int(delta))
        except (ValueError, IndexError):
            raise ValueError(f"{path}, line {v + 2 + nsections}: not a package and its links") from None
    section, source, target = (np.array(a, dtype=np.int64) for a in (section, source, target))
    check_ranges(path, section, target, count, nsections)

    block = -(-count // npes)
    first = min(pe * block, count)
    ways = [links_of_block(a, b, count, block, first) for a, b in ((source, target), (target, source))]
    return Graph(names[first:first + block], sections, section, [way[0] for way in ways], count, block, first,
                 [way[1] for way in ways])


def read_header(path, lines):
    head = re.match(r"hbmesh-graph 1 (\d+) (\d+) (\d+)( |$)", lines[0])
    if not head:
        raise ValueError(f"{path}: this is no package graph")
    count, _, nsections = map(int, head.groups()[:3])
    last = count + nsections + 1
    if not count or not nsections or len(lines) <= last or lines[last] != "end":
        raise ValueError(f"{path}: the file is not as long as its first line says")
    return count, nsections


def check_ranges(path, section, target, count, nsections):
    if section.min() < 0 or section.max() >= nsections:
        raise ValueError(f"{path}: a section that the file does not name")
    if target.size and (target.min() < 0 or target.max() >= count):
        raise ValueError(f"{path}: a link to a package that is not there")


def links_of_block(source, target, count, block, first):
    """((span, ends) of the block, links of the block that has most)."""
    order = np.argsort(source, kind="stable")
    source, target = source[order], target[order]
    degree = np.bincount(source, minlength=count)
    start = np.concatenate([[0], np.cumsum(degree)])
    edges = np.minimum(np.arange(0, count + block, block), count)
    most = int(np.diff(start[edges]).max())
    last = min(first + block, count)
    span = np.stack([start[first:last] - start[first], degree[first:last]], axis=1)
    return (span, target[start[first]:start[last]]), most


def name_features(names, width):
    """A row of `width` floats for each name: its words and pieces of three letters, hashed, of length 1.

    This is all that a model without the graph knows of a package. Sections play no part in it.
    """
    rows = np.zeros((len(names), width), dtype=np.float32)
    for row, name in zip(rows, names):
        for piece in pieces(name):
            mark = zlib.crc32(piece.encode("ascii", "replace"))
            row[mark % width] += 1.0 if mark >> 16 & 1 else -1.0
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.maximum(length, 1e-6)


def pieces(name):
    words = re.split(r"[-.+]", name)
    framed = "^" + name + "$"
    return (["first " + words[0], "last " + words[-1]] + ["word " + word for word in words]
            + [framed[i:i + GRAM] for i in range(len(framed) - GRAM + 1)])


def split(count, seed):
    """What a package is for: 0 training (70 %), 1 validation (10 %), 2 test (20 %). The same on every PE."""
    part = np.random.default_rng(seed).permutation(count) * 10 // count
    return np.where(part < 7, 0, np.where(part < 8, 1, 2))
