"""Full-graph training of graph neural networks with fringe, from Python. Needs numpy; to_pyg needs PyG.

    run = fringe.train({"data": {"path": "cora.npz"}, "model": {"layer": "gcn"}}, ranks=4, mode="adaqp")
    run.result, run.epochs["loss"], run.predict(), run.embeddings(-1), run.to_pyg(), run.resume(epochs=500)

    train, compare, sweep                    trainings; on_epoch= is called after every epoch
    partition, plan, inspect, generate       what the commands of these names print, as dicts
    program("spectral", config)              learning programs without a network, as arrays
    predict(run, "bigger/")                  ids, classes and scores of nodes that training has not seen
    Data(edges, x, y, masks)                 arrays in the place of data.path
    Config, Model, Train, ...                sections of a config, for editors that complete and check

    write_dataset, write_hypergraph          a graph of your own as a dataset folder; read_dataset reads it back
    write_events(path, events)               a stream of events, for fringe stream
    read_run, weights, predictions, embeddings, to_pyg      of a folder that fringe train wrote
    from_pyg(model, "start.safetensors")     weights that model.weights names in a config
    convert("graph.graphml", "graph.npz")    files of other programs; also: python3 -m fringe convert PATH OUT

`python3 -m fringe` is the program itself. docs/python.md has examples.

SPDX-License-Identifier: Apache-2.0
"""
from .calls import Arrays, compare, generate, inspect, partition, plan, predict, program, sweep, train
from .config import Data
from .conversion import convert
from .datasets import SPLITS, Dataset, read_dataset, write_dataset, write_hypergraph
from .keys import (Comm, Config, DataSection, Gradients, Lossless, Model, Partition, Program, Quantization, RunSection, Stream,
                   Train)
from .process import Error
from .pyg import from_pyg, to_pyg
from .runs import Predictions, Run, embeddings, predictions, read_run, weights
from .streams import write_events
from .tables import Table
from .tensors import read_tensors, write_tensors

__all__ = ["SPLITS", "Arrays", "Comm", "Config", "Data", "DataSection", "Dataset", "Error", "Gradients", "Lossless", "Model",
           "Partition", "Predictions", "Program", "Quantization", "Run", "RunSection", "Stream", "Table", "Train", "compare",
           "convert", "embeddings", "from_pyg", "generate", "inspect", "partition", "plan", "predict", "predictions",
           "program", "read_dataset", "read_run", "read_tensors", "sweep", "to_pyg", "train", "weights", "write_dataset",
           "write_events", "write_hypergraph", "write_tensors"]
