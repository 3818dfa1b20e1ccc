#!/usr/bin/env bash
# once
# If this failed, somebody with wrong settings, files or data would get an answer that does not say what
# is wrong, where, and what to do. Every row is a command, its exit code and a text that must appear. `test_answers.sh --show` also prints each command with the whole answer.
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
tiny

# --- a config
echo '{"$schema": "fringe.schema.json", "data": {"path": "tiny"}}' >schema.json
row 0 'schema.json: ok' config check schema.json
echo '{"data": {"$schema": "x", "path": "tiny"}}' >deep.json
row 78 'data.$schema: unknown key' config check deep.json

# --- doctor of one config; partition as JSON
row 0 'random initial weights' doctor tiny.json
row 0 'several share a core' doctor tiny.json --ranks 2 --set run.threads=1000
row 69 'nodata does not exist; fringe looks for data.path' doctor tiny.json --set data.path=nodata
row 69 'tiny.json is a file, not a folder' doctor tiny.json --set run.dir=tiny.json
row 69 '"can_train": false' doctor tiny.json --json --set model.weights=none.st
row 78 'did you mean train.lr?' doctor tiny.json --set lr=1
row 0 '"edge_cut": ' partition tiny.json --parts 2 --json --quiet

row 0 'ok' config check tiny.json --set partition.method=metis

# --- what is asked is checked before anything starts (B5, B6)
files() { row "$1" "$2" config check tiny.json --files --set "$3"; }
files 78 'partition.method: expected one of metis' partition.method=spectral
files 78 "did you mean 'edges'?" data.format=csv
files 78 "data.transforms: expected a list of symmetrize" data.transforms=foo
files 0 ': ok' data.path=tiny/ # as a shell completes the name of a folder
files 78 'data.path: expected the path of a graph' data.path=
files 66 'nofile.npy does not exist; fringe looks for it beside the config' data.features=nofile.npy
files 66 'model.weights: ' model.weights=none.st
files 66 'partition.method: neither none nor none.part.K exists' partition.method=file:none
files 66 'needs the folder of a run that assigned widths' quantization.assign=replay:nowhere
files 73 'run.dir: /proc/x: cannot make the folder' run.dir=/proc/x
touch afile
files 73 'run.dir: afile is a file, not a folder' run.dir=afile
files 78 "its name does not say what format it has; set data.format" data.path=afile
printf '0 1\n1 0\n' >pair.txt
printf 'id,split,x\n0,train,1\n1,test,2\n' >bare.csv
echo '{"data": {"path": "pair.txt", "nodes": "bare.csv"}}' >bare.json
for command in "config check --files" train; do
    # shellcheck disable=SC2086
    row 65 'has no labels; name a file of them in data.labels, or the column' $command bare.json
done
row 0 'run.trace: epochs 21 to 30 are not traced, because train.epochs is 20' config check tiny.json \
    --set 'run.trace=[5, 30]'

# --- what a command is given (B15, B19, B23)
row 64 '--modes: names no mode; there are vanilla' compare tiny.json --modes ,
row 66 'tiny is a dataset; give a config that names it' train tiny
mkdir -p several/run-1 other && echo '{}' >several/run-1/run.json
row 66 'name one of them' evaluate several
row 66 'other is a folder without run.json' evaluate other
row 66 'run.dir: runs/tiny does not exist' evaluate tiny.json

# --- files without permission (B20): root may read everything, so another user asks
cp tiny.json locked.json
printf '0 1\n1 2\n' >secret.txt
mkdir locked open && chmod 777 open
cp secret.txt locked/edges.txt
chmod 000 secret.txt locked locked.json
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    ours=$FRINGE
    mkdir -p mine
    cp "$ours" mine/fringe
    cat >mine/as <<SH
#!/bin/sh
exec setpriv --reuid 65534 --regid 65534 --clear-groups "$work/mine/fringe" "\$@"
SH
    chmod 755 "$work" mine mine/as
    FRINGE=$work/mine/as
fi
if [ "$(id -u)" != 0 ] || [ -n "${ours:-}" ]; then
    row 66 'secret.txt cannot be opened: permission denied' config check tiny.json --files \
        --set data.path=secret.txt --set run.dir=open/r
    row 66 'cannot be opened: no permission to enter the folder' config check tiny.json --files \
        --set data.path=locked/edges.txt --set run.dir=open/r
    row 66 'locked.json cannot be opened: permission denied' config check locked.json
    row 66 'secret.txt cannot be opened: permission denied' inspect secret.txt
    row 73 'data.cache: /proc/y: cannot make the folder' config check tiny.json --files \
        --set data.cache=/proc/y
    FRINGE=${ours:-$FRINGE}
fi
chmod 755 locked

# --- data that people have (B17)
printf 'src,dst\n0,1\n1,2\n2,0\n' >header.csv
row 0 'nodes 3' inspect header.csv
printf 'src,dst\n0,1\nb,c\n' >words.csv
row 65 "words.csv:3: the id 'b' is not written as a number" inspect words.csv
printf '3 10\n10 24\n' >gaps.txt
row 0 'node ids run from 3 to 24 with gaps' inspect gaps.txt
printf 'PK' >broken.npz
row 65 'too few for an npz file' inspect broken.npz
if command -v python3 >/dev/null; then
    python3 - <<'PY'
import struct, zipfile
def npy(dtype, shape, data):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (dtype, shape)
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head) + 1) + head.encode() + b"\n" + data
def ints(*n): return npy("<i8", "(%d,)" % len(n), struct.pack("<%dq" % len(n), *n))
def save(path, **arrays):
    with zipfile.ZipFile(path, "w") as z:
        for name, array in arrays.items():
            z.writestr(name + ".npy", array)
edges = npy("<i8", "(2, 4)", struct.pack("<8q", 0, 1, 1, 2, 1, 0, 2, 1))
x = npy("<f4", "(3, 1)", struct.pack("<3f", 1, 2, 3))
masks = dict(train_mask=ints(1, 0, 0), val_mask=npy("|u1", "(3,)", b"\0\1\0"), test_mask=ints(0, 0, 1))
save("pyg.npz", edge_index=edges, x=x, y=ints(0, 1, 0), **masks)
save("one.npz", edge_index=edges, x=x, y=npy("<f4", "(3,)", struct.pack("<3f", 1, 2, 1)), **masks)
save("half.npz", edge_index=edges, x=x, y=npy("<f4", "(3,)", struct.pack("<3f", 1, .5, 1)))
save("coo.npz", row=ints(0, 1), col=ints(1, 2), data=ints(1, 1), shape=ints(3, 3))
save("half-coo.npz", row=ints(0, 1), data=ints(1, 1), shape=ints(3, 3))
save("scipy.npz", data=ints(1, 1), indices=ints(1, 2), indptr=ints(0, 1, 2, 2), shape=ints(3, 3))
open("edges.npy", "wb").write(edges)
open("features.npy", "wb").write(x)
PY
    row 0 'splits 1 training, 1 validation, 1 test' inspect pyg.npz
    row 0 'labels begin at 1, so class 0 has no nodes' inspect one.npz
    row 0 'labels 1 number' inspect half.npz
    row 0 'edges 2 stored' inspect coo.npz
    row 65 'its arrays are row, data, shape. fringe reads adj_data' inspect half-coo.npz
    row 0 'edges 2 stored' inspect scipy.npz
    row 0 '3 nodes, 4 stored edges' partition tiny.json --quiet --set data.path=edges.npy
    row 65 'an edge list must be an array (2, edges) or (edges, 2)' partition tiny.json \
        --set data.path=features.npy
fi

# --- a run that is resumed or started again (B1, B4, B9, B14)
row 0 'epoch 0: validation' train tiny.json --set train.epochs=0 --set run.dir=open/none
row 0 ' - - 0.000 never ' compare tiny.json --modes vanilla \
    --set train.epochs=0 --set run.dir=open/compared
row 0 'epoch 2: validation' train tiny.json --set train.epochs=2 --set run.dir=open/two
row 78 'train.lr was 0.01, is 0.5' train tiny.json --set train.lr=0.5 --set run.dir=open/two --resume auto
row 0 'works in open/two-2: open/two holds an earlier run' train tiny.json --set train.epochs=1 --set run.dir=open/two
row 78 "this is the config of a run with mode=overlap" config check open/two/run.json --set mode=vanilla
if [ -e features.npy ]; then
    python3 - <<'PY'
data = open("features.npy", "rb").read()
open("nan.npy", "wb").write(data[:-4] + b"\0\0\xc0\x7f")
PY
    row 65 'nan.npy: feature 0 of node 2 is not a number' partition tiny.json --set data.path=edges.npy \
        --set data.features=nan.npy
fi

echo "$rows answers"
[ $rows -ge 30 ] || fail "30 answers are wanted"
finish
