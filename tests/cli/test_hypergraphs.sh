#!/usr/bin/env bash
# once
# If this failed, a hypergraph could not be cut, trained, resumed, evaluated, predicted and compared by
# the same commands as a graph, or wrong input would not get its sentence.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$FRINGE" generate hyper-planted:nodes=400,hyperedges=300,communities=8,classes=4,features=12 -o planted >/dev/null ||
    fail "generate"
cat >hyper.json <<'JSON'
{
    "data": {"path": "planted", "transforms": ["singletons:uncovered"]},
    "model": {"layer": "hgnn", "layers": 2, "hidden": [8], "dropout": 0.3},
    "train": {"epochs": 12, "eval_every": 4},
    "run": {"log_every": 0}
}
JSON

# --- one rank and three give the same loss; the cut reports replicas
expect "one rank" 0 'data +.*: 400 nodes, 3[0-9]+ hyperedges, [0-9]+ pins \(undirected\)' \
    "$FRINGE" train hyper.json --set run.dir=one
expect "three ranks" 0 'result' "$FRINGE" train hyper.json --ranks 3 --set run.dir=three
python3 - <<'PY' || fail "three ranks have the losses of one"
import json
a, b = ([json.loads(line)["loss"] for line in open(f"{run}/metrics.jsonl")] for run in ("one", "three"))
raise SystemExit(not all(abs(x - y) <= 1e-4 * abs(x) for x, y in zip(a, b)) or len(a) != 12)
PY
expect "the cut" 0 'replicas   R = [0-9]+, 2 R = [0-9]+' "$FRINGE" partition hyper.json --parts 3
expect "its measures as JSON" 0 '"replicas": [0-9]+' "$FRINGE" partition hyper.json --parts 3 --json
rows() { # COVER: sets `sent` to the rows that all exchanges of an epoch send
    "$FRINGE" train hyper.json --ranks 3 --set mode=vanilla --set lossless.cover=$1 --set train.epochs=1 \
        --set run.dir=cover-$1 >/dev/null 2>&1 || fail "cover $1"
    sent=$(python3 -c "import json; print(sum(e['rows'] for e in json.load(open('cover-$1/run.json'))['exchanges']))")
}
replicas=$("$FRINGE" partition hyper.json --parts 3 --json 2>/dev/null |
    python3 -c "import json, sys; print(json.load(sys.stdin)['replicas'])")
rows replicas
of_replicas=$sent
[ "$sent" -eq $((6 * replicas)) ] || # four forward, and two that lead a gradient back
    fail "rows with replicas: $sent, R = $replicas"
rows min
[ "$sent" -le "$of_replicas" ] || fail "min sends more than replicas"

# --- every layer, codec and kind of hypergraph
for layer in hgnn hnhn; do
    for mode in vanilla adaqp; do
        expect "$layer, $mode" 0 'result' "$FRINGE" train hyper.json --ranks 2 --set model.layer=$layer --set mode=$mode \
            --set quantization.period=3 --set quantization.delay=1 --set run.dir=$layer-$mode
    done
done

# --- stopped and gone on with
settings="--ranks 2 --set mode=adaqp --set quantization.period=3 --set quantization.delay=1
    --set quantization.link=[1e-9,1e-5] --set quantization.solver=exact --set run.checkpoint_every=5"
expect "a run" 0 'result' "$FRINGE" train hyper.json $settings --set run.dir=whole --set run.keep_checkpoints=9
cp -r whole gone
rm -r gone/checkpoints/epoch-1*
echo epoch-5 >gone/checkpoints/LATEST
expect "resumed" 0 'result' "$FRINGE" train hyper.json $settings --set run.dir=gone --set run.keep_checkpoints=9 \
    --resume auto
for file in model best optimizer messages; do
    same "$file as never stopped" {whole,gone}/checkpoints/epoch-12/$file.safetensors
done

# --- used
expect "evaluated on other ranks" 0 '^test ' "$FRINGE" evaluate one --ranks 3
expect "predicted" 0 'embeddings-1.npy \[400, 8\]' "$FRINGE" predict one --layer 1 -o rows
expect "inspected" 0 'hyperedges' "$FRINGE" inspect one
weights=one/checkpoints/epoch-12/model.safetensors
expect "weights of another operator" 78 'trained with normalisation hyper-sym, not with hyper-row' \
    "$FRINGE" evaluate hyper.json --weights $weights --set model.norm_hyper=row
expect "compared" 0 'lossless' "$FRINGE" compare hyper.json --ranks 2 --modes vanilla,lossless --set run.dir=modes

# --- layers and data that do not fit
expect "a layer for graphs" 78 'gcn is for graphs, but .* is a hypergraph; use one of hgnn, hnhn' \
    "$FRINGE" train hyper.json --set model.layer=gcn --set run.dir=wrong
"$FRINGE" generate tiny -o tiny >/dev/null
expect "a layer for hypergraphs" 78 'hgnn is for hypergraphs, but tiny is a graph' \
    "$FRINGE" train hyper.json --set data.path=tiny --set 'data.transforms=[]' --set run.dir=wrong
expect "too many layers" 78 'model.layers: expected 1 to 20, found 21' "$FRINGE" config check hyper.json --set model.layers=21
expect "rows of hyperedges without a width" 78 'model.hidden: expected a width, found none' \
    "$FRINGE" config check hyper.json --set model.layer=hnhn --set model.layers=1 --set 'model.hidden=[]'
for step in clique star; do
    expect "gcn on the $step" 0 'result' "$FRINGE" train hyper.json --set model.layer=gcn --set run.dir=$step \
        --set "data.transforms=[\"$step\"]"
done

# --- bad files
bad() { # NAME CODE SENTENCE: the text on standard input is bad.hgr
    cat >bad.hgr
    expect "$1" "$2" "$3" "$FRINGE" inspect bad.hgr
}
printf '2 3\n1 2\n\n' | bad "no pins" 65 'bad.hgr:3: .*'
printf '2 3\n1 2\n1 4\n' | bad "out of range" 65 'bad.hgr:3: .*4'
printf '2 3 1\n-1 1 2\n1 1 3\n' | bad "negative weight" 65 'bad.hgr:2: .*weight'
printf '2 3 1\nnan 1 2\n1 1 3\n' | bad "weight not a number" 65 'bad.hgr:2: .*weight'
printf '3000000000 3\n1 2\n' | bad "too many" 65 'bad.hgr:1: .*'
printf '2 3\n1 2 2\n1 3\n' | bad "a pin twice" 0 'warnings? +.*1 '
finish
