"""What the user sees: progress, a table, a picture."""

import json
import os
import statistics
import sys

WIDTH = 30


class Progress:
    """A bar on a terminal; elsewhere a line now and then. For PE 0 alone."""

    def __init__(self, trainings, stream=sys.stderr):
        self.trainings, self.stream = trainings, stream
        self.finished, self.told, self.name = 0, 0, None
        self.terminal = stream.isatty()

    def __call__(self, name, part):
        if self.name not in (None, name):
            self.finished += 1
            self.told = 0
        self.name = name
        if self.terminal:
            full = round((self.finished + part) / self.trainings * WIDTH)
            self.stream.write(f"\r  [{'#' * full}{'.' * (WIDTH - full)}] {name}: {part:4.0%}   ")
        elif int(part * 4) > self.told:
            self.told = int(part * 4)
            self.stream.write(f"  {name}: {part:.0%}\n")
        self.stream.flush()

    def end(self):
        if self.terminal:
            self.stream.write("\r" + " " * 78 + "\r")


def megabytes(count):
    return f"{count / 1e6:,.1f} MB"


def table(ways, alone, majority, width):
    """Markdown, which reads well as plain text, too."""
    rows = [("trained", "test accuracy", "epoch", "of it: features", "rows moved per epoch",
             "bytes of features per epoch")]
    for way in ways + [alone]:
        epochs = len(way.losses)
        rows.append((way.name, f"{way.test:.2%}", f"{statistics.median(way.seconds):.2f} s",
                     f"{statistics.median(way.reading):.3f} s", f"{way.rows / epochs:,.0f}",
                     megabytes(way.rows / epochs * width * 4)))
    rows.append(("guess: always the most frequent section", f"{majority:.2%}", "", "", "", ""))
    sizes = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["| " + " | ".join(map(str.ljust, row, sizes)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (size + 2) for size in sizes) + "|")
    return "\n".join(lines)


def picture(path, ways, alone, majority):
    """Loss and accuracy by epoch, as PNG."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.8))
    for way, style in zip(ways + [alone], ("-", "--", "-")):
        epochs = range(1, len(way.losses) + 1)
        wide = 4 if way is ways[0] else 1.5  # the second lies on the first
        label = f"{way.name} (test {way.test:.1%})"
        left.plot(epochs, way.losses, style, linewidth=wide, alpha=0.8)
        scores = [100 * score for score in way.scores]
        right.plot(epochs, scores, style, linewidth=wide, alpha=0.8, label=label)
    label = f"most frequent section ({majority:.1%})"
    right.axhline(100 * majority, color="gray", linestyle=":", label=label)
    left.set(xlabel="epoch", ylabel="training loss (cross entropy)", ylim=(0, None))
    right.set(xlabel="epoch", ylabel="validation accuracy, %", ylim=(0, 100))
    right.legend(loc="center right", fontsize=8)
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.suptitle("Sections of Debian's packages", fontsize=11)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def write(folder, text, ways, alone, majority, options):
    """table.md, results.json and training.png in the folder."""
    with open(os.path.join(folder, "table.md"), "w") as file:
        file.write(text + "\n")
    results = {"options": vars(options), "majority": majority,
               "trainings": [vars(way) for way in ways + [alone]]}
    with open(os.path.join(folder, "results.json"), "w") as file:
        json.dump(results, file, indent=1)
    picture(os.path.join(folder, "training.png"), ways, alone, majority)
