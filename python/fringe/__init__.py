"""Datasets for fringe, and runs of fringe, from Python. Needs numpy only; to_pyg needs PyG.

    write_dataset(folder, edges, features, labels, masks)    a graph of your own, as fringe reads it
    write_hypergraph(folder, hyperedge_index, x, y, masks)   a hypergraph
    read_dataset(folder)                                     such a folder, back as arrays
    write_events(path, events, binary=False)                 a stream of events, for fringe stream
    run = read_run("runs/mine")                              config, epochs as arrays, result
    weights(run), predictions(run), embeddings(run, layer)   what it learned, as arrays
    to_pyg(run)                                              a torch module of PyG's layers with its weights
    from_pyg(model, "start.safetensors")                     weights that model.weights names in a config
    convert("graph.graphml", "graph.npz")                    files of other programs, through their own loaders;
                                                             also: python3 -m fringe convert PATH OUT

docs/python.md has a worked example.

SPDX-License-Identifier: Apache-2.0
"""
from .conversion import convert
from .datasets import SPLITS, Dataset, read_dataset, write_dataset, write_hypergraph
from .pyg import from_pyg, to_pyg
from .runs import Predictions, Run, embeddings, predictions, read_run, weights
from .streams import write_events
from .tensors import read_tensors, write_tensors

__all__ = ["SPLITS", "Dataset", "Predictions", "Run", "convert", "embeddings", "from_pyg", "predictions", "read_dataset",
           "read_run", "read_tensors", "to_pyg", "weights", "write_dataset", "write_events", "write_hypergraph",
           "write_tensors"]
