"""What the peers share: the graph as arrays, the stack of layers, the timed loop, the report.

Nothing here is a peer's own work: each script brings its convolution and its form of the adjacency.

Copyright fringe authors. SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import platform
import resource
import statistics
import time
from types import SimpleNamespace

import numpy as np
import torch
import torch.nn.functional as F

import dataset_dir


def load(folder, model):
    """Edge ends (numpy, a message goes source -> target), features, labels, training nodes.

    For GCN every node has exactly one self-loop; for SAGE the edges are as stored.
    """
    d = dataset_dir.read(folder)
    if d.features is None or d.edge_weight is not None:
        raise SystemExit(f"{folder}: the benches want features and no edge weights")
    source, target = d.sources(), d.edge_target
    if model == "gcn":
        other, every = source != target, np.arange(d.nodes, dtype=np.int32)
        source = np.concatenate([source[other], every])
        target = np.concatenate([target[other], every])
    return SimpleNamespace(
        name=d.name, nodes=d.nodes, edges=d.edges, classes=d.classes, source=source, target=target,
        x=torch.from_numpy(d.features),
        y=torch.from_numpy(d.labels.astype(np.float32 if d.multilabel else np.int64)),
        fit=torch.from_numpy(np.flatnonzero(d.split == dataset_dir.TRAIN)))


class Stack(torch.nn.Module):
    """conv -> dropout -> LayerNorm -> ReLU; the last layer is the conv alone."""

    def __init__(self, make_conv, data, opt):
        """make_conv(inputs, outputs) makes one of the peer's layers."""
        super().__init__()
        sizes = [data.x.shape[1], *[opt.hidden] * (opt.layers - 1), data.classes]
        self.convs = torch.nn.ModuleList(make_conv(i, o) for i, o in zip(sizes, sizes[1:]))
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(o) for o in sizes[1:-1])
        self.dropout = opt.dropout
        for p in self.convs.parameters():
            if p.ndim == 2:
                torch.nn.init.xavier_uniform_(p)
            else:
                torch.nn.init.zeros_(p)

    def forward(self, apply, h):
        """apply(conv, h) calls one of the peer's layers on its form of the graph."""
        for conv, norm in zip(self.convs, self.norms):
            h = F.relu(norm(F.dropout(apply(conv, h), self.dropout, self.training)))
        return apply(self.convs[-1], h)


def loss_of(z, y):
    """Softmax cross-entropy; with many labels BCE summed over the classes, per node."""
    if y.ndim == 1:
        return F.cross_entropy(z, y)
    return F.binary_cross_entropy_with_logits(z, y, reduction="sum") / len(z)


def train(stack, apply, data, opt, autocast):
    """Seconds and loss of every epoch after the warm-up; an epoch has no evaluation."""
    adam = torch.optim.Adam(stack.parameters(), lr=opt.lr)
    seconds, losses = [], []
    stack.train()
    for _ in range(opt.warmup + opt.epochs):
        began = time.perf_counter()
        adam.zero_grad()
        with autocast():
            z = stack(apply, data.x)[data.fit]
        loss = loss_of(z.float(), data.y[data.fit])
        loss.backward()
        adam.step()
        losses.append(loss.item())
        seconds.append(time.perf_counter() - began)
    return seconds[opt.warmup :], losses


def run(system, opt, data, make_conv, apply, versions, autocast=contextlib.nullcontext):
    """Trains one model and returns its report; the losses are those of all epochs. autocast(): around the model."""
    torch.set_num_threads(opt.threads)
    torch.manual_seed(opt.seed)
    seconds, losses = train(Stack(make_conv, data, opt), apply, data, opt, autocast)
    digits = lambda values: [round(v, 4) for v in values]  # noqa: E731
    return {
        "system": system, "model": opt.model, "form": opt.form, "graph": data.name, "nodes": data.nodes,
        "edges": data.edges, "threads": opt.threads,
        "epoch_seconds": {"min": round(min(seconds), 4), "median": round(statistics.median(seconds), 4),
                          "all": digits(seconds)},
        "loss": digits([*losses[:3], losses[-1]]),
        "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "versions": {"python": platform.python_version(), "torch": torch.__version__, **versions},
    }
