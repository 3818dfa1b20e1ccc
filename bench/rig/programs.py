"""What a cut is worth to programs without a network: seconds and bytes of an iteration, by how the parts were made.

usage: bench/run.sh programs [--strict] [--config=walmart-hgnn] [--layout=4x1] [--rate=100] [--iterations=20] [--repeats=3]
                             [--methods=random,metis,srp] [--programs=random-walk,label-propagation,spectral]
                             [--data=walmart,stream] [--stream=40000]
smoke: --layout=2x1 --rate=1000 --iterations=3 --repeats=1 --methods=srp --programs=random-walk --data=stream --stream=200

Every program runs on parts of every method, by turns, on the network rig (hosts x ranks of each, links of --rate
Mbit/s): on those of a config, and on those of a planted stream of --stream nodes, where `srp` stands for the parts that
the stream had at its end. An iteration is beside that on parts of the first method, and beside the thesis' figure:
parts of its streaming partitioner up to 2.6 times as fast as those of offline ones. Bytes stand beside the replicas R
of the partition: if each hyperedge's nodes sent their rows there and back, 2 R rows would travel. The part with most
pins, in parts of the mean, says how long the others wait for it. Before that, on one core of one rank, what an
iteration of random-walk takes beside its aggregates (bar: 1.25 times), and what spectral does besides aggregates, dense
products and the small eigenproblem (bar: .2 of the time, and no more than .2 for that).
"""
import json
import os
import shutil
import statistics
import tempfile
import zipfile

from figures import (FRINGE, ROOT, SMOKE, Bench, fringe, markdown, needs_rig, npy, option, ran, read_json, settings,
                     write_json, write_tables)
from rig import FIRST, on_hosts
from streams import by_hyperedges, planted, write

COMMUNITIES, CLASSES, PURITY = 64, 8, 0.9
LAYOUT = option("layout", "4x1")
RANKS = int(LAYOUT.split("x")[0]) * int(LAYOUT.split("x")[1])


def choices(config, program, method, iterations=option("iterations", 20)):
    words = ["data.transforms=[]", "run.threads=1", f"partition.method={config.get(method, method)}"]
    return words if program == "spectral" else [*words, f"program.iterations={iterations}"]


def told(folder):
    return read_json(os.path.join(folder, "program.json"))


def run(work, config, method, program):
    folder = os.path.join(work, "out")
    shutil.rmtree(folder, ignore_errors=True)
    on_hosts(LAYOUT, f"{option('rate', 100)}mbit", "program", program, config["path"], "-o", folder,
             *settings(choices(config, program, method)))
    return told(folder)


def cut(config, method):
    words = ["--parts", RANKS, "--json", *settings(choices(config, "spectral", method)[::2])]
    return json.loads(fringe("partition", config["path"], *words).stdout)


# ---- data

def planted_stream(work, nodes):
    """A config of the last snapshot of a stream, whose nodes have the class of their community."""
    path, folder = os.path.join(work, "nodes.npz"), os.path.join(work, "stream")
    ids = list(range(nodes))
    arrays = {"ids": ids, "labels": [v % COMMUNITIES % CLASSES for v in ids], "train_ids": ids[::20], "val_ids": ids[1::20],
              "test_ids": ids[2::20]}
    with zipfile.ZipFile(path, "w") as out:
        for name, values in arrays.items():
            out.writestr(f"{name}.npy", npy(values))
    events = write(os.path.join(work, "stream.events"), by_hyperedges(planted(nodes, nodes, COMMUNITIES, PURITY, 5)))
    fringe("stream", events, "-o", folder, "--parts", RANKS, "--nodes", path, "--quiet")
    final = {"data": {"path": os.path.join(folder, "snapshots", "final")}}
    return {"path": write_json(os.path.join(work, "stream.json"), final), "srp": f"file:{folder}/snapshots/final/final"}


def shipped(name):
    return {"path": os.path.join(ROOT, "configs", f"{name}.json")}


# ---- parts

def slower(name, program, of, cuts):
    """Why parts of srp are slower than others, where they are."""
    mine = of["srp"]
    for method, other in of.items():
        if method == "srp" or mine["seconds"] <= 1.02 * other["seconds"]:
            continue
        bytes_more, pins_more = mine["bytes"] / other["bytes"], cuts["srp"]["balance_pins"] / cuts[method]["balance_pins"]
        why = (f"they send {bytes_more:.2f} times the bytes" if bytes_more > max(pins_more, 1.02) else
               f"their largest part has {pins_more:.2f} times the pins" if pins_more > 1.02 else
               "with fewer bytes and no larger part, so what the repeats differ by decides")
        yield f"{program} on {name}: srp's parts take {mine['seconds'] / other['seconds']:.2f} times as long as {method}'s; {why}."


def compare(bench, work, name, config, methods, programs):
    got = {(program, method): [] for program in programs for method in methods}
    for _ in range(option("repeats", 3)):
        for program, method in got:
            got[program, method].append(run(work, config, method, program))
    cuts = {method: cut(config, method) for method in methods}
    rows, reasons = [], []
    for program in programs:
        of = {method: {"seconds": statistics.median(one["seconds_per_iteration"] for one in got[program, method]),
                       "bytes": got[program, method][0]["bytes_per_iteration"],
                       "iterations": got[program, method][0]["iterations"]} for method in methods}
        for method, one in of.items():
            gain = of[methods[0]]["seconds"] / one["seconds"]
            bench.figure(f"{program} on {name}, {method} parts", 1000 * one["seconds"], "ms", f"{methods[0]} parts",
                         1000 * of[methods[0]]["seconds"], gain)
            rows.append(f"| {name} | {program} | {method} | {cuts[method]['replicas']:,} | {cuts[method]['balance_pins']:.2f} "
                        f"| {one['iterations']} | {1000 * one['seconds']:.1f} | {gain:.2f} | {one['bytes'] / 1000:.1f} |")
        reasons += slower(name, program, of, cuts) if "srp" in of else []
    return rows, reasons


# ---- one core

def on_one_core(work, config, program):
    """The run whose iterations are fastest of three: what else runs here makes them slower, and nothing faster."""
    runs = []
    for _ in range(1 if SMOKE else 3):
        out = os.path.join(work, "one")
        words = settings(choices(config, program, "random", 5 if SMOKE else 50))
        ran("taskset", "-c", "0", "sh", "-c", FIRST, "sh", FRINGE, "program", program, config["path"], "-o", out, "--quiet", *words)
        runs.append(told(out))
    return min(runs, key=lambda one: one["seconds_per_iteration"])


def one_core(bench, work, name, config, programs):
    rows = []
    for program in [one for one in ("random-walk", "spectral") if one in programs]:
        found = on_one_core(work, config, program)
        whole, aggregates, dense, small = (found.get(f"seconds_{key}", 0) for key in (
            "per_iteration", "of_its_aggregates", "of_its_dense_products", "of_its_eigenproblem"))
        rest = whole - aggregates - dense - small
        if program == "random-walk":
            bench.at_most(f"{program} on {name}, one core", 1000 * whole, "ms", 1.25, "its aggregates",
                          1000 * aggregates)
        else:
            bench.at_most(f"{program} on {name}, one core: all else", 1000 * rest, "ms", 0.2, "of", 1000 * whole)
            bench.at_most(f"{program} on {name}, one core: eigenproblem", 1000 * small, "ms", 0.2, "of", 1000 * whole)
        rows.append(f"| {program} | {1000 * whole:.1f} | " + " | ".join(f"{part / whole:.0%}" for part in (aggregates, dense, small, rest)) + " |")
    return markdown("| program | ms an iteration | aggregates | dense products | eigenproblem | all else |", rows)


def main():
    needs_rig()
    bench = Bench("programs")
    methods, programs, data = (option(key, words).split(",") for key, words in (
        ("methods", "random,metis,srp"), ("programs", "random-walk,label-propagation,spectral"), ("data", "walmart,stream")))
    rows, reasons = [], []
    with tempfile.TemporaryDirectory(prefix="fringe-programs-") as work:
        configs = {name: planted_stream(work, option("stream", 40000)) if name == "stream" else
                   shipped(option("config", "walmart-hgnn")) for name in data}
        name = data[0]
        core = one_core(bench, work, name, configs[name], programs)
        for name, config in configs.items():
            more, why = compare(bench, work, name, config, methods, programs)
            rows, reasons = rows + more, reasons + why
    write_tables("Programs on parts of different methods", (
        f"`bench/run.sh programs --layout={LAYOUT} --rate={option('rate', 100)}`: medians of repeats by turns on the network rig, "
        f"on walmart and on the hypergraph at the end of a planted stream ({option('stream', 40000):,} nodes and as many hyperedges of 2 to "
        f"10 pins, {COMMUNITIES} communities, nine pins in ten of the own one), where srp's parts are those that the stream "
        "had chosen. Published (HyperX): parts of its streaming partitioner up to 2.6 times as fast as those of offline ones. "
        "Bytes: of all ranks, with headers; an iteration of random-walk has as many floats in a row as there are classes, one "
        "of spectral 16, one of label-propagation 8 bytes, and sends rows of sources alone. All ranks wait for the one with most "
        "pins, so parts with fewer bytes may be slower."),
        markdown("| data | program | parts | replicas R | most pins / mean | iterations | ms an iteration "
                 f"| times as fast as {methods[0]} parts | kB an iteration |", rows),
        "Where srp's parts are slower, and why: " + " ".join(reasons) if reasons else "",
        f"Shares of an iteration on {data[0]} that one rank makes on one core, the fastest of three runs:", core)
    bench.end()


main()
