"""Seconds per epoch of DGL on one machine, full batch, without evaluation.

usage: dgl.py FOLDER gcn|sage [--epochs 10] [--threads 1] [--form best|int64|int32]

FOLDER is a fringe dataset directory. The layers are DGL's own GraphConv (norm "both") and SAGEConv
(mean); the graph's ids are 64 bits wide, as DGL makes them, or 32; `best` runs both and reports the
quicker. The sparse formats DGL needs are made before the clock starts.
Prints one line of JSON.

Copyright fringe authors. SPDX-License-Identifier: Apache-2.0
"""
from options import options

opt = options(__doc__, forms=("int64", "int32"))

import json  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402

import torch  # noqa: E402

import training  # noqa: E402

os.environ["DGLBACKEND"] = "pytorch"
sys.path.pop(0)  # this folder, whose dgl.py would hide the library
import dgl  # noqa: E402
from dgl.nn import GraphConv, SAGEConv  # noqa: E402


def make_graph(data):
    """The graph with all its sparse formats; message passing goes source -> target."""
    ids = getattr(torch, opt.form)
    ends = (torch.from_numpy(data.source).to(ids), torch.from_numpy(data.target).to(ids))
    graph = dgl.graph(ends, num_nodes=data.nodes).formats(["csr", "csc"])
    graph.create_formats_()
    return graph


def make_conv(inputs, outputs):
    if opt.model == "gcn":
        return GraphConv(inputs, outputs, norm="both")
    return SAGEConv(inputs, outputs, "mean")


def main():
    data = training.load(opt.folder, opt.model)
    graph = make_graph(data)
    del data.source, data.target
    print(json.dumps(training.run("dgl", opt, data, make_conv, lambda conv, h: conv(graph, h), {"dgl": dgl.__version__})))


if __name__ == "__main__":
    main()
