#!/usr/bin/env python3
"""What spinning at barriers costs and gains: seconds per epoch of a training of one rank on all cores, alone and two at
once, with libgomp's default, with GOMP_SPINCOUNT=1000, and as fringe chooses. The arms take turns.

  spin.py [--turns=3] [--epochs=20]
"""
import json
import os
import shutil
import statistics
import subprocess
import tempfile

from figures import FRINGE, ROOT, Bench, option

ARMS = {"libgomp's default": {"GOMP_SPINCOUNT": "300000"}, "1000": {"GOMP_SPINCOUNT": "1000"}, "fringe's choice": {}}
turns, epochs = option("turns", 3), option("epochs", 20)
work = tempfile.mkdtemp(prefix="fringe-spin-")


def start(folder, environment):
    kept = {name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    return subprocess.Popen([FRINGE, "train", os.path.join(ROOT, "configs/reddit-small-gcn.json"), "--quiet",
                             "--set", f"train.epochs={epochs}", "--set", "train.eval_every=0",
                             "--set", f"run.dir={folder}"], env=kept | environment, stdout=subprocess.DEVNULL)


def seconds(count, environment, name):
    """Median seconds per epoch of `count` trainings at once, mean of them."""
    folders = [os.path.join(work, f"{name}-{k}") for k in range(count)]
    running = [start(folder, environment) for folder in folders]
    for process in running:
        if process.wait() != 0:
            raise SystemExit("a training failed; generate reddit-small first")
    return statistics.mean(json.load(open(f"{folder}/run.json"))["result"]["seconds_per_epoch"] for folder in folders)


bench = Bench("spin")
found = {}
try:
    for turn in range(turns):
        for count in (1, 2):
            for arm, environment in ARMS.items():
                name = f"{turn}-{count}-{list(ARMS).index(arm)}"
                found.setdefault((count, arm), []).append(seconds(count, environment, name))
finally:
    shutil.rmtree(work)
for (count, arm), times in found.items():
    best = min(statistics.median(found[count, other]) for other in ARMS)
    median = statistics.median(times)
    bench.figure(f"{count} at once, {arm} ({min(times):.3f}-{max(times):.3f})", median, "s/epoch", "best", best,
                 median / best)
bench.end()
