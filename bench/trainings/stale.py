"""What messages that are late, left out, sampled or coded cost and save: accuracy, bytes and time beside each other.

usage: bench/run.sh stale [--strict] [--only=cora-gcn,...] [--ranks=4] [--modes=pipegcn,...] [--seeds=N] [--hours=3]
                          [--seconds]
smoke: --only=cora-gcn --modes=pipegcn --seeds=2 --seconds

Every case (config, ranks) trains in each of the modes with the same seeds, evaluated every five epochs; a seed's score
is the mean of its last ten evaluations. Convergence: the mean test score at some epochs, and the epoch of the first
evaluation at which a seed has 99 % of vanilla's mean score. With --seconds, on a machine that has nothing else to do,
the seconds of epochs are kept too: the median epoch, and seconds of epochs to that evaluation. pipegcn, adaqp and
pipeadaqp may be below vanilla by at most max(0.3 points, 2 standard errors of the paired difference); the others have
no bar; lossless shows which bytes are saved without any of this. Modes that the program does not know are left out.
"""
import statistics
import sys
import tempfile
from collections import namedtuple
from functools import partial
from itertools import accumulate

from cells import known_cells, mean_of, measure_cells, names_wanted, not_run, score_of, tests_of, train_seeds
from figures import FRINGE, Bench, kept, look_alike, markdown, option, paired_difference, write_tables
from versions import Version

# With their own splits few nodes train, and nothing that they need travels.
SIXTY = ['data.split_keys=["train60_idx","val20_idx","test20_idx"]', "lossless.receptive_field=all"]
SETS = {  # config: seeds, settings of all its runs
    "cora-gcn": (10, []),
    "reddit-small-gcn": (4, []),
    "adaqp-products-small-gcn": (4, ["train.epochs=100"]),
    "amazon-computers-gcn": (4, SIXTY),
    "coauthor-physics-gcn": (4, ["train.epochs=100", "lossless.order=auto", *SIXTY]),
}
LOOK_ALIKES = ("reddit-small", "products-small")
MODES = ("vanilla", "lossless", "pipegcn", "pipegcn-published", "bns", "sancus", "adaqp", "pipeadaqp")
BARS = ("pipegcn", "adaqp", "pipeadaqp")
WORDS = ["quantization.period=20", "quantization.delay=1"]  # of modes with bits
AT = (10, 25, 50, 100, 200)  # epochs
NEARLY = 0.99
KNOWN = kept("stale")
Case = namedtuple("Case", "config ranks seeds words")


def name_of(case):
    return f"{case.config}, {case.ranks} ranks"


def known_modes():
    """Of MODES; says which are left out."""
    with tempfile.TemporaryDirectory() as cache:
        known = Version(FRINGE, cache).row("mode")["enum"]
    left_out = [mode for mode in MODES if mode not in known]
    if left_out:
        print(f"left out, not known to {FRINGE}: {', '.join(left_out)}", flush=True)
    return [mode for mode in MODES if mode in known]


def all_cells():
    """(case, mode), in the order in which they are run."""
    for config, (seeds, words) in SETS.items():
        for ranks in map(int, option("ranks", "4").split(",")):
            case = Case(config, ranks, option("seeds", seeds), words)
            yield from ((case, mode) for mode in MODES)


def is_selected(case, mode):
    return names_wanted("only", case.config) and (mode == "vanilla" or names_wanted("modes", mode))


def rounded(values, digits):
    return [round(value, digits) for value in values]


def seconds_of(run):
    """At each evaluation: of all epochs so far."""
    so_far = accumulate(record["time"]["epoch"] for record in run)
    return rounded((seconds for seconds, record in zip(so_far, run) if "test" in record), 4)


def run_cell(case, mode):
    """What is kept of a cell."""
    for name in LOOK_ALIKES:
        if name in case.config:
            look_alike(name)
    runs = train_seeds(case.config, case.ranks, case.seeds, [f"mode={mode}", *case.words, *WORDS])
    cell = {"scores": [score_of(run) for run in runs], "bytes": mean_of(runs, "bytes"),
            "evaluated": [record["epoch"] for record in runs[0] if "test" in record],
            "tests": [rounded(tests_of(run), 2) for run in runs]}
    if "--seconds" in sys.argv:
        cell["epoch"] = statistics.median(record["time"]["epoch"] for run in runs for record in run[2:])
        cell["seconds"] = [seconds_of(run) for run in runs]
    return cell


# ---- what is said of a cell


def score_at(cell, epoch):
    """The mean over seeds; None: not evaluated then."""
    if epoch not in cell["evaluated"]:
        return None
    return statistics.mean(tests[cell["evaluated"].index(epoch)] for tests in cell["tests"])


def nearly(cell, vanilla, what):
    """For each seed that came to 99 % of vanilla's score: what stands for its first such evaluation."""
    least = NEARLY * statistics.mean(vanilla["scores"])
    found = [next((place for place, test in enumerate(tests) if test >= least), None) for tests in cell["tests"]]
    return [of[place] for of, place in zip(what, found) if place is not None]


def said(values, seeds, form):
    """The mean; how many seeds it is of, if not all."""
    if not values:
        return "never"
    return format(statistics.mean(values), form) + ("" if len(values) == seeds else f" ({len(values)} of {seeds} seeds)")


def judge(bench, table, cells):
    for case, mode in cells:
        known = table.get(name_of(case), {})
        if mode == "vanilla" or not {mode, "vanilla"} <= known.keys():
            continue
        vanilla, cell = known["vanilla"], known[mode]
        mean, _, allowed = paired_difference(cell["scores"], vanilla["scores"])
        bench.figure(f"{name_of(case)}, {mode}", mean, "points", "allowed below vanilla", allowed,
                     max(0, -mean) / allowed + 1e-9, 1.0 if mode in BARS else 0.0, at_most=True)
        bench.figure(f"{name_of(case)}, {mode}", cell["bytes"] / 1e6, "MB", "vanilla", vanilla["bytes"] / 1e6,
                     cell["bytes"] / vanilla["bytes"])
        if {"epoch"} <= cell.keys() & vanilla.keys():
            bench.figure(f"{name_of(case)}, {mode}: epoch", cell["epoch"], "s", "vanilla", vanilla["epoch"],
                         cell["epoch"] / vanilla["epoch"])


def row(case, mode, cell, vanilla, has_seconds):
    mean, error, _ = paired_difference(cell["scores"], vanilla["scores"])
    score = f"{statistics.mean(cell['scores']):.2f}"
    seeds, scores = len(cell["scores"]), [score_at(cell, epoch) for epoch in AT]
    cells = [case, mode, score, "" if mode == "vanilla" else f"{mean:+.2f} ± {error:.2f}", str(seeds),
             f"{cell['bytes'] / 1e6:.4f}", f"{vanilla['bytes'] / cell['bytes']:.2f}",
             *("" if score is None else f"{score:.1f}" for score in scores),
             said(nearly(cell, vanilla, [cell["evaluated"]] * seeds), seeds, ".0f")]
    if has_seconds:
        cells += [f"{cell['epoch']:.4f}", said(nearly(cell, vanilla, cell["seconds"]), seeds, ".2f")] if "epoch" in cell else ["", ""]
    return cells


def table_of(table):
    has_seconds = any("epoch" in cell for cells in table.values() for cell in cells.values())
    return markdown(["case", "mode", "test %", "against vanilla", "seeds", "MB an epoch", "times fewer",
                     *(f"epoch {epoch}" for epoch in AT), "epochs to 99 %", *(("epoch, s", "s to 99 %") if has_seconds else ())],
                    [row(case, mode, cells[mode], cells["vanilla"], has_seconds)
                     for case, cells in table.items() for mode in MODES if mode in cells])


def write(table):
    left = not_run(table, [(name_of(case), mode) for case, mode in all_cells()])
    left += "" if any("epoch" in cell for cells in table.values() for cell in cells.values()) else " Seconds: not measured."
    write_tables("Late, skipped, sampled and coded rows", CAPTION, table_of(table), left)


CAPTION = """\
`bench/run.sh stale`: mean of the last ten evaluations (test, percent), its difference from vanilla over paired seeds ±
the standard error, bytes of messages in training (without gradients), the test score at some epochs (mean over seeds),
and the epoch of the first evaluation (every fifth is one) at which a seed has 99 % of vanilla's score. Modes as they
are, with quantization.period=20 and delay=1. All but vanilla, sancus and pipegcn-published also leave out what training
does not need, as lossless does alone: its bytes are those to hold theirs against."""


def main():
    bench = Bench("stale")
    table = known_cells(KNOWN)
    modes = known_modes()
    cells = [(case, mode) for case, mode in all_cells() if is_selected(case, mode) and mode in modes]
    measure_cells(KNOWN, table, [(name_of(case), mode, partial(run_cell, case, mode)) for case, mode in cells])
    judge(bench, table, cells)
    write(table)
    bench.end()


main()
