"""The sum of weight gradients in 4 bits, on the network rig: what mode adaqp gains when its gradients are coded too.

usage: bench/run.sh coded_sums [--strict] [--config=reddit-small-sage] [--layouts=2x2,4x1] [--share=78.2] [--epochs=5]
                               [--repeats=5]
smoke: --layouts=2x1 --epochs=1 --repeats=1

For each layout (hosts x ranks of each) the link rate is searched at which vanilla communicates --share percent of its
epoch; there mode adaqp runs --repeats times with gradients in fp32 and with gradients.codec=max, bits=4, by turns. The
part of adaqp's epoch that the sum of gradients and the rest (what no kind of time names) take could fall to 1/7.7, by
its bytes; the bar is 0.85 of that: 1 - 0.85 x part x (1 - 1/7.7) of adaqp's epoch.
"""
import os
import tempfile

from figures import ROOT, Bench, look_alike, markdown, needs_rig, option, write_tables
from rig import assigned, gains, in_turns, middle, ranged, search

FEWER, SHARE_OF_GAIN = 7.7, 0.85
NOT_PARTS = ("epoch", "all", "bytes", "assignment", "evaluation", "reduce", "reduce_bytes")


def measure(bench, work, config, layout, share, epochs):
    rate, _ = search(work, config, layout, share, 1000, epochs)
    turns = in_turns(option("repeats", 5), {
        name: lambda words=words: assigned(work, config, layout, rate, "adaqp", epochs, *words)
        for name, words in {"fp32": ["gradients.method=fp32"], "max 4": ["gradients.codec=max", "gradients.bits=4"]}.items()})
    base, coded = middle(turns["fp32"]), middle(turns["max 4"])
    part = 1 - sum(value for key, value in base.items() if key not in NOT_PARTS) / base["all"]
    ratio, bar = coded["epoch"] / base["epoch"], 1 - SHARE_OF_GAIN * part * (1 - 1 / FEWER)
    bench.figure(f"{layout}: epoch with 4 bits", coded["epoch"], "s", "fp32", base["epoch"], ratio, bar, at_most=True)
    return (f"| {layout} | {rate} | {base['epoch']:.3f} | {base['reduce']:.3f} | {100 * part:.1f} | {coded['epoch']:.3f} "
            f"| {coded['reduce']:.3f} | {ranged(gains(turns['fp32'], turns['max 4']))} | {ratio:.3f} | {bar:.3f} |")


def main():
    needs_rig()
    bench, name, share = Bench("coded_sums"), option("config", "reddit-small-sage"), option("share", 78.2)
    rows, graph = [], name.rsplit("-", 1)[0]
    look_alike(graph)
    with tempfile.TemporaryDirectory(prefix="fringe-sums-") as work:
        for layout in option("layouts", "2x2,4x1").split(","):
            rows.append(measure(bench, work, os.path.join(ROOT, "configs", name + ".json"), layout, share,
                                option("epochs", 5)))
    write_tables(f"Gradients in 4 bits on the network rig, {graph}", (
        f"`bench/run.sh coded_sums --config={name} --share={share}`: seconds per epoch of mode adaqp with the sum of weight "
        "gradients in fp32 and in 4 bits (codec max), at the link rate at which vanilla communicates that share; medians of "
        "repeats by turns, the gain with its range. at most: 1 - 0.85 x (sum and rest) x (1 - 1/7.7)."), markdown(
            "| hosts x ranks | Mbit/s | adaqp s | sum s | sum and rest % | with 4 bits s | sum s | times adaqp | ratio | at most |", rows))
    bench.end()


main()
