"""Cells of paired seeds: a case and a method. Each is kept as soon as it is known, and not run again."""
import glob
import os
import statistics
import sys
import tempfile
import time

from figures import QUIET, ROOT, fringe, json_lines, keep, option, read_kept, settings


def records_of(folder):
    """What each run below the folder says of its epochs, by seed."""
    paths = glob.glob(os.path.join(folder, "**", "metrics.jsonl"), recursive=True)
    runs = []
    for path in sorted(paths, key=lambda path: (len(path), path)):
        runs.append(json_lines(path))
    return runs


def train_seeds(config, ranks, seeds, words):
    """The records of as many runs of configs/CONFIG.json from seed 0 on, evaluated every five epochs."""
    with tempfile.TemporaryDirectory() as work:
        words = [*QUIET, "train.eval_every=5", f"run.dir={work}/run", "run.seed=0", "run.threads=1", *words]
        fringe("train", os.path.join(ROOT, "configs", config + ".json"), "--ranks", ranks, "--runs", seeds, "--quiet",
               *settings(words))
        return records_of(work)


def tests_of(run):
    """Micro-F1 of the test nodes in percent, at each evaluation."""
    return [100 * record["test"]["micro_f1"] for record in run if "test" in record]


def score_of(run):
    return round(statistics.mean(tests_of(run)[-10:]), 3)


def mean_of(runs, key):
    """Of all epochs that have it; None: none has."""
    values = [record[key] for run in runs for record in run if key in record]
    return round(statistics.mean(values), 4) if values else None


def names_wanted(what, value):
    """Does --WHAT=A,B,... name the value? Without the option everything is named."""
    return not option(what, "") or str(value) in option(what, "").split(",")


def known_cells(path):
    """What is kept, and what benches on other machines have kept in the folders of --merge=FOLDER,..."""
    table = {}
    for of in [path, *(os.path.join(folder, os.path.basename(path)) for folder in option("merge", "").split(",") if folder)]:
        if of != path and not os.path.exists(of):
            sys.exit(f"--merge: there is no {of}")
        for case, methods in read_kept(of).items():
            table[case] = {**methods, **table.get(case, {})}
    if option("merge", ""):
        keep(path, table)
    return table


def measure_cells(path, table, cells):
    """Of [(name of the case, method, function that runs it)] those that are not known yet, as long as --hours last."""
    end = time.time() + 3600 * option("hours", 3.0)
    left = [cell for cell in cells if cell[1] not in table.get(cell[0], {})]
    while left and time.time() < end:
        print(f"{len(left)} cells left; next: {left[0][0]}, {left[0][1]}", flush=True)
        case, method, run = left.pop(0)
        table.setdefault(case, {})[method] = run()
        keep(path, table)
    print("\n".join(f"not run: {case}, {method}" for case, method, _ in left))


def not_run(table, cells):
    """A sentence on the cells [(name of the case, method)] that are not in the table."""
    cases = {}
    for case, method in cells:
        if case not in table:
            cases[case] = ["all"]
        elif method not in table[case]:
            cases.setdefault(case, []).append(method)
    return "Not run: " + "; ".join(f"{case}: {', '.join(of)}" for case, of in cases.items()) + "." if cases else ""
