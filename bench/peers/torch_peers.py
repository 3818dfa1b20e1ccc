"""One rank of fringe against the quickest training we know to write in PyTorch, fp32 and bf16; no evaluation.

usage: bench/run.sh torch_peers [--strict] [--graph=reddit-small|reddit-half] [--threads=2] [--epochs=8] [--rounds=3]
smoke: --graph=reddit-small --epochs=1 --rounds=1

systems/torch_best.py says what the other program has: both matrices stored, the aggregate of the input made once, the
shorter rows summed, the nodes in the order of 64 parts by METIS. fringe has the same savings (mode overlap). The two
take turns, and the figures are ratios of medians. Wants PyTorch: bench/peers/systems/setup.sh pyg.
"""
import json
import os
import statistics
import tempfile

from figures import (ROOT, Bench, fringe, keep, kept, markdown, option, peer_python, ran, read_kept, skip, write_json,
                     write_tables)
from peers import GENERATOR, run_fringe

PRECISIONS, MODELS = ("fp32", "bf16"), ("gcn", "sage")
TORCH_BARS = {"fp32": {"gcn": 3.2, "sage": 2.9}, "bf16": {"gcn": 3.6, "sage": 2.8}}
HALF_BARS = {"gcn": 1.7, "sage": 1.75}


def run_torch(precision, graph, order, model, threads, epochs):
    script = os.path.join(ROOT, "bench", "peers", "systems", "torch_best.py")
    done = ran(peer_python("pyg"), script, graph, model, "--precision", precision, "--order", order, "--threads", threads,
               "--epochs", epochs)
    return json.loads(done.stdout.strip().splitlines()[-1])["epoch_seconds"]["median"]


def parts_of(graph, folder):
    """The folder of a partition into 64 parts."""
    config = write_json(os.path.join(folder, "parts.json"), {"data": {"path": graph, "cache": os.path.join(folder, "cache")}})
    return json.loads(fringe("partition", config, "--parts", 64, "--json").stdout)["folder"]


def measured(model, graph, order, threads, epochs, rounds, folder):
    """{program: {precision: median seconds}} of rounds in which all take turns."""
    seconds = {(program, precision): [] for program in ("fringe", "torch") for precision in PRECISIONS}
    for _ in range(rounds):
        for precision in PRECISIONS:
            seconds["fringe", precision].append(run_fringe("saving", graph, model, threads, epochs, folder, precision))
            seconds["torch", precision].append(run_torch(precision, graph, order, model, threads, epochs))
    return {f"{program} {precision}": statistics.median(times) for (program, precision), times in seconds.items()}


def judge(bench, name, model, threads, median):
    for precision in PRECISIONS:
        mine, theirs = median["fringe " + precision], median["torch " + precision]
        bench.figure(f"{name}, {model}, {threads} threads: {precision}", mine, "s/epoch", "torch " + precision, theirs,
                     theirs / mine, TORCH_BARS[precision][model])
    bench.figure(f"{name}, {model}: bf16", median["fringe bf16"], "s/epoch", "fp32", median["fringe fp32"],
                 median["fringe fp32"] / median["fringe bf16"], HALF_BARS[model])


def write_table(rows):
    write_tables("One process against the quickest PyTorch", (
        "`bench/run.sh torch_peers` (one process, 3 × 256, no evaluation; medians of rounds by turns). PyTorch stores the matrix "
        "and its transpose, makes the aggregate of the input once, sums the shorter rows, and has the nodes in METIS' order."),
        markdown("| graph, model | threads | rounds | fringe fp32, s | torch fp32, s | × | fringe bf16, s | torch bf16, s | × "
                 "| bf16 to fp32 |", [
                     [name, t["threads"], t["rounds"],
                      *(cell for p in PRECISIONS for cell in (f"{t['fringe ' + p]:.3f}", f"{t['torch ' + p]:.3f}",
                                                              f"{t['torch ' + p] / t['fringe ' + p]:.2f}")),
                      f"{t['fringe fp32'] / t['fringe bf16']:.2f}"] for name, t in sorted(rows.items())]))


def main():
    bench, threads, epochs, rounds = Bench("torch_peers"), option("threads", 2), option("epochs", 8), option("rounds", 3)
    if not peer_python("pyg"):
        skip("bench/peers/systems/setup.sh pyg makes the environment of PyTorch")
    only, rows = option("graph", ""), read_kept(kept("torch_peers"))
    for name in [only] if only else list(GENERATOR):
        with tempfile.TemporaryDirectory(prefix="fringe-peers-") as folder:
            graph = os.path.join(folder, name)
            fringe("generate", GENERATOR[name], "-o", graph)
            order = parts_of(graph, folder)
            for model in MODELS:
                median = measured(model, graph, order, threads, epochs, rounds, folder)
                judge(bench, name, model, threads, median)
                rows[f"{name}, {model}"] = {**median, "threads": threads, "rounds": rounds}
                keep(kept("torch_peers"), rows)
    write_table(rows)
    bench.end()


main()
