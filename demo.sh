#!/usr/bin/env bash
# Sees a graph cut into parts and trained by several ranks: installs what is missing (setup.sh says
# what and why), builds, generates a look-alike of Reddit, cuts it with METIS into 4 parts, trains a
# GCN of 3 layers and 256 columns on 4 ranks and on 1, and ends with a table. Under 3 minutes on 2
# cores, packages aside.
#   ./demo.sh [EPOCHS]      default 20
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
epochs=${1:-20}
config=configs/reddit-small-gcn.json
fringe=build/fringe

./setup.sh

echo "== build"
mkdir -p build
{ cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release && cmake --build build --target fringe
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

# Members of "result" in run.json have names that occur once.
value() { sed -n "s/^ *\"$2\": \([^,]*\),*\$/\1/p" "build/demo/ranks-$1/run.json" | head -n 1; }

echo
echo "            test accuracy   seconds per epoch   bytes per epoch   memory per rank"
for ranks in 1 4; do
    awk -v ranks="$ranks" -v accuracy="$(value $ranks test_accuracy)" \
        -v seconds="$(value $ranks seconds_per_epoch)" -v bytes="$(value $ranks bytes_per_epoch)" \
        -v memory="$(value $ranks memory_taken)" 'BEGIN {
            printf "%d rank%s %14.2f %% %19.3f %14.1f MB %13.0f MiB\n", ranks,
                ranks == 1 ? " " : "s", 100 * accuracy, seconds, bytes / 1e6, memory / 1048576 }'
done
