#!/usr/bin/env bash
# once
# If this failed, fringe inspect would not open something that fringe wrote, would print lines that
# wrap, or would call a dataset sound whose manifest and arrays disagree; or fringe runs would leave
# out a run or what it differs in.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny
train="$FRINGE train tiny.json --set train.epochs=6 --set train.eval_every=2 --quiet"
$train --ranks 2 --set mode=adaqp --set quantization.period=2 --set quantization.delay=1 \
    --set run.dir=one --set run.trace=[1,2] >/dev/null || fail "a run"
$train --runs 2 --set run.dir=many >/dev/null || fail "two runs"
"$FRINGE" compare tiny.json --modes vanilla,overlap --quiet --set train.epochs=2 --set run.dir=pair \
    >compared 2>/dev/null || fail "a comparison"
"$FRINGE" inspect pair/compare.json >inspected && diff inspected <(grep -v ^report compared) >differs ||
    fail "inspect prints what compare printed: $(cat differs)"
$train --sweep train.lr=0.01,0.1 --set run.dir=swept >/dev/null || fail "a sweep"
"$FRINGE" predict one >/dev/null 2>&1 || fail "predictions"
"$FRINGE" partition tiny.json --parts 2 --set data.transforms=drop-loops >/dev/null 2>&1 || fail "a cut"
printf '1 2\n2 3\n' >edges.txt
mkdir pairs && printf '2 4\n1 2\n2 3\n' >pairs/hypergraph.hgr
printf 'fringe-stream 1\n+h 7 1 2\n+h 9 2 3\n-v 1\n' >grown.events
"$FRINGE" generate hyper-planted:nodes=300,hyperedges=200 -o hyper >/dev/null || fail "a hypergraph"
cache=cache/fringe
parts=$(ls -d $cache/parts-* | head -1)

# KIND PATH 'what its lines hold'
while read -r kind path pattern; do
    expect "$path" 0 "$pattern" "$FRINGE" inspect $path
    awk 'length > 80 && NF > 1 { bad = 1; print } END { exit bad }' out || fail "$path: in 80 columns"
    "$FRINGE" inspect $path --json >>kinds || fail "$path: as JSON"
    echo "$kind" >>wanted
done <<KINDS
run          one                                  ^run +finished: 6 of 6 epochs; adaqp, 2 ranks, seed 0
run          one/run.json                         ^best +epoch [246]: validation [0-9.]+ %, test
metrics      one/metrics.jsonl                    ^ +6 .* [0-9.]+ %
checkpoint   one/checkpoints/                     ^epoch +epoch 6; best validation
checkpoint   one/checkpoints/epoch-6/checkpoint.json last evaluation accuracy 0
tensors      one/checkpoints/epoch-6/model.safetensors convs.0.bias
assignment   one/assignments                      ^ +layer 1 forward .* measured
assignment   one/assignments/epoch-4.json         applied before epoch 4
trace        one/trace.json                       events of 2 ranks, epochs 1 to 2
predictions  one/predictions                      ^array +\[600, 1\] int64, 0 to 4
array        one/predictions/scores.npy           ^array +\[600, 5\] float32, -[0-9.]+ to [0-9.]+
runs         many                                 ^best +test accuracy [0-9.]+ \+- [0-9.]+ %
runs         many/runs.json                       ^run-2 +seed=1 +finished
report       pair/report.html                     open it in a browser
comparison   pair                                 ^overlap +mode=overlap +finished
comparison   pair/compare.json                    ^overlap .* [0-9.]+x
sweep        swept                                ^train.lr=0.01/run-1 +.*finished
sweep        swept/sweep.json                     ^. train.lr=0.1$
table        swept/sweep.csv                      validation
table        pair/compare.tex                     tabular
runs         .                                    ^many/run-1 
config       tiny.json                            ^model +gcn, 2 layers
cache        $cache                               ^parts +tiny +2
cache-entry  $(ls -d $cache/source-* | head -1)   ^source +tiny
dataset      $(ls -d $cache/dataset-*)            ^nodes +600
partition    $parts                               ^edge cut
partition    $parts/ranks.jsonl                   ^rows sent
shard        $parts/part-0-of-2.safetensors       ^shard +part 0 of 2 parts of tiny
part-file    $parts/tiny.part.2                   600 nodes in 2 parts
dataset      tiny                                 ^array +features F32 \[600, 16\]
dataset      tiny/dataset.json                    ^symmetric +yes
graph        pairs/hypergraph.hgr                 ^uncovered +1 in no hyperedge
graph        grown.events                         ^pins +3
dataset      hyper                                ^hyperedges +200
graph        edges.txt                            ^edges +2 stored
KINDS
expect "config show takes a run" 0 '^train.epochs +. 6 epochs' "$FRINGE" config show one
expect "and names those of a folder" 66 'many holds 2 runs' "$FRINGE" config show many
python3 - >out <<'PY' || fail "members of a run: $(cat out)"
import json, subprocess, os
text, found = open("kinds").read(), []
while text.strip():
    said, end = json.JSONDecoder().raw_decode(text.lstrip())
    text = text.lstrip()[end:]
    found.append(said["kind"])
assert found == open("wanted").read().split(), found
run = json.loads(subprocess.check_output([os.environ["FRINGE"], "inspect", "one", "--json"]))
lines = [json.loads(line) for line in open("one/metrics.jsonl")]
assert (run["state"], run["mode"], run["ranks"], run["epochs"]) == ("finished", "adaqp", 2, 6), run
assert run["loss"] == lines[-1]["loss"] and run["last_test"] == lines[-1]["test"]["micro_f1"]
assert run["bytes_per_epoch"] == lines[-1]["bytes"] and run["total"]["bytes"] == sum(l["bytes"] for l in lines)
assert abs(run["total"]["seconds"] - sum(l["time"]["epoch"] for l in lines)) < 1e-12
scores = json.loads(subprocess.check_output([os.environ["FRINGE"], "inspect", "one/predictions/classes.npy", "--json"]))
assert (scores["shape"], scores["type"], scores["least"], scores["most"]) == ([600, 1], "int64", 0, 4), scores
PY

# --- what is wrong
cp -r tiny wrong
sed -i 's/"nodes": 600/"nodes": 601/' wrong/dataset.json
expect "a manifest that disagrees" 65 'edge_offset.*601.*602.*dataset.json says 601 nodes' "$FRINGE" inspect wrong
cp one/run.json half.json
head -c 300 one/run.json >half.json
expect "half a file" 65 'half.json' "$FRINGE" inspect half.json
echo '{"name": "else"}' >other.json
expect "another program's file" 65 'other.json is JSON, which is not read; convert it: ' \
    "$FRINGE" inspect other.json
mkdir empty
expect "an empty folder" 65 'empty is an empty folder, which is none' "$FRINGE" inspect empty
expect "nothing" 66 'nowhere does not exist' "$FRINGE" inspect nowhere
printf '0\n1\nx\n' >bad.part.2
expect "a wrong part file" 65 'bad.part.2:3: expected the number of a part' "$FRINGE" inspect bad.part.2
# --- fringe runs
expect "fringe runs" 0 '^many/run-2 .* finished' "$FRINGE" runs .
awk 'length($0) > 80 {exit 1}' out || fail "a line of fringe runs is too long"
[ "$(grep -c 'ranks=1' out)" -eq 1 ] && grep -q 'ranks=2' out || fail "what most runs have stands once: $(cat out)"
grep -q '^val, test: accuracy in % at the best validation$' out || fail "the score has a name: $(cat out)"
expect "of one folder" 0 '^run-2 +seed=1 +finished' "$FRINGE" runs many
expect "of nothing" 66 'no such folder' "$FRINGE" runs nothing
expect "without a folder" 66 'runs: there is no such folder here' "$FRINGE" runs
"$FRINGE" runs . --json | python3 -c 'import json, sys
runs = {run["run"]: run["differs"]["ranks"] for run in json.load(sys.stdin)["runs"]}
assert runs == {"many/run-1": 1, "many/run-2": 1, "one": 2, "pair/overlap": 1, "pair/vanilla": 1,
    "swept/train.lr=0.01/run-1": 1, "swept/train.lr=0.1/run-1": 1}, runs' || fail "as JSON"

sed -i -z 's/,\n  "result".*/}/' one/run.json
expect "a run that was killed" 0 '^run +unfinished: 6 of 6' "$FRINGE" inspect one
finish
