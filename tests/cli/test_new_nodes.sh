#!/usr/bin/env bash
# once
# If this failed, a run could not predict nodes that training has not seen, would scale their features by
# statistics of their own, or would lose their ids; or train, config check and inspect would say other
# things of the same file.
. "$FRINGE_SOURCE/tests/cli/lib.sh"

# two groups of ten; the training sees nodes a0 to b7
graph() {
    for ((i = 0; i < $1; i++)); do
        for g in a b; do
            echo "$g$i,$g$(((i + 1) % $1))"
            echo "$g$(((i + 1) % $1)),$g$i"
        done
    done
}
nodes() {
    echo "$2"
    for ((i = 0; i < $1; i++)); do
        printf 'a%d,1,0.%d%s\n' $i $i "${3:+,left,train}"
        printf 'b%d,0,0.%d%s\n' $i $i "${3:+,right,train}"
    done
}
graph 8 >seen.csv
graph 10 >all.csv
nodes 8 id,x,z,label,split labels >seen_nodes.csv
nodes 10 id,x,z >all_nodes.csv
cat >c.json <<'JSON'
{"data": {"path": "seen.csv", "nodes": "seen_nodes.csv", "transforms": ["standardize"]}, "model": {"layer": "gcn", "hidden": [4]},
 "train": {"epochs": 20, "lr": 0.1}, "run": {"dir": "run"}}
JSON
expect 'the training' 0 'result' "$FRINGE" train c.json
expect 'new nodes' 0 'ids.txt \[20\]' "$FRINGE" predict run --data all.csv --set data.nodes=all_nodes.csv -o one \
    --csv out.csv --npz out.npz --layer 1
expect 'new nodes on two ranks' 0 '' "$FRINGE" predict run --data all.csv --set data.nodes=all_nodes.csv -o two \
    --npz two.npz --layer 1 --ranks 2
same 'ids in the order of rows' one/ids.txt <(printf '%s\n' a{0..9} b{0..9})
same 'ids on one and two ranks' one/ids.txt two/ids.txt
same 'classes on one and two ranks' one/classes.npy two/classes.npy
[ "$(head -1 out.csv)" = id,class,left,right ] || fail "the first line of out.csv is $(head -1 out.csv)"
[ "$(grep -c '^a.,left,\|^b.,right,' out.csv)" = 20 ] || fail 'classes of groups'
expect 'the data of the run' 0 '' "$FRINGE" predict run -o plain
expect 'the same as new data' 0 '' "$FRINGE" predict run --data seen.csv --set data.nodes=seen_nodes.csv -o again
same 'scores of the same data' plain/scores.npy again/scores.npy
# what steps took from the training is applied, and never fitted again
sed 's/standardize/one-hot/; s/"run"}/"hot"}/' c.json >hot.json
sed 's/0\.//' seen_nodes.csv >whole.csv
sed 's/0\.//; s/^a9,1,9/a9,5,9/' all_nodes.csv >new_whole.csv
expect 'a training of categories' 0 'result' "$FRINGE" train hot.json --set data.nodes=whole.csv
expect 'categories of new nodes' 0 'one-hot: 5 features have a value that none of the training had' "$FRINGE" predict \
    hot --data all.csv --set data.nodes=new_whole.csv -o three
for step in run hot; do
    [ $step = run ] && config=c.json nodes=all_nodes.csv || config=hot.json nodes=new_whole.csv
    expect "features of new nodes, $step" 0 '' "$FRINGE" convert $config $step.npz --set data.path=all.csv \
        --set data.nodes=$nodes --set data.fitted=$step/fitted.safetensors
done
expect 'a missing folder' 73 'there is no folder none' "$FRINGE" predict run -o one --npz none/out.npz
if python3 -c 'import numpy' 2>/dev/null; then
    python3 - <<'PY' || fail 'arrays against numpy'
import numpy as np

def table(path):
    rows = [line.rstrip().split(",")[:3] for line in open(path)][1:]
    return np.array([row[1:] for row in sorted(rows)], float)

def features(path):
    z = np.load(path)
    if "attr_matrix" in z:
        return z["attr_matrix"]
    x = np.zeros(z["attr_shape"])
    for i, (a, b) in enumerate(zip(z["attr_indptr"], z["attr_indptr"][1:])):
        x[i, z["attr_indices"][a:b]] = z["attr_data"][a:b]
    return x

old, new = table("seen_nodes.csv"), table("all_nodes.csv")
found = features("run.npz")
assert abs(found - (new - old.mean(0)) / old.std(0)).max() < 1e-6, found  # rounded to 32 bits, at most 2
old, new = table("whole.csv"), table("new_whole.csv")
ones = np.hstack([new[:, [f]] == np.unique(old[:, f]) for f in range(2)])
assert (features("hot.npz") == ones).all(), features("hot.npz")

one, two = np.load("out.npz"), np.load("two.npz")
assert one.files == two.files == ["id", "class_names", "class", "scores", "embeddings"], one.files
assert list(one["id"]) == [f"{g}{i}" for g in "ab" for i in range(10)] and list(one["class_names"]) == ["left", "right"]
assert (one["class"] == np.load("one/classes.npy")[:, 0]).all() and one["class"].shape == (20,)
assert (one["scores"] == np.load("one/scores.npy")).all() and (one["embeddings"] == np.load("one/embeddings-1.npy")).all()
assert abs(one["scores"] - two["scores"]).max() <= 1e-5 * abs(one["scores"]).max()
PY
else
    echo 'skipped: arrays, because python3 has no numpy'
fi
rm run/fitted.safetensors
expect 'an old run' 65 'which an older version trained, does not hold the means' "$FRINGE" predict run --data all.csv \
    --set data.nodes=all_nodes.csv -o none
expect 'resumed by this version' 0 '' "$FRINGE" train c.json --resume auto
expect 'new nodes of the old run' 0 '' "$FRINGE" predict run --data all.csv --set data.nodes=all_nodes.csv -o four
same 'scores of the old run' one/scores.npy four/scores.npy
expect 'other columns' 65 'has 1 features? of a node, but the run was trained with 2' "$FRINGE" predict run \
    --data all.csv --set data.nodes=all_nodes.csv --set 'data.columns={"features":"z"}' --set data.transforms=[] -o none
expect 'other columns to scale' 65 'have 1 features? of a node where the training had 2' "$FRINGE" predict run \
    --data all.csv --set data.nodes=all_nodes.csv --set 'data.columns={"features":"z"}' -o none
expect 'random features' 78 'say nothing of new nodes' "$FRINGE" predict run --data all.csv \
    --set 'data.transforms=["random:2"]' -o none

# one sentence for one file
printf 'graph [\n]\n' >g.gml
echo '{"data": {"path": "g.gml"}}' >g.json
for command in 'train g.json' 'config check --files g.json' 'inspect g.gml'; do
    expect "$command" 65 "g.gml is GML, which is not read; convert it: python3 .*python/fringe' convert" $FRINGE $command
done
expect 'data are read' 78 'source and target are the same column' "$FRINGE" config check --files c.json --set \
    'data.columns={"source": 1, "target": 1}'
finish
