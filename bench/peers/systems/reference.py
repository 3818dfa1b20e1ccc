"""Reference accuracies: GCN and GraphSAGE-mean on small real graphs, in PyTorch on the CPU.

usage: reference.py SET MODEL [options]          SET: a name in RECIPES, or a fringe dataset directory
       reference.py all [--save results.json]    every row of RECIPES

The recipe, which fringe must match within a point or so: two layers, full batch, 200 epochs of Adam
at 0.01, L2 decay 5e-4 on the first layer's weights only, dropout 0.5 on the input of both layers,
Glorot-uniform weights, zero biases. With x' = dropout(x):
  gcn    Z = S (relu(S (X' W1) + b1)' W2) + b2,  S[v,u] = 1 / sqrt(d_in(v) d_out(u)), with self-loops
  sage   Z = H' Ws + M (H' Wn) + b, layer by layer,  M[v,u] = 1 / d_in(v), without self-loops
One label per node: softmax cross-entropy, averaged over the training nodes; accuracy.
Many labels per node: binary cross-entropy with logits, summed over the classes and divided by the
number of training nodes; micro-F1 where a logit above 0 says yes.

The graphs are the .npz files of gnn-benchmark, found in $FRINGE_DATA/SET: both directions are added,
self-loops and duplicates dropped. A dataset directory's edges are taken as they are stored.
A set without features, such as deezer_hu, wants --features FILE.npy [nodes, F].

For each set and model it prints one line and one line of JSON: mean and standard deviation (n - 1)
over the seeds of the test metric, in percent, after the last epoch and at the epoch of best validation.

Copyright fringe authors. SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import os
import sys
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F

import dataset_dir
from training import loss_of

CITATION = dict(hidden=16, rownorm=1, binary=0)
SHOP = dict(hidden=64, rownorm=0, binary=0)
COAUTHOR = dict(hidden=64, rownorm=1, binary=1)
# set: (file, how it is treated, models)
RECIPES = {
    "cora": ("cora.npz", CITATION, ("gcn", "sage")),
    "citeseer": ("citeseer.npz", CITATION, ("gcn", "sage")),
    "amazon_photo": ("amazon_electronics_photo.npz", SHOP, ("gcn", "sage")),
    "amazon_computers": ("amazon_electronics_computers.npz", SHOP, ("gcn",)),
    "coauthor_cs": ("ms_academic_cs.npz", COAUTHOR, ("gcn", "sage")),
    "coauthor_physics": ("ms_academic_phy.npz", COAUTHOR, ("gcn", "sage")),
    "deezer_hu": ("deezer_hu.npz", dict(hidden=64, rownorm=0, binary=0, split="train60"), ()),
}
DIRECTORY = ("", dict(hidden=64, rownorm=0, binary=0, split="own"), ())
SPLITS = {"train": ("train_idx", "val_idx", "test_idx"), "train60": ("train60_idx", "val20_idx", "test20_idx")}


# ---- data: adjacency [target, source], features (scipy CSR or numpy), labels, the three index lists


def symmetric(adj):
    """Both directions of every edge, once, without self-loops."""
    adj = sp.csr_matrix(adj + adj.T)
    adj.setdiag(0)
    adj.eliminate_zeros()
    adj.data = np.ones(adj.nnz, np.float32)
    return adj


def csr(arrays, prefix):
    return sp.csr_matrix(tuple(arrays[f"{prefix}_{part}"] for part in ("data", "indices", "indptr")),
                         shape=tuple(arrays[f"{prefix}_shape"]))


def load_npz(name, split):
    folder = Path(os.environ.get("FRINGE_DATA") or sys.exit("reference.py: set FRINGE_DATA")) / name
    arrays = {}
    for path in (folder / RECIPES[name][0], folder / "splits.npz"):
        if path.exists():
            with np.load(path) as z:  # the *_names may be pickles and are not needed
                arrays.update((key, z[key]) for key in z.files if not key.endswith("_names"))
    x = csr(arrays, "attr").astype(np.float32) if "attr_data" in arrays else None
    return SimpleNamespace(name=name, adj=symmetric(csr(arrays, "adj")), x=x, y=arrays["labels"],
                           index=[arrays[key] for key in SPLITS[split]])


def load_dataset_dir(folder):
    d = dataset_dir.read(folder)
    weight = np.ones(d.edges, np.float32) if d.edge_weight is None else d.edge_weight
    by_source = sp.csr_matrix((weight, d.edge_target, d.edge_offset), shape=(d.nodes, d.nodes))
    marks = (dataset_dir.TRAIN, dataset_dir.VALIDATION, dataset_dir.TEST)
    return SimpleNamespace(name=d.name, adj=by_source.T.tocsr(), x=d.features, y=d.labels,
                           index=[np.flatnonzero(d.split == mark) for mark in marks])


def load(opt):
    data = load_npz(opt.set, opt.split) if opt.set in RECIPES else load_dataset_dir(opt.set)
    if opt.features:
        data.x = np.load(opt.features)
    if data.x is None:
        sys.exit(f"reference.py: {data.name} has no features; give some with --features FILE.npy")
    x = sp.csr_matrix(data.x, dtype=np.float32)
    if opt.binary:
        x.data[:] = 1
    if opt.rownorm:
        total = np.asarray(abs(x).sum(1)).ravel()
        x = sp.csr_matrix(sp.diags(1 / np.maximum(total, 1e-12)) @ x, dtype=np.float32)
    data.x = x
    return data


# ---- sparse times dense, differentiable in the dense factor


def torch_csr(m):
    parts = (m.indptr.astype(np.int64), m.indices.astype(np.int64), m.data.astype(np.float32))
    return torch.sparse_csr_tensor(*map(torch.from_numpy, parts), m.shape)


class SparseTimes(torch.autograd.Function):
    """matrix @ dense; the gradient is transposed @ d. Both matrices are constants."""

    @staticmethod
    def forward(ctx, matrix, transposed, dense):
        ctx.transposed = transposed
        return matrix @ dense

    @staticmethod
    def backward(ctx, d):
        return None, None, ctx.transposed @ d.contiguous()


class Aggregate:
    def __init__(self, matrix):
        self.matrix, self.transposed = torch_csr(matrix), torch_csr(matrix.T.tocsr())

    def __call__(self, h):
        return SparseTimes.apply(self.matrix, self.transposed, h)


class SparseInput:
    """The feature matrix times weights, with dropout on the stored values."""

    def __init__(self, x):
        x.sort_indices()
        order = sp.csr_matrix((np.arange(1, x.nnz + 1), x.indices, x.indptr), shape=x.shape).T.tocsr()
        self.matrix, self.transposed = torch_csr(x), torch_csr(x.T.tocsr())
        self.order = torch.from_numpy(order.data - 1)  # where the transposed's values lie in matrix

    def __call__(self, weight, dropout, training):
        a, at = self.matrix, self.transposed
        if training:
            value = F.dropout(a.values(), dropout)
            a = torch.sparse_csr_tensor(a.crow_indices(), a.col_indices(), value, a.shape)
            at = torch.sparse_csr_tensor(at.crow_indices(), at.col_indices(), value[self.order], at.shape)
        return SparseTimes.apply(a, at, weight)


# ---- the models


def power(degree, exponent):
    return sp.diags(np.where(degree > 0, np.maximum(degree, 1e-12) ** exponent, 0))


def degrees(adj):
    """In- and out-degree of an adjacency [target, source]."""
    return np.asarray(adj.sum(1)).ravel(), np.asarray(adj.sum(0)).ravel()


def operator(adj, model):
    if model == "sage":
        return Aggregate(sp.csr_matrix(power(degrees(adj)[0], -1.0) @ adj))
    adj = adj + sp.eye(adj.shape[0])
    d_in, d_out = degrees(adj)
    return Aggregate(sp.csr_matrix(power(d_in, -0.5) @ adj @ power(d_out, -0.5)))


class Layer(torch.nn.Module):
    """Z = aggregate(H W) + b; with a self term, Z = H Ws + aggregate(H Wn) + b."""

    def __init__(self, inputs, outputs, self_term):
        super().__init__()
        count = 2 if self_term else 1
        self.weights = torch.nn.ParameterList(torch.empty(inputs, outputs) for _ in range(count))
        self.bias = torch.nn.Parameter(torch.zeros(outputs))
        for w in self.weights:
            torch.nn.init.xavier_uniform_(w)

    def forward(self, times, aggregate):
        """times(W) multiplies the layer's input by a weight matrix."""
        own, *neighbours = times(torch.cat(list(self.weights), 1)).chunk(len(self.weights), 1)
        if neighbours:
            return own + aggregate(neighbours[0]) + self.bias
        return aggregate(own) + self.bias


class Net(torch.nn.Module):
    def __init__(self, features, classes, opt):
        super().__init__()
        self.dropout = opt.dropout
        self.first = Layer(features, opt.hidden, opt.model == "sage")
        self.second = Layer(opt.hidden, classes, opt.model == "sage")

    def forward(self, x, aggregate):
        h = self.first(lambda w: x(w, self.dropout, self.training), aggregate)
        h = F.dropout(F.relu(h), self.dropout, self.training)
        return self.second(lambda w: h @ w, aggregate)


# ---- training


def metric(z, y):
    """Accuracy, or micro-F1 = 2 TP / (2 TP + FP + FN)."""
    if y.ndim == 1:
        return (z.argmax(1) == y).double().mean().item()
    yes, true = z > 0, y > 0
    both, either = (yes & true).sum().item(), yes.sum().item() + true.sum().item()
    return 2 * both / either if either else 0.0


def train(x, aggregate, y, index, net, opt):
    """Test metric after the last epoch and at the first epoch of best validation."""
    adam = torch.optim.Adam([{"params": list(net.first.weights), "weight_decay": opt.wd},
                             {"params": [net.first.bias, *net.second.parameters()]}], lr=opt.lr)
    fit, validation, test = index
    best, at_best, last = -1.0, 0.0, 0.0
    for _ in range(opt.epochs):
        net.train()
        adam.zero_grad()
        loss_of(net(x, aggregate)[fit], y[fit]).backward()
        adam.step()
        net.eval()
        with torch.no_grad():
            z = net(x, aggregate)
        last = metric(z[test], y[test])
        if len(validation) and metric(z[validation], y[validation]) > best:
            best, at_best = metric(z[validation], y[validation]), last
    return last, at_best


def measure(opt):
    """Trains opt.seeds times; the entry of results.json."""
    data, began = load(opt), time.time()
    x, aggregate = SparseInput(data.x), operator(data.adj, opt.model)
    many = data.y.ndim == 2
    y = torch.from_numpy(data.y.astype(np.float32 if many else np.int64))
    classes = y.shape[1] if many else int(y.max()) + 1
    index = [torch.from_numpy(i.astype(np.int64)) for i in data.index]
    rows = []
    for seed in range(opt.seeds):
        torch.manual_seed(seed)
        rows.append(train(x, aggregate, y, index, Net(data.x.shape[1], classes, opt), opt))
    last, at_best = (100 * np.array(column) for column in zip(*rows))
    spread = lambda v: round(float(v.std(ddof=1)), 3) if len(v) > 1 else None  # noqa: E731
    return f"{data.name}-{opt.model}", {
        "mean": round(float(last.mean()), 3), "sd": spread(last), "median": round(float(np.median(last)), 3),
        "seeds": opt.seeds, "best_val_mean": round(float(at_best.mean()), 3), "best_val_sd": spread(at_best),
        "all": [round(float(v), 3) for v in last],
        "metric": "micro-f1" if many else "accuracy",
        **{key: getattr(opt, key) for key in ("split", "hidden", "rownorm", "binary")},
        "seconds": round(time.time() - began, 1),
    }


# ---- command line


def arguments():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("set")
    ap.add_argument("model", nargs="?", choices=("gcn", "sage"))
    ap.add_argument("--split", choices=SPLITS, help="20 nodes per class, or 60/20/20")
    for key in ("hidden", "rownorm", "binary"):
        ap.add_argument(f"--{key}", type=int)
    for key, value in (("lr", 0.01), ("wd", 5e-4), ("dropout", 0.5), ("epochs", 200), ("seeds", 10)):
        ap.add_argument(f"--{key}", type=type(value), default=value)
    ap.add_argument("--threads", type=int, default=1)
    ap.add_argument("--features", metavar="FILE.npy")
    ap.add_argument("--save", metavar="FILE.json", help="adds the results to this file")
    opt = ap.parse_args()
    if opt.set != "all" and not opt.model:
        ap.error("name a model: gcn or sage")
    if opt.set not in RECIPES and opt.set != "all" and not dataset_dir.is_dataset(opt.set):
        ap.error(f"{opt.set} is neither a set in RECIPES nor a dataset directory")
    return opt


def jobs(opt):
    """One set of options for each set and model; what the command line says goes first."""
    names = RECIPES if opt.set == "all" else (opt.set,)
    for name in names:
        _, recipe, models = RECIPES.get(name, DIRECTORY)
        for model in (opt.model,) if opt.model else models:
            said = {key: value for key, value in vars(opt).items() if value is not None}
            yield argparse.Namespace(**{"split": "train", "features": None, **recipe, **said, "set": name, "model": model})


def save(path, key, entry):
    results = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            results = json.load(f)
    results[key] = entry
    with open(path, "w", encoding="utf-8") as f:
        lines = (f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in results.items())
        f.write("{\n" + ",\n".join(lines) + "\n}\n")


def main():
    opt = arguments()
    warnings.filterwarnings("ignore", message="Sparse")  # torch calls its CSR a beta; checks are off
    torch.set_num_threads(opt.threads)
    for job in jobs(opt):
        key, entry = measure(job)
        command = " ".join(["reference.py", *sys.argv[1:]])
        entry["made_by"] = f"torch {torch.__version__}, {command}"
        sd = "" if entry["sd"] is None else f" +- {entry['sd']:.2f}"
        print(f"{key}: last {entry['mean']:.2f}{sd}, at best validation {entry['best_val_mean']:.2f}"
              f"  ({entry['seeds']} seeds, {entry['seconds']:.0f} s)")
        print(json.dumps({key: entry}), flush=True)
        if opt.save:
            save(opt.save, key, entry)


if __name__ == "__main__":
    main()
