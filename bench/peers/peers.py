"""One rank of fringe against DGL and PyG in one process: the same graph, model and threads, no evaluation.

usage: bench/run.sh peers [--strict] [--graph=reddit-small|reddit-half] [--threads=2] [--epochs=8] [--rounds=3]
smoke: --graph=reddit-small --epochs=1 --rounds=1
reddit-half has 116,000 nodes and 13.4 M stored edges.

bench/peers/systems/setup.sh makes the environments first. The systems take turns, and the figures are ratios of medians.
"""
import json
import os
import shutil
import statistics
import tempfile

from figures import (ROOT, Bench, fringe, keep, kept, markdown, median_epoch, option, peer_python, ran, read_kept,
                     skip, trained, write_json, write_tables)

PEERS = ("dgl", "pyg")
GENERATOR = {"reddit-small": "reddit-small", "reddit-half": "planted:nodes=116000,edges=13400000,communities=128"}
# fringe computes what the others compute; saving also makes the aggregate of the features once.
BARS = {"fringe": {"reddit-small": {"dgl": 1.2, "pyg": 3.0}, "reddit-half": {"dgl": 1.6, "pyg": 4.0}},
        "saving": {"reddit-small": {"dgl": 2.2, "pyg": 5.0}, "reddit-half": {"dgl": 3.6, "pyg": 9.0}}}
MODES = {"fringe": "vanilla", "saving": "overlap"}
LAYER = {"gcn": "gcn", "sage": "sage-mean"}


def run_peer(system, graph, model, threads, epochs):
    done = ran(peer_python(system), os.path.join(ROOT, "bench", "peers", "systems", system + ".py"), graph, model, "--threads",
               threads, "--epochs", epochs)
    return json.loads(done.stdout.strip().splitlines()[-1])["epoch_seconds"]["median"]


def run_fringe(form, graph, model, threads, epochs, folder, precision="fp32"):
    config = write_json(os.path.join(folder, "config.json"), {
        "mode": MODES[form], "data": {"path": graph, "cache": os.path.join(folder, "cache")},
        "model": {"layer": LAYER[model], "layers": 3, "hidden": 256, "dropout": 0.5,
                  "post": ["dropout", "norm", "activation"]},
        "train": {"epochs": epochs + 2, "lr": 0.01}, "run": {"threads": threads, "precision": precision}})
    return median_epoch(trained(config)[1])


def main():
    bench, threads, epochs, rounds = Bench("peers"), option("threads", 2), option("epochs", 8), option("rounds", 3)
    only, table, there = option("graph", ""), [], [peer for peer in PEERS if peer_python(peer)]
    for name in [only] if only else list(BARS):
        folder = tempfile.mkdtemp(prefix="fringe-peers-")
        graph = os.path.join(folder, name)
        fringe("generate", GENERATOR[name], "-o", graph)
        for model in ("gcn", "sage"):
            seconds = {system: [] for system in (*MODES, *there)}
            for _ in range(rounds):
                for form in MODES:
                    seconds[form].append(run_fringe(form, graph, model, threads, epochs, folder))
                for peer in there:
                    seconds[peer].append(run_peer(peer, graph, model, threads, epochs))
            median = {system: statistics.median(times) for system, times in seconds.items()}
            table.append((name, model, median))
            for form in MODES:
                for peer in there:
                    bench.figure(f"{name}, {model}, {threads} threads: {form}", median[form], "s/epoch", peer,
                                 median[peer], median[peer] / median[form], BARS[form][name][peer])
        shutil.rmtree(folder)
    if len(there) < len(PEERS):
        skip("bench/peers/systems/setup.sh makes the environments of DGL and PyG; fringe's own part ran")
    write_table(table, threads, rounds)
    bench.end()


def write_table(table, threads, rounds):
    """Rows of earlier calls (another --graph) stay."""
    path = kept("peers")
    rows = read_kept(path)
    rows.update({f"{name}, {model}": {**median, "threads": threads, "rounds": rounds} for name, model, median in table})
    keep(path, rows)
    write_tables("One process against DGL and PyG", (
        "`bench/run.sh peers` (one process, 3 × 256, no evaluation; medians). `saving`: with the aggregate of the features made "
        "once and the last layer multiplied first, as is the default of every mode but `vanilla` and `adaqp-published`."),
        markdown("| graph, model | threads | rounds | fringe, s | saving, s | DGL, s | PyG, s | × DGL | × PyG | saving × DGL "
                 "| saving × PyG |", [
                     [name, t["threads"], t["rounds"], *(f"{t[system]:.3f}" for system in ("fringe", "saving", *PEERS)),
                      *(f"{t[peer] / t[form]:.2f}" for form in MODES for peer in PEERS)] for name, t in sorted(rows.items())]))


if __name__ == "__main__":
    main()
