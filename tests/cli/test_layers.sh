#!/usr/bin/env bash
# once
# If this failed, kinds of layers could not be trained, resumed, evaluated and looked into by their
# names alone, or keys of one would be lost on the way.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
unset FRINGE_TEST_CROWDED # two ranks wait here as where nothing else runs
tiny

# --- sgc: K steps made once; an epoch exchanges nothing
sgc=(--set model.layer=sgc --set model.layers=3)
python3 - <<'PY'
import json
config = json.load(open("tiny.json"))
for key in ("hidden", "post", "norm", "layers"):
    config.get("model", {}).pop(key, None)
json.dump(config, open("plain.json", "w"))
PY
expect "sgc with few bits" 0 'warning +an epoch of this model exchanges no rows.*integer.*mode adaqp' \
    "$FRINGE" train plain.json --verbose --ranks 2 "${sgc[@]}" --set mode=adaqp --set run.dir=sgc --set train.epochs=4
grep -q '^messages   0 exchanges per epoch' out || fail "no exchange: $(grep messages out)"
expect "evaluated from its folder, whose config has every key" 0 'test' "$FRINGE" evaluate sgc --ranks 3
"$FRINGE" inspect sgc >out 2>&1 || fail "inspect: $(cat out)"
expect "the rows before the last step" 0 'embeddings-2.npy' "$FRINGE" predict sgc --layer 2 -o rows
expect "those before are gone" 64 'layer: expected 2 to 2, found 1' "$FRINGE" predict sgc --layer 1 -o rows
expect "hidden has no effect" 0 'warning +model.hidden has no effect, because model.layer is sgc; it is used where model.layer is not sgc' \
    "$FRINGE" config check plain.json "${sgc[@]}" --set 'model.hidden=[8]'
expect "dropped features are exchanged at each step but the first, and narrow rows back" 0 '^messages   3 exchanges per epoch' \
    "$FRINGE" train plain.json --verbose --ranks 2 "${sgc[@]}" --set model.input_dropout=0.3 --set run.dir=dropped \
    --set train.epochs=2

# --- gin: keys of its own are shown, kept with the run, and part of what is learned
gin=(--set model.layer=gin --set model.layers=2 --set model.gin_epsilon=0.25 --set model.gin_learn_epsilon=true)
expect "its keys are shown" 0 '^model.gin_epsilon += 0.25 \(default 0\)' "$FRINGE" config show plain.json "${gin[@]}"
expect "and checked" 78 'model.gin_epsilon: expected a number in' "$FRINGE" config check plain.json \
    --set model.gin_epsilon=much
expect "gin" 0 'result' "$FRINGE" train plain.json --ranks 2 "${gin[@]}" --set run.dir=gin \
    --set train.epochs=4 --set run.checkpoint_every=2 --set run.keep_checkpoints=9
grep -q '"gin_epsilon": 0.25' gin/run.json || fail "run.json has its keys"
expect "a resume of another" 78 'model.gin_epsilon was 0.25, is 0.5' "$FRINGE" train plain.json --ranks 2 \
    "${gin[@]}" --set model.gin_epsilon=0.5 --set run.dir=gin --set train.epochs=6 --resume auto
cp -r gin whole
rm -r gin/checkpoints/epoch-4
echo epoch-2 >gin/checkpoints/LATEST
expect "a resume of the same" 0 'result' "$FRINGE" train plain.json --ranks 2 "${gin[@]}" --set run.dir=gin \
    --set train.epochs=4 --set run.checkpoint_every=2 --set run.keep_checkpoints=9 --resume auto
for file in model best optimizer; do
    same "$file as never stopped" {gin,whole}/checkpoints/epoch-4/$file.safetensors
done
expect "evaluated on other ranks" 0 'test' "$FRINGE" evaluate gin --ranks 1
finish
