"""Seconds per epoch of PyTorch Geometric's HypergraphConv on one machine, full batch, without evaluation.

usage: hyper_pyg.py FOLDER hgnn [--epochs 10] [--threads 1] [--form best|FORM]

FOLDER is a fringe dataset directory of a hypergraph. HypergraphConv takes the pins as an index [2, pins] only. FORM
is the order of the pins, by_node or by_hyperedge, or one of these with _compiled at its end: torch.compile compiles the
convolutions. `best` runs all four and reports the quickest.
Prints one line of JSON.

Copyright fringe authors. SPDX-License-Identifier: Apache-2.0
"""
from options import options

FORMS = ("by_node", "by_hyperedge", "by_node_compiled", "by_hyperedge_compiled")
opt = options(__doc__, forms=FORMS)

import json  # noqa: E402
import warnings  # noqa: E402

warnings.filterwarnings("ignore", message=".*torch.jit.script.*")  # not ours to mend

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch_geometric  # noqa: E402
from torch_geometric.nn import HypergraphConv  # noqa: E402

import training  # noqa: E402


def main():
    data = training.load(opt.folder, opt.model)
    order = slice(None) if opt.form.startswith("by_node") else np.argsort(data.target, kind="stable")
    pins = torch.from_numpy(np.stack([data.source[order], data.target[order]]).astype(np.int64))

    def convolution(inputs, outputs):
        conv = HypergraphConv(inputs, outputs)
        if opt.form.endswith("_compiled"):
            conv.compile()
        return conv

    report = training.run("pyg", opt, data, convolution, lambda conv, h: conv(h, pins),
                          {"torch_geometric": torch_geometric.__version__})
    print(json.dumps(report))


if __name__ == "__main__":
    main()
