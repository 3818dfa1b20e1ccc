#!/usr/bin/env bash
# once
# If this failed, trained weights would be judged wrongly, predictions would belong to other nodes, or
# what lies on the disk could not be looked at.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny
expect "a run on two ranks" 0 'result +epoch 20: ' train --ranks 2 run.dir=two

expect "evaluate" 0 '^test +[0-9]+ ' fringe evaluate tiny.json run.dir=two --ranks 2
expect "evaluate a run" 0 '^test +[0-9]+ ' fringe evaluate two --best
full() { "$FRINGE" "$@" >/dev/full; }
expect "evaluate to a full disk" 74 'could not be written to stdout' full evaluate two --json
expect "evaluate without weights" 66 'nowhere does not exist' fringe evaluate tiny.json run.dir=nowhere
expect "a layer without embeddings" 64 'expected 1 to 1' fringe predict two --layer 2
expect "predict on one rank" 0 'p1/classes.npy \[600, 1\] int64' fringe predict two -o p1 --layer 1
expect "predict on three ranks" 0 'embeddings-1.npy' fringe predict two --ranks 3 -o p3 --layer 1
same "classes do not depend on the ranks" p1/classes.npy p3/classes.npy
# What predict keeps beside evaluate: its rows and their order, and blocks of 4 MiB of them.
fringe generate planted:nodes=40000,edges=100000,features=1 -o large >/dev/null
echo '{"data": {"path": "large"}, "model": {"layers": 2, "hidden": [4]}, "train": {"epochs": 0}, "run": {"threads": 1}}' >large.json
needs() { "$FRINGE" "$@" --set run.memory_limit=0.006 2>&1 | sed -n 's/.*this rank needs \([0-9.]*\) MiB.*/\1/p'; }
expect "a large graph" 0 'result' fringe train large.json
evaluate=$(needs evaluate large.json)
for layer in 0 1; do
    bytes=$((40000 * (41 * 4 + 8) + (4 << 20) / (41 * 4) * (41 * 4 * 3 + 16)))
    predict=$(needs predict large.json $([ $layer -eq 0 ] || echo --layer $layer) -o large-$layer)
    awk "BEGIN {exit !(($predict - $evaluate - $bytes / 1048576) ^ 2 < 0.11 ^ 2)}" ||
        fail "layer $layer: predict needs $predict MiB, evaluate $evaluate, between them are $bytes bytes"
done
rm -r large

widths="--set mode=adaqp --set quantization.period=5 --set quantization.solver=exact"
expect "a run that assigned widths" 0 'result' train --ranks 2 $widths run.dir=assigned
expect "a run that used them" 0 'result' train --ranks 2 $widths run.dir=replayed \
    quantization.assign=replay:assigned
rm -r assigned
expect "evaluated when the other is gone" 0 '^test +[0-9]+ ' fringe evaluate replayed --ranks 2
expect "and predicted" 0 'classes.npy' fringe predict replayed --ranks 2 -o p2
fringe evaluate two --json >evaluated 2>/dev/null

# A checkpoint that is named, of which a bit has changed.
cp -r two/checkpoints/epoch-20 bad
at=$(($(stat -c %s bad/model.safetensors) - 3)) # of the last number
printf X | dd of=bad/model.safetensors bs=1 seek=$at conv=notrunc 2>/dev/null
expect "a damaged checkpoint says no scores" 65 'bad/model.safetensors' fringe evaluate two --weights bad
expect "nor does a file of it" 65 'bad/model.safetensors' fringe evaluate two --weights bad/model.safetensors
expect "and nobody starts from it" 65 'bad/model.safetensors' train model.weights=bad/model.safetensors \
    run.dir=started

# Last and best weights are of different epochs here, and differ in what they get right.
expect "a run whose best epoch is not its last" 0 'result' train --ranks 2 train.epochs=60 train.eval_every=1 \
    train.lr=0.1 run.dir=over
expect "predict its last weights" 0 'classes.npy' fringe predict over -o last --ranks 2
expect "predict its best weights" 0 'classes.npy' fringe predict over --best -o best --ranks 2
fringe evaluate over --json >evaluated-last 2>/dev/null
fringe evaluate over --best --ranks 2 --json >evaluated-best 2>/dev/null
if command -v python3 >/dev/null; then
    # Predictions joined with the labels of the dataset, node by node, must give the accuracy that
    # evaluate says, and that the run said of these weights.
    cat >check.py <<'PY'
import array, json, re, struct
def raw(kind, data):
    out = array.array(kind)
    out.frombytes(data)
    return out
def npy(path):
    data = open(path, "rb").read()
    end = 10 + struct.unpack("<H", data[8:10])[0]
    head = data[10:end].decode()
    kind = {"<i8": "q", "<f4": "f"}[re.search("'descr': '(...)'", head).group(1)]
    shape = tuple(int(n) for n in re.search(r"'shape': \((.*?)\)", head).group(1).split(",") if n.strip())
    return shape, raw(kind, data[end:])
data = open("tiny/dataset.safetensors", "rb").read()
length = int.from_bytes(data[:8], "little")
header = json.loads(data[8:8 + length])
def tensor(name, kind):
    begin, end = header[name]["data_offsets"]
    return raw(kind, data[8 + length + begin:8 + length + end])
labels, split = tensor("labels", "i"), tensor("split", "B")
run = json.load(open("over/run.json"))["result"]
assert 0 < run["best_epoch"] < run["epochs"] and run["best"] != run["last"], "best and last must differ"
said = {"p1": json.load(open("evaluated")), "last": run["last"], "best": run["best"]}
said["p3"] = said["p1"]
for which in ("last", "best"):
    evaluated = json.load(open("evaluated-" + which))
    for name, figures in run[which].items():
        for key, value in figures.items():
            tolerance = 1e-5 * abs(value) if key == "loss" else 0
            assert abs(evaluated[name][key] - value) <= tolerance, (which, name, key, evaluated[name][key], value)
for folder in ("p1", "p3", "last", "best"):
    (shape, classes), (wide, scores) = npy(folder + "/classes.npy"), npy(folder + "/scores.npy")
    assert shape == (len(labels), 1) and wide == (len(labels), 5), (shape, wide)
    for i in range(len(labels)):
        row = scores[5 * i:5 * i + 5]
        assert row.index(max(row)) == classes[i], (folder, i)
    for number, name in ((1, "train"), (2, "validation"), (3, "test")):
        rows = [i for i in range(len(labels)) if split[i] == number]
        right = sum(classes[i] == labels[i] for i in rows) / len(rows)
        assert abs(right - said[folder][name]["accuracy"]) < 1e-12, (folder, name, right, said[folder][name])
assert npy("last/scores.npy")[1] != npy("best/scores.npy")[1]
(_, one), (_, three) = npy("p1/scores.npy"), npy("p3/scores.npy")
assert sum((a - b) ** 2 for a, b in zip(one, three)) <= 1e-10 * sum(a * a for a in one)  # sums in another order
(wide, one), (_, three) = npy("p1/embeddings-1.npy"), npy("p3/embeddings-1.npy")
assert wide == (len(labels), 16) and sum((a - b) ** 2 for a, b in zip(one, three)) <= 1e-10 * sum(a * a for a in one)
print("in order")
PY
    expect "predictions stand in the order of the nodes, and are of the weights asked for" 0 "in order" \
        python3 check.py
else
    echo "skipped: the order of predictions needs a python3"
fi

# --- the rest
expect "partition" 0 'edge cut' fringe partition tiny.json --parts 3
folder=$(sed -n 's/^folder *//p' out)
expect "inspect a partition" 0 'edge cut' fringe inspect "$folder"
expect "inspect a dataset" 0 'nodes' fringe inspect tiny
expect "inspect a run" 0 'convs.0' fringe inspect two
expect "inspect a checkpoint" 0 'epoch 20' fringe inspect two/checkpoints/epoch-20
! grep 'from the weights' out || fail "it began with random ones"
grep -q '"weights": null' two/checkpoints/epoch-20/checkpoint.json || fail "and knows so"
accuracy=$(sed -n 's/.*"test_accuracy": \([0-9.]*\).*/\1/p' two/run.json)
grep -q "last evaluation accuracy $(printf %.4f "$accuracy")" out || fail "and its accuracy is $accuracy: $(cat out)"
cp -r two/checkpoints/epoch-20 torn
truncate -s 4 torn/optimizer.safetensors
expect "inspect a torn one" 65 'torn/optimizer.safetensors' fringe inspect torn
expect "inspect a file of tensors" 0 'convs.0.*F32' fringe inspect two/checkpoints/epoch-20/model.safetensors
expect "doctor" 0 '^OK +MPI' fringe doctor tiny.json
expect "doctor names the backend" 0 '^OK +kernels +cpu: ' fringe doctor tiny.json
grep -qE '^OK +devices ' out || fail "a machine without devices is healthy: $(cat out)"
grep -qE '^ +CUDA-aware MPI: no$' out || fail "doctor asks the MPI library for devices: $(cat out)"
expect "doctor believes an MPI for devices" 0 '^ +CUDA-aware MPI: yes$' env \
    LD_PRELOAD="$FRINGE_BUILD/tests/cuda_mpi.so" "$FRINGE" doctor tiny.json --set run.backend=auto
grep -qE '^OK +kernels +(cpu|cuda): ' out || fail "run.backend=auto is what starts: $(cat out)"
grep -qE '^OK +device memory ' out || fail "doctor of a config names the device's memory: $(cat out)"
expect "a cache that cannot be" 69 '^FAIL +cache' fringe doctor data.cache=/proc/none
finish
