"""AdaQP on a hypergraph on the network rig, at the smallest published share of communication.

usage: bench/run.sh hyper_rig [--strict] [--layouts=2x1,4x1] [--share=66.8] [--epochs=9] [--repeats=3]
smoke: --layouts=2x1 --epochs=1 --repeats=1

For each layout (hosts x ranks of each) the link rate is searched at which vanilla (fp32, blocking, the 2 R rows of
lossless.cover=replicas) spends that share of its epoch packing, sending and unpacking walmart's rows (configs/
adaqp-walmart-hgnn.json, with parts of equal numbers of nodes and of pins: waiting for a larger part is no
communication); there vanilla, the same rows in few bits (adaqp-published) and fewer rows in few bits (adaqp) take
turns. Bars: 2 hosts 2.5 and 3 times as fast as vanilla, 4 hosts 2.2 and 2.7. The ideal is the epoch without any
communication.
"""
import os
import statistics
import tempfile

from figures import ROOT, Bench, markdown, needs_rig, option, read_json, write_json, write_tables
from rig import assigned, gains, in_turns, middle, ranged, search, vanilla

BARS = {"2x1": {"adaqp-published": 2.5, "adaqp": 3.0}, "4x1": {"adaqp-published": 2.2, "adaqp": 2.7}}
CONFIG = os.path.join(ROOT, "configs", "adaqp-walmart-hgnn.json")
HEAD = ("| hosts x ranks | communication % | Mbit/s | mode | seconds per epoch | times as fast | bar | without communication | "
        "MB per epoch | times fewer |")


def row(layout, share, rate, mode, turns, ideal):
    base, variant = middle(turns["vanilla"]), middle(turns[mode])
    bar = BARS.get(layout, {}).get(mode)
    return (f"| {layout} | {share:.1f} | {rate} | {mode} | {variant['epoch']:.3f} "
            f"| {ranged(gains(turns['vanilla'], turns[mode]))} "
            f"| {bar if bar else ''} | {ideal:.2f} | {variant['bytes'] / 1e6:.2f} | {base['bytes'] / variant['bytes']:.1f} |")


def balanced(work):
    """The config, cut into parts of equal numbers of pins, too."""
    config = read_json(CONFIG)
    config["partition"]["balance"] = ["edges"]
    return write_json(os.path.join(work, "walmart.json"), config)


def measure(bench, work, config, layout, share, epochs):
    rate, _ = search(work, config, layout, share, 1500, epochs)
    variants = {"vanilla": lambda: vanilla(work, config, layout, rate, epochs)}
    for mode in ("adaqp-published", "adaqp"):
        variants[mode] = lambda mode=mode: assigned(work, config, layout, rate, mode, epochs)
    turns = in_turns(option("repeats", 3), variants)
    base = middle(turns["vanilla"])
    spent = base["wait"] + base["pack"]
    ideal = base["epoch"] / (base["epoch"] - spent)
    for mode, bar in BARS.get(layout, {}).items():
        gain = statistics.median(gains(turns["vanilla"], turns[mode]))
        bench.at_least(f"{layout}: {mode}", gain, "x", 1, "bar", bar)
    return [row(layout, 100 * spent / base["epoch"], rate, mode, turns, ideal) for mode in variants]


def main():
    needs_rig()
    bench, epochs, share = Bench("hyper_rig"), option("epochs", 9), float(option("share", "66.8"))
    rows = []
    with tempfile.TemporaryDirectory(prefix="fringe-hyper-rig-") as work:
        config = balanced(work)
        for layout in option("layouts", "2x1,4x1").split(","):
            rows += measure(bench, work, config, layout, share, epochs)
    caption = ("`bench/run.sh hyper_rig`: walmart (88,860 nodes, 69,906 hyperedges), 2 convolutions of hgnn, 256 wide, cut by "
               "METIS into parts of equal nodes and pins; medians over repeats by turns, with their range. The rate is the one at which vanilla, which sends "
               f"the 2 R rows of the replicas in fp32, comes nearest to {share} % communication; the share is that of its "
               "repeats. Without communication: how many times as fast vanilla's epoch would be.")
    write_tables("AdaQP on a hypergraph on the network rig", caption, markdown(HEAD, rows))
    bench.end()


main()
