"""One rank of fringe against DGL and PyG in one process: the same graph, model and threads, no evaluation.

usage: bench/run.sh peers [--strict] [--graph=reddit-small|reddit-half] [--threads=2] [--epochs=8] [--rounds=3]

bench/peers/setup.sh makes the environments first. The systems take turns, and the figures are ratios of medians.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from figures import ROOT, Bench, fringe, option, write_section

ENVS = os.environ.get("FRINGE_ENVS", os.path.expanduser("~/.cache/fringe-envs"))
BARS = {"reddit-small": {"dgl": 1.2, "pyg": 3.0}, "reddit-half": {"dgl": 1.6, "pyg": 4.0}}
LAYER = {"gcn": "gcn", "sage": "sage-mean"}


def run_peer(system, graph, model, threads, epochs):
    python = os.path.join(ENVS, system, "bin", "python")
    if not os.path.exists(python):
        sys.exit(f"{python} is not there; run bench/peers/setup.sh first")
    words = [python, os.path.join(ROOT, "bench", "peers", system + ".py"), graph, model, "--threads", str(threads),
             "--epochs", str(epochs)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{system}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])["epoch_seconds"]["median"]


def run_fringe(graph, model, threads, epochs, folder):
    config, run = os.path.join(folder, "config.json"), os.path.join(folder, "run")
    with open(config, "w") as out:
        json.dump({"data": {"path": graph, "cache": os.path.join(folder, "cache")},
                   "model": {"layer": LAYER[model], "layers": 3, "hidden": 256, "dropout": 0.5,
                             "post": ["dropout", "norm", "activation"]},
                   "train": {"epochs": epochs + 2, "rate": 0.01, "eval_every": 0},
                   "run": {"dir": run, "threads": threads, "log_every": 1000}}, out)
    shutil.rmtree(run, ignore_errors=True)
    fringe("train", config, "--ranks", 1)
    with open(os.path.join(run, "metrics.jsonl")) as lines:
        return statistics.median([json.loads(line)["time"]["epoch"] for line in lines][2:])


def main():
    bench, threads, epochs, rounds = Bench("peers"), option("threads", 2), option("epochs", 8), option("rounds", 3)
    only, table = option("graph", ""), []
    for name in [only] if only else list(BARS):
        folder = tempfile.mkdtemp(prefix="fringe-peers-")
        graph = os.path.join(folder, name)
        fringe("generate", name, "-o", graph)
        for model in ("gcn", "sage"):
            seconds = {"fringe": [], "dgl": [], "pyg": []}
            for _ in range(rounds):
                seconds["fringe"].append(run_fringe(graph, model, threads, epochs, folder))
                for peer in ("dgl", "pyg"):
                    seconds[peer].append(run_peer(peer, graph, model, threads, epochs))
            median = {system: statistics.median(times) for system, times in seconds.items()}
            table.append((name, model, median))
            for peer in ("dgl", "pyg"):
                bench.figure(f"{name}, {model}, {threads} threads: fringe", median["fringe"], "s/epoch", peer, median[peer],
                             median[peer] / median["fringe"], BARS[name][peer])
        shutil.rmtree(folder)
    if not only:
        lines = [f"`bench/run.sh peers` (one process, {threads} threads, 3 × 256, no evaluation; medians of {rounds} rounds).", "",
                 "| graph | model | fringe, s | DGL, s | PyG, s | × DGL | × PyG |", "|---|---|---|---|---|---|---|"]
        lines += [f"| {n} | {m} | {t['fringe']:.3f} | {t['dgl']:.3f} | {t['pyg']:.3f} | {t['dgl'] / t['fringe']:.2f} | "
                  f"{t['pyg'] / t['fringe']:.2f} |" for n, m, t in table]
        write_section(os.path.join(ROOT, "docs", "results.md"), "One process against DGL and PyG", "\n".join(lines))
    bench.end()


main()
