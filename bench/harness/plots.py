"""The pictures, each as PNG and SVG. Needs matplotlib; without it there are none."""

import os

from harness.report import size_text

# For people who see colours in other ways, too (Okabe and Ito); the marks tell them apart without colour.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKS = ("o", "s", "^", "D", "v", "P", "X")
LIMIT = {"color": "#666666", "linestyle": "--", "linewidth": 1.2, "zorder": 1}
GRID = {"color": "#e4e4e4", "linewidth": 0.6}


def library():
    """matplotlib's pyplot, or None."""
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "hbmesh", "svg.fonttype": "none", "font.size": 9,
                                "axes.titlesize": 10, "axes.spines.top": False, "axes.spines.right": False})
    import matplotlib.pyplot
    return matplotlib.pyplot


class Picture:
    """Panels side by side, with one legend for all of them."""

    def __init__(self, plt, results, rows, columns, title):
        self.plt, self.results = plt, results
        self.figure, axes = plt.subplots(rows, columns, figsize=(4.2 * columns, 3.1 * rows + 0.5), squeeze=False)
        self.axes = list(axes.flat)
        self.figure.suptitle(title)
        self.drawn = False

    def style(self, peer):
        place = self.results.peers.index(peer) % len(COLOURS)
        return {"color": COLOURS[place], "marker": MARKS[place], "markersize": 4, "linewidth": 1.4,
                "zorder": 3 if peer.own else 2}

    def lines(self, axis, rows, scale, limit=None):
        """One line for each peer, and the limit's; scale(value, x) is what is drawn."""
        rows = sorted(rows, key=lambda row: int(row.x))
        for peer in self.results.peers:
            points = [(int(r.x), scale(r.median(peer.name), int(r.x))) for r in rows if r.values.get(peer.name)]
            if points:
                axis.plot(*zip(*points), label=peer.name, **self.style(peer))
                self.drawn = True
        points = [(int(r.x), scale(r.limit, int(r.x))) for r in rows if limit and r.limit]
        if points:
            axis.plot(*zip(*points), label=limit, **LIMIT)

    def finish(self, axis, title, x, y, sizes=True):
        axis.set_title(title)
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.set_xlabel(x)
        axis.set_ylabel(y)
        axis.grid(True, **GRID)
        axis.set_axisbelow(True)
        ticks = sorted({v for line in axis.lines for v in line.get_xdata()})
        if not sizes:
            axis.set_xticks(ticks, [str(t) for t in ticks])
        elif ticks:
            some = ticks[::3]
            axis.set_xticks(some, [size_text(t) for t in some])
        axis.minorticks_off()

    def save(self, folder, name):
        """True when there was something to draw."""
        for axis in self.axes:
            if not axis.lines:
                axis.set_visible(False)
        labels = {}
        for axis in self.axes:
            for handle, label in zip(*axis.get_legend_handles_labels()):
                labels.setdefault(label, handle)
        if self.drawn:
            self.figure.legend(labels.values(), labels.keys(), loc="lower center", ncol=min(6, len(labels)),
                               frameon=False)
            self.figure.tight_layout(rect=(0, 0.05, 1, 1))
            for kind, how in (("png", {"dpi": 120}), ("svg", {"metadata": {"Date": None}})):
                self.figure.savefig(os.path.join(folder, f"{name}.{kind}"), **how)
        self.plt.close(self.figure)
        return self.drawn


def rows_of(results, table, npes=None, series=None):
    return [r for r in results.of_table(table) if r.npes == npes and (series is None or r.series == series)]


COPIES = (("put", "heap"), ("put", "static data"), ("get", "heap"), ("get", "static data"))


def in_us(value, _):
    return value / 1e3


def in_gb_per_s(value, x):
    return x / value


def copies(plt, results, title, y, scale):
    picture = Picture(plt, results, 2, 2, title)
    for axis, (table, series) in zip(picture.axes, COPIES):
        picture.lines(axis, rows_of(results, table, 2, series), scale, "memcpy")
        picture.finish(axis, f"{table}, {series}", "size", y)
    return picture


def latency(plt, results):
    return copies(plt, results, "put and get: time against size, 2 PEs", "us", in_us)


def bandwidth(plt, results):
    return copies(plt, results, "put and get: bandwidth against size, 2 PEs", "GB/s", in_gb_per_s)


def collectives(npes):
    def draw(plt, results):
        picture = Picture(plt, results, 2, 3, f"Collectives against the size of the result, {npes} PEs")
        names = ("broadcast", "reduce", "fcollect", "collect", "alltoall", "scan")
        for axis, name in zip(picture.axes, names):
            picture.lines(axis, rows_of(results, name, npes), in_us, "memcpy by every PE")
            picture.finish(axis, name, "size", "us")
        return picture
    return draw


def against_pes(plt, results):
    picture = Picture(plt, results, 2, 3, "Against the number of PEs")
    panels = [("barrier", "all PEs"), ("sync", "all PEs")]
    panels += [("collectives of one double", series) for series in ("reduce", "broadcast", "fcollect", "alltoall")]
    for axis, (table, series) in zip(picture.axes, panels):
        picture.lines(axis, rows_of(results, table, None, series), in_us, "pthread barrier")
        name = table if series == "all PEs" else f"{series}, one double"
        picture.finish(axis, name, "PEs", "us", sizes=False)
    return picture


def start_up(plt, results):
    picture = Picture(plt, results, 1, 2, "Start-up against the number of PEs")
    for axis, table in zip(picture.axes, ("empty job", "init")):
        picture.lines(axis, rows_of(results, table), lambda value, _: value / 1e6)
        picture.finish(axis, {"empty job": "an empty job, start to exit"}.get(table, table), "PEs", "ms", sizes=False)
    return picture


def memory(plt, results):
    picture = Picture(plt, results, 1, 2, "Memory of a PE")
    for axis, series in zip(picture.axes, ("after init", "after a word to everybody")):
        picture.lines(axis, rows_of(results, "memory of a PE", None, series), lambda value, _: value / 1024)
        picture.finish(axis, series, "PEs", "MiB", sizes=False)
    return picture


PICTURES = (
    ("latency", "Time of put and get against size", latency),
    ("bandwidth", "Bandwidth of put and get against size", bandwidth),
    ("collectives-2", "Collectives against size, 2 PEs", collectives(2)),
    ("collectives-8", "Collectives against size, 8 PEs", collectives(8)),
    ("collectives-16", "Collectives against size, 16 PEs", collectives(16)),
    ("pes", "Barrier, sync and collectives against the number of PEs", against_pes),
    ("start", "Start-up time against the number of PEs", start_up),
    ("memory", "Memory of a PE against the number of PEs", memory),
)


def draw_all(results, folder):
    """[(title, name)] of the pictures there are; None without matplotlib."""
    plt = library()
    if plt is None:
        return None
    os.makedirs(folder, exist_ok=True)
    made = []
    for name, title, draw in PICTURES:
        if draw(plt, results).save(folder, name):
            made.append((title, name))
    return made
