#!/usr/bin/env python3
"""Tables (Markdown) and a picture of what bench/device/device.c has measured.

    plot.py [--figure NAME] LINK=TABLE.csv ...      for instance RoCE=roce.csv HCCS=hccs.csv

The tables go to standard output; the picture to NAME.png and NAME.svg, where there is Matplotlib.
"""

import argparse
import csv
import sys

PEAK = {"RoCE": (5e3, 12.5), "HCCS": (2e3, 28.0)}  # ns to start and bytes in a ns, as the software NPU models them


def read(path):
    """{"copy": rows, "word": rows}: each row a dictionary, numbers as floats."""
    tables = {}
    with open(path, newline="") as file:
        for line in csv.reader(file):
            if line[1] == "what":
                heads = line
                rows = tables.setdefault(line[0], [])
                continue
            rows.append({head: word if head == "what" else float(word) for head, word in zip(heads[1:], line[1:])})
    return tables


def size(count):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return f"{count / unit:g} {name}"
    return f"{count:g} B"


def rate(row, time="modelled_ns"):
    """Gb/s of a row."""
    return row["bytes"] * row["transfers"] * 8 / row[time]


def markdown(heads, rows):
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def over(row, field):
    """What the library does beyond the runtime's own calls, in each transfer."""
    return (row[field] - row["bare_" + field]) / row["transfers"]


def microseconds(ns, digits=2):
    return f"{ns / 1e3:.{digits}f} us"


def overhead(row):
    return row["modelled_ns"] / row["bare_modelled_ns"] - 1


def print_copies(link, name, rows):
    print(f"**{name}, {link}**\n")
    markdown(["size", "modelled", "Gb/s", "bare calls", "overhead", "more copies", "more waits", "more calls",
              "CPU of the library", "wall", "wall, bare"],
             [[size(r["bytes"]), microseconds(r["modelled_ns"]), f"{rate(r):.2f}", microseconds(r["bare_modelled_ns"]),
               f"{100 * overhead(r):.1f} %", f"{over(r, 'copies'):g}", f"{over(r, 'waits'):g}", f"{over(r, 'calls'):g}",
               # Where the bytes themselves take the CPU's time the difference of two such times says nothing.
               microseconds(over(r, "cpu_ns")) if r["bytes"] <= 65536 else "",
               microseconds(r["wall_ns"], 1), microseconds(r["bare_wall_ns"], 1)] for r in rows])


def print_words(link, rows):
    print(f"**words, {link}**\n")
    markdown(["call", "copies here", "modelled here", "copies at the owner", "modelled at the owner", "CPU here",
              "wall"],
             [[r["what"], f"{r['copies']:g}", microseconds(r["modelled_ns"]), f"{r['owner_copies']:g}",
               microseconds(r["owner_modelled_ns"]), microseconds(r["cpu_ns"]), microseconds(r["wall_ns"], 1)]
              for r in rows])


def check(link, rows):
    """What is asked of the library; sentences about what it does not keep."""
    for r in rows:
        where = f"{link}, {r['what']}, {size(r['bytes'])}"
        if r["bytes"] >= 65536 and overhead(r) > 0.05:
            yield f"{where}: {100 * overhead(r):.1f} % more modelled time than the bare calls"
        if r["bytes"] <= 65536 and over(r, "cpu_ns") > 2000:
            yield f"{where}: {over(r, 'cpu_ns') / 1e3:.2f} us of the CPU's time more than the bare calls"
        if over(r, "copies") > 0 or over(r, "waits") > 0:
            yield f"{where}: {over(r, 'copies'):g} copies and {over(r, 'waits'):g} waits more than the bare calls"


def by_name(rows):
    names = {}
    for row in rows:
        names.setdefault(row["what"], []).append(row)
    return names


def picture(path, links):
    import matplotlib
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "hbmesh", "svg.fonttype": "none"})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(links), figsize=(5 * len(links), 4), squeeze=False)
    for axis, (link, tables) in zip(axes[0], links.items()):
        for (name, rows), style in zip(by_name(tables["copy"]).items(), ("o-", "s--", "^-", "v--", "D-")):
            axis.plot([r["bytes"] for r in rows], [rate(r) for r in rows], style, markersize=4, linewidth=1.2,
                      label=name)
        if link in PEAK:
            start, speed = PEAK[link]
            axis.axhline(8 * speed, color="gray", linestyle=":", linewidth=1)
            axis.text(8, 8 * speed * 1.08, f"{link}: {8 * speed:g} Gb/s, {start / 1e3:g} us", fontsize=8, color="gray")
        axis.set(xscale="log", yscale="log", xlabel="bytes", title=f"heaps on NPUs joined by {link}")
        axis.set_xticks([8, 1 << 10, 1 << 16, 1 << 20, 1 << 26], ["8", "1 Ki", "64 Ki", "1 Mi", "64 Mi"])
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("Gb/s, in the modelled time of a software NPU")
    axes[0][-1].legend(fontsize=8, loc="lower right")
    figure.tight_layout()
    figure.savefig(path + ".png", dpi=110, metadata={"Software": None})
    figure.savefig(path + ".svg", metadata={"Date": None})
    pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("tables", nargs="+", metavar="LINK=TABLE.csv")
    parser.add_argument("--figure", help="name of the picture, without .png and .svg")
    options = parser.parse_args()
    links = {name: read(path) for name, path in (table.split("=", 1) for table in options.tables)}
    for link, tables in links.items():
        for name, rows in by_name(tables["copy"]).items():
            print_copies(link, name, rows)
        print_words(link, tables["word"])
    for link, tables in links.items():
        for sentence in check(link, tables["copy"]):
            print("beyond what is asked:", sentence)
    if not options.figure:
        return
    try:
        picture(options.figure, links)
    except ImportError as error:
        print(f"no picture: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
