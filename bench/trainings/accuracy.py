"""Test accuracy of fringe on 4 ranks against the PyTorch reference, last epoch, 10 seeds.

usage: bench/run.sh accuracy [--strict] [--only=cora-gcn,...] [--runs=10] [--ranks=4]
smoke: --only=cora-gcn --runs=2 --ranks=2

Reads bench/results/reference.json (made by bench/peers/systems/reference.py), trains configs/<set>-<model>.json with
the same recipe and splits, and writes the table into bench/results/tables/accuracy.json. A row agrees if the means differ by at most
max(1.0 point, 3 combined standard errors).
"""
import glob
import json
import os
import shutil
import statistics
import sys
import tempfile

from figures import ROOT, Bench, allowed_difference, fringe, keep, kept, markdown, option, read_kept, write_tables

ROWS = ["cora-gcn", "cora-sage", "citeseer-gcn", "citeseer-sage", "amazon_photo-gcn", "amazon_photo-sage",
        "amazon_computers-gcn", "coauthor_cs-gcn", "coauthor_cs-sage", "coauthor_physics-gcn", "coauthor_physics-sage",
        "deezer_hu-gcn"]


def last_scores(folder, runs):
    """Score of the test nodes at the last epoch of each run, in percent."""
    scores = []
    for path in sorted(glob.glob(os.path.join(folder, "**", "metrics.jsonl"), recursive=True)):
        with open(path) as lines:
            evaluated = [record for record in map(json.loads, lines) if "test" in record]
        test = evaluated[-1]["test"]
        scores.append(100 * test["micro_f1" if "deezer" in folder else "accuracy"])
    if len(scores) != runs:
        sys.exit(f"{folder}: expected {runs} runs, found {len(scores)}")
    return scores


def train(name, runs, ranks):
    folder = tempfile.mkdtemp(prefix=f"fringe-{name}-")
    fringe("train", os.path.join(ROOT, "configs", name.replace("_", "-") + ".json"), "--ranks", ranks, "--runs", runs,
           "--set", f"run.dir={folder}", "--set", "train.eval_every=0")
    scores = last_scores(folder, runs)
    shutil.rmtree(folder)
    return scores


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
        bench.figure(f"{name}: |difference|", difference, "points", "allowed", allowed, difference / allowed + 1e-9, 1.0,
                     at_most=True)
        measured[name] = mine
        keep(table_path, measured)
    write_tables("Accuracy against a PyTorch reference",
                 f"`bench/run.sh accuracy` ({ranks} ranks; test score in percent at the last epoch, mean ± standard deviation).",
                 markdown("| set | fringe | seeds | PyTorch reference | seeds | difference | allowed | |",
                          [row(name, measured[name], reference[name]) for name in ROWS if name in measured]))
    bench.end()


main()
