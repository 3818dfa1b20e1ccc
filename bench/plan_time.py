"""The time of an epoch as fringe plan foresees it on this machine, against trainings.

usage: bench/run.sh plan_time [--strict] [--turns=3] [--epochs=8]

Nothing of the plan is fitted on these runs: it measures the kernels and adds up work. The speed of a shared machine
changes from minute to minute, so a plan and the training that it foresees take turns, --turns times; a ratio is the
median over turns of planned by measured (the median epoch of each training, its first two left out), and what is
compared with the bar is how far it is from 1. Memory and the bytes of modes with fixed widths must be equal.
"""
import json
import os
import statistics
import tempfile

from figures import ROOT, Bench, fringe, option, settings

BAR = 0.2
CONFIGS = {"reddit-small": "reddit-small-gcn", "products-small": "adaqp-products-small-gcn"}
MODES = ("vanilla", "adaqp")
RANKS = (1, 2, 4)
SOON = ("quantization.period=3", "quantization.delay=1")
PARTS = {"dense": ("dense",), "aggregate": ("aggregate_own", "aggregate_halo"), "pointwise": ("pointwise",),
         "pack": ("pack", "unpack"), "messages": ("wait",), "reduce": ("reduce",)}


def plan(config, ranks, mode):
    out = fringe("plan", config, "--ranks", ranks, "--ranks-per-host", ranks, "--json", "--quiet", *settings(SOON)).stdout
    return json.loads(out)["modes"][mode][0]


def train(work, config, ranks, mode, epochs):
    folder = os.path.join(work, "run")
    fringe("train", config, "--ranks", ranks, "--quiet",
           *settings((f"mode={mode}", f"run.dir={folder}", f"train.epochs={epochs + 2}", "train.eval_every=0",
                     "run.log_every=0", "run.checkpoint_every=0", *SOON)))
    with open(os.path.join(folder, "metrics.jsonl")) as lines:
        epoch = [json.loads(line) for line in lines][2:]
    with open(os.path.join(folder, "run.json")) as run:
        memory = json.load(run)
    return epoch, find(memory, "memory_predicted")


def find(value, key):
    """The first member with that key at any depth."""
    if not isinstance(value, dict):
        return None
    if key in value:
        return value[key]
    return next((found for found in (find(v, key) for v in value.values()) if found is not None), None)


def median(epochs, names):
    return statistics.median(sum(epoch["time"][name] for name in names) for epoch in epochs)


def compare(bench, name, mode, ranks, turns, epochs):
    config, label = os.path.join(ROOT, "configs", CONFIGS[name] + ".json"), f"{name}, {mode}, {ranks} ranks"
    ratios, parts, last = [], {part: [] for part in PARTS}, None
    for _ in range(turns):
        found = plan(config, ranks, mode)
        with tempfile.TemporaryDirectory() as work:
            run, memory = train(work, config, ranks, mode, epochs)
        real = median(run, ("epoch",))
        ratios.append(found["seconds"] / real)
        last = (found, run, memory, real)
        for part, names in PARTS.items():
            parts[part].append((found[part], median(run, names)))
    found, run, memory, real = last
    ratio = statistics.median(ratios)
    bench.figure(f"{label}, planned/measured {ratio:.2f}", found["seconds"], "s", "measured", real,
                 abs(ratio - 1), BAR, at_most=True)
    print("    " + ", ".join(f"{part} {statistics.median(a for a, _ in pairs):.3f}/"
                             f"{statistics.median(b for _, b in pairs):.3f}" for part, pairs in parts.items()))
    bench.figure(f"{label}, memory", found["memory"], "B", "trainer", memory,
                 1 + abs(found["memory"] - memory) / memory, 1, at_most=True)
    if run[-1]["bytes"] > 0:
        ratio = found["bytes"] / run[-1]["bytes"]
        bar = {"bar": 1, "at_most": True} if mode == "vanilla" else {}
        bench.figure(f"{label}, bytes", found["bytes"], "B", "sent", run[-1]["bytes"], ratio, **bar)


def main():
    bench = Bench("plan_time")
    turns, epochs = int(option("turns", "3")), int(option("epochs", "8"))
    for name in CONFIGS:
        fringe("generate", name, "--quiet")
        for mode in MODES:
            for ranks in RANKS:
                compare(bench, name, mode, ranks, turns, epochs)
    bench.end()


main()
