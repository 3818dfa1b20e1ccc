"""Seconds per epoch of PyTorch Geometric on one machine, full batch, without evaluation.

usage: pyg.py FOLDER gcn|sage [--epochs 10] [--threads 1] [--form best|sparse_tensor|sparse_csr|edge_index]

FOLDER is a fringe dataset directory. The adjacency is given to PyG's own GCNConv and SAGEConv (mean)
as a torch_sparse SparseTensor, a torch CSR tensor, or an edge list; `best` runs the first two
and reports the quicker (an edge list writes out every message and is several times slower).
GCN's weights 1 / sqrt(d_in d_out) are computed once, before the clock starts.
Prints one line of JSON.

Copyright fringe authors. SPDX-License-Identifier: Apache-2.0
"""
from options import options

opt = options(__doc__, forms=("sparse_tensor", "sparse_csr"), others=("edge_index",))

import json  # noqa: E402
import warnings  # noqa: E402

warnings.filterwarnings("ignore", message=".*(torch.jit.script|Sparse).*")  # not ours to mend

import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402
import torch  # noqa: E402
import torch_geometric  # noqa: E402
from torch_geometric.nn import GCNConv, SAGEConv  # noqa: E402

import training  # noqa: E402


def adjacency(data, model):
    """The matrix [target, source] that multiplies the rows: GCN's weights, or ones."""
    ones = np.ones(len(data.source), np.float32)
    a = sp.csr_matrix((ones, (data.target, data.source)), shape=(data.nodes, data.nodes))
    if model == "gcn":
        d_in, d_out = (np.asarray(a.sum(axis)).ravel() for axis in (1, 0))
        a = sp.csr_matrix(sp.diags(d_in**-0.5) @ a @ sp.diags(d_out**-0.5), dtype=np.float32)
    a.sort_indices()
    return a


def sparse_tensor(a, weighted):
    from torch_sparse import SparseTensor

    rowptr, col = (torch.from_numpy(part.astype(np.int64)) for part in (a.indptr, a.indices))
    return SparseTensor(rowptr=rowptr, col=col, value=torch.from_numpy(a.data) if weighted else None,
                        sparse_sizes=a.shape).fill_cache_()


def sparse_csr(a, weighted):
    parts = (a.indptr.astype(np.int64), a.indices.astype(np.int64), a.data)
    return torch.sparse_csr_tensor(*map(torch.from_numpy, parts), a.shape)


def edge_index(a, weighted):
    a = a.tocoo()
    ends = torch.from_numpy(np.stack([a.col, a.row]).astype(np.int64))
    return (ends, torch.from_numpy(a.data)) if weighted else (ends,)


def main():
    data = training.load(opt.folder, opt.model)
    form = {f.__name__: f for f in (sparse_tensor, sparse_csr, edge_index)}[opt.form]
    graph = form(adjacency(data, opt.model), opt.model == "gcn")
    graph = graph if isinstance(graph, tuple) else (graph,)
    del data.source, data.target

    def make_conv(inputs, outputs):
        if opt.model == "gcn":
            return GCNConv(inputs, outputs, normalize=False, add_self_loops=False)
        return SAGEConv(inputs, outputs, aggr="mean")

    versions = {"torch_geometric": torch_geometric.__version__}
    if opt.form == "sparse_tensor":
        import torch_sparse

        versions["torch_sparse"] = torch_sparse.__version__
    print(json.dumps(training.run("pyg", opt, data, make_conv, lambda conv, h: conv(h, *graph), versions)))


if __name__ == "__main__":
    main()
