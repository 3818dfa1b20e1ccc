#!/usr/bin/env bash
# once
# If this failed, inspect would not know something that fringe writes, would print other figures than
# those of the run, or would call a dataset sound whose manifest and arrays differ; or fringe runs
# would leave out a run or what it differs in.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny
"$FRINGE" train tiny.json --ranks 2 --quiet --set run.dir=runs/one >/dev/null 2>&1 || fail "a run"
"$FRINGE" train tiny.json --quiet --runs 2 --set run.dir=runs/a-name-of-many-runs-that-is-long-enough-to-be-alone \
    --set train.lr=0.25 >/dev/null 2>&1 || fail "two runs"
"$FRINGE" compare tiny.json --quiet --modes vanilla --set run.dir=cmp >/dev/null 2>&1 || fail "a comparison"
"$FRINGE" predict runs/one --quiet >/dev/null 2>&1 || fail "predictions"
many=runs/a-name-of-many-runs-that-is-long-enough-to-be-alone
mkdir parts && cp cache/fringe/parts-*/tiny.part.2 parts || fail "a part file"

# narrow NAME PATTERN PATH: what inspect prints of it, in lines of at most 80 columns, and as JSON
narrow() {
    expect "$1" 0 "$2" "$FRINGE" inspect "$3"
    awk 'length($0) > 80 && / / {print; bad = 1} END {exit bad}' out || fail "$1: a line is too long"
    "$FRINGE" inspect "$3" --json >json 2>&1 || fail "$1: --json fails: $(cat json)"
    python3 -c 'import json; json.load(open("json"))["kind"]' || fail "$1: not JSON: $(cat json)"
}
narrow "a run" 'epochs +20' runs/one
narrow "its run.json" 'mode +overlap' runs/one/run.json
narrow "its metrics" 'best_epoch' runs/one/metrics.jsonl
narrow "its checkpoint" 'epoch 20' runs/one/checkpoints/epoch-20
narrow "checkpoint.json" 'fringe-checkpoint' runs/one/checkpoints/epoch-20/checkpoint.json
narrow "tensors" 'convs.0' runs/one/checkpoints/epoch-20/model.safetensors
narrow "predictions" 'scores.npy.shape +600, 5' runs/one/predictions
narrow "an array" 'most +4$' runs/one/predictions/classes.npy
narrow "several runs" 'lr=0.25|run-2' $many
narrow "a folder of runs" 'lr=0.01' runs
narrow "runs.json" 'last.deviation' $many/runs.json
narrow "a comparison" '^vanilla .*1.00x' cmp
narrow "compare.json" 'vanilla.speed_up +1$' cmp/compare.json
narrow "a config" 'model.hidden +16' tiny.json
narrow "a dataset" 'nodes +600' tiny
narrow "its manifest" 'nodes +600' tiny/dataset.json
narrow "parts" 'edge cut' cache/fringe/parts-*
narrow "the cache" 'tiny +cut +2' cache/fringe
narrow "a part file" 'parts +2' parts/tiny.part.2

python3 - <<'PY' || fail "other figures than those of the run"
import json, subprocess, os
of = json.loads(subprocess.check_output([os.environ["FRINGE"], "inspect", "runs/one", "--json"]))
lines = [json.loads(line) for line in open("runs/one/metrics.jsonl")]
best = max((l for l in lines if "validation" in l), key=lambda l: l["validation"]["micro_f1"])
assert of["epochs"] == 20 and of["ranks"] == 2 and of["state"] == "finished" and of["loss"] == lines[-1]["loss"]
assert of["best_epoch"] == best["epoch"] and of["test_at_best"] == best["test"]["micro_f1"]
assert of["bytes_per_epoch"] == lines[-1]["bytes"] and of["ended"] >= of["started"]
PY

# --- what is not sound, or not known
cp -r tiny as_n && sed -i 's/"nodes": 600/"nodes": 601/' as_n/dataset.json
expect "a manifest that differs from its arrays" 65 'dataset.json says 601 nodes' "$FRINGE" inspect as_n
expect "also as JSON" 65 'dataset.json says 601 nodes' "$FRINGE" inspect as_n --json
mkdir other && echo nothing >other/notes.md
expect "a folder of something else" 66 'is a folder that fringe inspect does not know; it knows' "$FRINGE" inspect other
expect "a file of something else" 66 'is a file that fringe inspect does not know; it knows' "$FRINGE" inspect other/notes.md

# --- fringe runs
expect "fringe runs" 0 '^one lr=0.01 .* finished' "$FRINGE" runs
awk 'length($0) > 80 {exit 1}' out || fail "a line of fringe runs is too long"
grep -qE 'ranks=2' out && grep -qE 'lr=0.25' out || fail "what the runs differ in: $(cat out)"
expect "of one folder" 0 '^run-2 +seed=1 +finished' "$FRINGE" runs $many
expect "of nothing" 66 'no such folder' "$FRINGE" runs nothing
(cd other && expect "without a folder" 66 'runs: there is no such folder here' "$FRINGE" runs; exit $failed) || failed=1
"$FRINGE" runs --json | python3 -c 'import json, sys
runs = json.load(sys.stdin)["runs"]
assert len(runs) == 3 and [run["differs"]["ranks"] for run in runs] == [1, 1, 2]' || fail "as JSON"

finish
