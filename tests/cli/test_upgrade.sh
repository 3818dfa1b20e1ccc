#!/usr/bin/env bash
# once
# If this failed, a config, a run or a checkpoint of an older version would be refused, or read as
# another training, because keys have other names now.
. "$(dirname "$0")/lib.sh"
tiny

cat >old.json <<'JSON'
{ "data": {"path": "tiny", "prepare": [ "row-normalize" ]},
	"train": {"rate":0.02,"epochs": 6, "step_epochs" : 3, "eval_every": 2}, "run.vectors": "plain",
  "model": {"hidden": [8], "layers": 2},
  "messages": {"widths": [2, 4], "parameters": "fp32"} }
JSON
cp old.json kept.json
expect "old names are refused with the new ones" 78 'train.rate is now train.lr; .fringe config upgrade' \
    "$FRINGE" config check old.json
for key in 'data.prepare is now data.transforms' 'messages.widths is now quantization.bits' \
    'run.vectors is now run.simd' 'train.step_epochs is now train.lr_step_size'; do
    grep -q "$key" out || fail "$key: $(cat out)"
done
expect "so is --set" 78 'set: train.rate is now train.lr' "$FRINGE" config check tiny.json --set train.rate=1
expect "upgrade" 0 'old.json: 7 names changed' "$FRINGE" config upgrade old.json tiny.json
grep -q 'tiny.json: 0 names changed' out || fail "a new one stays: $(cat out)"
sed -e 's/"prepare"/"transforms"/; s/"rate"/"lr"/; s/"step_epochs"/"lr_step_size"/; s/"run.vectors"/"run.simd"/' \
    -e 's/"messages"/"quantization"/; s/"widths"/"bits"/; s/"parameters"/"scale_dtype"/' kept.json |
    cmp - old.json || fail "other bytes changed"
expect "it is a config now" 0 'ok' "$FRINGE" config check old.json

cp kept.json both.json
sed -i 's/"rate":0.02/"rate":0.02,"lr":1/' both.json
cp both.json before.json
expect "a key under both names" 78 'the key "lr" is there twice' "$FRINGE" config upgrade both.json
cmp both.json before.json || fail "a refused file changed"
expect "a file that is not there" 66 'nowhere.json' "$FRINGE" config upgrade nowhere.json

# What an older version wrote: the config in run.json and the one that a checkpoint is bound to.
expect "a run" 0 result "$FRINGE" train old.json --set run.dir=run
python3 - <<'PY' || fail "old names in run.json"
import json
run = json.load(open("run/run.json"))
config = run["config"]
del config["quantization"]["exchanges"] # a younger key
config["messages"] = {{"bits": "widths", "initial_bits": "first_width", "scale_dtype": "parameters"}.get(k, k): v
                      for k, v in config.pop("quantization").items()}
config["train"]["rate"] = config["train"].pop("lr")
config["data"]["prepare"] = config["data"].pop("transforms")
json.dump(run, open("run/run.json", "w"))
PY
expect "evaluate reads its run.json" 0 'test' "$FRINGE" evaluate run
grep -q 'is now' out && fail "and says nothing of names: $(cat out)"
expect "predict, too" 0 '' "$FRINGE" predict run -o predicted
"$FRINGE" config show run/run.json | grep -q '^train.lr  *= 0.02' || fail "the rate of the old run"
finish
