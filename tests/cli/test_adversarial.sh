#!/usr/bin/env bash
# If this failed, a pipe in a file's place would be waited for for ever, a name in a file could write
# on a terminal, or a text of a few megabytes would fill the memory.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny
train="timeout -s KILL 30 $FRINGE train tiny.json --set run.dir=run"
expect "a run" 0 'result' $train

# --- what is no file is not waited for
for name in p.json p.npz p.txt p.graph p.npy p.safetensors p.part.2; do mkfifo "$name"; done
no_file='is not a regular file but a pipe'
expect "a pipe for a config" 78 "p.json: $no_file" timeout -s KILL 30 "$FRINGE" train p.json
expect "a pipe behind /dev/stdin" 78 "/dev/stdin: $no_file" \
    bash -c "timeout -s KILL 30 $FRINGE config check /dev/stdin < <(sleep 1)"
expect "a device for a config" 78 'is not a regular file but a device' timeout -s KILL 30 "$FRINGE" train /dev/zero
for name in p.npz p.txt p.graph; do
    expect "a pipe for a graph: $name" 65 "$name: $no_file" $train --set data.path=$name
    expect "and inspected" 65 "$name: $no_file" timeout -s KILL 30 "$FRINGE" inspect $name
done
for key in data.features=p.npy data.labels=p.npy data.splits=p.npz model.weights=p.safetensors \
    partition.method=file:p.part.2; do
    expect "a pipe for $key" 65 "$no_file" $train --set $key
done
expect "a pipe for weights" 65 "$no_file" timeout -s KILL 30 "$FRINGE" evaluate tiny.json \
    --set run.dir=run --weights p.safetensors
expect "a pipe inspected" 65 "$no_file" timeout -s KILL 30 "$FRINGE" inspect p.safetensors
cp -r run damaged
rm damaged/checkpoints/epoch-20/model.safetensors
mkfifo damaged/checkpoints/epoch-20/model.safetensors
expect "a pipe in a checkpoint" 66 "$no_file" timeout -s KILL 30 "$FRINGE" evaluate damaged
cp -r run written
rm written/metrics.jsonl
mkfifo written/metrics.jsonl
expect "a pipe for metrics" 65 "metrics.jsonl: $no_file" timeout -s KILL 30 "$FRINGE" \
    train tiny.json --set run.dir=written --resume auto --set train.epochs=30

# --- a file that becomes shorter while it is mapped: the shards of a training under way
"$FRINGE" train tiny.json --ranks 2 --set run.dir=shrunk --set train.epochs=1000000 \
    --set train.eval_every=1 >out 2>&1 </dev/null &
training=$!
begun shrunk $training
for shard in cache/fringe/parts-*/*.safetensors; do : >"$shard"; done
ended "a shard that becomes shorter" $training 74 'parts-.*safetensors: became shorter while it was read'
rm -r cache

# --- JSON is bounded by its values
{
    printf '['
    yes '0,' | tr -d '\n' | head -c 10000000
    printf '0]'
} >zeros.json
expect "a config of five million zeros" 78 'more than 4 million values' "$FRINGE" config check zeros.json
mkdir header
bytes=$(stat -c %s zeros.json)
{
    for shift in 0 8 16 24 32 40 48 56; do printf "\\x$(printf %02x $((bytes >> shift & 255)))"; done
    cat zeros.json
} >header/a.safetensors
expect "the same as the header of tensors" 65 'more than 4 million values' fringe inspect header/a.safetensors

# --- what a terminal would obey is shown
escapes() { # NAME: the last output holds none
    if LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae' out; then
        fail "$1: it reaches the terminal"
    else
        echo "ok: $1"
    fi
}
tensors() { # NAME as JSON: a file with one tensor of that name
    local header="{\"$1\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}"
    printf "\\x$(printf %02x ${#header})\0\0\0\0\0\0\0%s0" "$header"
}
tensors '\u001b]0;title\u0007 \u009b31m \u202e caf\u00e9' >name.safetensors
expect "the name of a tensor" 0 'u001b\]0;title' fringe inspect name.safetensors
escapes "a tensor's name"
grep -q 'café' out || fail "letters stay"
expect "a path that is not there" 66 'u001b' train run.dir=no "model.weights=$(printf '\033]0;x\007')"
escapes "a path in a sentence"
cp -r tiny named
sed -i 's/"name": "[^"]*"/"name": "\\u001b[31m\\u202ered"/' named/dataset.json
grep -q 'u202ered' named/dataset.json || fail "the dataset has its name"
expect "the name of a dataset" 0 'u202ered' fringe inspect named
escapes "a dataset's name"
expect "the name of a dataset in training" 0 'result' train run.dir=no data.path=named data.cache="$work/other"
escapes "a dataset's name in training"
expect "the name of a dataset in a partition" 0 'edge cut' fringe partition tiny.json data.path=named \
    data.cache="$work/other"
escapes "a dataset's name in a partition"
printf '{"train": {"\\u001b[31m\\u202e": 1}, "model": {"layer": "\\u0007\\u009b"}}' >keys.json
expect "a key" 78 'unknown key' "$FRINGE" config check keys.json
escapes "a key in a sentence"
expect "checkpoints" 0 'result' train run.dir=many run.checkpoint_every=5 run.keep_checkpoints=5
for epoch in 15 20; do echo more >>many/checkpoints/epoch-$epoch/model.safetensors; done
expect "two that are damaged" 0 'resume +after epoch 10' train run.dir=many run.checkpoint_every=5 --resume auto
[ "$(grep -c '^warning .*damaged$' out)" -eq 2 ] || fail "each warning has a line of its own"
for _ in 1 2; do train run.dir=$'run\e[31m' >out 2>&1 || fail "a run"; done
grep -q 'works in run.u001b.*-2: run.u001b' out || fail "it says where the second run is"
escapes "the name of a folder"
printf '{"data": {"path": "tiny"}, "partition": {"method": "file:\\u001b[31m\\u009b"}}' >value.json
expect "a value" 0 'partition.method' "$FRINGE" config show value.json
escapes "a value in config show"
finish
