"""Test accuracy of fringe on 4 ranks against the PyTorch reference, last epoch, 10 seeds.

usage: bench/run.sh accuracy [--strict] [--only=cora-gcn,...] [--runs=10] [--ranks=4]
smoke: --only=cora-gcn --runs=2 --ranks=2

Reads bench/results/reference.json (made by bench/peers/systems/reference.py), trains configs/<set>-<model>.json with
the same recipe and splits, and writes the table into bench/results/tables/accuracy.json. A row agrees if the means differ by at most
max(1.0 point, 3 combined standard errors).
"""
import os
import statistics
import sys

from cells import train_seeds
from figures import ROOT, Bench, allowed_difference, keep, kept, markdown, option, read_kept, write_tables

ROWS = ["cora-gcn", "cora-sage", "citeseer-gcn", "citeseer-sage", "amazon_photo-gcn", "amazon_photo-sage",
        "amazon_computers-gcn", "coauthor_cs-gcn", "coauthor_cs-sage", "coauthor_physics-gcn", "coauthor_physics-sage",
        "deezer_hu-gcn"]


def train(name, runs, ranks):
    """Score of the test nodes at the last epoch of each run, in percent."""
    score = "micro_f1" if "deezer" in name else "accuracy"
    return [100 * run[-1]["test"][score] for run in train_seeds(name.replace("_", "-"), ranks, runs, ["train.eval_every=0"])]


def allowed_between(mine, reference):
    return allowed_difference(1.0, (mine["sd"], mine["seeds"]), (reference["sd"], reference["seeds"]))


def row(name, mine, want):
    allowed, difference = allowed_between(mine, want), mine["mean"] - want["mean"]
    return [name, f"{mine['mean']:.2f} ± {mine['sd']:.2f}", mine["seeds"], f"{want['mean']:.2f} ± {want['sd']:.2f}",
            want["seeds"], f"{difference:+.2f}", f"{allowed:.2f}", "ok" if abs(difference) <= allowed else "short"]


def main():
    runs, ranks, bench = option("runs", 10), option("ranks", 4), Bench("accuracy")
    reference = read_kept(os.path.join(ROOT, "bench", "results", "reference.json"))
    only = option("only", "").split(",") if option("only", "") else ROWS
    table_path = kept("accuracy")
    measured = read_kept(table_path)
    for name in only:
        if name not in reference:
            sys.exit(f"bench/results/reference.json has no {name}; make it with bench/peers/systems/reference.py")
    for name in only:
        scores = train(name, runs, ranks)
        mine = {"mean": statistics.mean(scores), "sd": statistics.stdev(scores), "seeds": runs, "ranks": ranks,
                "all": scores}
        allowed, difference = allowed_between(mine, reference[name]), abs(mine["mean"] - reference[name]["mean"])
        bench.within(f"{name}: |difference|", difference, "points", allowed)
        measured[name] = mine
        keep(table_path, measured)
    write_tables("Accuracy against a PyTorch reference",
                 f"`bench/run.sh accuracy` ({ranks} ranks; test score in percent at the last epoch, mean ± standard deviation).",
                 markdown("| set | fringe | seeds | PyTorch reference | seeds | difference | allowed | |",
                          [row(name, measured[name], reference[name]) for name in ROWS if name in measured]))
    bench.end()


main()
