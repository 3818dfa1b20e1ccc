#!/usr/bin/env bash
# Do two versions of fringe train to the same bytes? Trains with OLD and NEW on 1 to 4 ranks, in fp32
# modes and with bit widths (links pinned, widths solved exactly), GCN and GraphSAGE, and compares
# weights, best weights, optimizer state and predictions byte by byte.
#   bench/same.sh OLD NEW [CONFIG...]      two programs; default: a small generated graph
set -euo pipefail
old=$(realpath "$1")
new=$(realpath "$2")
shift 2
configs=()
for config in "$@"; do configs+=("$(realpath "$config")"); done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export OMP_NUM_THREADS=1
"$old" generate planted:nodes=3000,edges=40000,features=48,communities=16 --seed 3 -o graph >/dev/null
cat >gcn.json <<JSON
{"data": {"path": "$work/graph"}, "model": {"layers": 3, "hidden": [32]},
 "train": {"epochs": 12, "eval_every": 4}, "messages": {"period": 4, "link": [1e-9, 1e-5], "solver": "exact"},
 "run": {"threads": 1, "log_every": 0}}
JSON
sed 's/"layers": 3/"layer": "sage-mean", "layers": 2/' gcn.json >sage.json
for which in old new; do # keys have their oldest names above: a program that knows newer ones renames them
    mkdir $which
    cp gcn.json sage.json $which
    "${!which}" config upgrade $which/gcn.json $which/sage.json >/dev/null 2>&1 || true
done
[ ${#configs[@]} -gt 0 ] || configs=(gcn.json sage.json)

compared=0 different=0
compare() { # FILE FILE
    compared=$((compared + 1))
    cmp -s "$1" "$2" || { different=$((different + 1)); echo "differ: $1 $2"; }
}
for config in "${configs[@]}"; do
    for mode in vanilla lossless overlap quantize adaqp adaqp-published; do
        for ranks in 1 2 3 4; do
            for which in old new; do
                export XDG_CACHE_HOME=$work/cache-$which # each trains on shards of its own making
                file=$config
                [ ! -f "$which/$config" ] || file=$which/$config
                dir=$which/$(basename "$config" .json)-$mode-$ranks
                "${!which}" train "$file" --ranks $ranks --set mode=$mode --set run.dir=$dir \
                    >log 2>&1 || { cat log; exit 1; }
                "${!which}" predict $dir --ranks $ranks -o $dir/predicted >log 2>&1 || { cat log; exit 1; }
            done
            for file in $(cd $dir && echo checkpoints/epoch-*/{model,best,optimizer}.safetensors \
                predicted/*.npy); do
                compare old/${dir#new/}/$file $dir/$file
            done
        done
    done
done
echo "$compared files compared, $different differ"
[ $different -eq 0 ]
