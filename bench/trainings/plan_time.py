"""The time of an epoch as fringe plan foresees it on this machine, against trainings.

usage: bench/run.sh plan_time [--strict] [--turns=3] [--epochs=8] [--only=machine,rig] [--sets=reddit-small,...]
                                 [--ranks=1,2,4] [--modes=vanilla,adaqp]
smoke: --turns=1 --epochs=3 --only=machine --sets=reddit-small --ranks=2 --modes=vanilla

Nothing of the plan is fitted on these runs: it measures the kernels and adds up work. The speed of a shared machine
changes from minute to minute, so a plan and the training that it foresees take turns, --turns times; a ratio is the
median over turns of planned by measured (the median epoch of each training, its first two left out), and what is
compared with the bar is how far it is from 1. Memory and the bytes of modes with fixed widths must be equal.

rig: on 4 hosts of the network rig (bench/common/netrig.sh) with one rank each. They share the cores of this machine, so the
plan is asked with --cores of a host below 1.
"""
import json
import os
import statistics
import tempfile

from figures import FRINGE, QUIET, ROOT, Bench, fringe, look_alike, needs_rig, option, ran, read_run, settings
from rig import AS_IT_IS, on_hosts

BAR, RIG_BAR = 0.2, 0.25
RIG_HOSTS, RIG_LINKS = 4, {"1gbit": "1,100e-6", "100mbit": "0.1,100e-6"}  # name: --link
CONFIGS = {"reddit-small": "reddit-small-gcn", "products-small": "adaqp-products-small-gcn"}
MODES, RANKS = "vanilla,adaqp", "1,2,4"
SOON = ("quantization.period=3", "quantization.delay=1")
PARTS = {"dense": ("dense",), "aggregate": ("aggregate_own", "aggregate_halo"), "pointwise": ("pointwise",),
         "pack": ("pack", "unpack"), "messages": ("wait",), "reduce": ("reduce",)}


def on_machine(ranks):
    return ("--ranks-per-host", ranks)


def on_rig(link):
    cores = len(os.sched_getaffinity(0))
    return ("--ranks-per-host", 1, "--link", RIG_LINKS[link], "--cores", min(1, cores / RIG_HOSTS))


def plan(config, ranks, mode, hosts):
    out = fringe("plan", config, "--ranks", ranks, *hosts, "--json", "--quiet", *settings(SOON)).stdout
    return json.loads(out)["modes"][mode][0]


def train(work, config, ranks, mode, epochs, link):
    """Of a training on this machine or on the rig: its epochs but the first two, and the memory that it foresaw."""
    folder = os.path.join(work, "run")
    words = ["train", config, "--quiet", *settings([*QUIET, f"mode={mode}", f"run.dir={folder}",
                                                    f"train.epochs={epochs + 2}", *SOON])]
    if link:
        on_hosts(f"{RIG_HOSTS}x1", link, *words, first=AS_IT_IS)
    else:
        ran(FRINGE, *words, "--ranks", ranks)
    run, records = read_run(folder)
    return records[2:], run["result"]["memory_predicted"]


def median(epochs, names):
    return statistics.median(sum(epoch["time"][name] for name in names) for epoch in epochs)


def compare(bench, name, mode, ranks, turns, epochs, link=None):
    config, label = os.path.join(ROOT, "configs", CONFIGS[name] + ".json"), f"{name}, {mode}, {ranks} ranks"
    label += f", {link}" if link else ""
    hosts, bar = (on_rig(link), RIG_BAR) if link else (on_machine(ranks), BAR)
    ratios, parts, last = [], {part: [] for part in PARTS}, None
    for _ in range(turns):
        found = plan(config, ranks, mode, hosts)
        with tempfile.TemporaryDirectory() as work:
            run, memory = train(work, config, ranks, mode, epochs, link)
        real = median(run, ("epoch",))
        ratios.append(found["seconds"] / real)
        last = (found, run, memory, real)
        for part, names in PARTS.items():
            parts[part].append((found[part], median(run, names)))
    found, run, memory, real = last
    ratio = statistics.median(ratios)
    bench.figure(f"{label}, planned/measured {ratio:.2f}", found["seconds"], "s", "measured", real,
                 abs(ratio - 1), bar, at_most=True)
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
    turns, epochs, only = option("turns", 3), option("epochs", 8), option("only", "machine,rig").split(",")
    if "rig" in only:
        needs_rig()
    for name in option("sets", ",".join(CONFIGS)).split(","):
        look_alike(name)
        for mode in option("modes", MODES).split(","):
            for ranks in map(int, option("ranks", RANKS).split(",")) if "machine" in only else ():
                compare(bench, name, mode, ranks, turns, epochs)
            for link in RIG_LINKS if "rig" in only else ():
                compare(bench, name, mode, RIG_HOSTS, turns, epochs, link)
    bench.end()


main()
