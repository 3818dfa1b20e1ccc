"""Why two Blocks: a hypergraph trained as it is, and as its clique expansion or its star.

usage: bench/run.sh hyper [--only=walmart,...] [--epochs=N] [--rounds=3] [--limit=GIB]
smoke: --only=walmart --epochs=1 --rounds=1

For every hypergraph of FRINGE_DATA: its pins, the edges of the clique expansion (distinct pairs) and of the star, and
for 2 convolutions, 64 wide, on the features random:64, the seconds of an epoch and the resident memory of hgnn on the
hypergraph, gcn on the clique expansion and gcn on the star; one process of two threads, mode vanilla, so that every variant
makes all of its aggregates in every epoch. Variants take turns; small sets run more epochs. Next to the times: what reading
the sources and the index and writing the results of all aggregates once takes at this machine's rate of copying.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import zipfile

from figures import (BUILD, FRINGE, SMOKE, Bench, markdown, median_epoch, npy, option, read_json, read_run, skip,
                     write_json, write_tables)
from hypergraphs import sizes_of

SETS = {"cora-cocite": "hg_cora_cocite", "cora-coauthor": "hg_cora_coauthor", "citeseer-cocite": "hg_citeseer_cocite",
        "pubmed-cocite": "hg_pubmed_cocite", "dblp-coauthor": "hg_dblp_coauthor", "house": "hg_house", "zoo": "hg_zoo",
        "mushroom": "hg_mushroom", "walmart": "hg_walmart", "ibm01": "hg_ispd98/ibm01", "ibm10": "hg_ispd98/ibm10",
        "ibm14": "hg_ispd98/ibm14"}
VARIANTS = {"hgnn": ("hgnn", []), "clique": ("gcn", ["clique"]), "star": ("gcn", ["star"])}
WIDTH, AGGREGATES = 64, 3  # of both convolutions forward, and of the second one backward


def labels_and_split(folder, source, hgr):
    """Files of labels and splits: the set's own ones; for circuits, which have none, made up."""
    nodes, labels = os.path.join(source, "nodes.npz"), os.path.join(folder, "labels.npy")
    if os.path.exists(nodes):
        with zipfile.ZipFile(nodes) as file, open(labels, "wb") as out:
            out.write(file.read("labels.npy"))
        return labels, nodes
    count, splits = sizes_of(hgr)[0], os.path.join(folder, "splits.npz")
    with open(labels, "wb") as out:
        out.write(npy([v % 4 for v in range(count)]))
    with zipfile.ZipFile(splits, "w") as file:
        for i, name in enumerate(("train_idx", "val_idx", "test_idx")):
            file.writestr(name + ".npy", npy(range(i, count, 3)))
    return labels, splits


def config_of(folder, variant, hgr, labels, splits, epochs):
    layer, steps = VARIANTS[variant]
    return write_json(os.path.join(folder, variant + ".json"), {
        "mode": "vanilla",
        "data": {"path": hgr, "labels": labels, "splits": splits, "cache": folder, "transforms": [*steps, f"random:{WIDTH}"]},
        "model": {"layer": layer, "layers": 2, "hidden": WIDTH}, "train": {"epochs": epochs + 2, "eval_every": 0},
        "run": {"dir": os.path.join(folder, "run-" + variant), "threads": 2, "log_every": 0, "checkpoint_every": 0,
                "memory_limit": float(option("limit", "8"))}})


def train(path):
    """(epoch seconds, MiB, entries, hyperedges and nodes) of a run, or the sentence that refused it."""
    done = subprocess.run([FRINGE, "train", path], capture_output=True, text=True)
    if done.returncode == 71:
        return done.stderr.strip().splitlines()[-1]
    if done.returncode != 0:
        sys.exit(f"fringe train {path} ended with {done.returncode}: {done.stderr[-2000:]}")
    folder = read_json(path)["run"]["dir"]
    run, epochs = read_run(folder)
    shutil.rmtree(folder)
    return median_epoch(epochs), run["result"]["memory_resident"] / 2**20, run["data"]["edges"], run["data"]["nodes"]


def copy_rate():
    """GB/s of copying on two threads, read and write counted (bench/run.sh pointwise)."""
    program = os.path.join(BUILD, "bench_pointwise")
    done = subprocess.run([program, f"--rows={1000 if SMOKE else 1000000}", "--columns=64", "--rounds=5"], capture_output=True, text=True)
    figures = json.loads(done.stdout.splitlines()[-1])["figures"]
    return next(f["limit"] for f in figures if f["name"].endswith("forward, 2 threads"))


def least_bytes(variant, entries, nodes, hyperedges):
    """Of all aggregates of an epoch: source rows and index read once, rows written once."""
    row, index = 4 * WIDTH, 4 * entries
    if variant == "hgnn":
        return AGGREGATES * 2 * (row * (nodes + hyperedges) + index)
    return AGGREGATES * (2 * row * nodes + index + (4 * entries if variant == "clique" else 0))


def epochs_of(hgr):
    """Enough epochs for a steady median: 6 of the large sets, up to 200 of the small ones."""
    return max(6, min(200, 12_000_000 // os.path.getsize(hgr)))


def measure(bench, name, place, epochs, rounds, rate):
    source = os.path.join(os.environ["FRINGE_DATA"], place)
    hgr = source + ".hgr" if os.path.exists(source + ".hgr") else os.path.join(source, "hypergraph.hgr")
    got = {variant: [] for variant in VARIANTS}
    with tempfile.TemporaryDirectory(prefix="fringe-hyper-") as folder:
        files = labels_and_split(folder, source, hgr)
        paths = {variant: config_of(folder, variant, hgr, *files, epochs or epochs_of(hgr)) for variant in VARIANTS}
        for turn in range(rounds):
            for variant in VARIANTS if turn % 2 == 0 else reversed(list(VARIANTS)):
                if not isinstance(got[variant][-1] if got[variant] else None, str):
                    got[variant].append(train(paths[variant]))
    nodes, pins = got["hgnn"][0][3], got["hgnn"][0][2]
    hyperedges = (got["star"][0][3] if not isinstance(got["star"][0], str) else nodes) - nodes
    cells = [name, f"{nodes:,}", f"{hyperedges:,}", f"{pins:,}"]
    clique = got["clique"][0]
    cells += ["refused" if isinstance(clique, str) else f"{clique[2] // 2:,}", f"{pins:,}"]
    for variant in VARIANTS:
        if isinstance(got[variant][0], str):
            print(f"# {name}: {got[variant][0]}")
            cells += ["-", "-", "-"]
            continue
        seconds = statistics.median(one[0] for one in got[variant])
        least = least_bytes(variant, got[variant][0][2], got[variant][0][3], hyperedges) / rate * 1e-9
        cells += [f"{1e3 * seconds:.2f}", f"{1e3 * least:.2f}", f"{statistics.median(one[1] for one in got[variant]):.0f}"]
        bench.figure(f"{name}: {variant}", 1e3 * seconds, "ms", "bytes / rate", 1e3 * least, seconds / least)
    return cells


def main():
    if "FRINGE_DATA" not in os.environ:
        skip("FRINGE_DATA names no folder of hypergraphs")
    bench, only, rate = Bench("hyper"), option("only", ""), copy_rate()
    rows = [measure(bench, name, place, option("epochs", 0), option("rounds", 3), rate)
            for name, place in SETS.items() if not only or name in only.split(",")]
    head = ("| hypergraph | nodes | hyperedges | pins | edges, clique | edges, star "
            + "".join(f"| {variant}: ms | least ms | MiB " for variant in ("hgnn", "gcn on clique", "gcn on star")) + "|")
    caption = (f"`bench/run.sh hyper`: 2 convolutions, {WIDTH} wide, features random:{WIDTH}, one process of two threads, mode "
               "vanilla; median epoch of variants by turns, resident memory of the training. Edges of the clique expansion are "
               "distinct pairs. "
               "Least: reading the sources and the index of every aggregate once and writing its rows once, at the rate of "
               f"copying tables of 256 MB, measured in the same run ({rate:.1f} GB/s, read and write counted); dense products, norms and the "
               "optimizer come on top.")
    write_tables("Why two Blocks", caption, markdown(head, rows))
    bench.end()


main()
