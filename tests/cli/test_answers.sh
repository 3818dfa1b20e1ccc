#!/usr/bin/env bash
# If this failed, somebody who knows PyG, DGL or AdaQP, or who mistypes, would get an answer that
# does not say what is wrong, where, and what to do. Every row is a command, its exit code and a
# text that must appear. `test_answers.sh --show` also prints each command with the whole answer.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
show=${1:-}
rows=0

# row CODE TEXT WORDS...: `fringe WORDS` ends with CODE and says TEXT.
row() {
    local code=$1 text=$2 status=0
    shift 2
    rows=$((rows + 1))
    "$FRINGE" "$@" >out 2>&1 </dev/null || status=$?
    [ "$show" != --show ] || { echo "\$ fringe $*" && cat out && echo "[exit $status]"; }
    if [ $status -ne "$code" ] || ! tr -s '\n ' '  ' <out | grep -qF -- "$text"; then
        fail "fringe $*: exit $status (expected $code), expected '$text' in:"
        cat out
    fi
    ! grep -q '?[;.,:]' out || fail "fringe $*: a question does not end with a question mark"
}
set_row() { # TEXT SETTING: of a config that is otherwise good
    row 78 "$1" config check tiny.json --set "$2"
}
tiny

# --- names of other programs
set_row 'did you mean train.lr?' train.learning_rate=0.1
set_row 'did you mean train.lr?' lr=0.1
set_row 'did you mean run.seed?' seed=3
set_row 'did you mean train.epochs?' epochs=3
set_row 'did you mean train.epochs?' train.num_epoches=3
set_row 'did you mean model.hidden?' model.hidden_channels=64
set_row 'did you mean model.layers?' model.num_layers=2
set_row 'did you mean quantization.bits?' bit_width=2
set_row 'fringe trains on the whole graph' train.batch_size=32
set_row 'fringe has no layers with attention' model.heads=8
set_row "did you mean 'gcn'?" model.layer=GCN
set_row "did you mean 'sage-mean'?" model.layer=SAGE
set_row "layers with attention are not offered" model.layer=GATConv
set_row "did you mean 'adam'?" train.optimizer=Adam
set_row "did you mean 'quantize'?" mode=AdaQP-q
set_row "did you mean 'symmetrize'?" data.transforms=ToUndirected
row 64 'did you mean --set train.epochs=3?' train tiny.json --epochs 3
row 64 'did you mean --set train.lr=0.1?' train tiny.json --lr=0.1
row 64 'did you mean --set run.seed=3?' train tiny.json --seed 3
row 64 'did you mean --set train.epochs=3?' train tiny.json train.epochs=3
row 64 'did you mean --ranks?' train tiny.json -np 2
row 64 'did you mean train?' trian tiny.json
row 64 "--modes: there is no mode 'vanila'; did you mean vanilla?" compare tiny.json --modes vanila
row 64 "there is no mode 'fast'; there are vanilla, lossless," compare tiny.json --modes fast

# --- a config
echo '{"$schema": "fringe.schema.json", "data": {"path": "tiny"}}' >schema.json
row 0 'schema.json: ok' config check schema.json
echo '{"data": {"$schema": "x", "path": "tiny"}}' >deep.json
row 78 'data.$schema: unknown key' config check deep.json

# --- doctor of one config; partition as JSON
row 0 'random initial weights' doctor tiny.json
row 0 'several share a core' doctor tiny.json --ranks 64
row 69 'nodata does not exist; fringe looks for data.path' doctor tiny.json --set data.path=nodata
row 69 'tiny.json is a file, not a folder' doctor tiny.json --set run.dir=tiny.json
row 69 '"can_train": false' doctor tiny.json --json --set model.weights=none.st
row 78 'did you mean train.lr?' doctor tiny.json --set lr=1
row 0 '"edge_cut": ' partition tiny.json --parts 2 --json --quiet

echo "$rows answers"
finish
