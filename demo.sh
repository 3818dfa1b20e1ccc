#!/usr/bin/env bash
# Sees a graph cut into parts and trained by several ranks: installs what is missing (setup.sh says
# what and why), builds, generates a look-alike of Reddit, cuts it with METIS into 4 parts, trains a
# GCN of 3 layers and 256 columns on 4 ranks and on 1, and compares three modes on 4 ranks: plain
# full-graph training, fringe's lossless savings, and quantized messages. Ends with a table and the path
# of a report. Under 3 minutes on 2 cores, packages aside.
#   ./demo.sh [EPOCHS]      default 20
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
epochs=${1:-20}
config=configs/reddit-small-gcn.json
fringe=build/fringe

# The modelled link: each rank has 1 Gbit/s of its own, in both directions at once. A message of b bytes
# takes theta b + gamma seconds (docs/ALGORITHMS.md, A.6).
theta=8e-9 # seconds per byte: 1 Gbit/s
gamma=5e-5 # seconds per message: typical of TCP in one network

./setup.sh
rm -rf build/demo

echo "== build"
mkdir -p build
{ cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release &&
    cmake --build build --target fringe fringe-solver manual
} >build/demo.log 2>&1 || { cat build/demo.log; exit 1; }

echo "== generate: 23,000 nodes, 1.1 M edges, 602 features, 41 classes"
$fringe generate reddit-small

echo "== cut into 4 parts"
$fringe partition $config --parts 4

for ranks in 4 1; do
    echo "== train on $ranks rank(s), $epochs epochs"
    $fringe train $config --ranks $ranks --set run.dir=build/demo/ranks-$ranks \
        --set train.epochs="$epochs" --set run.log_every=5
done

# Widths are assigned for that link, and early enough for a short run.
echo "== compare modes on 4 ranks, 3 runs each, $epochs epochs"
$fringe compare $config --ranks 4 --modes vanilla,lossless,adaqp --runs 3 --quiet \
    --set run.dir=build/demo/modes --set train.epochs="$epochs" --set run.log_every=0 \
    --set quantization.period=$((epochs < 12 ? 3 : epochs / 4)) \
    --set "quantization.link=[$theta, $gamma]" --set quantization.solver=exact

# The table. Time over the link: in each exchange the ranks send in a ring, P - 1 messages one after the
# other, and each of these rounds takes as long as its longest message; the sums of the weight gradients
# come on top. An epoch over the link is the epoch measured here, less what it waited for messages, plus
# the time over the link: as if nothing was hidden behind computation.
echo
python3 - $theta $gamma <<'PYTHON'
import glob, json, statistics, sys
theta, gamma = map(float, sys.argv[1:])

def network(run, epochs):
    ranks, seconds = run["parts"]["count"], 0
    floats = sum(e["columns"] * pair[0] for e in run["exchanges"] for row in e["pairs"] for pair in row)
    per_float = run["result"]["bytes_per_epoch"] / max(floats, 1)
    for e in run["exchanges"]:
        for step in range(1, ranks):
            rows = [e["pairs"][p][(p + step) % ranks][0] for p in range(ranks)]
            seconds += theta * max(rows) * e["columns"] * per_float + (gamma if any(rows) else 0)
    reduced = epochs[-1]["reduce_bytes"]
    return seconds + theta * reduced / ranks + (2 * (ranks - 1) * gamma if reduced else 0)

def figures(folder):
    run = json.load(open(folder + "/run.json"))
    epochs = [json.loads(line) for line in open(folder + "/metrics.jsonl")]
    here = statistics.median(e["time"]["epoch"] for e in epochs)
    computed = statistics.median(e["time"]["epoch"] - e["time"]["wait"] - e["time"]["reduce"] for e in epochs)
    link = network(run, epochs)
    result = run["result"]
    return (100 * result["test_accuracy"], result["bytes_per_epoch"] / 1e6, result["memory_taken"] / 2**20, here, link,
            computed + link)

print(f"""Modelled, not measured: the time over a link of 1 Gbit/s for each rank, where a
message of b bytes takes theta b + gamma: theta = {theta:g} s/byte, gamma = {gamma:g} s.
Modes: median of 3 runs. All ranks share the cores of this machine.

                     test   MB per  MiB per   s per epoch   modelled: s per epoch
                    accur.   epoch     rank     measured     messages      whole""")
for name, pattern in (("1 rank", "ranks-1"), ("4 ranks, overlap", "ranks-4"), ("4 ranks, vanilla", "modes/vanilla/run-*"),
                      ("4 ranks, lossless", "modes/lossless/run-*"), ("4 ranks, adaqp", "modes/adaqp/run-*")):
    runs = [figures(folder) for folder in sorted(glob.glob("build/demo/" + pattern))]
    accuracy, megabytes, memory, here, link, whole = map(statistics.median, zip(*runs))
    print(f"{name:18}{accuracy:6.2f} %{megabytes:9.1f}{memory:9.0f}{here:13.3f}{link:13.3f}{whole:11.3f}")
PYTHON

echo
echo "The report of these runs, a page for any browser:"
$fringe report build/demo/ranks-4 build/demo/modes -o "$PWD/build/demo/report.html" --quiet
