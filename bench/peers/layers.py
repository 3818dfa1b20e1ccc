"""Layers of fringe against PyTorch Geometric's own: gin and sgc.

usage: bench/run.sh layers [--strict] [--seeds=10] [--ranks=4]
smoke: --ranks=2

1. From the same weights (safetensors, PyG's names) on a generated graph: the logits, and what one step of SGD
   makes of every parameter, which is its gradient. At most 1e-4 of the tensor's norm apart.
2. sgc and SGConv on cora and citeseer by one recipe (Adam at 0.2, 100 epochs, K = 2, bias, no dropout, rows
   normalized, the decay of configs/*-sgc.json): mean test accuracy of the last epoch, at most 0.5 points apart.
   The decay was chosen by the validation nodes, of 1e-6, 5e-6, 1e-5, 5e-5, 1e-4, the larger of two that tie.

Wants PyTorch Geometric: bench/peers/systems/setup.sh pyg.
"""
import os
import statistics
import sys
import tempfile

from figures import ROOT, Bench, fringe, option, peer_python, read_json, skip, write_json

try:
    import torch
    import torch_geometric.nn as pyg
except ImportError:
    python = peer_python("pyg")
    if not python or sys.executable == python:
        skip("bench/peers/systems/setup.sh pyg makes the environment of PyG")
    os.execv(python, [python, *sys.argv])

import numpy as np
import scipy.sparse as sp
from safetensors.torch import load_file, save_file
from torch.nn.functional import cross_entropy, relu

sys.path.insert(0, os.path.join(ROOT, "bench", "peers", "systems"))
import dataset_dir  # noqa: E402

PUBLISHED = {"cora": 81.0, "citeseer": 71.9}  # Wu et al. 2019, table 2


def gin(sizes, learned):
    mlp = lambda i, o: torch.nn.Sequential(torch.nn.Linear(i, o), torch.nn.ReLU(), torch.nn.Linear(o, o))  # noqa: E731
    return torch.nn.ModuleList(pyg.GINConv(mlp(i, o), eps=0.2, train_eps=learned) for i, o in zip(sizes, sizes[1:]))


class Net(torch.nn.Module):
    """convs with ReLU between them; its names are those of fringe's files."""

    def __init__(self, convs):
        super().__init__()
        self.convs = convs

    def forward(self, x, edges):
        for i, conv in enumerate(self.convs):
            x = conv(x if i == 0 else relu(x), edges)
        return x


CASES = {
    "gin": (lambda f, k: Net(gin((f, 16, 16, k), True)), {"layer": "gin", "layers": 3, "hidden": [16],
            "gin_learn_epsilon": True, "post": ["activation"], "norm": "none"}),
    "gin, fixed": (lambda f, k: Net(gin((f, 16, k), False)), {"layer": "gin", "layers": 2, "hidden": [16],
                   "post": ["activation"], "norm": "none"}),
    "sgc": (lambda f, k: Net(torch.nn.ModuleList([pyg.SGConv(f, k, K=3)])), {"layer": "sgc", "layers": 3}),
}


def apart(mine, theirs):
    return (np.linalg.norm(mine - theirs) / max(np.linalg.norm(theirs), 1e-12)).item()


def one_step(folder, net, model, data, ranks):
    """Largest relative distance of logits, and of what a step of 1 takes off each parameter."""
    start = os.path.join(folder, "start.safetensors")
    save_file({name: value.contiguous() for name, value in net.state_dict().items()}, start)
    config = write_json(os.path.join(folder, "config.json"), {
        "data": {"path": data}, "model": {**model, "weights": start},
        "train": {"epochs": 1, "optimizer": "sgd", "lr": 1, "eval_every": 0},
        "run": {"dir": os.path.join(folder, "run"), "log_every": 0}})
    fringe("train", config, "--ranks", ranks)
    fringe("predict", config, "--ranks", ranks, "--weights", start, "-o", os.path.join(folder, "rows"))
    d = dataset_dir.read(data)
    edges = torch.from_numpy(np.stack([d.sources(), d.edge_target]).astype(np.int64))
    logits = net(torch.from_numpy(d.features), edges)
    fit = torch.from_numpy(np.flatnonzero(d.split == dataset_dir.TRAIN))
    cross_entropy(logits[fit], torch.from_numpy(d.labels.astype(np.int64))[fit]).backward()
    after = load_file(os.path.join(folder, "run", "checkpoints", "epoch-1", "model.safetensors"))
    steps = [apart((value - after[name]).detach().numpy(), value.grad.numpy())
             for name, value in net.named_parameters()]
    rows = np.load(os.path.join(folder, "rows", "scores.npy"))
    return apart(rows, logits.detach().numpy()), max(steps)


def same_weights(bench, ranks):
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "graph")
        fringe("generate", "planted:nodes=500,edges=4000,features=24,communities=5", "--seed", 3, "-o", data)
        for name, (make, model) in CASES.items():
            torch.manual_seed(1)
            d = dataset_dir.read(data)
            work = os.path.join(folder, name)
            os.mkdir(work)
            logits, steps = one_step(work, make(d.features.shape[1], d.classes), model, data, ranks)
            for what, value in (("logits", logits), ("gradients", steps)):
                bench.within(f"{name}: {what}, relative", value, "", 1e-4, "at most")


def load_set(name):
    """Both directions of every edge once, without loops; features with rows that add up to 1."""
    with np.load(os.path.join(os.environ["FRINGE_DATA"], name, name + ".npz"), allow_pickle=False) as file:
        csr = lambda key: sp.csr_matrix((file[key + "_data"], file[key + "_indices"], file[key + "_indptr"]),  # noqa: E731
                                        shape=file[key + "_shape"])
        adj, x, y = csr("adj"), csr("attr").astype(np.float32), file["labels"]
        index = [torch.from_numpy(file[key].astype(np.int64)) for key in ("train_idx", "val_idx", "test_idx")]
    adj = sp.coo_matrix((adj + adj.T) > 0)
    keep = adj.row != adj.col
    edges = torch.from_numpy(np.stack([adj.row[keep], adj.col[keep]]).astype(np.int64))
    x = sp.diags(1 / np.maximum(np.asarray(abs(x).sum(1)).ravel(), 1e-12)) @ x
    return torch.from_numpy(x.toarray().astype(np.float32)), edges, torch.from_numpy(y.astype(np.int64)), index


def train_pyg(name, decay, seed):
    x, edges, y, (fit, _, test) = load_set(name)
    torch.manual_seed(seed)
    conv = pyg.SGConv(x.shape[1], int(y.max()) + 1, K=2, cached=True)
    adam = torch.optim.Adam([{"params": [conv.lin.weight], "weight_decay": decay}, {"params": [conv.lin.bias]}], lr=0.2)
    for _ in range(100):
        adam.zero_grad()
        cross_entropy(conv(x, edges)[fit], y[fit]).backward()
        adam.step()
    return 100 * (conv(x, edges)[test].argmax(1) == y[test]).double().mean().item()


def train_fringe(name, seeds, ranks):
    with tempfile.TemporaryDirectory() as folder:
        fringe("train", os.path.join(ROOT, "configs", name + "-sgc.json"), "--ranks", ranks, "--runs", seeds,
               "--set", "run.dir=" + folder, "--set", "train.eval_every=0")
        return [100 * score for score in read_json(os.path.join(folder, "runs.json"))["last"]["test"]]


def accuracy(bench, seeds, ranks):
    for name, published in PUBLISHED.items():
        decay = read_json(os.path.join(ROOT, "configs", name + "-sgc.json"))["train"]["weight_decay"][0]
        mine = train_fringe(name, seeds, ranks)
        theirs = [train_pyg(name, decay, seed) for seed in range(seeds)]
        spread = [f"{statistics.mean(v):.2f} +- {statistics.stdev(v) if seeds > 1 else 0:.2f}" for v in (mine, theirs)]
        print(f"{name}, {seeds} seeds: sgc {spread[0]}, SGConv {spread[1]}; published {published}")
        difference = abs(statistics.mean(mine) - statistics.mean(theirs))
        bench.within(f"{name}: |sgc - SGConv|", difference, "points", 0.5, "at most")


def main():
    bench, ranks = Bench("layers"), option("ranks", 4)
    same_weights(bench, ranks)
    if all(os.path.exists(os.path.join(os.environ.get("FRINGE_DATA", ""), name, name + ".npz")) for name in PUBLISHED):
        accuracy(bench, option("seeds", 10), ranks)
    else:
        print("accuracy needs cora and citeseer in FRINGE_DATA; left out")
    bench.end()


main()
