"""Trains the kinds of fringe's zoo in PyG, with PyG's own layers and the recipe of a fringe config.

usage: zoo.py FOLDER CONFIG.json [--seeds=10] [--epochs=N] [--best] [--threads=1]

FOLDER is a dataset directory of fringe (`fringe convert CONFIG FOLDER`), CONFIG a whole config (`config` of a run.json).
Layers are connected as in PyG's examples: dropout of the input; convolution, norm, activation, dropout; no step behind the
last. Where PyG and fringe start differently, fringe's start is taken: Xavier-uniform matrices, zero biases. Adam with L2
decay of the matrices, by layer.

Prints one line of JSON: the scores of the test nodes in percent, by seed, after the last epoch, or with --best at the
first epoch of the best validation score; the versions; the seconds of all trainings.

Copyright fringe authors. SPDX-License-Identifier: Apache-2.0
"""
import json
import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
import torch_geometric
from torch_geometric.nn import APPNP, BatchNorm, GCN2Conv, GCNConv, JumpingKnowledge

import dataset_dir
from reference import SparseInput, torch_csr


class FirstLinear(torch.nn.Module):
    """A linear layer of the features, which are sparse: what dropout leaves of their zeros is zero."""

    def __init__(self, features, columns, outputs, dropout):
        super().__init__()
        self.features, self.dropout = features, dropout
        self.weight, self.bias = torch.nn.Parameter(torch.empty(outputs, columns)), None

    def forward(self, _):
        return self.features(self.weight.t().contiguous(), self.dropout, self.training)


class Net(torch.nn.Module):
    """Of a config's section model; `decays` has the list of each layer's matrices."""

    def __init__(self, model, features, columns, classes, nodes):
        super().__init__()
        self.model, self.nodes = model, nodes
        kind, layers, dropout = model["layer"], model["layers"], model["input_dropout"]
        hidden = (model["hidden"] * layers)[:layers]
        widths = [columns, *hidden[:layers - (model["jk"] == "none")], classes]
        self.first = FirstLinear(features, columns, hidden[0], dropout)
        self.bias, matrices = torch.nn.Parameter(torch.zeros(hidden[0])), [self.first.weight]
        pairs = list(zip(widths[1:], widths[2:]))
        if model["jk"] != "none":
            pairs.pop()
        if kind == "gcn2":
            self.convs = torch.nn.ModuleList(GCN2Conv(hidden[0], model["alpha"], model["theta"], l + 1, cached=True)
                                             for l in range(layers))
            self.last = torch.nn.Linear(hidden[0], classes)
            matrices += [*(conv.weight1 for conv in self.convs), self.last.weight]
        elif kind == "gcn":
            self.convs = torch.nn.ModuleList([GCNConv(columns, hidden[0], cached=True),
                                              *(GCNConv(i, o, cached=True) for i, o in pairs)])
            self.convs[0].lin, self.convs[0].bias = self.first, self.bias
            matrices += [conv.lin.weight for conv in self.convs[1:]]
        else:
            self.lins = torch.nn.ModuleList(torch.nn.Linear(i, o) for i, o in pairs)
            matrices += [lin.weight for lin in self.lins]
            self.propagate = APPNP(model["steps"], model["alpha"], cached=True) if kind == "appnp" else None
        if model["norm"] == "batch":
            self.norms = torch.nn.ModuleList(BatchNorm(width) for width in widths[1:-1])
        if model["jk"] != "none":
            self.jump = JumpingKnowledge(model["jk"])
            self.last = torch.nn.Linear(sum(hidden) if model["jk"] == "cat" else hidden[-1], classes)
            matrices.append(self.last.weight)
        self.matrices = matrices
        for name, value in self.named_parameters():
            if value.dim() == 2:
                torch.nn.init.xavier_uniform_(value)
            elif "norms" not in name:
                torch.nn.init.zeros_(value)

    def post(self, x, layer, dropout=True):
        x = self.norms[layer](x) if self.model["norm"] == "batch" else x
        return F.dropout(x.relu(), self.model["dropout"], self.training and dropout)

    def forward(self, adjacency):
        kind = self.model["layer"]
        nowhere = torch.empty(self.nodes, 0)  # FirstLinear has the features
        if kind == "gcn":
            return self.convolutions(nowhere, adjacency)
        x = self.first(nowhere) + self.bias
        if kind == "gcn2":
            x = first = x.relu()
            for conv in self.convs:
                x = conv(F.dropout(x, self.model["dropout"], self.training), first, adjacency).relu()
            return self.last(F.dropout(x, self.model["dropout"], self.training))
        for layer, lin in enumerate(self.lins):
            x = lin(self.post(x, layer))
        return x if self.propagate is None else self.propagate(x, adjacency)

    def convolutions(self, x, adjacency):
        levels, hidden = [], len(self.convs) - (self.model["jk"] == "none")
        for layer, conv in enumerate(self.convs):
            below, x = x, conv(x, adjacency)
            if layer < hidden:
                x = self.post(x, layer)
            if layer < hidden and self.model["skip"] == "residual" and x.shape == below.shape:
                x = x + below
            levels.append(x)
        return x if self.model["jk"] == "none" else self.last(self.jump(levels))


def groups(net, decay):
    """Parameter groups of Adam: a matrix of layer l decays by decay[l], the last one serves the rest; biases do not."""
    matrices = [{"params": [m], "weight_decay": decay[min(l, len(decay) - 1)]} for l, m in enumerate(net.matrices)]
    rest = [p for p in net.parameters() if all(p is not m for m in net.matrices)]
    return [*matrices, {"params": rest, "weight_decay": 0}]


def accuracy(scores, y, nodes):
    return 100 * (scores[nodes].argmax(1) == y[nodes]).double().mean().item()


def trained(net, adjacency, y, index, settings, best):
    """The score of the test nodes."""
    adam = torch.optim.Adam(groups(net, settings["weight_decay"]), lr=settings["lr"])
    fit, validation, test = index
    highest, kept = -1.0, 0.0
    for epoch in range(settings["epochs"]):
        net.train()
        adam.zero_grad()
        F.cross_entropy(net(adjacency)[fit], y[fit]).backward()
        adam.step()
        if not best and epoch + 1 < settings["epochs"]:
            continue
        net.eval()
        with torch.no_grad():
            scores = net(adjacency)
        if not best or accuracy(scores, y, validation) > highest:
            highest, kept = accuracy(scores, y, validation), accuracy(scores, y, test)
    return kept


def option(name, otherwise):
    return next((type(otherwise)(a.split("=", 1)[1]) for a in sys.argv if a.startswith(f"--{name}=")), otherwise)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    warnings.filterwarnings("ignore")  # torch calls its CSR a beta
    torch.set_num_threads(option("threads", 1))
    data, began = dataset_dir.read(sys.argv[1]), time.time()
    with open(sys.argv[2]) as file:
        config = json.load(file)
    config["train"]["epochs"] = option("epochs", config["train"]["epochs"])
    edges = sp.csr_matrix((np.ones(data.edges, np.float32), data.edge_target, data.edge_offset), shape=(data.nodes,) * 2)
    adjacency = torch_csr(edges.T.tocsr())  # [target, source], as PyG's adj_t
    features, y = SparseInput(sp.csr_matrix(data.features)), torch.from_numpy(data.labels.astype(np.int64))
    index = [torch.from_numpy(np.flatnonzero(data.split == part)) for part in (1, 2, 3)]
    scores = []
    for seed in range(option("seeds", 10)):
        torch.manual_seed(seed)
        net = Net(config["model"], features, data.features.shape[1], data.classes, data.nodes)
        scores.append(round(trained(net, adjacency, y, index, config["train"], "--best" in sys.argv), 3))
    print(json.dumps({"scores": scores, "seconds": round(time.time() - began, 1), "versions": {
        "torch": torch.__version__, "torch_geometric": torch_geometric.__version__, "numpy": np.__version__,
        "python": ".".join(map(str, sys.version_info[:3]))}}))


if __name__ == "__main__":
    main()
