"""From lines to rows: medians, spread, limits, and who is ahead."""

import statistics

from harness.tables import table_of

MORE_IS_BETTER = ("MB/s", "Mops/s")
NOT_JUDGED = ("bytes", "messages", "lines")
BEST_WAY = "the best way of each"
IN_NS = {"ns": 1, "us": 1e3, "ms": 1e6}
LEVEL = 0.05  # closer than this is level


def is_limit(series):
    return series == "limit" or series.startswith("limit ")


class Row:
    """One line of a report: a series at an x with a number of PEs. values: {peer: [one for each run]}."""

    def __init__(self, table, npes, series, x, unit):
        self.table, self.npes, self.series, self.x, self.unit = table, npes, series, x, unit
        self.values, self.limit, self.missing = {}, None, {}

    def median(self, peer):
        return statistics.median(self.values[peer]) if self.values.get(peer) else None

    def spread(self, peer):
        """Half of what lies between the extremes, as a part of the median."""
        values = self.values.get(peer, ())
        middle = self.median(peer)
        return (max(values) - min(values)) / 2 / middle if len(values) > 1 and middle else None

    def times_better(self, value, other):
        """How many times better the value is than the other."""
        if not value or not other:
            return None
        return value / other if self.unit in MORE_IS_BETTER else other / value

    def best(self, peers):
        """The best of the peers that have a value, or None."""
        there = [p.name for p in peers if self.values.get(p.name)]
        pick = max if self.unit in MORE_IS_BETTER else min
        return pick(there, key=self.median) if there else None

    def ahead(self, us, peers):
        """How many times better we are than the best peer; None where there is nothing to compare."""
        best = self.best(peers)
        if self.unit in NOT_JUDGED or not table_of(self.table).judged or best is None:
            return None
        return self.times_better(self.median(us.name), self.median(best))

    def to_limit(self, peer):
        """Its time over the limit's, or the limit's rate over its own: 1 is the limit itself."""
        better = self.times_better(self.median(peer.name), self.limit)
        return 1 / better if better else None


def best_way(rows, into):
    """The row in which each library has its best of those rows."""
    pick = max if into.unit in MORE_IS_BETTER else min
    for name in {name for row in rows for name in row.values}:
        there = [row for row in rows if row.values.get(name)]
        into.values[name] = pick(there, key=lambda row: row.median(name)).values[name]
    return into


class Results:
    def __init__(self, runs, peers):
        self.runs, self.peers = runs, peers
        self.us, self.others = peers[0], [p for p in peers if not p.own]
        self.owns = [p for p in peers if p.own]
        self.rows, self.tables, limits = {}, [], {}
        for run in runs:
            for table, series, x, value, unit in run.lines:
                self.add(run, table, series, x, value, unit, limits)
        self.set_limits(limits)
        self.add_best_ways()
        self.explain_missing()

    def add(self, run, table, series, x, value, unit, limits):
        npes = None if table_of(table).x == "PEs" and x == str(run.job.npes) else run.job.npes
        if unit in IN_NS:
            value, unit = value * IN_NS[unit], "ns"
        if is_limit(series):
            if run.peer is self.us:
                limits.setdefault((table, run.job.npes, series, x), []).append(value)
            return
        if table not in self.tables:
            self.tables.append(table)
        row = self.rows.setdefault((table, npes, series, x), Row(table, npes, series, x, unit))
        row.values.setdefault(run.peer.name, []).append(value)

    def set_limits(self, limits):
        for (table, npes, series, x), row in self.rows.items():
            source = table_of(table).limit_table or table
            pes = npes or int(x)
            # Static data has the limit of the heap: it is the same memory.
            names = ("limit " + series, "limit " + series.replace("static data", "heap"), "limit")
            found = next((limits[source, pes, n, x] for n in names if (source, pes, n, x) in limits), None)
            row.limit = statistics.median(found) if found else None

    def add_best_ways(self):
        """Where series are ways to the same end: a row in which each library has its best one."""
        for table in (t for t in self.tables if table_of(t).ways):
            groups = {}
            for row in self.of_table(table):
                groups.setdefault((row.npes, row.x, row.unit), []).append(row)
            for (npes, x, unit), rows in groups.items():
                self.rows[table, npes, BEST_WAY, x] = best_way(rows, Row(table, npes, BEST_WAY, x, unit))

    def explain_missing(self):
        """Why a peer has no value in a row: what became of the program that others have the row from."""
        programs, ends = {}, {}
        for run in self.runs:
            for line in run.lines:
                programs.setdefault((line[0], run.job.npes), set()).add(run.job.path)
            if run.status != "ok" or run.said:
                ends[run.job.path, run.job.npes, run.peer.name] = run.status if run.status != "ok" else "no time"
        for row in self.rows.values():
            npes = row.npes or int(row.x)
            for peer in self.peers:
                if not row.values.get(peer.name):
                    paths = programs.get((row.table, npes), ())
                    why = [ends[p, npes, peer.name] for p in paths if (p, npes, peer.name) in ends]
                    row.missing[peer.name] = why[0] if why else "–"

    def of_table(self, table):
        return [row for (name, *_), row in self.rows.items() if name == table]

    def judged(self):
        """(row, how many times better than the best peer) for every row that can be judged."""
        pairs = ((row, row.ahead(self.us, self.others)) for row in self.rows.values())
        return [(row, ahead) for row, ahead in pairs if ahead is not None]


def verdict(ahead):
    return "ahead" if ahead > 1 + LEVEL else "behind" if ahead < 1 - LEVEL else "level"
