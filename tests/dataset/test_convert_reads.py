# once
"""If this failed, numpy, scipy, gzip, or the loaders of PyG and OGB where they are installed, would not read what
fringe convert writes, or would read another graph than the one that went in.

The arrays are made here, written as an .npz by numpy, and compared with what comes back from each format.
"""
import csv
import gzip
import os
import sys
import tempfile
import zipfile

from interpreter import start_over
from program import call, has, read_json, write

start_over("numpy", "python3-numpy")

import numpy as np

N, F, K = 500, 6, 4


def convert(*words):
    done = call("convert", *words)
    assert done.returncode == 0, done.stderr
    return done.stderr


def make(several, sparse):
    """Arrays of a directed graph with weights, as numpy has them."""
    draw = np.random.default_rng(7)
    dense = (draw.random((N, N)) < 0.01).astype(np.float32)
    weight = dense * draw.integers(1, 1000, (N, N)).astype(np.float32) / 7
    x = draw.standard_normal((N, F)).astype(np.float32) * 10.0 ** draw.integers(-20, 20, (N, F)).astype(np.float32)
    x = x.astype(np.float32)
    x[:, 0] = draw.integers(0, 3, N)
    if sparse:
        x *= draw.random((N, F)) < 0.2
        x[x == 0] = 0  # no zeros with a sign
    labels = draw.integers(0, 2, (N, K)) if several else draw.integers(0, K, N)
    order = draw.permutation(N)
    parts = {"train_idx": order[:200], "val_idx": order[200:300], "test_idx": order[300:450]}
    splits = {key: np.sort(nodes) for key, nodes in parts.items()}
    if not several:
        labels[order[450:]] = -1
    return {"weight": weight, "x": x, "labels": labels, **splits}


def save(arrays, path):
    row, column = np.nonzero(arrays["weight"])
    offset = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=N))])
    np.savez(path, adj_data=arrays["weight"][row, column], adj_indices=column, adj_indptr=offset, adj_shape=[N, N],
             attr_matrix=arrays["x"], labels=arrays["labels"],
             **{key: arrays[key] for key in ("train_idx", "val_idx", "test_idx")})


# ---- npz

def matrix(file, prefix):
    """Without scipy, from the definition of CSR."""
    out = np.zeros(file[prefix + "shape"], np.float32)
    offset = file[prefix + "indptr"]
    row = np.repeat(np.arange(len(out)), np.diff(offset))
    np.add.at(out, (row, file[prefix + "indices"]), file[prefix + "data"])
    return out


def check_npz(arrays, path, sparse):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    with np.load(path) as file:
        assert np.array_equal(matrix(file, "adj_"), arrays["weight"])
        x = matrix(file, "attr_") if sparse else file["attr_matrix"]
        assert ("attr_matrix" in file) != sparse and x.dtype == np.float32 and np.array_equal(x, arrays["x"])
        assert np.array_equal(file["labels"], arrays["labels"])
        for key in ("train_idx", "val_idx", "test_idx"):
            assert np.array_equal(file[key], arrays[key]), key


def check_scipy(arrays, path):
    import scipy.sparse as sp
    with np.load(path) as file:
        found = sp.csr_matrix((file["adj_data"], file["adj_indices"], file["adj_indptr"]), shape=file["adj_shape"])
        found.check_format(full_check=True)
        assert (found != sp.csr_matrix(arrays["weight"])).nnz == 0
        x = sp.csr_matrix((file["attr_data"], file["attr_indices"], file["attr_indptr"]), shape=file["attr_shape"])
        x.check_format(full_check=True)
        assert (x != sp.csr_matrix(arrays["x"])).nnz == 0


def check_pyg(arrays, path):
    from torch_geometric.io import read_npz
    data = read_npz(path)
    assert np.array_equal(data.y.numpy(), arrays["labels"])
    assert np.array_equal(data.x.numpy() > 0, arrays["x"] > 0)


# ---- the folder of OGB

def table(folder, name):
    with gzip.open(os.path.join(folder, name), "rt") as file:
        return list(csv.reader(file))


def check_tables(arrays, folder, several):
    row, column = np.nonzero(arrays["weight"])
    assert np.array_equal(np.array(table(folder, "raw/edge.csv.gz"), np.int64), np.stack([row, column], 1))
    assert table(folder, "raw/num-node-list.csv.gz") == [[str(N)]]
    assert table(folder, "raw/num-edge-list.csv.gz") == [[str(len(row))]]
    x = np.array(table(folder, "raw/node-feat.csv.gz")).astype(np.float32)
    assert x.tobytes() == arrays["x"].tobytes()
    weight = np.array(table(folder, "raw/edge-feat.csv.gz")).astype(np.float32)
    assert np.array_equal(weight[:, 0], arrays["weight"][row, column])
    labels = np.array(table(folder, "raw/node-label.csv.gz")).astype(float)
    if several:
        assert np.array_equal(labels, arrays["labels"])
    else:
        assert np.array_equal(np.isnan(labels[:, 0]), arrays["labels"] < 0)
        assert np.array_equal(np.nan_to_num(labels[:, 0], nan=-1), arrays["labels"])
    for ours, theirs in (("train_idx", "train"), ("val_idx", "valid"), ("test_idx", "test")):
        nodes = np.array(table(folder, f"split/random/{theirs}.csv.gz"), np.int64)[:, 0]
        assert np.array_equal(nodes, arrays[ours])
    for name in ("RELEASE_v1.txt", "mapping/README.md"):
        assert os.path.exists(os.path.join(folder, name)), name


def check_times(folder):
    """A gzip member begins with 1f 8b 08, flags and four bytes of its time."""
    for place, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".gz"):
                with open(os.path.join(place, name), "rb") as file:
                    assert file.read(8) == b"\x1f\x8b\x08\0\0\0\0\0", name


def check_meta(folder, several):
    meta = read_json(os.path.join(folder, "meta_dict.json"))
    assert meta["num tasks"] == (str(K) if several else "1") and meta["num classes"] == ("2" if several else str(K))
    assert meta["add_inverse_edge"] == meta["is hetero"] == meta["binary"] == "False" and meta["split"] == "random"
    assert os.path.exists(os.path.join(folder, f"RELEASE_v{meta['version']}.txt"))
    return meta


def check_pandas(arrays, folder):
    """The types that the loader of OGB takes from its tables."""
    import pandas as pd
    x = pd.read_csv(os.path.join(folder, "raw/node-feat.csv.gz"), compression="gzip", header=None).values
    assert "int" not in str(x.dtype) and np.array_equal(x.astype(np.float32), arrays["x"])
    edge = pd.read_csv(os.path.join(folder, "raw/edge.csv.gz"), compression="gzip", header=None).values
    assert np.array_equal(edge.T, np.nonzero(arrays["weight"]))


def check_ogb(arrays, folder, several):
    sys.modules["outdated"] = None  # else a thread asks the network for the newest OGB, and imports may wait for it
    from ogb.nodeproppred import NodePropPredDataset
    data = NodePropPredDataset("ogbn-converted", meta_dict=check_meta(folder, several) | {"dir_path": folder})
    graph, labels = data[0]
    assert graph["num_nodes"] == N and np.array_equal(graph["edge_index"], np.nonzero(arrays["weight"]))
    assert np.array_equal(graph["node_feat"], arrays["x"]) and len(labels) == N
    assert np.array_equal(data.get_idx_split()["train"], arrays["train_idx"])


# ---- METIS

def check_graph(arrays, path):
    """The lines against the matrix of both directions with the larger weight."""
    both = np.maximum(arrays["weight"], arrays["weight"].T)
    np.fill_diagonal(both, 0)
    with open(path) as file:
        head, *lines = file.read().split("\n")
    assert head == f"{N} {np.count_nonzero(both) // 2} 1" and lines.pop() == "" and len(lines) == N
    for i, line in enumerate(lines):
        numbers = line.split()
        found = np.zeros(N, np.float32)
        found[np.array(numbers[::2], int) - 1] = np.array(numbers[1::2], np.float32)
        assert np.array_equal(found, both[i]), i


# ---- hypergraphs

def check_hypergraph(folder):
    lines, path = ["3 6 11", "0.5 1 2 3", "2 3 4", "0 6"] + [str(i) for i in range(1, 7)], os.path.join(folder, "h")
    write(path + ".hgr", "\n".join(lines) + "\n")
    convert(path + ".hgr", path + ".npz")
    with np.load(path + ".npz") as file:
        pins = sorted(zip(file["hyperedge"].tolist(), file["node"].tolist()))
        assert pins == [(0, 0), (0, 1), (0, 2), (1, 2), (1, 3), (2, 5)]
        assert file["hyperedge_weight"].tolist() == [0.5, 2, 0] and file["num_nodes"].tolist() == [6]
        assert file["node_weight"].tolist() == [1, 2, 3, 4, 5, 6] and "role" not in file
    convert(path + ".npz", path + "-again.hgr")
    with open(path + "-again.hgr") as file:
        assert file.read() == "\n".join(lines) + "\n"


def check_all(folder, several, sparse):
    arrays, path = make(several, sparse), os.path.join(folder, f"{several}-{sparse}")
    save(arrays, path + "-in.npz")
    for name, words in (("packed", []), ("stored", ["--store"])):
        convert(path + "-in.npz", f"{path}-{name}.npz", *words)
        check_npz(arrays, f"{path}-{name}.npz", sparse)
    assert "raw/edge-feat.csv.gz" in convert(path + "-in.npz", path + "-ogb", "--to", "ogb")
    check_tables(arrays, path + "-ogb", several)
    check_times(path + "-ogb")
    check_meta(path + "-ogb", several)
    steps = 'data.transforms=["drop-loops","symmetrize"]'
    convert(path + "-in.npz", path + ".graph", "--set", steps)
    check_graph(arrays, path + ".graph")
    return arrays, path


with tempfile.TemporaryDirectory() as folder:
    both = (False, True)
    made = {(several, sparse): check_all(folder, several, sparse) for several in both for sparse in both}
    check_hypergraph(folder)
    if has("scipy", "scipy reads what convert writes"):
        check_scipy(made[False, True][0], made[False, True][1] + "-packed.npz")
    if has("torch_geometric", "PyG reads what convert writes"):
        check_pyg(made[False, True][0], made[False, True][1] + "-packed.npz")
    if has("pandas", "pandas reads what convert writes"):
        check_pandas(made[False, False][0], made[False, False][1] + "-ogb")
    if has("ogb", "OGB reads what convert writes"):
        for several in (False, True):
            check_ogb(made[several, False][0], made[several, False][1] + "-ogb", several)
print("ok: numpy, gzip and csv read what fringe convert writes")
