"""Does bf16 cost accuracy? Paired seeds, run.precision=bf16 against fp32 on one rank.

usage: bench/run.sh precision_accuracy [--strict] [--only=cora-gcn,...] [--seeds=N] [--hours=3] [--results=FOLDER]
                                       [--merge=FOLDER,...]
smoke: --only=cora-gcn --seeds=2

A seed's score is the mean of its last ten evaluations; bf16 may differ from fp32 by at most max(0.3 points, 2 standard
errors of the paired difference).
"""
import statistics
from functools import partial

from cells import known_cells, measure_cells, names_wanted, not_run, score_of, train_seeds
from figures import Bench, kept, markdown, option, paired_difference, write_tables

# config: seeds, settings of all its runs
SETS = {"cora-gcn": (10, []), "citeseer-gcn": (10, []), "amazon-photo-gcn": (10, []), "coauthor-cs-gcn": (4, []),
        "coauthor-physics-gcn": (4, ["train.epochs=100", "lossless.order=auto"]), "reddit-small-gcn": (4, []),
        "walmart-hgnn": (4, [])}
PRECISIONS = ("fp32", "bf16")
CELLS = [(config, precision) for config in SETS if names_wanted("only", config) for precision in PRECISIONS]


def scores_of(config, precision):
    seeds, words = SETS[config]
    runs = train_seeds(config, 1, option("seeds", seeds), [*words, f"run.precision={precision}"])
    return [score_of(run) for run in runs]


def main():
    bench, path = Bench("precision_accuracy"), kept("precision_accuracy")
    table = known_cells(path)
    measure_cells(path, table, [(*cell, partial(scores_of, *cell)) for cell in CELLS])
    rows = []
    for config, known in table.items():
        if any(precision not in known for precision in PRECISIONS):
            continue
        mean, error, allowed = paired_difference(known["bf16"], known["fp32"])
        bench.figure(f"{config}, bf16", mean, "points", "allowed", allowed, abs(mean) / allowed, 1.0, at_most=True)
        rows.append([config, len(known["fp32"]), f"{statistics.mean(known['fp32']):.2f} %", f"{mean:+.2f} ± {error:.2f}",
                      f"{allowed:.2f}", "ok" if abs(mean) <= allowed else "short"])
    write_tables("Accuracy of bf16", CAPTION, markdown("| config | seeds | fp32 | bf16 - fp32 | allowed | |", rows),
                 not_run(table, CELLS))
    bench.end()


CAPTION = """\
`bench/run.sh precision_accuracy`: mean of the last ten evaluations (test, percent) on one rank with `run.precision=fp32`,
and the difference of bf16 over paired seeds ± its standard error. Allowed: max(0.3 points, 2 standard errors)."""

main()
