#!/usr/bin/env bash
# once
# If this failed, a slip of the pen on the command line or in a config would be answered late, with
# the wrong exit code, or not at all.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

expect "--help lists the commands" 0 'inspect' "$FRINGE" --help
expect "no help is cut" 0 'train, val\)\.$' fringe generate --help
expect "config help" 0 'usage: fringe config' "$FRINGE" config help
for command in $("$FRINGE" --help | sed -n 's/^  \([a-z][a-z]*\) \{2,\}.*/\1/p'); do
    fringe help "$command" >help.txt
    # Usage, details, options, each whole: at most 80 columns, the help of every option in column 24,
    # and as many brackets closed as opened.
    awk -v command="$command" 'length > 80 { print "too wide: " $0 }
        { open += gsub(/[(]/, "("); open -= gsub(/[)]/, ")") }
        $0 == "" { block++; next }
        block == 2 && !/^  --[a-z]/ && !/^                       [^ ]/ { print "out of its column: " $0 }
        END { if (block != 2 + (command == "generate") || open != 0) print "blocks " block ", brackets " open }
    ' help.txt >bad.txt
    [ ! -s bad.txt ] || fail "the help of $command: $(cat bad.txt)"
done
expect "look-alikes are completed" 0 'generate. echo .* reddit-small .* ogbn-arxiv ' fringe help bash
expect "--version names the libraries" 0 'METIS +[0-9]' "$FRINGE" --version
expect "without a command" 64 'a command is missing; fringe --help lists all' "$FRINGE"
for command in train evaluate predict partition stream generate convert inspect runs report cache config doctor; do
    expect "$command --help" 0 "usage: fringe $command" fringe $command --help
    expect "$command takes no unknown option" 64 "no option --nonsense" fringe $command --nonsense
done
expect "config show --help" 0 'usage: fringe config' "$FRINGE" config show --help
for command in train evaluate predict partition stream generate convert inspect config; do
    expect "$command wants an argument" 64 'an argument is missing' fringe $command
    words="a b c"
    [ "$command" != config ] || words="check a b"
    expect "$command wants no more" 64 'too many arguments' fringe $command $words
done
expect "a misspelt command" 64 'did you mean train\?' fringe trian
expect "a misspelt option" 64 'did you mean --ranks\?' fringe train x --rnaks 2
expect "an option without its value" 64 'needs a value' fringe train x --ranks
for value in 0 -1 two 1.5 99999999999 ''; do
    expect "--ranks '$value'" 64 'expected a whole number from 1' fringe train x --ranks "$value"
done
expect "--resume takes auto" 64 "expected auto, found 'now'" fringe train x --resume now
expect "an unknown verb of config" 64 'expected show, check, schema or markdown' "$FRINGE" config shwo

expect "a config that is not there" 66 'none.json' fringe train none.json
expect "the same with ranks" 66 'none.json' fringe train none.json --ranks 2
echo '{}' >empty.json
expect "data that is not there" 66 'reddit-none does not exist; fringe looks for data.path' fringe train \
    empty.json data.path=reddit-none
expect "data that can be made" 66 'make it with: fringe generate reddit-small' fringe train empty.json \
    data.path=reddit-small
expect "no data at all" 78 'data.path: expected the path of a graph' fringe train empty.json
expect "inspecting nothing" 66 'does not exist' fringe inspect nothing
expect "an unknown generator" 64 'reddit-small' fringe generate reddit-smal

cat >bad.json <<'JSON'
{"train": {"epochs": "many", "momentm": 1}, "model": {"layers": 99}, "modle": {"layers": 2}}
JSON
expect "all mistakes of a config" 78 'bad.json: model.layers: .*found 99' fringe train bad.json --ranks 2 \
    run.seed=-1
for text in "train.epochs: expected .*found 'many'" 'train.momentm: unknown key; did you mean train.momentum' \
    'modle: unknown section; did you mean model' '--set: run.seed: expected .*found -1' \
    'data.path: expected the path of a graph'; do
    grep -qE -- "$text" out || fail "all mistakes at once: /$text/ is missing"
done
[ "$(wc -l <out)" -eq 6 ] || fail "six mistakes want six lines, each once"
tiny
cat >both.json <<'JSON'
{"data": {"path": "nothing.npz", "features": "none.npy"}, "train": {"epochs": "many"}}
JSON
expect "wrong values and missing files at once" 78 'train.epochs: expected' "$FRINGE" config check --files both.json
[ "$(grep -c 'does not exist' out)" -eq 2 ] || fail "with both files: $(cat out)"
expect "a layer that is not there" 78 'sage-mean' "$FRINGE" config check tiny.json --set model.layer=gnc
grep -q "did you mean 'gcn'" out || fail "a layer's suggestion"
expect "a schedule that is not there" 78 'blocking, overlap' "$FRINGE" config check tiny.json \
    --set comm.schedule=overlapp
expect "a backend that is not there" 78 'run.backend.*cpu' "$FRINGE" config check tiny.json \
    --set run.backend=abacus
expect "a good config" 0 'tiny.json: ok' "$FRINGE" config check tiny.json
expect "what a config means" 0 '^train.epochs +. 20 epochs .default 200.' "$FRINGE" config show tiny.json
expect "what differs from the defaults, and who set it" 0 '^train.epochs +. 20 epochs .default 200; tiny.json.$' \
    "$FRINGE" config show tiny.json --changed --set mode=adaqp --set train.lr=0.02
grep -q '^train.lr  *= 0.02 .*; --set)$' out || fail "a setting: $(cat out)"
grep -q '^quantization.codec .*; mode=adaqp)$' out || fail "a preset: $(cat out)"
grep -vqE '\(default |^$|^[0-9]+ of ' out && fail "other lines: $(cat out)"
grep -qE '^(train.optimizer|run.seed|comm.chunk) ' out && fail "keys at their default: $(cat out)"

# --- a full disk behind stdout
full() { "$FRINGE" "$@" >/dev/full; }
for words in --help --version "train --help" "config schema" "config show tiny.json"; do
    expect "$words to a full disk" 74 '^fringe: the output could not be written' full $words
done
expect "a mistake stays what it is" 66 'none.json' full train none.json

for config in "$FRINGE_SOURCE"/configs/*.json; do
    expect "${config##*/} is a good config" 0 '^[^ ]*: ok$' "$FRINGE" config check "$config"
    [ "$(wc -l <out)" -eq 1 ] || fail "and every key has its effect: $(cat out)"
done
"$FRINGE" config markdown >config.md
same "docs/config.md is what the table says" config.md "$FRINGE_SOURCE/docs/config.md"
fringe help exit-codes >exit-codes.md
same "docs/exit-codes.md is what the table says" exit-codes.md "$FRINGE_SOURCE/docs/exit-codes.md"
if command -v python3 >/dev/null; then
    "$FRINGE" config schema | python3 -c '
import json, sys
schema = json.load(sys.stdin)
epochs = schema["properties"]["train"]["properties"]["epochs"]
assert epochs["type"] == "integer" and epochs["minimum"] == 0 and epochs["default"] == 200, epochs
assert schema["additionalProperties"] is False and "$schema" in schema["properties"]
def words(section, name):
    key = schema["properties"][section]["properties"][name] if section else schema["properties"][name]
    for one in key.get("anyOf", [key]):
        one = one.get("items", one)
        if "enum" in one or "anyOf" in one:
            return one["enum"] if "enum" in one else one["anyOf"][0]["enum"]
for key, word in {"mode": "adaqp", "data.format": "npz", "data.transforms": "symmetrize",
                  "partition.method": "metis", "model.layer": "sage-mean", "model.post": "dropout",
                  "train.optimizer": "sgd", "train.lr_schedule": "cosine", "train.metric": "micro-f1",
                  "quantization.codec": "integer", "quantization.assign": "adaptive",
                  "comm.schedule": "blocking", "run.backend": "cpu", "run.simd": "avx2"}.items():
    assert word in words(*key.rpartition(".")[::2]), key
method = schema["properties"]["partition"]["properties"]["method"]
assert {"pattern": "^file:.+"} in method["anyOf"], method' || fail "the schema says what the table says"
fi
finish
