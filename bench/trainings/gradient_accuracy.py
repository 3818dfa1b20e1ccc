"""Do coded weight gradients cost accuracy? Paired seeds, against their sum in fp32.

usage: bench/run.sh gradient_accuracy [--strict] [--only=cora-gcn,...] [--ranks=4,8] [--optimizers=adam,sgd]
                                      [--methods=max-8,ef21,...] [--seeds=N] [--hours=3]
smoke: --only=cora-gcn --ranks=4 --optimizers=adam --methods=ef21 --seeds=2

A cell is a case (config, ranks, optimizer) and a method: runs with the same seeds in all methods. A seed's score is the
mean of its last ten evaluations. A method with a bar may be below fp32 by at most max(0.3 points, 2 standard errors of
the paired difference). sgd: with momentum, a rate at which fp32 learns, and twice the epochs.
"""
import json
import os
import statistics
from collections import namedtuple
from functools import partial

from cells import known_cells, mean_of, measure_cells, names_wanted, not_run, score_of, train_seeds
from figures import Bench, kept, markdown, option, paired_difference, write_tables

# config: ranks, optimizers, seeds, settings of all its runs
SETS = {"cora-gcn": ((4, 8), ("adam", "sgd"), 10, []),
        "reddit-small-gcn": ((4,), ("adam",), 4, []),
        "coauthor-physics-gcn": ((4,), ("adam",), 4, ["train.epochs=100", "lossless.order=auto"])}
OPTIMIZERS = {"adam": [], "sgd": ["train.optimizer=sgd", "train.momentum=0.9", "train.lr=0.2", "train.epochs=400"]}
ALWAYS, ADAM, NEVER = ("adam", "sgd"), ("adam",), ()  # optimizers with which a method has a bar
Method = namedtuple("Method", "words bars codec rounding", defaults=("random",))  # codec as in gradients.json
METHODS = {"fp32": Method(["method=fp32"], NEVER, ""),
           "max-8": Method(["codec=max", "bits=8"], ALWAYS, "max 8"),
           "max-4": Method(["codec=max", "bits=4"], ALWAYS, "max 4"),
           "minmax-8": Method(["method=zipml"], ALWAYS, "minmax 8"),
           "minmax-4": Method(["codec=minmax", "bits=4"], ALWAYS, "minmax 4"),
           "dq-sgd": Method(["method=dq-sgd", "bits_period=25"], ALWAYS, "max 6"),
           "ef21": Method(["method=ef21"], ALWAYS, "minmax 4", "nearest"),
           "diana": Method(["method=diana"], ADAM, "max 2"),
           "diana-both": Method(["method=diana-both"], NEVER, "max 2"),
           "qsgd": Method(["method=qsgd"], NEVER, "l2 4"),
           "signsgd": Method(["method=signsgd"], NEVER, "mean 1", "nearest"),
           "terngrad": Method(["method=terngrad"], NEVER, "max 2"),
           "powersgd:4": Method(["method=powersgd:4"], NEVER, ""),
           "topk:0.05": Method(["method=topk:0.05"], NEVER, ""),
           "clpt": Method(["method=clpt"], NEVER, "log 5"),
           "sketchml": Method(["method=sketchml"], NEVER, "sketch 256", "nearest")}
KNOWN = kept("gradient_accuracy")


def all_cells():
    """(case, method), in the order in which they are run."""
    for config, (some_ranks, optimizers, seeds, words) in SETS.items():
        for ranks in some_ranks:
            for optimizer in optimizers:
                case = Case(config, ranks, optimizer, option("seeds", seeds), words)
                yield from ((case, method) for method in METHODS)


def is_selected(case, method):
    return (names_wanted("only", case.config) and names_wanted("ranks", case.ranks) and
            names_wanted("optimizers", case.optimizer) and (method == "fp32" or names_wanted("methods", method)))


class Case:
    def __init__(self, config, ranks, optimizer, seeds, words):
        self.config, self.ranks, self.optimizer, self.seeds = config, ranks, optimizer, seeds
        self.words = words + OPTIMIZERS[optimizer]
        self.name = f"{config}, {ranks} ranks, {optimizer}"

    def run(self, method):
        """What is kept of a cell."""
        words = self.words + [f"gradients.{word}" for word in METHODS[method].words]
        runs = train_seeds(self.config, self.ranks, self.seeds, words)
        return {"scores": [score_of(run) for run in runs], "bytes": mean_of(runs, "reduce_bytes"),
                "bits": mean_of(runs, "gradient_bits"), "memory": mean_of(runs, "gradient_memory")}


def judge(bench, table):
    for case, method in all_cells():
        known = table.get(case.name, {})
        if method == "fp32" or method not in known or not is_selected(case, method):
            continue
        mean, _, allowed = paired_difference(known[method]["scores"], known["fp32"]["scores"])
        has_bar = case.optimizer in METHODS[method].bars
        bench.figure(f"{case.name}, {method}", mean, "points", "allowed below fp32", allowed,
                     max(0, -mean) / allowed + 1e-9, 1.0 if has_bar else 0.0, at_most=True)


def said(known, method, optimizer):
    if method not in known:
        return "not run"
    if method == "fp32":
        return f"{statistics.mean(known[method]['scores']):.2f} %"
    mean, error, allowed = paired_difference(known[method]["scores"], known["fp32"]["scores"])
    short = optimizer in METHODS[method].bars and mean < -allowed
    return f"{mean:+.2f} ± {error:.2f}{' short' if short else ''}"


def beside(table, method):
    """How many times fewer bytes where fp32 and the method are known; mean bits; what the memory leaves."""
    known = [cells for cells in table.values() if "fp32" in cells and method in cells]
    fewer = [f"{cells['fp32']['bytes'] / cells[method]['bytes']:.1f}" for cells in known if cells[method]["bytes"]]
    bits, memory = ([f"{cells[method][key]:.2f}" for cells in known if cells[method][key]]
                    for key in ("bits", "memory"))
    ends = [sorted({*of}, key=float) for of in (fewer, bits, memory)]
    return [" to ".join([*of[:1], *of[1:][-1:]]) if method != "fp32" else "" for of in ends]


def errors_of_codecs():
    """What bench gradients has found on cora: {method: "least – most"}"""
    path = kept("gradients")
    variants = json.load(open(path)).get("cora-gcn", {}) if os.path.exists(path) else {}
    return {name: " – ".join(f"{end:.2g}" for end in variants[method.codec][method.rounding])
            for name, method in METHODS.items() if method.codec in variants}


def write(table):
    optimizer_of, errors = {case: case.rsplit(" ", 1)[1] for case in table}, errors_of_codecs()
    rows = [[method, *(said(known, method, optimizer_of[case]) for case, known in table.items()), *beside(table, method),
             errors.get(method, "")] for method in METHODS]
    write_tables("Accuracy of coded weight gradients", CAPTION,
                 markdown(["gradients", *table, "fewer bytes", "mean bits", "memory", "error of a share"], rows),
                 not_run(table, [(case.name, method) for case, method in all_cells()]))


CAPTION = """\
`bench/run.sh gradient_accuracy`: mean of the last ten evaluations (test, percent) with the sum of weight gradients in
fp32, and the difference of each method from it over paired seeds ± its standard error (10 seeds; 4 on reddit-small and
coauthor-physics). max and minmax at 4 and 8 bits, dq-sgd and ef21 may be below fp32 by at most max(0.3 points, 2
standard errors), diana with Adam alone; the others have no bar. sgd: momentum 0.9, rate 0.2, 400 epochs. dq-sgd
chooses bits every 25 epochs. memory: what it left of gradients, ‖g - h‖ / ‖g‖, or what feedback added to them,
‖e‖ / ‖g‖; mean over epochs. error of a share: of the codec on cora, from "Codecs on weight gradients"."""


def main():
    bench = Bench("gradient_accuracy")
    table = known_cells(KNOWN)
    measure_cells(KNOWN, table, [(case.name, method, partial(case.run, method)) for case, method in all_cells()
                                 if is_selected(case, method)])
    judge(bench, table)
    write(table)
    bench.end()


main()
