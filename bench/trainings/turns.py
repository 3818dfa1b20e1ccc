"""Is one version of fringe as fast as another, on a machine that is not quiet?

smoke: BUILD/fringe BUILD/fringe --cells=tiny-2 --pairs=1 --most=1 --epochs=5

    bench/turns.sh OLD NEW [--cells NAME,...] [--bar 1.02] [--pairs 20] [--most 60] [--epochs 0] [--whole] [--strict]

OLD and NEW are programs (build/fringe). For each cell (a small training, below) pairs of trainings run
by turns, now one first, now the other: first OLD against OLD, then OLD against NEW. The ratio is the
median over the pairs of NEW's median epoch by OLD's (time.epoch of metrics.jsonl, without the first
two epochs), its interval 95 % by bootstrap over the pairs.

  ok               the interval ends at or below the bar
  short            it begins above the bar, or ends above it although OLD against OLD is narrow enough
  not measurable   OLD against OLD is wider than +- 2 % even with --most pairs; then the instructions of
                   an epoch in user mode (one rank, one thread) are counted, where the machine counts
                   them, and more than 1 % more of them is short

Set-up, evaluations, checkpoints and what stands between two epochs (the line of metrics.jsonl, what the
ranks agree on) are not timed. With --whole all that each epoch costs is: the time from start to end of a
training of 11 times as many epochs, less that of one, by the epochs. Exit status with --strict: 0 where all are ok or not
measurable without more instructions, 1 otherwise.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import sys
import tempfile
import time

from ratios import compared, interval, narrow
from versions import Version

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SMALL = {"model": {"layers": 2, "hidden": [64]}}
CELLS = {  # name: (generator, or a config of configs/; config; ranks; epochs; settings)
    "tiny-2": ("tiny", SMALL, 2, 400, ["mode=vanilla"]),
    "tiny-adaqp-2": ("tiny", SMALL, 2, 400, ["mode=adaqp", "quantization.period=50", "quantization.link=[1e-9,1e-5]",
                                             "quantization.solver=exact"]),
    "cora-2": ("cora-gcn.json", None, 2, 200, []),
    "reddit-small-1": ("reddit-small-gcn.json", None, 1, 10, []),
    "reddit-small-2": ("reddit-small-gcn.json", None, 2, 10, []),
    "reddit-small-4": ("reddit-small-gcn.json", None, 4, 10, []),
    "reddit-half-1": ("planted:nodes=116000,edges=13400000,communities=128",
                      {"model": {"layers": 2, "hidden": [256]}}, 1, 5, []),
    "walmart-1": ("walmart-hgnn.json", None, 1, 10, []),  # 2 hgnn layers, 256 wide
    # two hosts of the network rig at the rate where vanilla communicates 75.2 % of an epoch (bench/results/tables/adaqp.json)
    "rig-adaqp-2x1": ("reddit-small-gcn.json", None, 2, 24,
                      ["mode=adaqp-published", "quantization.period=10", "quantization.link=[2.5e-8,1e-4]",
                       "quantization.solver=exact", "run.threads=1"]),
}
RIGS = {"rig-adaqp-2x1": ["--hosts", "2", "--ppn", "1", "--pin", "--rate", "325mbit"]}  # cells that run on one
QUIET = ["train.eval_every=1000000", "run.checkpoint_every=0", "run.log_every=0"]


class Bench:
    def __init__(self, folder, old, new, options):
        self.folder = folder
        self.whole, self.epochs = options.whole, options.epochs
        self.version = {which: Version(path, os.path.join(folder, "cache-" + which))
                        for which, path in (("old", old), ("new", new))}

    def config(self, which, cell):
        source, config, *_ = CELLS[cell]
        path = os.path.join(self.folder, f"{which}-{cell}.json")
        if source.endswith(".json"):
            with open(os.path.join(ROOT, "configs", source)) as lines:
                config = json.load(lines)
            name = config["data"]["path"]
        else:
            name, config = source, dict(config, data={"path": os.path.join(self.folder, source)})
        with open(path, "w") as out:
            json.dump({self.version[which].key(f"{section}.{key}"): value for section, keys in config.items()
                       if isinstance(keys, dict) for key, value in keys.items()}
                      | {key: value for key, value in config.items() if not isinstance(value, dict)}, out)
        if not source.endswith(".json"):
            if not os.path.exists(os.path.join(self.folder, source)):
                self.version["old"].call("generate", source, "-o", os.path.join(self.folder, source))
        if source.startswith("reddit") and not os.path.exists(os.path.join(self.folder, which + "-" + source)):
            self.version[which].call("generate", name)
            open(os.path.join(self.folder, which + "-" + source), "w").close()
        return path

    def train(self, which, cell, ranks=None, epochs=None, settings=(), before=()):
        _, _, cell_ranks, cell_epochs, own = CELLS[cell]
        run = os.path.join(self.folder, "run")
        shutil.rmtree(run, ignore_errors=True)
        words = ["train", self.config(which, cell)]
        if cell in RIGS and ranks is None:
            before = ["bash", os.path.join(ROOT, "bench", "common", "netrig.sh"), "run", "--name", "turns", *RIGS[cell], "--",
                      "-x", "OMP_NUM_THREADS=1", "-x", "XDG_CACHE_HOME", *before]
        else:
            words += ["--ranks", str(ranks or cell_ranks)]
        for setting in [*own, *QUIET, *settings, f"train.epochs={epochs or self.epochs or cell_epochs}", f"run.dir={run}"]:
            key, value = setting.split("=", 1)
            words += ["--set", f"{self.version[which].key(key)}={value}"]
        done = self.version[which].call(*words, before=before)
        with open(os.path.join(run, "metrics.jsonl")) as lines:
            return [json.loads(line)["time"]["epoch"] for line in lines], done.stderr

    def wall(self, which, cell, epochs):
        begin = time.monotonic()
        self.train(which, cell, epochs=epochs)
        return time.monotonic() - begin

    def epoch(self, which, cell):
        if self.whole:
            epochs = CELLS[cell][3]
            return (self.wall(which, cell, 11 * epochs) - self.wall(which, cell, epochs)) / (10 * epochs)
        return statistics.median(self.train(which, cell)[0][2:])

    def pairs(self, other, cell, count, ratios):
        while len(ratios) < count:
            first = len(ratios) % 2 == 0
            seconds = [self.epoch(which, cell) for which in (("old", other) if first else (other, "old"))]
            old, new = seconds if first else reversed(seconds)
            ratios.append(new / old)

    def instructions(self, which, cell):
        """Of one epoch, in user mode; None where they are not counted."""
        counts = []
        least = 5
        for epochs in (least, 3 * least):
            _, said = self.train(which, cell, 1, epochs, ["run.threads=1"],
                                 ["perf", "stat", "-x", ";", "-e", "instructions:u"])
            found = re.search(r"^(\d+);;instructions:u", said, re.M)
            if not found:
                return None
            counts.append(int(found[1]))
        return (counts[1] - counts[0]) / (2 * least)


def judge(bench, cell, options):
    own, other = [], []
    for count in range(options.pairs, options.most + 1, options.pairs):
        bench.pairs("old", cell, count, own)
        if narrow(interval(own)):
            break
    bench.pairs("new", cell, len(own), other)
    text, figure = compared(cell, own, other, options.bar, "epoch")
    if figure["verdict"] == "not measurable":
        said, is_more = instructions(bench, cell)
        text += said
        figure["verdict"] = "short" if is_more else "not measurable"
    print(f"{text}: {figure['verdict']}", flush=True)
    return figure


def instructions(bench, cell):
    counted = shutil.which("perf") and [bench.instructions(which, cell) for which in ("old", "new")]
    if not counted or None in counted:
        return "; this machine counts no instructions", False
    ratio = counted[1] / counted[0]
    return f"; instructions an epoch {counted[0]:.4g} and {counted[1]:.4g} ({100 * (ratio - 1):+.2f} %)", ratio > 1.01


def main():
    parser = argparse.ArgumentParser(prog="turns.sh", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--cells", default=",".join(CELLS))
    parser.add_argument("--bar", type=float, default=1.02)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--most", type=int, default=60)
    parser.add_argument("--epochs", type=int, default=0, help="of each training, instead of its cell's")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--strict", action="store_true")
    options = parser.parse_args()
    cells = options.cells.split(",")
    unknown = [cell for cell in cells if cell not in CELLS]
    if unknown:
        parser.error(f"there is no cell {unknown[0]}; there are {', '.join(CELLS)}")
    with tempfile.TemporaryDirectory(prefix="fringe-turns-") as folder:
        bench = Bench(folder, options.old, options.new, options)
        figures = [judge(bench, cell, options) for cell in cells]
    print(json.dumps({"bench": "turns", "figures": figures}))
    sys.exit(1 if options.strict and any(figure["verdict"] == "short" for figure in figures) else 0)


main()
