"""doc/benchmarks.md: the part between the two marks, written anew each time; what stands around it is kept."""

import os
import statistics

from harness.results import LEVEL, verdict
from harness.runs import GIVEN_UP
from harness.tables import order, table_of

BEGIN = "<!-- Written by bench/run.py from here on: what is changed by hand is lost. -->"
END = "<!-- End of what bench/run.py writes. -->"
AROUND = f"# Benchmarks\n\n{BEGIN}\n{END}\n"


# --- cells ---

def digits(value):
    return f"{value:.0f}" if value >= 99.5 else f"{value:.3g}"


def amount(value, unit):
    """With three digits, in the unit that suits it."""
    if value is None:
        return "–"
    steps = {"ns": (("ns", 1), ("us", 1e3), ("ms", 1e6), ("s", 1e9)), "MB/s": (("MB/s", 1), ("GB/s", 1e3)),
             "KiB": (("KiB", 1), ("MiB", 1024), ("GiB", 2**20)),
             "bytes": (("B", 1), ("KiB", 1024), ("MiB", 2**20), ("GiB", 2**30))}.get(unit, ((unit, 1),))
    name, size = [s for s in steps if value >= s[1]][-1] if value >= 1 else steps[0]
    return f"{digits(value / size)} {name}"


def size_text(x):
    """Bytes as a person says them."""
    try:
        n = int(x)
    except ValueError:
        return x
    for name, step in (("MiB", 2**20), ("KiB", 1024)):
        if n >= step and n % step == 0:
            return f"{n // step} {name}"
    return f"{n} B"


def x_text(row):
    kind = table_of(row.table).x
    return size_text(row.x) if kind == "bytes" else row.x


def pes_text(npes):
    return "1 PE" if int(npes) == 1 else f"{npes} PEs"


def cell(row, peer):
    middle = row.median(peer.name)
    if middle is None:
        return row.missing.get(peer.name, "–")
    spread = row.spread(peer.name)
    return amount(middle, row.unit) + (f" ±{100 * spread:.0f} %" if spread is not None else "")


def times(value):
    return "–" if value is None else f"{value:.2f}" if value < 10 else f"{value:.0f}"


# --- tables ---

def lines_of_table(results, rows, names=lambda row: [row.series, x_text(row)]):
    has_limit = any(row.limit for row in rows)
    has_peer = any(row.ahead(results.us, results.others) for row in rows)
    x_name = {"bytes": "size", "PEs": "PEs"}.get(table_of(rows[0].table).x, "")
    titles = ["", x_name][:len(names(rows[0]))]
    ours = [p for p in results.owns if p is results.us or any(row.values.get(p.name) for row in rows)]
    head = titles + [p.name for p in ours]
    head += ["limit"] + [f"{p.name} / limit" for p in ours] if has_limit else []
    head += [p.name for p in results.others] + (["ahead of the best"] if has_peer else [])
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(titles) + "---:|" * (len(head) - len(titles))
    for row in rows:
        cells = names(row) + [cell(row, p) for p in ours]
        if has_limit:
            cells += [amount(row.limit, row.unit)] + [times(row.to_limit(p)) for p in ours]
        cells += [cell(row, p) for p in results.others]
        if has_peer:
            cells.append(times(row.ahead(results.us, results.others)))
        yield "| " + " | ".join(cells) + " |"


def numbers(values, form):
    """One number, or from which to which."""
    low, high = form.format(min(values)), form.format(max(values))
    return low if low == high else f"{low} to {high}"


def load_text(runs):
    return (f"before its runs load {numbers([r.load for r in runs], '{:.1f}')} (that of a minute, our own included) and "
            f"{numbers([r.running for r in runs], '{}')} other processes running")


def under_table(results, rows, machine):
    """The machine, its load, versions, runs and spread of one table."""
    tables = {row.table for row in rows}
    runs = [r for r in results.runs if any(line[0] in tables for line in r.lines)]
    there = [p for p in results.peers if any(row.values.get(p.name) for row in rows)]
    counts = [len(row.values[p.name]) for row in rows for p in there if row.values.get(p.name)]
    spreads = [s for row in rows for p in there for s in [row.spread(p.name)] if s is not None]
    text = f"{machine['cores']} cores, {machine['processor']}; {load_text(runs)}; "
    text += ", ".join(f"{p.name} ({p.version})" for p in there)
    text += f"; values from {numbers(counts, '{}')} run{'s' if max(counts) > 1 else ''}"
    if spreads:
        text += f", spread ±{100 * statistics.median(spreads):.0f} % (median), ±{100 * max(spreads):.0f} % at most"
    return f"*{text}.*"


def row_order(row):
    try:
        return (row.series_place, 0, int(row.x), "")
    except ValueError:
        return (row.series_place, 1, 0, "")


def sorted_rows(rows):
    """Series as they came, each by x."""
    places = {}
    for row in rows:
        row.series_place = places.setdefault(row.series, len(places))
    return sorted(rows, key=row_order)


def section(results, name, machine):
    table, rows = table_of(name), results.of_table(name)
    yield f"### {table.title}\n"
    text = table.text + (f" Limit: {table.limit}." if table.limit and any(r.limit for r in rows) else "")
    if text.strip():
        yield text.strip() + "\n"
    for npes in sorted({row.npes for row in rows}, key=lambda n: n or 0):
        part = sorted_rows([row for row in rows if row.npes == npes])
        if npes is not None:
            yield f"**{pes_text(npes)}**\n"
        yield from lines_of_table(results, part)
        yield ""
    yield under_table(results, rows, machine) + "\n"


# --- summary ---

def where(row):
    if table_of(row.table).x == "PEs":
        return f"{row.series}, {pes_text(row.x)}"
    return f"{row.series} {x_text(row)}, {pes_text(row.npes)}"


def summary_row(name, judged):
    counts = {word: [r for r in judged if verdict(r[1]) == word] for word in ("ahead", "level", "behind")}
    behind = sorted(counts["behind"], key=lambda pair: pair[1])
    worst = "; ".join(f"{where(row)}: {ahead:.2f}" for row, ahead in behind[:3]) + ("; ..." if len(behind) > 3 else "")
    middle = statistics.median(ahead for _, ahead in judged)
    return (f"| {table_of(name).title} | {len(judged)} | {len(counts['ahead'])} | {len(counts['level'])} | "
            f"{len(behind)} | {times(middle)} | {worst} |")


def summary(results):
    judged = results.judged()
    if not judged:
        yield "No peer was measured: there is nobody to be ahead of.\n"
        return
    ahead = sum(verdict(a) == "ahead" for _, a in judged)
    level = sum(verdict(a) == "level" for _, a in judged)
    yield (f"Ahead of the best peer in **{ahead} of {len(judged)} rows**, level (within {100 * LEVEL:.0f} %) in "
           f"{level}, behind in {len(judged) - ahead - level}.\n")
    yield "| table | rows | ahead | level | behind | median, times ahead | behind: the worst of them, times ahead |"
    yield "|---|---:|---:|---:|---:|---:|---|"
    for name in order(results.tables):
        part = [pair for pair in judged if pair[0].table == name]
        if part:
            yield summary_row(name, part)
    yield ""


# (table, PEs, series, x): the rows that say most.
GLANCE = (
    ("p", 2, "heap", "8"), ("p", 2, "static data", "8"), ("g", 2, "heap", "8"), ("g", 2, "static data", "8"),
    ("atomics", 2, "64 bits, heap", "fetch_add"), ("atomics", 2, "64 bits, heap", "compare_swap"),
    *(("put", 2, "heap", str(size)) for size in (64, 4096, 1 << 20, 64 << 20)),
    *(("get", 2, "heap", str(size)) for size in (64, 4096, 1 << 20, 64 << 20)),
    ("put with signal, there and back", 2, "heap", "8"),
    *(("barrier", None, "all PEs", pes) for pes in ("2", "8")),
    *(("token ring", None, "heap", pes) for pes in ("2", "8")),
    *((name, pes, "heap", str(1 << 20)) for pes in (2, 8) for name in ("reduce", "broadcast", "fcollect", "alltoall")),
    ("empty job", None, "start to exit", "8"),
    ("limits", None, "a cache line there and back between two PEs", "2"),
)


def glance(results):
    rows = [results.rows[key] for key in GLANCE if key in results.rows]
    if rows:
        yield "## At a glance\n"
        yield from lines_of_table(results, rows, lambda row: [f"{table_of(row.table).title}: {where(row)}"])
        yield ""


def troubles(results):
    """What did not go well, once for each program and peer."""
    said = {}
    for run in results.runs:
        if run.status != "ok":
            what = "everything after that" if run.status == GIVEN_UP else run.job.path
            said.setdefault((what, run.peer.name, run.status), [set(), run.said])[0].add(run.job.npes)
    if not said:
        return
    yield "What did not run to its end (rows that were printed before are kept):\n"
    for (path, peer, status), (npes, text) in said.items():
        counts = ", ".join(str(n) for n in sorted(npes))
        first = text.split("\n")[0].replace("|", "\\|")
        yield f"- {peer}, {path} with {counts} PEs: {status}" + (f" (`{first}`)" if first else "")
    yield ""


def head(results, machine, passes):
    yield (f"{machine['date']}, commit {machine['commit'] or 'unknown'}: {machine['cores']} cores of "
           f"{machine['processor']}, {machine['memory']}, Linux {machine['kernel']}, {machine['compiler']}. "
           f"Load at the start {machine['load']}. "
           f"{passes} run{'s' if passes > 1 else ''} of each program at most, one peer after the other.\n")
    for peer in results.peers:
        form = " (MPI)" if peer.mpi else ""
        yield f"- **{peer.name}**{form}: {peer.version}; `{peer.shown()}`"
    yield ""


def plots_part(plots):
    for title, name in plots:
        yield f"![{title}](plots/{name}.png)\n"


def generated(results, machine, passes, plots):
    lines = list(head(results, machine, passes))
    lines += ["## Summary\n", *summary(results), *troubles(results), *glance(results)]
    if plots:
        lines += ["## Plots\n", *plots_part(plots)]
    lines.append("## Tables\n")
    for name in order(results.tables):
        lines += section(results, name, machine)
    return "\n".join(lines)


def around(path):
    """What is in the file, or would be in a new one."""
    if not os.path.exists(path):
        return AROUND
    with open(path, encoding="utf-8") as file:
        return file.read()


def problem(path):
    """Why no report can be written into that file; empty when one can."""
    try:
        text = around(path)
    except (OSError, ValueError) as error:
        return f"cannot be read: {error}"
    if BEGIN not in text or END not in text:
        return f"has no marks to write between. They are the lines\n{BEGIN}\n{END}"
    return ""


def write(path, text):
    """Into the file between its marks; into a new one where there is none."""
    before, _, rest = around(path).partition(BEGIN)
    after = rest.partition(END)[2]
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n\n{text.strip()}\n\n{END}{after}")
