#!/usr/bin/env bash
# once
# If this failed, mode=auto would not say what it chose and why, a run could not be repeated from its
# record, or a resumed run would choose anew.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny

auto="--ranks 3 --set mode=auto --set quantization.period=9 --set quantization.delay=2
    --set quantization.link=[1e-9,1e-5] --set quantization.solver=exact --set train.epochs=16"

expect "a run" 0 '^exchanges +from epoch [3-8] on, as measured' train $auto run.dir=whole run.checkpoint_every=1 \
    run.keep_checkpoints=100
[ "$(grep -cE '^ +layer 1 (forward|backward) +(fp32|quantized) rows *: +fp32 (over )?[0-9.]+ [a-zµ]+, quantized [0-9.]+ [a-zµ]+$' out)" -eq 2 ] ||
    fail "it says what each exchange sends: $(cat out)"
[ "$(awk 'length > 80' out | grep -c 'layer')" -eq 0 ] || fail "in 80 columns: $(cat out)"
python3 - <<'PY' || fail "run.json has the choice"
import json
choice = json.load(open("whole/run.json"))["codec_choice"]
assert choice["reproducible_without_record"] is False
assert "quantization.exchanges=replay:whole" in choice["reproduce"]
epochs = [json.loads(line) for line in open("whole/metrics.jsonl")]
chosen = choice["fp32"]
assert chosen == [f"layer{e['layer']}.{e['direction']}" for e in choice["exchanges"] if e["rows"] == "fp32"]
for epoch in epochs[choice["from_epoch"] - 1:]:
    assert epoch.get("fp32", []) == chosen
assert "fp32" not in epochs[0] and "fp32" not in epochs[1]
PY

expect "inspect shows the choice" 0 '^exchanges +measured; fp32 rows from epoch [3-8] on: (none|layer1[.].*)$' \
    fringe inspect whole

expect "a replay" 0 'result' train $auto run.dir=replayed quantization.exchanges=replay:whole
same "has the same metrics" <(timeless whole) <(timeless replayed)
same "and the same model" {whole,replayed}/checkpoints/epoch-16/model.safetensors

# As if killed after the checkpoint of epoch 9: the choice is made.
mkdir -p cut/checkpoints
cp whole/.fringe cut/
cp -r whole/checkpoints/epoch-9 cut/checkpoints/
cp whole/metrics.jsonl cut/
expect "a resume" 0 'resume +after epoch 9$' train $auto run.dir=cut --resume auto
grep -q '^exchanges  from' out && fail "a resume does not choose anew: $(cat out)"
same "goes on with the same choice" <(timeless whole) <(timeless cut)
same "to the same model" whole/checkpoints/epoch-16/model.safetensors cut/checkpoints/epoch-16/model.safetensors
python3 - <<'PY' || fail "run.json of a resumed run has the choice"
import json
a, b = (json.load(open(f"{run}/run.json"))["codec_choice"]["exchanges"] for run in ("whole", "cut"))
assert a == b
PY

expect "no run replays itself" 78 'is the folder of this run itself' train $auto run.dir=whole \
    quantization.exchanges=replay:whole
expect "nor one that is not there" 66 'nowhere/metrics.jsonl' train $auto run.dir=no \
    quantization.exchanges=replay:nowhere
expect "a misspelled word" 78 'all, measured, replay:RUN' train $auto run.dir=no quantization.exchanges=some
expect "one rank has no exchanges" 0 'result' train $auto --ranks 1 run.dir=one

finish
