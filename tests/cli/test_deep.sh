#!/usr/bin/env bash
# once
# If this failed, fringe could not work below the folders of workflow managers, whose paths are long:
# the system takes paths of 4,095 bytes.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny
deep=$work
for ((i = 0; ${#deep} < 3200; i++)); do
    deep=$deep/$(printf 'a-step-of-a-workflow-with-a-long-name-%0160d' $i)
done
mkdir -p "$deep" && cp -r tiny "$deep/graph-of-the-run" || exit 1
sed 's/"path": "tiny"/"path": "graph-of-the-run"/' tiny.json >"$deep/config.json"
two="--set train.epochs=2 --ranks 2"

expect "config, graph, cache and run lie deep" 0 '^result +epoch 2: ' "$FRINGE" train "$deep/config.json" $two \
    --set run.dir="$deep/run" --set data.cache="$deep/cache" --set data.path="$deep/graph-of-the-run"
[ -s "$deep/run/checkpoints/epoch-2/model.safetensors" ] || fail "the checkpoint is there"
expect "the run is resumed" 0 '^result +epoch 3: ' "$FRINGE" train "$deep/config.json" $two --resume auto \
    --set run.dir="$deep/run" --set data.cache="$deep/cache" --set train.epochs=3
expect "its folder is a config" 0 '^test  .* 0[.]' "$FRINGE" evaluate "$deep/run"
expect "predictions" 0 'classes.npy' "$FRINGE" predict "$deep/run"
expect "inspect" 0 'epoch' "$FRINGE" inspect "$deep/run"
expect "runs" 0 'run' "$FRINGE" runs "$deep"
expect "report" 0 'report.html' "$FRINGE" report "$deep/run"
expect "the cache" 0 'parts' "$FRINGE" cache --set data.cache="$deep/cache"
expect "doctor sees the disk of such a folder" 0 'GiB free' "$FRINGE" doctor --set data.cache="$deep/cache"
expect "a stream" 0 'snapshots/final' "$FRINGE" stream "$FRINGE_SOURCE/data/small/seven.events" -o "$deep/stream" --parts 2
expect "a sentence keeps its end" 66 '^fringe: .* \.\.\. .*/none does not exist; fringe looks for data.path beside the config' \
    "$FRINGE" train "$deep/config.json" --set data.path="$deep/none"

cd "$deep" || exit 1 # relative names below it
"$FRINGE" train config.json $two --set data.cache=there --set run.dir=again --set partition.seed=2 >"$work/out" 2>&1 </dev/null ||
    fail "from within: $(cat "$work/out")"
[ -d there ] && [ -s again/run.json ] || fail "what was made lies below the folder"
"$FRINGE" train config.json --sweep train.lr=0.01,0.1 --set train.epochs=1 --set run.dir="$deep/sweep" >"$work/out" 2>&1 </dev/null ||
    fail "a sweep: $(cat "$work/out")"
"$FRINGE" compare config.json --modes vanilla,adaqp --set train.epochs=1 --set run.dir="$deep/modes" >"$work/out" 2>&1 </dev/null ||
    fail "a comparison: $(cat "$work/out")"
"$FRINGE" convert config.json "$deep/made.npz" >"$work/out" 2>&1 </dev/null || fail "an archive: $(cat "$work/out")"
cd "$work" || exit 1
for key in data.cache run.dir; do
    expect "$key beyond what the system takes" 78 "$key: expected the path of a folder below 3840 letters" \
        "$FRINGE" train tiny.json --set $key="$deep/$(printf '%0800d' 0)"
done
finish
