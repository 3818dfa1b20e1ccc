#!/usr/bin/env bash
# timed, once
# If this failed, a mistake in a config would be told after the graph was loaded, the parts were cut
# or the job had waited in a queue.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny
mkdir -p fresh other
echo 1 >afile
ln -s nowhere dangling

# An MPI that cannot start, and an mpirun that says that it was: neither may be reached.
cat >other/mpirun <<EOF
#!/bin/sh
touch $work/started
EOF
chmod +x other/mpirun
early() { # COMMAND...: no MPI, no cache, no waiting
    local since=${EPOCHREALTIME/./} status=0
    XDG_CACHE_HOME=$work/fresh OMPI_MCA_pml=none_such PATH=$work/other:$PATH "$@" || status=$?
    [ $((${EPOCHREALTIME/./} - since)) -lt 5000000 ] || echo "it took long" # 0.02 s when idle
    [ ! -e "$work/started" ] || echo "mpirun was started"
    [ -z "$(ls "$work/fresh")" ] || echo "the cache was touched"
    rm -rf "$work/started" "$work"/fresh/*
    return $status
}
told() { # NAME: nothing but sentences
    ! grep -qE 'it took long|was started|was touched|MPI|PML' out || { fail "$1: late" && cat out; }
}

# NAME CODE TEXT SETTING...: of values
value() {
    local name=$1 code=$2 text=$3
    for words in "config check tiny.json" "config check tiny.json --files" "train tiny.json" \
        "compare tiny.json" "train tiny.json --ranks 2" "partition tiny.json" "evaluate tiny.json"; do
        expect "$name: ${words/ tiny.json/}" "$code" "$text" early fringe $words "${@:4}"
        told "$name"
    done
}
# The same of what is on disk: a login node may lack all of it.
disk() {
    local name=$1 code=$2 text=$3
    expect "$name: config check" 0 'tiny.json: ok' early fringe config check tiny.json "${@:4}"
    for words in "config check tiny.json --files" "train tiny.json" "compare tiny.json" \
        "train tiny.json --ranks 2"; do
        expect "$name: ${words/ tiny.json/}" "$code" "$text" early fringe $words "${@:4}"
        told "$name"
    done
}

one_of='expected one of'
for setting in partition.method=spectral data.format=csv quantization.assign=best quantization.codec=zip comm.schedule=never \
    model.layer=gat train.optimizer=nothing train.lr_schedule=nothing train.loss=nothing train.metric=nothing \
    mode=nothing lossless.cover=nothing; do
    value "$setting" 78 "${setting%=*}: $one_of .*, found '${setting#*=}'" $setting
done
value "a near miss" 78 "quantization.codec: .* did you mean 'integer'?" quantization.codec=intger
value "a file: without a path" 78 "partition.method: $one_of .*file:PATH" partition.method=file:
value "passes that are none" 78 'partition.method: fennel:0: .* a number from 1 to 100' partition.method=fennel:0
value "a step that is not there" 78 "data.transforms: expected a list of symmetrize, .*found 'foo'" \
    data.transforms=foo
value "a step without its argument" 78 "data.transforms: 'random:x' needs a width" \
    'data.transforms=["symmetrize", "random:x"]'
value "a split without a name" 78 'data.split_keys: entry 1 is not the name' 'data.split_keys=["a","","b"]'

expect "all mistakes at once" 78 'partition.method' early fringe config check tiny.json --files train.rte=1 \
    partition.method=spectral data.transforms=foo data.format=csv quantization.assign=best train.optimizer=best
for text in partition.method data.transforms data.format train.rte quantization.assign train.optimizer; do
    grep -q "$text" out || fail "all mistakes at once: $text is missing"
done
[ "$(wc -l <out)" -eq 6 ] || fail "six mistakes want six lines"

disk "features that are not there" 66 'data.features: .*nofile.npy does not exist' data.features=nofile.npy
disk "labels that are not there" 66 'data.labels: .*nofile.npy does not exist' data.labels=nofile.npy
disk "nodes that are not there" 66 'data.nodes: .*none.npz does not exist' data.nodes=none.npz
disk "splits that are not there" 66 'data.splits: .*none.npz does not exist' data.splits=none.npz
disk "a split that is not there" 66 'data.split_keys: .*b.npy does not exist' 'data.split_keys=["a","b.npy","c"]'
disk "weights that are not there" 66 'model.weights: .*none.st does not exist' model.weights=none.st
disk "a part file that is not there" 66 'partition.method: neither none nor none.part' partition.method=file:none
disk "a run to replay that is not there" 66 'nowhere/assignments does not exist' quantization.assign=replay:nowhere
mkdir -p unassigned/assignments
disk "a run to replay that assigned nothing" 66 'that run assigned no widths' quantization.assign=replay:unassigned
disk "a run.dir where nobody makes folders" 73 'run.dir: /proc/x: cannot make the folder' run.dir=/proc/x
disk "a run.dir that is a file" 73 'run.dir: afile is a file, not a folder' run.dir=afile
disk "a run.dir behind a link to nowhere" 73 'run.dir: dangling is not a folder' run.dir=dangling/x
disk "a cache where nobody makes folders" 73 'data.cache: /proc/y: cannot make' data.cache=/proc/y
disk "data that is not there" 66 'tiny.json: .*/nodata does not exist; fringe looks for data.path' \
    data.path=nodata
disk "data whose format is not said" 78 'its name does not say what format it has' data.path=afile
disk "a folder that is no dataset" 66 'other is a folder without dataset.json' data.path=other

expect "all of the disk at once" 78 'run.dir: /proc/x' early train run.dir=/proc/x model.weights=none.st \
    data.features=nofile.npy quantization.assign=replay:nowhere
for text in run.dir model.weights data.features replay; do
    grep -q "$text" out || fail "all of the disk at once: $text is missing"
done

# --- what is there is fine, and is left as it was
printf '0\n%.0s' {1..10} >cut.part.4
find . | sort >../before.$$
expect "a good config with files" 0 'tiny.json: ok' fringe config check tiny.json --files run.dir=deep/in/folders \
    data.cache="$work/made/later" partition.method=file:cut
find . | sort >../after.$$
same "nothing is made" ../before.$$ ../after.$$
rm ../before.$$ ../after.$$
expect "a part file for another number of parts" 66 'nor .*/cut.part.3' train --ranks 3 partition.method=file:cut
expect "weights to evaluate that are not there" 66 'weights: none does not exist' early fringe evaluate tiny.json \
    --weights none
expect "a run to evaluate that is not there" 66 'run.dir: runs/tiny does not exist' early fringe evaluate tiny.json
expect "predictions that cannot be written" 73 'output: /proc/p: cannot make' early fringe predict tiny.json \
    --output /proc/p --weights tiny
finish
