"""Seconds per epoch of the quickest training we know to write in PyTorch, full batch, without evaluation.

usage: torch_best.py FOLDER gcn|sage [--precision fp32|bf16] [--order PARTS] [--epochs 10] [--threads 1]
                     [--form best|reduce|mm]

FOLDER is a fringe dataset directory. What PyG's layers leave to do: the matrix and its transpose are both stored as
CSR, rows are multiplied before they are summed where that makes them shorter, the aggregate of the input is made once
and stands beside the input in one product, and the nodes lie in the order of the parts in PARTS (a folder of
`fringe partition`). A form is the operation that sums rows: torch.sparse.mm with or without `reduce`; `best` runs both
and reports the quicker. bf16: rows and products are bf16 by autocast; parameters, their step and the loss are fp32.
Prints one line of JSON.

Copyright fringe authors. SPDX-License-Identifier: Apache-2.0
"""
from options import options

opt = options(__doc__, forms=("reduce", "mm"), precision=("fp32", "bf16"), order="")

import glob  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import warnings  # noqa: E402

warnings.filterwarnings("ignore", message=".*Sparse.*")  # not ours to mend

import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

from safetensors.numpy import load_file  # noqa: E402

import training  # noqa: E402

ROW = {"fp32": torch.float32, "bf16": torch.bfloat16}[opt.precision]


def reorder(data, folder):
    """The rows of part 0 come first, then those of part 1; each part's as it has them."""
    names = glob.glob(os.path.join(folder, "part-*.safetensors"))
    names.sort(key=lambda name: int(os.path.basename(name).split("-")[1]))
    ids = np.concatenate([load_file(name)["gid"] for name in names])
    row = np.empty_like(ids)
    row[ids] = np.arange(len(ids), dtype=ids.dtype)
    data.source, data.target = row[data.source], row[data.target]
    data.x, data.y = data.x[torch.from_numpy(ids)], data.y[torch.from_numpy(ids)]
    data.fit = torch.from_numpy(np.sort(row[data.fit.numpy()]).astype(np.int64))


def adjacency(data, model):
    """[target, source]: GCN's weights, or those of the mean over in-neighbours."""
    ones = np.ones(len(data.source), np.float32)
    a = sp.csr_matrix((ones, (data.target, data.source)), shape=(data.nodes, data.nodes))
    d_in, d_out = (np.maximum(np.asarray(a.sum(axis)).ravel(), 1) for axis in (1, 0))
    left, right = (d_in**-0.5, d_out**-0.5) if model == "gcn" else (1 / d_in, np.ones_like(d_out))
    return sp.csr_matrix(sp.diags(left) @ a @ sp.diags(right), dtype=np.float32)


def as_torch(a):
    a.sort_indices()
    parts = (torch.from_numpy(a.indptr.astype(np.int64)), torch.from_numpy(a.indices.astype(np.int64)))
    return torch.sparse_csr_tensor(*parts, torch.from_numpy(a.data).to(ROW), a.shape)


def summed(a, h):
    return torch.sparse.mm(a, h, "sum") if opt.form == "reduce" else torch.sparse.mm(a, h)


class Aggregate(torch.autograd.Function):
    """a @ h; the gradient of h multiplies the transpose that is there."""

    @staticmethod
    def forward(ctx, h, a, transposed):
        ctx.transposed = transposed
        return summed(a, h.to(ROW))

    @staticmethod
    def backward(ctx, g):
        return summed(ctx.transposed, g.contiguous().to(ROW)), None, None


class Conv(torch.nn.Module):
    """GCN: a h W + b; SAGE: a h W + h V + b."""

    def __init__(self, inputs, outputs, own):
        super().__init__()
        self.neighbours = torch.nn.Linear(inputs, outputs)
        self.own = torch.nn.Linear(inputs, outputs, bias=False) if own else None

    def forward_input(self, both):
        """both [n, F or 2 F]: the aggregate of the input, of SAGE the input beside it."""
        parts = [part.weight for part in (self.neighbours, self.own) if part is not None]
        return F.linear(both, torch.cat(parts, 1), self.neighbours.bias)

    def forward(self, h, aggregate):
        if self.neighbours.out_features < self.neighbours.in_features:
            z = aggregate(F.linear(h, self.neighbours.weight)) + self.neighbours.bias.to(ROW)
        else:
            z = self.neighbours(aggregate(h))
        return z if self.own is None else z + self.own(h)


def main():
    torch.set_num_threads(opt.threads)
    data = training.load(opt.folder, opt.model)
    if opt.order:
        reorder(data, opt.order)
    a = adjacency(data, opt.model)
    graph = (as_torch(a), as_torch(a.T.tocsr()))
    del data.source, data.target
    rows = data.x.to(ROW)
    once = torch.cat([summed(graph[0], rows), *([rows] if opt.model == "sage" else [])], 1)
    del rows

    def apply(conv, h):
        if h is data.x:
            return conv.forward_input(once)
        return conv(h, lambda rows: Aggregate.apply(rows, *graph))

    report = training.run("torch", opt, data, lambda i, o: Conv(i, o, opt.model == "sage"), apply, {},
                          lambda: torch.autocast("cpu", torch.bfloat16, enabled=opt.precision == "bf16"))
    print(json.dumps({**report, "precision": opt.precision}))


if __name__ == "__main__":
    main()
