"""Sets of full size in their own files: imported, cut into 4 parts and trained.

usage: bench/run.sh full_sets [--strict] [--sets=reddit,ogbn-products] [--epochs=3] [--hidden=256] [--keep=FOLDER]
smoke: --sets=reddit --hidden=8

The look-alikes of Reddit and ogbn-products (fringe generate) are written as DGL and OGB have them: reddit_data.npz and
reddit_graph.npz; edge.csv.gz (one direction of each edge, in random order), node-feat.csv.gz and so on. fringe reads
these, cuts them into 4 parts with METIS and trains a 3-layer GCN with 4 ranks on this machine. Each step has its
seconds and its most memory (of its largest process); beside reading stands what remains of it in memory. Where fringe
plan says that the four ranks need more than 22 GiB, the model is half as wide. Needs numpy. Writes bench/results/tables/full_sets.json;
rows of earlier calls stay (bench/results/full_sets.json).
"""
import gzip
import json
import mmap
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

from figures import (FRINGE, Bench, fringe, json_lines, keep, kept, markdown, needs_module, option, read_json,
                     read_kept, write_json, write_tables)

numpy = needs_module("numpy")

CONFIG = {"mode": "overlap", "model": {"layer": "gcn", "layers": 3, "norm": "layer", "dropout": 0.5,
                                      "post": ["dropout", "norm", "activation"]},
          "train": {"lr": 0.01, "eval_every": 0}, "partition": {"method": "metis"}}


def arrays_of(folder):
    """The arrays of a dataset directory, mapped."""
    file = open(os.path.join(folder, "dataset.safetensors"), "rb")
    data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    size = struct.unpack("<Q", data[:8])[0]
    kinds = {"I64": "<i8", "I32": "<i4", "F32": "<f4", "U8": "u1"}
    return {name: numpy.frombuffer(data, kinds[a["dtype"]], offset=8 + size + a["data_offsets"][0],
                                   count=int(numpy.prod(a["shape"]))).reshape(a["shape"])
            for name, a in json.loads(data[8:8 + size]).items() if name != "__metadata__"}


def write_npz(path, compressed, **arrays):
    """As numpy.savez, but member by member, so that no array is held twice."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED, compresslevel=1) as out:
        for name, array in arrays.items():
            with out.open(name + ".npy", "w", force_zip64=True) as member:
                numpy.lib.format.write_array(member, numpy.asanyarray(array))


def write_reddit(a, folder):
    os.makedirs(folder)
    nodes = len(a["labels"])
    write_npz(os.path.join(folder, "reddit_data.npz"), False, feature=a["features"], node_types=a["split"],
              label=a["labels"], node_ids=numpy.arange(nodes))
    row = numpy.repeat(numpy.arange(nodes, dtype="<i4"), numpy.diff(a["edge_offset"]))
    write_npz(os.path.join(folder, "reddit_graph.npz"), True, row=row, col=a["edge_target"],
              data=numpy.ones(len(row), "u1"), shape=numpy.array([nodes, nodes]), format=numpy.bytes_("coo"))


def write_csv(path, rows, text):
    with gzip.GzipFile(path, "wb", compresslevel=1, mtime=0) as out:
        for begin in range(0, len(rows), 100000):
            out.write(text(rows[begin:begin + 100000]).encode())


def integers(rows):
    if rows.ndim == 2:
        return "".join(f"{a},{b}\n" for a, b in rows.tolist())
    return "".join(f"{a}\n" for a in rows.tolist())


def floats(rows):
    return "\n".join(",".join(map(str, row)) for row in rows.round(6).tolist()) + "\n"


def write_products(a, folder):
    raw, split = os.path.join(folder, "raw"), os.path.join(folder, "split", "sales_ranking")
    os.makedirs(raw)
    os.makedirs(split)
    nodes = len(a["labels"])
    row = numpy.repeat(numpy.arange(nodes, dtype="<i4"), numpy.diff(a["edge_offset"]))
    once = row < a["edge_target"]
    edges = numpy.stack([row[once], a["edge_target"][once]], axis=1)
    edges = edges[numpy.random.default_rng(1).permutation(len(edges))]
    write_csv(os.path.join(raw, "num-node-list.csv.gz"), numpy.array([nodes]), integers)
    write_csv(os.path.join(raw, "num-edge-list.csv.gz"), numpy.array([len(edges)]), integers)
    write_csv(os.path.join(raw, "edge.csv.gz"), edges, integers)
    write_csv(os.path.join(raw, "node-label.csv.gz"), a["labels"], integers)
    write_csv(os.path.join(raw, "node-feat.csv.gz"), a["features"], floats)
    for which, name in enumerate(("train", "valid", "test"), 1):
        write_csv(os.path.join(split, name + ".csv.gz"), numpy.nonzero(a["split"] == which)[0], integers)


OF_PLAN, ROOM = 1.05, 22  # GiB
KEPT = kept("full_sets")
SETS = {"reddit": ("reddit", write_reddit), "ogbn-products": ("ogbn_products", write_products)}


def timed(words):
    """Output, seconds and most memory of the largest process, in GiB."""
    begin = time.monotonic()
    # GNU time tells the most memory of this command alone
    done = subprocess.run(["/usr/bin/time", "-f", "%M", *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}\nended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout + done.stderr, time.monotonic() - begin, int(done.stderr.split()[-1]) / 2**20


def read_figures(bench, name, files, held):
    text, seconds, memory = timed([FRINGE, "inspect", files])
    bench.figure(f"{name}: inspect, seconds", seconds, "s")
    bench.at_most(f"{name}: most memory of reading", memory, "GiB", 1, "arrays + 64 MiB", held + 1 / 16)
    return {"read_gib": memory, "held_gib": held, "inspect_s": seconds}


def cut_figures(bench, name, setting):
    text, seconds, memory = timed([FRINGE, "partition", *setting, "--parts", "4"])
    bench.figure(f"{name}: read and cut into 4, seconds", seconds, "s")
    bench.figure(f"{name}: most memory of cutting", memory, "GiB")
    return {"cut_s": seconds, "cut_gib": memory}


def width_with_room(bench, name, setting, hidden):
    """`hidden`, or its half where four ranks would need more than there is."""
    text = timed([FRINGE, "plan", *setting, "--set", f"model.hidden=[{hidden}]", "--ranks", "4", "--ranks-per-host", "4",
                  "--compute", "50,10", "--json", "--quiet"])[0]
    planned = 4 * json.loads(text.splitlines()[0])["modes"]["overlap"][0]["memory"] / 2**30
    bench.figure(f"{name}: plan of {hidden} wide, 4 ranks", planned, "GiB", "room", ROOM)
    return hidden if planned <= ROOM else hidden // 2, planned


def train_figures(bench, name, setting, run, hidden):
    text, seconds, memory = timed([FRINGE, "train", *setting, "--set", f"model.hidden=[{hidden}]", "--ranks", "4"])
    records = json_lines(os.path.join(run, "metrics.jsonl"))
    epoch = min(r["time"]["epoch"] for r in records)
    bench.figure(f"{name}: epoch of {hidden} wide, 4 ranks", epoch, "s")
    bench.figure(f"{name}: most memory of a rank", memory, "GiB")
    result = read_json(os.path.join(run, "run.json"))["result"]
    planned, taken = result["memory_predicted"] / 2**30, result["memory_taken"] / 2**30
    bench.at_most(f"{name}: memory taken by training", taken, "GiB", OF_PLAN, "planned", planned)
    print(f"{name}: loss {records[0]['loss']:.4f} to {records[-1]['loss']:.4f}", flush=True)
    return {"hidden": hidden, "epoch_s": epoch, "planned_gib": planned, "taken_gib": taken,
            "loss": [records[0]["loss"], records[-1]["loss"]]}


def measure(bench, name, work, epochs, hidden):
    """A row of the table."""
    generated, files = os.path.join(work, "generated-" + name), os.path.join(work, SETS[name][0])
    cache, run = os.path.join(work, "cache-" + name), os.path.join(work, "run-" + name)
    if not os.path.exists(files):
        fringe("generate", name, "-o", generated)
        SETS[name][1](arrays_of(generated), files)
    held = sum(x.nbytes for x in arrays_of(generated).values()) / 2**30
    shutil.rmtree(cache, ignore_errors=True)
    shutil.rmtree(run, ignore_errors=True)
    config = write_json(os.path.join(work, name + ".json"), CONFIG)
    setting = [config] + [word for s in (f"data.path={files}", f"data.cache={cache}", f"run.dir={run}",
                                         f"train.epochs={epochs}") for word in ("--set", s)]
    row = read_figures(bench, name, files, held) | cut_figures(bench, name, setting)
    width, planned = width_with_room(bench, name, setting, hidden)
    return row | {"asked": hidden, "asked_gib": planned} | train_figures(bench, name, setting, run, width)


def write_table(kept):
    rows = []
    for name, r in kept.items():
        rows.append(f"| {name} | {r['read_gib']:.3f} | {r['held_gib']:.3f} | {r['cut_s']:.0f} | {r['cut_gib']:.2f} | "
                     f"{r['asked_gib']:.1f} ({r['asked']} wide) | 3 x {r['hidden']} | {r['epoch_s']:.2f} | "
                     f"{r['planned_gib']:.3f} | {r['taken_gib']:.3f} | {r['loss'][0]:.2f} to {r['loss'][1]:.2f} |")
    write_tables("Sets of full size in their own files",
                 "`bench/run.sh full_sets`: look-alikes of Reddit and ogbn-products in the files of DGL (npz) and of OGB "
                 "(csv.gz, one direction of each edge) are read, cut into 4 by METIS and trained, GCN of 3 layers, 4 ranks "
                 "on 2 cores. Memory: of the largest process; while cutting METIS is a process of its own. Bars: reading "
                 f"its arrays and 64 MiB, training {OF_PLAN} of its plan. Where the plan of 4 ranks is above {ROOM} GiB "
                 "the model is half as wide.", markdown(
                     "| set | reading, most GiB | its arrays | reading and cutting s | most GiB | plan of 4 ranks GiB | trained | "
                     "epoch s | planned GiB a rank | taken | loss |", rows))


def main():
    bench = Bench("full_sets")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    work = option("keep", "") or tempfile.mkdtemp(prefix="fringe-full-")
    os.makedirs(work, exist_ok=True)
    kept = read_kept(KEPT)
    try:
        for name in option("sets", ",".join(SETS)).split(","):
            kept[name] = measure(bench, name, work, option("epochs", 3), option("hidden", 256))
            keep(KEPT, kept)
            write_table(kept)
    finally:
        if not option("keep", ""):
            shutil.rmtree(work, ignore_errors=True)
    bench.end()


main()
