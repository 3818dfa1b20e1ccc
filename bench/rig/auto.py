"""Does mode=auto keep up with the best fixed mode on every link?

usage: bench/run.sh auto [--strict] [--graph=reddit-small] [--layout=2x1] [--links=100mbit,1gbit,10gbit,loopback]
                         [--rounds=10] [--epochs=60] [--fixed=vanilla,...]
smoke: --links=loopback --rounds=1 --epochs=6 --fixed=vanilla

Two hosts of the network rig, each with a core of its own, are joined by links of each rate (loopback: by none, in
shared memory). A short training of every fixed mode finds those that come near the best; the others are left out. Then
these and auto train --epochs epochs in every round, in an order that turns. The figure is auto's seconds by those of
the fixed mode with the best median, both of one round: its median over the rounds, and the 95 % interval of that median
by bootstrap. Seconds are those of all epochs but the first, with the assignment of bit widths, so the epochs in which
auto tries fp32 count.
"""
import math
import os
import shutil
import statistics
import tempfile

from figures import (FRINGE, QUIET, ROOT, Bench, look_alike, markdown, needs_rig, option, ran, read_run, settings,
                     write_tables)
from ratios import interval
from rig import AS_IT_IS, on_hosts

BAR, BAR_LOWER = 1.05, 1.03
FIXED = "vanilla,lossless,overlap,quantize,adaqp"
NEAR, SHORT = 1.3, 6  # times the best; epochs
PERIOD, DELAY = 15, 3


def train(work, config, layout, link, mode, epochs):
    """The records of its epochs, and the choice that it made."""
    folder = os.path.join(work, "run")
    shutil.rmtree(folder, ignore_errors=True)
    words = ["train", config, *settings([*QUIET, f"mode={mode}", f"run.dir={folder}", f"train.epochs={epochs}",
                                         "run.threads=1", f"quantization.period={PERIOD}", f"quantization.delay={DELAY}"])]
    if link == "loopback":
        ran("mpirun", "--oversubscribe", "-n", math.prod(map(int, layout.split("x"))), "-x", "OMP_NUM_THREADS=1", "-x",
            "FRINGE_DATA", FRINGE, *words)
    else:
        on_hosts(layout, link, *words, first=AS_IT_IS)
    run, epochs = read_run(folder)
    return sum(epoch["time"]["epoch"] + epoch["time"].get("assignment", 0) for epoch in epochs[1:]), run.get("codec_choice")


def chosen(choice):
    """"fp32: layer1.forward", or "fp32: none"."""
    names = [f"layer{e['layer']}.{e['direction']}" for e in (choice or {"exchanges": []})["exchanges"]
             if e["rows"] == "fp32"]
    return ", ".join(names) or "none"


def measure(work, config, layout, link, rounds, epochs):
    fixed = option("fixed", FIXED).split(",")
    short = {mode: train(work, config, layout, link, mode, SHORT)[0] for mode in fixed}
    print(f"  {link}: " + ", ".join(f"{mode} {seconds / (SHORT - 1):.3f} s" for mode, seconds in short.items()), flush=True)
    variants = [mode for mode in fixed if short[mode] <= NEAR * min(short.values())] + ["auto"]
    seconds, choices = {mode: [] for mode in variants}, []
    for turn in range(rounds):
        for mode in variants[turn % len(variants):] + variants[:turn % len(variants)]:
            spent, choice = train(work, config, layout, link, mode, epochs)
            seconds[mode].append(spent)
            if mode == "auto":
                choices.append(chosen(choice))
        print(f"    {turn + 1}: " + ", ".join(f"{mode} {times[-1]:.2f}" for mode, times in seconds.items()) + "; fp32: "
              + choices[-1], flush=True)
    return seconds, choices


def judge(bench, link, seconds, choices, epochs):
    best = min((mode for mode in seconds if mode != "auto"), key=lambda mode: statistics.median(seconds[mode]))
    found = interval([a / b for a, b in zip(seconds["auto"], seconds[best])])
    per_epoch = {mode: statistics.median(times) / (epochs - 1) for mode, times in seconds.items()}
    common = statistics.mode(choices)
    bench.figure(f"{link}, auto", per_epoch["auto"], "s", best, per_epoch[best], found[0], BAR, at_most=True)
    bench.figure(f"{link}, lower end of the interval", found[1], "x", "1", 1, found[1], BAR_LOWER, at_most=True)
    return (f"| {link} | {best} | {per_epoch[best]:.3f} s | {per_epoch['auto']:.3f} s | {found[0]:.3f} | "
            f"{found[1]:.3f} to {found[2]:.3f} | {common} ({choices.count(common)} of {len(choices)}) |")


def main():
    bench = Bench("auto")
    graph, layout = option("graph", "reddit-small"), option("layout", "2x1")
    rounds, epochs = int(option("rounds", "10")), int(option("epochs", "60"))
    config = os.path.join(ROOT, "configs", f"adaqp-{graph}-gcn.json")
    rows, links = [], option("links", "100mbit,1gbit,10gbit,loopback").split(",")
    if links != ["loopback"]:
        needs_rig()
    look_alike(graph)
    with tempfile.TemporaryDirectory(prefix="fringe-auto-") as work:
        for link in links:
            seconds, choices = measure(work, config, layout, link, rounds, epochs)
            rows.append(judge(bench, link, seconds, choices, epochs))
            print(rows[-1], flush=True)
    write_tables("Mode auto on every link", (
        f"`bench/run.sh auto`: {graph}, GCN 3 x 256, {layout} hosts x ranks with one core each on the network rig, or as "
        f"many ranks of one machine (loopback). {rounds} rounds of {epochs} epochs, by turns. Seconds of an epoch with the "
        "trials and the assignment of widths, medians; the ratio is auto's to the best fixed mode's of the same round, "
        f"its median and 95 % interval. Bars: {BAR}, and {BAR_LOWER} for the lower end."),
        markdown("| link | best fixed mode | its epoch | auto's epoch | ratio | 95 % | exchanges with fp32 rows |", rows))
    bench.end()


main()
