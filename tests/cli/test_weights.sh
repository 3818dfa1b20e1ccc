#!/usr/bin/env bash
# If this failed, trained weights would be judged wrongly, predictions would belong to other nodes, or
# what lies on the disk could not be looked at.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny
expect "a run on two ranks" 0 'result .* epoch 20 ' \
    "$FRINGE" train tiny.json --ranks 2 --set run.dir=two

expect "evaluate" 0 '^test +[0-9]+ ' "$FRINGE" evaluate tiny.json --set run.dir=two --ranks 2
expect "evaluate a run" 0 '^test +[0-9]+ ' "$FRINGE" evaluate two --best
full() { "$FRINGE" "$@" >/dev/full; }
expect "evaluate to a full disk" 74 'could not be written to stdout' full evaluate two --json
expect "evaluate without weights" 66 'nowhere is not there' \
    "$FRINGE" evaluate tiny.json --set run.dir=nowhere
expect "a layer without embeddings" 64 'expected 1 to 1' "$FRINGE" predict two --layer 2
expect "predict on one rank" 0 'classes.npy' "$FRINGE" predict two -o p1 --layer 1
expect "predict on three ranks" 0 'embeddings-1.npy' "$FRINGE" predict two --ranks 3 -o p3 --layer 1
same "classes do not depend on the ranks" p1/classes.npy p3/classes.npy
widths="--set mode=adaqp --set messages.period=5 --set messages.solver=exact"
expect "a run that assigned widths" 0 'result' "$FRINGE" train tiny.json --ranks 2 $widths \
    --set run.dir=assigned
expect "a run that used them" 0 'result' "$FRINGE" train tiny.json --ranks 2 $widths \
    --set run.dir=replayed --set messages.assign=replay:assigned
rm -r assigned
expect "evaluated when the other is gone" 0 '^test +[0-9]+ ' "$FRINGE" evaluate replayed --ranks 2
expect "and predicted" 0 'classes.npy' "$FRINGE" predict replayed --ranks 2 -o p2
"$FRINGE" evaluate two --json >evaluated 2>/dev/null
python=$(python)
if [ -n "$python" ]; then
    # Predictions joined with the labels of the dataset must give the accuracy that evaluate says.
    cat >check.py <<'PY'
import json, numpy as np
raw = open("tiny/dataset.safetensors", "rb").read()
length = int.from_bytes(raw[:8], "little")
header = json.loads(raw[8:8 + length])
kinds = {"I32": np.int32, "U8": np.uint8, "F32": np.float32, "I64": np.int64}
def tensor(name):
    begin, end = header[name]["data_offsets"]
    data = np.frombuffer(raw[8 + length + begin:8 + length + end], kinds[header[name]["dtype"]])
    return data.reshape(header[name]["shape"])
labels, split = tensor("labels"), tensor("split")
said = json.loads(open("evaluated").read())
for folder in ("p1", "p3"):
    classes, scores = np.load(folder + "/classes.npy"), np.load(folder + "/scores.npy")
    embedding = np.load(folder + "/embeddings-1.npy")
    assert classes.shape == (len(labels), 1) and classes.dtype == np.int64
    assert scores.dtype == np.float32 and embedding.shape == (len(labels), 16)
    assert (scores.argmax(1) == classes[:, 0]).all()
    for number, name in ((1, "train"), (2, "validation"), (3, "test")):
        rows = split == number
        right = (classes[rows, 0] == labels[rows]).mean()
        assert abs(right - said[name]["accuracy"]) < 1e-12, (folder, name, right, said[name])
one, three = np.load("p1/scores.npy"), np.load("p3/scores.npy")
assert np.linalg.norm(one - three) <= 1e-5 * np.linalg.norm(one)  # sums in another order
print("in order")
PY
    expect "predictions stand in the order of the nodes" 0 "in order" "$python" check.py
else
    echo "skipped: the order of predictions needs a python3 with numpy"
fi

# --- the rest
expect "partition" 0 'edge cut' "$FRINGE" partition tiny.json --parts 3
folder=$(sed -n 's/^folder *//p' out)
expect "inspect a partition" 0 'edge cut' "$FRINGE" inspect "$folder"
expect "inspect a dataset" 0 'nodes' "$FRINGE" inspect tiny
expect "inspect a run" 0 'convs.0' "$FRINGE" inspect two
expect "inspect a checkpoint" 0 'epoch 20' "$FRINGE" inspect two/checkpoints/epoch-20
expect "inspect a file of tensors" 0 'convs.0.*F32' \
    "$FRINGE" inspect two/checkpoints/epoch-20/model.safetensors
expect "doctor" 0 '^OK +MPI' "$FRINGE" doctor tiny.json
expect "a cache that cannot be" 69 '^FAIL +cache' "$FRINGE" doctor --set data.cache=/proc/none
finish
