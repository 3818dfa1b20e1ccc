"""What BatchNorm costs an epoch beside LayerNorm, on the network rig: its sums over ranks cannot be hidden.

usage: bench/run.sh norms [--graph=reddit-small] [--layout=2x2] [--share=75.2] [--epochs=9] [--repeats=3]
smoke: --layout=2x1 --epochs=1 --repeats=1

The configuration of bench/run.sh adaqp (gcn) at the link rate where vanilla with LayerNorm spends that share of its
epoch communicating; both norms by turns in vanilla and overlap. Medians over the repeats. Both modes compute all rows
(lossless.receptive_field=all), so that both norms send the same rows.
"""
import os
import statistics
import tempfile

from figures import ROOT, Bench, keep, kept, look_alike, markdown, needs_rig, option, write_tables
from rig import WARM, gains, in_turns, middle, ranged, run, search, times

ALL = "lossless.receptive_field=all"


def main():
    needs_rig()
    bench, graph, epochs = Bench("norms"), option("graph", "reddit-small"), option("epochs", 9)
    layout, share = option("layout", "2x2"), option("share", 75.2)
    look_alike(graph)
    config = os.path.join(ROOT, "configs", f"{graph}-gcn.json")
    with tempfile.TemporaryDirectory(prefix="fringe-norms-") as work:
        rate, _ = search(work, config, layout, share, 300, epochs)

        def variant(mode, norm):
            return lambda: times(run(work, config, layout, rate, mode, WARM + epochs, f"model.norm={norm}", ALL)[WARM:])

        turns = in_turns(option("repeats", 3), {f"{mode}, {norm}": variant(mode, norm) for mode in ("vanilla", "overlap")
                                                for norm in ("layer", "batch")})
    rows = {}
    for mode in ("vanilla", "overlap"):
        layer, batch = (middle(turns[f"{mode}, {norm}"]) for norm in ("layer", "batch"))
        slower = gains(turns[f"{mode}, batch"], turns[f"{mode}, layer"])
        bench.figure(f"{mode}: BatchNorm's epoch over LayerNorm's", statistics.median(slower), "x")
        rows[mode] = [layer["epoch"], batch["epoch"], ranged(slower), layer["bytes"], batch["bytes"]]
    keep(kept("norms"), rows)
    table = [f"| {mode} | {a:.3f} | {b:.3f} | {ratio} | {x / 1e6:.1f} | {y / 1e6:.1f} |"
             for mode, (a, b, ratio, x, y) in rows.items()]
    write_tables("BatchNorm beside LayerNorm on the network rig", f"""\
`bench/run.sh norms`: gcn on {graph}, {layout} (hosts x ranks of each), {rate} Mbit/s, where vanilla with LayerNorm
communicates {share} % of its epoch; all rows. Medians of {option("repeats", 3)} turns of {epochs} epochs. BatchNorm adds
up its columns over the ranks once a layer and direction, and no layer begins before.""", markdown("| mode | LayerNorm s | BatchNorm s | ratio | MB of rows | of BatchNorm |", table))
    bench.end()


main()
