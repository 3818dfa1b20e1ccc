"""Do coded weight gradients cost accuracy? Paired seeds, against their sum in fp32.

usage: bench/run.sh gradient_accuracy [--strict] [--only=cora-gcn,...] [--ranks=4,8] [--optimizers=adam,sgd]
                                      [--methods=max-8,ef21,...] [--seeds=N] [--hours=3]
smoke: --only=cora-gcn --ranks=2 --optimizers=adam --methods=ef21 --seeds=2

A cell is a case (config, ranks, optimizer) and a method: runs with the same seeds in all methods. A seed's score is the
mean of its last ten evaluations. A method with a bar may be below fp32 by at most max(0.3 points, 2 standard errors of
the paired difference). Cells are kept in bench/results/gradient_accuracy.json as soon as they are known and not run
again (remove one there to do so); none is begun after so many hours. sgd: with momentum, a rate at which fp32 learns,
and twice the epochs. Writes docs/results.md.
"""
import glob
import json
import os
import statistics
import tempfile
import time

from figures import ROOT, Bench, fringe, keep, kept, option, paired_difference, settings, write_section

# config: ranks, optimizers, seeds, settings of all its runs
SETS = {"cora-gcn": ((4, 8), ("adam", "sgd"), 10, []),
        "reddit-small-gcn": ((4,), ("adam",), 4, []),
        "coauthor-physics-gcn": ((4,), ("adam",), 4, ["train.epochs=100", "lossless.order=auto"])}
OPTIMIZERS = {"adam": [], "sgd": ["train.optimizer=sgd", "train.momentum=0.9", "train.lr=0.3", "train.epochs=400"]}
ALWAYS, ADAM, NEVER = ("adam", "sgd"), ("adam",), ()  # optimizers with which a method has a bar
METHODS = {"fp32": (["method=fp32"], NEVER),
           "max-8": (["codec=max", "bits=8"], ALWAYS),
           "max-4": (["codec=max", "bits=4"], ALWAYS),
           "minmax-8": (["method=zipml"], ALWAYS),
           "minmax-4": (["codec=minmax", "bits=4"], ALWAYS),
           "dq-sgd": (["method=dq-sgd", "bits_period=25"], ALWAYS),
           "ef21": (["method=ef21"], ALWAYS),
           "diana": (["method=diana"], ADAM),
           "diana-both": (["method=diana-both"], NEVER),
           "qsgd": (["method=qsgd"], NEVER),
           "signsgd": (["method=signsgd"], NEVER),
           "terngrad": (["method=terngrad"], NEVER)}
KNOWN = kept("gradient_accuracy")


def all_cells():
    """(case, method), in the order in which they are run."""
    wanted = option("methods", ",".join(METHODS)).split(",")
    for config in option("only", ",".join(SETS)).split(","):
        some_ranks, optimizers, seeds, words = SETS[config]
        for ranks in map(int, option("ranks", ",".join(map(str, some_ranks))).split(",")):
            for optimizer in option("optimizers", ",".join(optimizers)).split(","):
                case = Case(config, ranks, optimizer, option("seeds", seeds), words)
                yield from ((case, method) for method in METHODS if method == "fp32" or method in wanted)


class Case:
    def __init__(self, config, ranks, optimizer, seeds, words):
        self.config, self.ranks, self.optimizer, self.seeds = config, ranks, optimizer, seeds
        self.words = words + OPTIMIZERS[optimizer]
        self.name = f"{config}, {ranks} ranks, {optimizer}"

    def run(self, method):
        """What is kept of a cell."""
        with tempfile.TemporaryDirectory() as work:
            words = self.words + [f"gradients.{word}" for word in METHODS[method][0]]
            words += [f"run.dir={work}/run", "run.seed=0", "run.threads=1", "run.log_every=0", "run.checkpoint_every=0",
                      "train.eval_every=5"]
            fringe("train", os.path.join(ROOT, "configs", self.config + ".json"), "--ranks", self.ranks, "--runs",
                   self.seeds, "--quiet", *settings(words))
            paths = sorted(glob.glob(f"{work}/run/**/metrics.jsonl", recursive=True), key=lambda path: (len(path), path))
            return cell_of([[json.loads(line) for line in open(path)] for path in paths])


def mean_of(runs, key):
    """Of all epochs that have it; None: none has."""
    values = [record[key] for run in runs for record in run if key in record]
    return round(statistics.mean(values), 4) if values else None


def cell_of(runs):
    tests = [[100 * record["test"]["micro_f1"] for record in run if "test" in record] for run in runs]
    return {"scores": [round(statistics.mean(test[-10:]), 3) for test in tests],
            "bytes": mean_of(runs, "reduce_bytes"), "bits": mean_of(runs, "gradient_bits"),
            "memory": mean_of(runs, "gradient_memory")}


def measure(table):
    """Cells that are not known yet, as long as there is time."""
    end = time.time() + 3600 * option("hours", 3.0)
    left = [(case, method) for case, method in all_cells() if method not in table.get(case.name, {})]
    while left and time.time() < end:
        print(f"{len(left)} cells left; next: {left[0][0].name}, {left[0][1]}", flush=True)
        case, method = left.pop(0)
        table.setdefault(case.name, {})[method] = case.run(method)
        keep(KNOWN, table)
    for case, method in left:
        print(f"not run: {case.name}, {method}")


def judge(bench, table):
    for case, method in all_cells():
        known = table.get(case.name, {})
        if method == "fp32" or method not in known:
            continue
        mean, _, allowed = paired_difference(known[method]["scores"], known["fp32"]["scores"])
        has_bar = case.optimizer in METHODS[method][1]
        bench.figure(f"{case.name}, {method}", mean, "points", "allowed below fp32", allowed, max(0, -mean) / allowed + 1e-9,
                     1.0 if has_bar else 0.0, at_most=True)


def said(known, method, optimizer):
    if method not in known:
        return "not run"
    if method == "fp32":
        return f"{statistics.mean(known[method]['scores']):.2f} %"
    mean, error, allowed = paired_difference(known[method]["scores"], known["fp32"]["scores"])
    short = optimizer in METHODS[method][1] and mean < -allowed
    return f"{mean:+.2f} ± {error:.2f}{' short' if short else ''}"


def beside(table, method):
    """How many times fewer bytes where fp32 and the method are known; mean bits; |g - h| / |g|."""
    known = [cells for cells in table.values() if "fp32" in cells and method in cells]
    fewer = [f"{cells['fp32']['bytes'] / cells[method]['bytes']:.1f}" for cells in known if cells[method]["bytes"]]
    bits, memory = ([f"{cells[method][key]:.2f}" for cells in known if cells[method][key]] for key in ("bits", "memory"))
    ends = [f"{min(of, key=float)} to {max(of, key=float)}" if of else "" for of in (fewer, bits, memory)]
    return ends if method != "fp32" else ["", "", ""]


def write(table):
    optimizer_of = {case: case.rsplit(" ", 1)[1] for case in table}
    lines = [["gradients", *table, "fewer bytes", "mean bits", "‖g - h‖ / ‖g‖"]]
    lines += [["---"] * len(lines[0])]
    for method, (_, bars) in METHODS.items():
        cells = [said(known, method, optimizer_of[case]) for case, known in table.items()]
        lines.append([method, *cells, *beside(table, method)])
    write_section("Accuracy of coded weight gradients", CAPTION + "\n\n" +
                  "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n\n" + CONCLUSION)


CAPTION = """\
`bench/run.sh gradient_accuracy`: mean of the last ten evaluations (test, percent) with the sum of weight gradients in
fp32, and the difference of each method from it over paired seeds ± its standard error (10 seeds; 4 on reddit-small and
coauthor-physics). max and minmax at 4 and 8 bits, dq-sgd and ef21 may be below fp32 by at most max(0.3 points, 2
standard errors), diana with Adam alone; the others have no bar. sgd: momentum 0.9, rate 0.3, 400 epochs. dq-sgd
chooses bits every 25 epochs."""
CONCLUSION = ""


def main():
    bench = Bench("gradient_accuracy")
    table = json.load(open(KNOWN)) if os.path.exists(KNOWN) else {}
    measure(table)
    judge(bench, table)
    write(table)
    bench.end()


if __name__ == "__main__":
    main()
