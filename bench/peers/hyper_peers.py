"""One rank of fringe against PyG's HypergraphConv in one process: the same hypergraph, model and threads, no evaluation.

usage: bench/run.sh hyper_peers [--strict] [--threads=2] [--epochs=8] [--rounds=3]
smoke: --epochs=1 --rounds=1

walmart with the features random:64, 2 convolutions, 256 wide (configs/walmart-hgnn.json with model.norm_hyper=row,
which is what HypergraphConv computes). bench/peers/systems/setup.sh pyg makes the environment first. The systems take
turns, and the figures are ratios of medians. Mode vanilla computes in every epoch what PyG computes; overlap is
fringe's default.
"""
import glob
import json
import os
import statistics
import tempfile

from figures import ROOT, Bench, markdown, median_epoch, option, peer_python, ran, skip, trained, write_tables

BARS = {"vanilla": 3.0, "overlap": 3.0}


def run_pyg(folder, threads, epochs, form):
    done = ran(peer_python("pyg"), os.path.join(ROOT, "bench", "peers", "systems", "hyper_pyg.py"), folder, "hgnn", "--layers", 2,
               "--threads", threads, "--epochs", epochs, "--form", form)
    return json.loads(done.stdout.strip().splitlines()[-1])


def run_fringe(mode, threads, epochs, folder):
    return median_epoch(trained("walmart-hgnn", f"mode={mode}", f"data.cache={folder}", f"run.threads={threads}",
                                f"train.epochs={epochs + 2}", "model.norm_hyper=row")[1])


def main():
    bench, threads = Bench("hyper_peers"), option("threads", 2)
    epochs, rounds, has_pyg = option("epochs", 8), option("rounds", 3), bool(peer_python("pyg"))
    seconds, form = {"vanilla": [], "overlap": [], "pyg": []}, "best"
    with tempfile.TemporaryDirectory(prefix="fringe-hyper-peers-") as folder:
        for _ in range(rounds):
            for mode in BARS:
                seconds[mode].append(run_fringe(mode, threads, epochs, folder))
            if not has_pyg:
                skip("bench/peers/systems/setup.sh makes the environment of PyG; fringe's own part ran")
            report = run_pyg(glob.glob(os.path.join(folder, "dataset-*"))[0], threads, epochs, form)
            seconds["pyg"].append(report["epoch_seconds"]["median"])
            form = report["form"]
    median = {system: statistics.median(times) for system, times in seconds.items()}
    caption = (f"`bench/run.sh hyper_peers`: walmart, 2 convolutions, 256 wide, random:64; one process, {threads} threads, no "
             f"evaluation; medians of {rounds} rounds by turns. PyG: HypergraphConv in the form {form}, the quickest of "
             "four in the first round.")
    rows = []
    for mode, bar in BARS.items():
        bench.figure(f"walmart, {threads} threads: {mode}", median[mode], "s/epoch", "pyg", median["pyg"],
                     median["pyg"] / median[mode], bar)
        rows.append(f"| fringe, {mode} | {median[mode]:.3f} | {median['pyg'] / median[mode]:.2f} |")
    rows.append(f"| PyG | {median['pyg']:.3f} | 1 |")
    write_tables("HGNN against PyG's HypergraphConv", caption, markdown("| system | seconds per epoch | PyG's time over it |", rows))
    bench.end()


main()
