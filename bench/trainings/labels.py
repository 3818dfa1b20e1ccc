"""Several labels a node: does the graph help, and does AdaQP cost accuracy? On look-alikes of Yelp and AmazonProducts.

usage: bench/run.sh labels [--strict] [--sets=yelp-small,amazon-small] [--seeds=3] [--epochs=300]
smoke: --sets=yelp-small --seeds=1 --epochs=3

A GCN of 3 x 128 (LayerNorm, standardized features) on 4 ranks. The MLP is the same model on the same nodes without
their edges. Mode adaqp is compared with vanilla over paired seeds; it agrees if the means differ by at most max(0.3
points, 2 standard errors). Micro-F1 of the test nodes after the last epoch.
"""
import os
import statistics
import tempfile

from figures import SMOKE, Bench, fringe, markdown, option, paired_difference, trained, write_json, write_tables

CONFIG = {"data": {"transforms": ["standardize"]},
          "model": {"layer": "gcn", "layers": 3, "hidden": [128], "post": ["dropout", "norm", "activation"],
                    "norm": "layer", "dropout": 0.5},
          "train": {"lr": 0.01, "eval_every": 0}, "quantization": {"period": 50, "group_size": 50}}
LEAST_GAIN, RANKS = 5, 2 if SMOKE else 4  # points


def score(work, folder, mode, seed, epochs, ranks=RANKS):
    config = write_json(os.path.join(work, "labels.json"), CONFIG)
    run, _ = trained(config, f"data.path={folder}", f"data.cache={work}/cache", f"mode={mode}", f"run.seed={seed}",
                     f"train.epochs={epochs}", "run.threads=1", ranks=ranks)
    return 100 * run["result"]["last"]["test"]["micro_f1"]


def made(work, name, suffix=""):
    folder = os.path.join(work, name + suffix.replace(":", "-").replace("=", "-"))
    fringe("generate", name + suffix, "-o", folder)
    return folder


def main():
    bench = Bench("labels")
    seeds, epochs, lines = option("seeds", 3), option("epochs", 300), []
    for name in option("sets", "yelp-small,amazon-small").split(","):
        with tempfile.TemporaryDirectory() as work:
            graph = made(work, name)
            scores = {mode: [score(work, graph, mode, seed, epochs) for seed in range(seeds)]
                      for mode in ("vanilla", "adaqp")}
            mlp = score(work, made(work, name, ":edges=2"), "vanilla", 0, epochs, 1)
        gcn = statistics.mean(scores["vanilla"])
        difference, error, allowed = paired_difference(scores["adaqp"], scores["vanilla"])
        bench.at_least(f"{name}: GCN - MLP", gcn - mlp, "points", 1, "at least", LEAST_GAIN)
        bench.within(f"{name}: |adaqp - vanilla|", abs(difference), "points", allowed)
        lines.append(f"| {name} | {mlp:.1f} | {gcn:.2f} | {difference:+.2f} ± {error:.2f} | {allowed:.2f} |")
    write_tables("Several labels a node", f"""\
`bench/run.sh labels`: micro-F1 of the test nodes in percent after {epochs} epochs of a 3 × 128 GCN on 4 ranks, {seeds}
paired seeds, on the look-alikes of Yelp and AmazonProducts (20,000 nodes). The MLP is the same model without edges.
""", markdown("| set | MLP | GCN, vanilla | adaqp - vanilla | allowed |", lines))
    bench.end()


main()
