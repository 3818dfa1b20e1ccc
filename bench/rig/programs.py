"""What a cut is worth to programs without a network: seconds and bytes of an iteration, by how the parts were made.

usage: bench/run.sh programs [--config=walmart-hgnn] [--layout=4x1] [--rate=100] [--iterations=20] [--repeats=3]
                             [--methods=random,metis,srp] [--programs=random-walk,label-propagation]
smoke: --layout=2x1 --rate=1000 --iterations=3 --repeats=1 --methods=random

Every program runs on parts of every method, by turns, on the network rig (hosts x ranks of each, links of --rate Mbit/s).
An iteration is beside that on parts of the first method, and beside the thesis' figure: parts of its streaming
partitioner up to 2.6 times as fast as those of offline ones. Bytes stand beside the replicas R of the partition: if each
hyperedge's nodes sent their rows there and back, 2 R rows would travel. The part with most pins, in parts of the mean,
says how long the others wait for it. Writes docs/results.md.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from figures import FRINGE, ROOT, SMOKE, Bench, fringe, needs_rig, option, write_section
from rig import FIRST

RIG = os.path.join(ROOT, "bench", "common", "netrig.sh")


def run(work, config, layout, rate, method, program, iterations):
    hosts, ranks = layout.split("x")
    folder = os.path.join(work, "out")
    shutil.rmtree(folder, ignore_errors=True)
    words = ["bash", RIG, "run", "--name", "programs", "--hosts", hosts, "--ppn", ranks, *(("--yield", "1") if SMOKE else ("--pin",)),
             "--rate", f"{rate}mbit", "--", "-x", "OMP_NUM_THREADS=1", "-x", "FRINGE_DATA", "sh", "-c", FIRST, "sh", FRINGE,
             "program", program, config, "-o", folder]
    for setting in (f"partition.method={method}", "run.threads=1", "data.transforms=[]", f"program.iterations={iterations}"):
        words += ["--set", setting]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}\nended with {done.returncode}: {done.stderr[-2000:]}")
    with open(os.path.join(folder, "program.json")) as file:
        return json.load(file)


def cut(config, ranks, method):
    words = ["--parts", ranks, "--json", "--set", f"partition.method={method}", "--set", "data.transforms=[]"]
    return json.loads(fringe("partition", config, *words).stdout)


def main():
    needs_rig()
    bench, name, layout, rate = Bench("programs"), option("config", "walmart-hgnn"), option("layout", "4x1"), option("rate", 100)
    config = os.path.join(ROOT, "configs", f"{name}.json")
    methods, programs = (option(key, words).split(",") for key, words in
                         (("methods", "random,metis,srp"), ("programs", "random-walk,label-propagation")))
    hosts, per_host = map(int, layout.split("x"))
    with tempfile.TemporaryDirectory(prefix="fringe-programs-") as work:
        if SMOKE:
            fringe("generate", "hyper-planted", "-o", os.path.join(work, "hyper"))
            config = os.path.join(work, "hyper.json")
            with open(config, "w") as out:
                json.dump({"data": {"path": os.path.join(work, "hyper")}}, out)
        got = {(program, method): [] for program in programs for method in methods}
        for _ in range(option("repeats", 3)):
            for program, method in got:
                got[program, method].append(run(work, config, layout, rate, method, program, option("iterations", 20)))
        cuts = {method: cut(config, hosts * per_host, method) for method in methods}
    rows = [f"| program | parts | replicas R | most pins / mean | iterations | ms an iteration | times as fast as {methods[0]} parts "
            "| kB an iteration |", "|" + "---|" * 8]
    for (program, method), runs in got.items():
        seconds = statistics.median(one["seconds_per_iteration"] for one in runs)
        first = statistics.median(one["seconds_per_iteration"] for one in got[program, methods[0]])
        bench.figure(f"{program}, {method} parts", 1000 * seconds, "ms", f"{methods[0]} parts", 1000 * first, first / seconds)
        rows.append(f"| {program} | {method} | {cuts[method]['replicas']:,} | {cuts[method]['balance_pins']:.2f} "
                    f"| {runs[0]['iterations']} | {1000 * seconds:.1f} | {first / seconds:.2f} | {runs[0]['bytes_per_iteration'] / 1000:.1f} |")
    write_section("Programs on parts of different methods", (
        f"`bench/run.sh programs --config={name} --layout={layout} --rate={rate}`: medians of repeats by turns on the network "
        "rig. Published (HyperX): parts of its streaming partitioner up to 2.6 times as fast as those of offline ones. Bytes: "
        "of all ranks, with headers; an iteration of random-walk has as many floats in a row as there are classes, one of "
        "label-propagation 8 bytes, and sends rows of sources alone. All ranks wait for the one with most pins, so parts "
        "with fewer bytes may be slower.\n\n" + "\n".join(rows)))
    bench.end()


main()
