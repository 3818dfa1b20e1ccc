#!/usr/bin/env python3
# once
"""If this failed, sparse features (data.features_as) would be other numbers than the file's, or a training on them would
not be that on dense ones, or would depend on the file, threads, vectors, ranks, device memory or a stop between."""
import hashlib
import json
import os

import numpy as np

from program import FRINGE, call, check, end, own_folder, write_json

work = own_folder()
NODES, WORDS, EPOCHS = 240, 150, 4


def csr(dense):
    """The arrays of a matrix whose entries are not in order, and some of which stand in two halves."""
    rng = np.random.default_rng(3)
    offset, column, value = [0], [], []
    for row in dense:
        at = rng.permutation(np.flatnonzero(row))
        halves = at[::3]
        column += [*at, *halves]
        value += [*np.where(np.isin(at, halves), row[at] / 2, row[at]), *row[halves] / 2]
        offset.append(len(column))
    return {"data": np.array(value, np.float32), "indices": np.array(column, np.int32),
            "indptr": np.array(offset, np.int32), "shape": np.array(dense.shape)}


def write_sets():
    rng = np.random.default_rng(1)
    x = (rng.random((NODES, WORDS)) < 0.04) * rng.integers(1, 9, (NODES, WORDS)).astype(np.float32)
    x[7] = 0
    edges = rng.integers(0, NODES, (2, 900))
    a = np.zeros((NODES, NODES), np.float32)
    a[edges[0], edges[1]] = a[edges[1], edges[0]] = 1
    np.fill_diagonal(a, 0)
    split = rng.permutation(NODES)
    beside = {**{"adj_" + k: v for k, v in csr(a).items()}, "labels": rng.integers(0, 4, NODES),
              "train_idx": split[:60], "val_idx": split[60:120], "test_idx": split[120:]}
    np.savez("words.npz", **{"attr_" + k: v for k, v in csr(x).items()}, **beside)
    np.savez("rows.npz", attr_matrix=x, **beside)
    config = {"data": {"path": "words.npz", "transforms": ["drop-duplicates", "row-normalize"], "features_as": "sparse"},
              "model": {"layer": "sage-mean", "layers": 2, "hidden": 12, "norm": "none",
                        "post": ["activation", "dropout"], "input_dropout": 0.4},
              "train": {"epochs": EPOCHS, "eval_every": 2}, "run": {"threads": 1}}
    write_json("words.json", config)


def write_matrices():
    """The features of words.npz as scipy.sparse.save_npz writes them: by row, by column and by entry, in some order."""
    x = np.load("rows.npz")["attr_matrix"]
    rows = csr(x)
    np.savez("unnamed.npz", x)  # arr_0
    np.savez("csr.npz", format=np.array(b"csr"), **rows)
    np.savez("csc.npz", **{**csr(x.T), "shape": rows["shape"]}, format=np.array("csc"))
    row = np.repeat(np.arange(NODES, dtype=np.int32), np.diff(rows["indptr"]))
    order = np.random.default_rng(4).permutation(len(row))
    coo = {"row": row[order], "col": rows["indices"][order], "data": rows["data"][order], "shape": rows["shape"]}
    np.savez("coo.npz", **coo, format=np.array(b"coo"))
    np.savez("bsr.npz", **rows, format=np.array(b"bsr"))
    np.savez("short.npz", **{**coo, "row": row[1:]}, format=np.array(b"coo"))
    np.savez("few.npz", **csr(x[1:]), format=np.array(b"csr"))
    np.savez("many.npz", **{**csr(x.T), "shape": [2 ** 40, WORDS]}, format=np.array("csc"))
    np.savez("y.npz", y=np.zeros(NODES, np.int64))


def matrices():
    write_matrices()
    for kind in "csr", "csc", "coo", "unnamed":
        train(kind, f"data.features={kind}.npz")
        check(f"a matrix of save_npz, {kind}", weights(kind) == weights("sparse"))
    refused = {"bsr": "its format is 'bsr'", "short": "'col' ", "few": "have 239 rows",
               "many": "have 1099511627776 rows", "y": "there are no features in it"}
    for kind, said in refused.items():
        bad = train("bad", f"data.features={kind}.npz")
        check(f"{kind}.npz is refused", bad.returncode == 65 and said in bad.stderr, bad.stderr)


def train(name, *settings, program=FRINGE, words=()):
    settings = (f"run.dir={name}", *settings)
    return call("train", "words.json", *words, *(word for one in settings for word in ("--set", one)), program=program)


def losses(name):
    with open(name + "/metrics.jsonl") as file:
        return np.array([line["loss"] for line in map(json.loads, file) if "loss" in line])


def weights(name):
    with open(f"{name}/checkpoints/epoch-{EPOCHS}/model.safetensors", "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def near(name):
    return losses(name).shape == (EPOCHS,) and np.allclose(losses(name), losses("sparse"), rtol=1e-5, atol=0)


def main():
    write_sets()
    first = train("sparse")
    check("a training on CSR", first.returncode == 0 and "kept as CSR" in first.stderr, first.stderr)
    train("dense", "data.features_as=dense")
    check("dense features train alike", near("dense") and weights("dense") != weights("sparse"), losses("dense"))
    train("auto", "data.features_as=auto", "data.path=rows.npz")
    check("the same numbers in another file", weights("auto") == weights("sparse"))
    matrices()
    train("plain", "run.simd=plain", "run.threads=2")
    check("bits depend on no thread or vector", weights("plain") == weights("sparse"))
    fenced = os.path.join(os.path.dirname(FRINGE), "fringe-fenced")
    train("fenced", "run.backend=fenced", program=fenced)
    check("device memory of its own", weights("fenced") == weights("sparse"))
    train("ranks", words=["--ranks", "3"])
    check("ranks train alike", near("ranks"), losses("ranks"))
    train("half", f"train.epochs={EPOCHS // 2}")
    again = train("half", words=["--resume", "auto"])
    check("a resumed training", weights("half") == weights("sparse"), again.stderr)
    shown = call("predict", "sparse", "-o", "out")
    check("prediction", shown.returncode == 0 and np.load("out/classes.npy").shape[0] == NODES, shown.stderr)
    gin = train("gin", "model.layer=gin", "train.epochs=1")
    check("what aggregates features has them dense", gin.returncode == 0 and "made dense here" in gin.stderr, gin.stderr)
    bad = train("bad", 'data.transforms=["standardize"]')
    check("standardize is refused", bad.returncode == 78 and "leaves no feature 0" in bad.stderr, bad.stderr)
    shown = call("inspect", "words.npz")
    check("inspect says how many", "% of them not 0" in shown.stdout, shown.stdout)


main()
end()
