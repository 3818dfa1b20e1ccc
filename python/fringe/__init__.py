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
import gzip
import importlib
import json
import operator
import os
import pickle
import re
import struct
import sys
import warnings
from dataclasses import dataclass
from typing import Optional

import numpy as np

# --- safetensors: 8 bytes with the length of a JSON header, the header, the arrays

TYPES = {"BOOL": "?", "U8": "u1", "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8", "F16": "<f2", "F32": "<f4",
         "F64": "<f8"}
NAMES = {np.dtype(short): name for name, short in TYPES.items()}


def read_tensors(path):
    """The arrays of a .safetensors file by name."""
    with open(path, "rb") as f:
        (length,) = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(length))
        data = f.read()
    arrays = {}
    for name, tensor in header.items():
        if name != "__metadata__":
            begin, end = tensor["data_offsets"]
            if tensor["dtype"] not in TYPES:
                raise ValueError(f"{path}: '{name}' is {tensor['dtype']}; only {', '.join(TYPES)} are read")
            arrays[name] = np.frombuffer(data[begin:end], TYPES[tensor["dtype"]]).reshape(tensor["shape"]).copy()
    return arrays


def write_tensors(path, arrays):
    """Writes a .safetensors file; the header is padded so that the arrays are aligned."""
    header, blocks, at = {}, [], 0
    for name, array in sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0])):
        array = np.asarray(array, order="C")
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        header[name] = {"dtype": NAMES[little.dtype], "shape": list(array.shape),
                        "data_offsets": [at, at + array.nbytes]}
        blocks.append(little.tobytes())
        at += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(blocks))


# --- datasets

SPLITS = ("train", "validation", "test")


@dataclass
class Dataset:
    """edges [2, E]: edges[0, k] -> edges[1, k]; masks: {"train", "validation", "test"} of bools [n]. Of a hypergraph
    edges is hyperedge_index [2, pins]: node edges[0, k] is in hyperedge edges[1, k]."""

    name: str
    edges: np.ndarray
    weights: Optional[np.ndarray]
    features: Optional[np.ndarray]
    labels: Optional[np.ndarray]
    masks: dict
    hyperedges: int = 0  # 0: a graph
    hyperedge_weight: Optional[np.ndarray] = None
    role: Optional[np.ndarray] = None  # [pins] 1 source, 2 target, 3 both; None: all are both


def _array(value):
    """An array of numpy, of a torch tensor too."""
    return np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)


MASK_NAMES = {"train": "train", "validation": "validation", "valid": "validation", "val": "validation", "test": "test"}


def _masks_in_order(masks):
    """The masks of a dict, whose keys may be those of PyG, such as "val_mask"."""
    named = {MASK_NAMES.get(str(key).removesuffix("_mask")): mask for key, mask in masks.items()}
    if set(named) != set(SPLITS):
        raise ValueError(f"masks: expected the keys train, validation and test, found {', '.join(map(str, masks))}")
    return [named[key] for key in SPLITS]


def _split(masks, nodes):
    """0 none, 1 training, 2 validation, 3 test, from three masks of n bools or three lists of node ids."""
    split = np.zeros(nodes, np.uint8)
    masks = _masks_in_order(masks) if isinstance(masks, dict) else masks
    if len(masks) != 3:
        raise ValueError(f"masks: expected three, [training, validation, test], found {len(masks)}")
    for number, (name, mask) in enumerate(zip(SPLITS, masks), 1):
        mask = _array(mask)
        if mask.ndim == 1 and len(mask) == nodes > 2 and np.isin(mask, (0, 1)).all():
            mask = mask.astype(bool)  # a mask of zeros and ones; as ids it would name a node twice
        if mask.dtype == bool and len(mask) != nodes:
            raise ValueError(f"masks: the one of {name} has {len(mask)} entries, but there are {nodes} nodes")
        ids = np.flatnonzero(mask) if mask.dtype == bool else mask.astype(np.int64).ravel()
        if len(ids) and not 0 <= ids.min() <= ids.max() < nodes:
            raise ValueError(f"masks: {name} has ids outside 0 to {nodes - 1}")
        if (split[ids] != 0).any():
            raise ValueError(f"masks: node {ids[split[ids] != 0][0]} is in {name} and in a mask before it")
        split[ids] = number
    return split


def _has_both_directions(source, target, nodes):
    """True if every edge between two nodes is there in the other direction, too."""
    source, target = source[source != target].astype(np.int64), target[source != target].astype(np.int64)
    return len(source) > 0 and np.isin(target * nodes + source, source * nodes + target).all()


def _are_one_hot(labels):
    return len(labels) > 0 and np.isin(labels, (0, 1)).all() and (labels.sum(1) == 1).all()


def _edges(edges, nodes, undirected, weights):
    """Source, target and weights, sorted by source, then target."""
    edges = _array(edges)
    if edges.ndim != 2 or 2 not in edges.shape:
        raise ValueError(f"edges: expected [2, E] (as PyG's edge_index) or [E, 2], found {list(edges.shape)}")
    if not (edges == edges.astype(np.int64)).all():
        raise ValueError("edges: ids must be whole numbers")
    source, target = edges.astype(np.int64) if edges.shape[0] == 2 else edges.T.astype(np.int64)
    weights = None if weights is None else np.asarray(_array(weights), np.float32).ravel()
    if weights is not None and len(weights) != len(source):
        raise ValueError(f"weights: there are {len(weights)}, but {len(source)} edges")
    if len(source) and not 0 <= min(source.min(), target.min()) <= max(source.max(), target.max()) < nodes:
        raise ValueError(f"edges: ids must lie in 0 to {nodes - 1}, for there are {nodes} nodes")
    if undirected and _has_both_directions(source, target, nodes):
        raise ValueError("undirected=True: both directions of the edges are given already; leave it out")
    if undirected:  # each edge is given once; a self-loop stays one edge
        back = source != target
        source, target = np.append(source, target[back]), np.append(target, source[back])
        weights = None if weights is None else np.append(weights, weights[back])
    order = np.lexsort((target, source))
    return source[order], target[order], None if weights is None else weights[order]


def _parts_of_data(data, features, labels, masks, weights):
    """What a Data object of PyG holds, where the caller gives nothing else."""
    features = getattr(data, "x", None) if features is None else features
    labels = getattr(data, "y", None) if labels is None else labels
    found = [getattr(data, name, None) for name in ("train_mask", "val_mask", "test_mask")]
    masks = found if masks is None and all(mask is not None for mask in found) else masks
    weights = getattr(data, "edge_weight", None) if weights is None else weights
    return getattr(data, "edge_index", None), features, labels, masks, weights


def write_dataset(folder, edges, features=None, labels=None, masks=None, *, weights=None, nodes=None, undirected=False,
                  name=None):
    """Writes a folder that fringe reads (data.path); arrays of numpy or torch.

    edges     [2, E] as PyG's edge_index: node edges[1, k] aggregates row edges[0, k]; or a Data object of PyG, which
              may hold features, labels and masks as well
    features  [n, F] numbers
    labels    [n] classes from 0, -1 for none; or [n, K] zeros and ones: several labels per node
    masks     training, validation, test: three masks of n bools or lists of node ids, or a dict of them with the keys
              "train", "validation", "test" or PyG's names; without them fringe can predict but not train
    weights   [E] of the edges
    undirected: each edge is given once and stands for both directions
    """
    if hasattr(edges, "edge_index"):
        edges, features, labels, masks, weights = _parts_of_data(edges, features, labels, masks, weights)
    for given in (nodes, features, labels):
        if given is not None:
            nodes = int(given) if np.ndim(given) == 0 else len(given)
            break
    if nodes is None:
        raise ValueError("how many nodes are there? Give features, labels or nodes=")
    source, target, weights = _edges(edges, nodes, undirected, weights)
    arrays = {"edge_offset": np.searchsorted(source, np.arange(nodes + 1)).astype(np.int64),
              "edge_target": target.astype(np.int32)}
    if weights is not None:
        arrays["edge_weight"] = weights
    _write_folder(folder, name, nodes, arrays, features, labels, masks, {})


def _label_array(labels):
    labels = _array(labels)
    labels = labels.ravel() if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if not (labels == labels.astype(np.int32)).all():
        raise ValueError("labels: expected whole numbers; -1 means that a node has none")
    if labels.ndim == 2 and _are_one_hot(labels):
        warnings.warn("labels: [n, K] means several labels per node, but every node has one; give classes, "
                      "labels.argmax(1)", stacklevel=4)
    return labels


def _write_folder(folder, name, nodes, arrays, features, labels, masks, more):
    """The folder, from the arrays of its edges or pins and what belongs to nodes; more: further keys of the manifest."""
    manifest = {"format": "fringe-dataset", "version": 1, "name": name or os.path.basename(os.path.abspath(folder)),
                "nodes": nodes, "edges": len(arrays["edge_target"]), "features": 0, "classes": 0, "multilabel": False,
                **more}
    if features is not None:
        arrays["features"] = np.asarray(_array(features), np.float32)
        manifest["features"] = arrays["features"].shape[1]
    if labels is not None:
        labels = _label_array(labels)
        manifest["multilabel"] = labels.ndim == 2
        manifest["classes"] = labels.shape[1] if labels.ndim == 2 else int(labels.max()) + 1
        arrays["labels"] = labels.astype(np.uint8 if labels.ndim == 2 else np.int32)
    if masks is not None:
        arrays["split"] = _split(masks, nodes)
    else:
        warnings.warn("no masks: fringe cannot train on this dataset, only predict", stacklevel=3)
    for key in ("features", "labels"):
        if key in arrays and len(arrays[key]) != nodes:
            raise ValueError(f"{key}: there are {len(arrays[key])} rows, but {nodes} nodes")
    os.makedirs(folder, exist_ok=True)
    write_tensors(os.path.join(folder, "dataset.safetensors"), arrays)
    with open(os.path.join(folder, "dataset.json"), "w", encoding="utf-8") as f:
        json.dump(manifest, f, indent=2)
        f.write("\n")


def _pins(index, nodes, hyperedges):
    """Node and hyperedge of every pin."""
    index = _array(index)
    if index.ndim != 2 or index.shape[0] != 2:
        raise ValueError(f"hyperedge_index: expected [2, pins] as PyG's, found {list(index.shape)}")
    if not (index == index.astype(np.int64)).all():
        raise ValueError("hyperedge_index: ids must be whole numbers")
    node, hyperedge = index.astype(np.int64)
    for pins, count, what in ((node, nodes, "nodes"), (hyperedge, hyperedges, "hyperedges")):
        if len(pins) and not 0 <= pins.min() <= pins.max() < count:
            raise ValueError(f"hyperedge_index: ids of {what} must lie in 0 to {count - 1}, for there are {count}")
    return node, hyperedge


def write_hypergraph(folder, hyperedge_index, x=None, y=None, masks=None, hyperedge_weight=None, role=None, *, nodes=None,
                     name=None):
    """Writes a hypergraph as a folder that fringe reads (data.path); arrays of numpy or torch.

    hyperedge_index   [2, pins] as PyG's: node hyperedge_index[0, k] is in hyperedge hyperedge_index[1, k]; or a Data
                      object of PyG, which may hold x, y, masks and hyperedge_weight as well
    x, y, masks       features, labels and splits of the nodes, as in write_dataset
    hyperedge_weight  [hyperedges] numbers of at least 0
    role              [pins] of a directed hypergraph: 1 the hyperedge reads the node (source), 2 the node reads the
                      hyperedge (target), 3 both
    """
    if hasattr(hyperedge_index, "hyperedge_index"):
        data = hyperedge_index
        hyperedge_weight = getattr(data, "hyperedge_weight", None) if hyperedge_weight is None else hyperedge_weight
        _, x, y, masks, _ = _parts_of_data(data, x, y, masks, None)
        hyperedge_index = data.hyperedge_index
    nodes = next((int(given) if np.ndim(given) == 0 else len(given) for given in (nodes, x, y) if given is not None), None)
    if nodes is None:
        raise ValueError("how many nodes are there? Give x, y or nodes=")
    weight = None if hyperedge_weight is None else np.asarray(_array(hyperedge_weight), np.float32).ravel()
    last = _array(hyperedge_index)[1] if np.ndim(hyperedge_index) == 2 and len(hyperedge_index) == 2 else []
    hyperedges = len(weight) if weight is not None else int(max(last, default=-1)) + 1
    node, hyperedge = _pins(hyperedge_index, nodes, hyperedges)
    if hyperedges == 0:
        raise ValueError("hyperedge_index: there is no pin, and no hyperedge_weight says how many hyperedges there are")
    role = None if role is None else _array(role).ravel()
    if role is not None and (len(role) != len(node) or not np.isin(role, (1, 2, 3)).all()):
        raise ValueError(f"role: expected {len(node)} numbers 1 (source), 2 (target) or 3 (both), one for each pin")
    if weight is not None and not (np.isfinite(weight) & (weight >= 0)).all():
        raise ValueError("hyperedge_weight: expected numbers of at least 0")
    order = np.lexsort((hyperedge, node))
    arrays = {"edge_offset": np.searchsorted(node[order], np.arange(nodes + 1)).astype(np.int64),
              "edge_target": hyperedge[order].astype(np.int32)}
    if role is not None:
        arrays["pin_role"] = role[order].astype(np.uint8)
    if weight is not None:
        arrays["hyperedge_weight"] = weight
    _write_folder(folder, name, nodes, arrays, x, y, masks, {"hyperedges": hyperedges})


def read_dataset(folder):
    """A dataset folder, of write_dataset, write_hypergraph or `fringe generate`."""
    with open(os.path.join(folder, "dataset.json"), encoding="utf-8") as f:
        manifest = json.load(f)
    arrays = read_tensors(os.path.join(folder, "dataset.safetensors"))
    offset = arrays["edge_offset"]
    source = np.repeat(np.arange(len(offset) - 1), np.diff(offset))
    split = arrays.get("split", np.zeros(len(offset) - 1, np.uint8))
    return Dataset(manifest["name"], np.stack([source, arrays["edge_target"].astype(np.int64)]),
                   arrays.get("edge_weight"), arrays.get("features"), arrays.get("labels"),
                   {key: split == number for number, key in enumerate(SPLITS, 1)}, manifest.get("hyperedges", 0),
                   arrays.get("hyperedge_weight"), arrays.get("pin_role"))


# --- streams

KINDS = {"+h": 1, "+v": 2, "+p": 3, "-p": 4, "-h": 5, "-v": 6, "=": 7}  # the numbers of the binary form
FORMS = {"+h": '("+h", H, [V, ...]) or ("+h", H, [V, ...], weight)', "+v": '("+v", V) or ("+v", V, [H, ...])',
         "+p": '("+p", H, V)', "-p": '("-p", H, V)', "-h": '("-h", H)', "-v": '("-v", V)', "=": '("=", NAME)'}
LONGEST_EVENT = 1 << 26  # bytes


def _id(value):
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{value!r} is not an id (a whole number)") from None
    if not 0 <= number < 1 << 64:
        raise ValueError(f"{number} is not an id (0 to 18446744073709551615)")
    return number


def _weight(value):
    with np.errstate(over="ignore"):
        weight = np.float32(value)
    if not (np.isfinite(weight) and weight >= 0):
        raise ValueError(f"the weight {value} is not a number from 0 to 3.4e38")
    return weight


def _event(event):
    """The kind of an event, its ids, and its weight or None; of a snapshot the name stands for the ids."""
    kind, *rest = event
    least, most = {"+h": (2, 3), "+v": (1, 2), "+p": (2, 2), "-p": (2, 2)}.get(kind, (1, 1))
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is none of the kinds {', '.join(KINDS)}")
    if not least <= len(rest) <= most:
        raise ValueError(f"the form is {FORMS[kind]}")
    if kind == "=":
        if not re.fullmatch(r"(?!\.)[A-Za-z0-9._-]{1,64}", str(rest[0])):
            raise ValueError(f"{rest[0]!r} cannot name a snapshot; a name has 1 to 64 of A-Z a-z 0-9 . _ - and does not "
                             "begin with a dot")
        return kind, str(rest[0]), None
    weight = _weight(rest.pop()) if len(rest) == 3 else None
    others = rest[1:] if kind[1] == "p" else [] if len(rest) == 1 else rest[1]
    ids = [_id(rest[0]), *map(_id, others)]
    if kind == "+h" and len(ids) == 1 and weight is None:
        raise ValueError("'+h' with neither pins nor a weight")
    return kind, ids, weight


def _line(kind, ids, weight):
    words = [ids] if kind == "=" else [str(id) for id in ids]
    return (" ".join([kind, *words[:1], *([] if weight is None else ["w=" + str(weight)]), *words[1:]]) + "\n").encode()


def _record(kind, ids, weight):
    """u8 kind, u8 1 if a weight follows, u16 0, u32 count, u64 first id, f32 weight, count u64 ids; little-endian."""
    if kind == "=":
        name = ids.encode() + b"\0" * (-len(ids) % 8)
        return struct.pack("<BBHIQ", 7, 0, 0, len(name) // 8, len(ids)) + name
    head = struct.pack("<BBHIQ", KINDS[kind], weight is not None, 0, len(ids) - 1, ids[0])
    return head + (b"" if weight is None else struct.pack("<f", weight)) + struct.pack(f"<{len(ids) - 1}Q", *ids[1:])


def write_events(path, events, binary=False):
    """Writes a stream that `fringe stream` follows and `fringe train` reads, as text or as its binary twin; path may be a
    FIFO. Ids are whole numbers from 0 to 2^64 - 1, of nodes and of hyperedges apart. events: any number of

    ("+h", H, [V, ...])     hyperedge with pins; a fourth entry is its weight   ("+v", V, [H, ...])  node with hyperedges
    ("+p", H, V)            one pin                                             ("-p", H, V)         one pin less
    ("-h", H)               hyperedge gone, its pins too                        ("-v", V)            node gone
    ("=", NAME)             write a snapshot
    """
    with open(path, "wb") as f:
        f.write(b"FRNGSTRM" + struct.pack("<I", 1) if binary else b"fringe-stream 1\n")
        for number, event in enumerate(events):
            try:
                record = (_record if binary else _line)(*_event(event))
                if len(record) > LONGEST_EVENT:
                    raise ValueError("more than 64 MiB; a large hyperedge can be sent in several +h events")
            except ValueError as error:
                raise ValueError(f"events[{number}]: {error}") from None
            f.write(record)


# --- runs


@dataclass
class Run:
    """config: sections of keys, run.config["train"]["lr"]; epochs: an array per figure, run.epochs["loss"],
    ["validation.accuracy"] (NaN where it was not evaluated), ["time.epoch"]; result: of the last and the best epoch."""

    folder: str
    config: dict
    epochs: dict
    result: dict
    record: dict  # all of run.json


def _flat(value, path=""):
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from _flat(inner, f"{path}{key}.")
        elif isinstance(inner, (int, float)):  # also true and false
            yield path + key, inner


def read_run(folder):
    """The run in `folder` (run.dir); one that is still training too."""
    path = os.path.join(folder, "run.json")
    if not os.path.exists(path):
        inside = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        runs = [name for name in inside if os.path.exists(os.path.join(folder, name, "run.json"))]
        hint = f"; it holds the runs {', '.join(runs)}" if runs else ""
        raise FileNotFoundError(f"{path} does not exist: {folder} is not the folder of one run (run.dir){hint}")
    with open(path, encoding="utf-8") as f:
        record = json.load(f)
    lines = []
    path = os.path.join(folder, "metrics.jsonl")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:  # the last line of a run that trains may be unfinished
            lines = [dict(_flat(json.loads(line))) for line in f if line.endswith("}\n")]
    keys = dict.fromkeys(key for line in lines for key in line)
    epochs = {key: np.array([line.get(key, np.nan) for line in lines], float) for key in keys}
    epochs["epoch"] = np.array([line["epoch"] for line in lines], int)
    return Run(folder, record["config"], epochs, record.get("result", {}), record)


def weights(run, best=False):
    """Arrays by PyG's names ("convs.0.lin.weight" [out, in]): of the newest checkpoint, or of the best epoch."""
    folder = os.path.join(run.folder, "checkpoints")
    with open(os.path.join(folder, "LATEST"), encoding="utf-8") as f:
        folder = os.path.join(folder, f.read().strip())
    arrays = read_tensors(os.path.join(folder, "best.safetensors" if best else "model.safetensors"))
    arrays.pop("normalisation", None)  # of hypergraphs: the name of the operator, no weight
    return arrays


def _predicted(run, name, option):
    path = os.path.join(run.folder, "predictions", name)
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path} does not exist; make it with: fringe predict {run.folder}{option}")
    return np.load(path)


@dataclass
class Predictions:
    classes: np.ndarray  # int64 [n, 1], or [n, K] zeros and ones
    scores: np.ndarray  # float32 [n, K], before softmax or sigmoid


def predictions(run):
    """What `fringe predict RUN` wrote, for all nodes in the order of the dataset."""
    return Predictions(_predicted(run, "classes.npy", ""), _predicted(run, "scores.npy", ""))


def embeddings(run, layer):
    """The input rows of layer `layer`, float32 [n, width], which `fringe predict RUN --layer L` wrote."""
    return _predicted(run, f"embeddings-{layer}.npy", f" --layer {layer}")


# --- PyG


def _with_loops(edge_index, nodes, torch):
    return torch.cat([edge_index, torch.arange(nodes, device=edge_index.device).repeat(2, 1)], 1)


def _scaled_edges(kind, edge_index, edge_weight, nodes, torch):
    """fringe's own scaling of gcn (in- and out-degree) and sage-gcn (mean with the node itself)."""
    ones = torch.ones(nodes, device=edge_index.device)
    weight = torch.ones(edge_index.shape[1], device=edge_index.device) if edge_weight is None else edge_weight
    into, out = ones.index_add(0, edge_index[1], weight), ones.index_add(0, edge_index[0], weight)
    edge_index, weight = _with_loops(edge_index, nodes, torch), torch.cat([weight, ones])
    if kind == "sage-gcn":
        return edge_index, weight / into[edge_index[1]]
    return edge_index, weight / (into[edge_index[1]] * out[edge_index[0]]).sqrt()


def _convolution(model, inputs, outputs):
    """The layer of PyG that computes what the run's layer computes."""
    from torch.nn import Linear, ReLU, Sequential
    from torch_geometric.nn import GCNConv, GINConv, HypergraphConv, SAGEConv, SGConv

    kind, bias = model["layer"], model["bias"]
    if kind == "hgnn":
        return HypergraphConv(inputs, outputs, bias=bias)
    if kind in ("gcn", "sage-gcn"):
        return GCNConv(inputs, outputs, bias=bias, normalize=kind == "gcn" and model["gcn_norm"] == "in")
    if kind == "sage-mean":
        return SAGEConv(inputs, outputs, bias=bias)
    if kind == "gin":
        net = Sequential(Linear(inputs, outputs, bias), ReLU(), Linear(outputs, outputs, bias))
        return GINConv(net, train_eps=model["gin_learn_epsilon"])
    return SGConv(inputs, outputs, K=model["layers"], bias=bias)


def _check_layer(model):
    """PyG must have the layer."""
    kind = model["layer"]
    if kind not in ("gcn", "sage-gcn", "sage-mean", "gin", "sgc", "mlp", "appnp", "gcn2", "hgnn"):
        raise ValueError(f"model.layer={kind}: PyG has no layer that computes this")
    if model.get("mix"):
        raise ValueError("model.mix: PyG has no layer that adds aggregates with factors of their own")
    if kind == "hgnn" and model["norm_hyper"] != "row":
        raise ValueError(f"model.norm_hyper={model['norm_hyper']}: PyG's HypergraphConv computes D_v^-1 H D_e^-1 H^T X, "
                         "which is model.norm_hyper=row; train with that")


def _check_hypergraph(data):
    if data.get("hyperedges") and not data["symmetric"]:
        raise ValueError("the run trained on a directed hypergraph: PyG's HypergraphConv knows no roles of pins")
    if data.get("hyperedge_weights"):
        raise ValueError("the run trained on hyperedges with weights: PyG's HypergraphConv divides by the weights but does "
                         "not multiply by them; fringe's hgnn does both")


def _width_of(array, name):
    """The first of the layers' matrices whose names match, as (inputs, outputs) of each, in order."""
    found = []
    while name.format(len(found)) in array:
        found.append(array[name.format(len(found))].shape[::-1])
    return found


def _layers(settings, array):
    """The modules with weights, by the names that files have."""
    import torch
    from torch_geometric.nn import GCN2Conv

    kind, bias = settings["layer"], settings["bias"]
    modules = {}
    for name in ("lins.{}.weight", "convs.{}.weight1", "convs.{}.lin.weight", "convs.{}.lin_l.weight",
                 "convs.{}.nn.0.weight"):
        shapes, place = _width_of(array, name), name.partition(".")[0]
        if not shapes:
            continue
        modules[place] = torch.nn.ModuleList(
            torch.nn.Linear(i, o, bias) if place == "lins"
            else GCN2Conv(o, settings["alpha"], settings["theta"], layer + 1) if kind == "gcn2"
            else _convolution(settings, i, o) for layer, (i, o) in enumerate(shapes))
    for name in ("lin", *(f"lin{l + 1}" for l in range(settings["layers"]))):
        if f"{name}.weight" in array:
            modules[name] = torch.nn.Linear(*array[f"{name}.weight"].shape[::-1], bias)
    return modules


def _norms(settings, array):
    import torch
    from torch_geometric.nn import BatchNorm

    batch = settings["norm"] == "batch"
    name = "norms.{}.module.weight" if batch else "norms.{}.weight"
    return torch.nn.ModuleList((BatchNorm if batch else torch.nn.LayerNorm)(shape[0]) for shape in _width_of(array, name))


def to_pyg(run, best=False):
    """A torch module of PyG's layers with the run's weights, in evaluation mode: model(x, edge_index, edge_weight=None)
    gives the scores of fringe predict. x and edges must be those that the run trained on, after data.transforms; of hgnn
    with model.norm_hyper=row edge_index is hyperedge_index, and all hyperedges weigh 1, for PyG's HypergraphConv computes
    D_v^-1 H D_e^-1 H^T X with weights in D_v alone. model.layers_of(...) gives a list: the rows behind each layer, the
    scores last."""
    import torch
    from torch.nn import functional

    settings, kind = run.config["model"], run.config["model"]["layer"]
    _check_layer(settings)
    _check_hypergraph(run.record["data"])
    array = weights(run, best)
    own_scaling = kind == "sage-gcn" or (kind == "gcn" and settings["gcn_norm"] == "both")
    skip, jk = settings.get("skip", "none"), settings.get("jk", "none")
    activations = {"relu": functional.relu, "elu": functional.elu, "gelu": functional.gelu, "none": lambda x: x,
                   "leaky-relu": lambda x: functional.leaky_relu(x, settings["slope"])}

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for name, module in _layers(settings, array).items():
                setattr(self, name, module)
            self.norms = _norms(settings, array)
            if kind == "appnp":
                from torch_geometric.nn import APPNP

                self.prop1 = APPNP(settings["steps"], settings["alpha"])

        def drop(self, x, probability):
            return functional.dropout(x, probability, self.training)

        def post(self, x, layer, dropout=True):
            for step in settings["post"]:
                if step == "norm" and len(self.norms):
                    x = self.norms[layer](x)
                elif step == "activation":
                    x = activations[settings["activation"]](x)
                elif step == "dropout" and dropout:
                    x = self.drop(x, settings["dropout"])
            return x

        def perceptron(self, x):
            lins = self.lins if kind == "mlp" else [getattr(self, f"lin{l + 1}") for l in range(settings["layers"])]
            found, hidden = [], len(lins) - (jk == "none")
            for layer, lin in enumerate(lins):
                below, x = x, lin(x)
                if layer < hidden:
                    x = self.post(x, layer)
                    x = x + below if skip == "residual" and x.shape == below.shape else x
                found.append(x)
            return found

        def returning(self, x, edge_index, weight):
            first = self.post(self.lins[0](x), 0, dropout=False)
            found = [self.drop(first, settings["dropout"] if "dropout" in settings["post"] else 0)]
            for layer, conv in enumerate(self.convs):
                x = self.post(conv(found[-1], first, edge_index, *weight), layer + 1)
                found.append(x + found[-1] if skip == "residual" else x)
            return [*found, self.lins[1](found[-1])]

        def convolutions(self, x, edge_index, weight):
            found, hidden = [], len(self.convs) - (jk == "none")
            for layer, conv in enumerate(self.convs):
                below, x = x, conv(x, edge_index, *weight)
                if layer < hidden:
                    x = self.post(x, layer)
                    x = x + below if skip == "residual" and x.shape == below.shape else x
                found.append(x)
            return found

        def layers_of(self, x, edge_index, edge_weight=None):
            if edge_weight is not None and kind in ("sage-mean", "gin"):
                raise ValueError(f"PyG's layer for {kind} knows no edge weights")
            if edge_weight is not None and kind == "hgnn":
                raise ValueError("PyG's HypergraphConv divides by the weights of hyperedges but does not multiply by them; "
                                 "fringe's hgnn does both, so only hyperedges without weights give the same scores")
            if own_scaling:
                edge_index, edge_weight = _scaled_edges(kind, edge_index, edge_weight, len(x), torch)
            elif kind == "sage-mean" and settings["self_loops"]:
                edge_index = _with_loops(edge_index, len(x), torch)
            weight = () if edge_weight is None else (edge_weight,)
            x = self.drop(x, settings["input_dropout"])
            if kind == "gcn2":
                return self.returning(x, edge_index, weight)
            found = self.perceptron(x) if kind in ("mlp", "appnp") else self.convolutions(x, edge_index, weight)
            if kind == "appnp":
                found.append(self.prop1(found[-1], edge_index, *weight))
            if jk != "none":
                levels = torch.stack(found).max(0).values if jk == "max" else torch.cat(found, 1)
                found.append(self.lin(levels))
            return found

        def forward(self, x, edge_index, edge_weight=None):
            return self.layers_of(x, edge_index, edge_weight)[-1]

    model = Network()
    model.load_state_dict({name: torch.from_numpy(value) for name, value in array.items()}, strict=True)
    return model.eval()


KNOWN = re.compile(r"convs\.\d+\.(lin\.weight|lin\.bias|bias|lin_[lr]\.weight|lin_l\.bias|nn\.[02]\.(weight|bias)|eps|weight1)"
                   r"|(lins\.\d+|lin\d*)\.(weight|bias)|norms\.\d+\.(weight|bias)"
                   r"|norms\.\d+\.module\.(weight|bias|running_mean|running_var|num_batches_tracked)")


def from_pyg(model, path):
    """Writes the weights of a torch model of PyG's layers as a file for model.weights. The layers are named
    convs.0, convs.1, ... (PyG's own models GCN, GraphSAGE, GIN; to_pyg) or conv1, conv2, ..., norms alike; those without
    edges lins.0, lins.1, ... (PyG's MLP), lin1, lin2, ... before APPNP, and lin behind JumpingKnowledge."""
    state = model.state_dict() if hasattr(model, "state_dict") else model
    arrays = {}
    for name, value in state.items():
        new = re.sub(r"^(conv|norm)(\d+)\.", lambda m: f"{m[1]}s.{int(m[2]) - 1}.", name)
        new = re.sub(r"\.nn\.lins\.(\d)\.", lambda m: f".nn.{2 * int(m[1])}.", new)  # PyG's MLP in its GIN
        if ".module." not in new and re.sub(r"\.\w+$", ".running_mean", name) in state:  # torch's BatchNorm1d, which PyG's wraps
            new = re.sub(r"^(norms\.\d+)\.", r"\1.module.", new)
        if not KNOWN.fullmatch(new):
            raise ValueError(f"'{name}' is no weight of a layer that fringe has (convs.N of GCNConv, SAGEConv, "
                             "GINConv, SGConv, GCN2Conv or HypergraphConv, lins.N, linN, norms.N of LayerNorm or BatchNorm)")
        if new.endswith("num_batches_tracked"):
            arrays[new] = np.asarray(_array(value), np.int64)
        else:
            arrays[new] = np.asarray(_array(value), np.float32).reshape(_array(value).shape or (1,))
    write_tensors(path, arrays)


# --- files of other programs

def _need(module, what):
    """The module of those who made a format."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = {"torch_geometric": "torch-geometric", "sklearn": "scikit-learn"}.get(module.split(".")[0],
                                                                                        module.split(".")[0])
        raise SystemExit(f"{what} is read with {package}, which is not installed: pip install {package}") from None


def _say(text):
    print(text, file=sys.stderr)


def _numpy(value):
    """Arrays of torch and scipy, sparse ones too; None if it is none of these."""
    if hasattr(value, "toarray"):
        return np.asarray(value.toarray())
    if getattr(value, "layout", None) is not None and hasattr(value, "to_dense"):
        value = value.to_dense()
    return _array(value) if hasattr(value, "shape") and len(getattr(value, "shape", ())) > 0 else None


PYG_NAMES = {"x": ("x", "feat", "features"), "y": ("y", "label", "labels"), "edge_index": ("edge_index",),
             "edge_weight": ("edge_weight",), "train_mask": ("train_mask",), "val_mask": ("val_mask", "valid_mask"),
             "test_mask": ("test_mask",)}


def _one_number_each(array):
    return array is not None and array.size == len(array)


def _of_fields(fields, edges_too=True):
    """The arrays of a graph from what PyG and DGL call so; names what is left."""
    taken, arrays = set(), {}
    for key, names in PYG_NAMES.items():
        found = next((name for name in names if _numpy(fields.get(name)) is not None), None)
        if found is not None:
            taken.add(found)
            arrays[key] = _numpy(fields[found])
    attr = _numpy(fields.get("edge_attr"))
    if edges_too and "edge_weight" not in arrays and _one_number_each(attr):
        taken.add("edge_attr")
        arrays["edge_weight"] = attr
    if "edge_weight" in arrays:
        if not _one_number_each(arrays["edge_weight"]):
            raise SystemExit(f"edge_weight has the shape {list(arrays['edge_weight'].shape)}; an edge has one weight")
        arrays["edge_weight"] = arrays["edge_weight"].ravel()
    left = [str(name) for name, value in fields.items() if name not in taken and _numpy(value) is not None]
    if left:
        _say(f"not converted: {', '.join(left)}")
    return arrays


def _fields(data):
    """What an object of PyG or a dict holds, by name."""
    if isinstance(data, dict):
        return data
    if hasattr(data, "to_dict"):
        return data.to_dict()
    return {name: value for name, value in vars(data).items() if not name.startswith("_")} if hasattr(data, "__dict__") else {}


def _of_adjacency(adjacency):
    """Ends and weights of PyG's adj_t, [target, source]: of torch_sparse, or a sparse tensor of torch."""
    if hasattr(adjacency, "coo"):
        target, source, weight = adjacency.coo()
    else:
        adjacency = adjacency.to_sparse_coo().coalesce()
        (target, source), weight = adjacency.indices(), adjacency.values()
    weight = None if weight is None or (_array(weight) == 1).all() else _array(weight)
    return {"edge_index": np.stack([_array(source), _array(target)]), "edge_weight": weight}


def _one_graph(path, data):
    """The graph of a file of PyG: (data, slices), since 2.4 (dict, slices, class); a list of graphs; or the graph."""
    slices = data[1] if isinstance(data, tuple) and len(data) > 1 else None
    graphs = max((len(ends) - 1 for ends in slices.values() if hasattr(ends, "__len__")), default=1) if isinstance(
        slices, dict) else len(data) if isinstance(data, list) else 1
    if graphs > 1:
        raise SystemExit(f"{path} holds {graphs} graphs, and fringe trains on one; save that one: torch.save(dataset[0], PATH)")
    while isinstance(data, (tuple, list)) and len(data) > 0:
        data = data[0]
    kinds = [key for key, value in _fields(data).items() if isinstance(value, dict) and key != "_global_store"]
    if kinds and "edge_index" not in _fields(data):
        raise SystemExit(f"{path} has nodes or edges of several types ({', '.join(map(str, kinds))}); fringe reads graphs "
                         "of one type: save data.to_homogeneous()")
    return data


def _from_torch(path):
    torch = _need("torch", "a file of PyTorch")
    try:
        data = torch.load(path, map_location="cpu", weights_only=False)
    except ModuleNotFoundError as missing:
        raise SystemExit(f"{path} holds objects of {missing.name}, which is not installed") from None
    return _of_graph(path, _one_graph(path, data))


def _of_graph(path, data):
    """Of a Data object of PyG, or a dict with its names."""
    fields = dict(_fields(data))
    adjacency, nodes = fields.pop("adj_t", None), fields.pop("num_nodes", None)
    arrays = _of_fields(fields)
    if "edge_index" not in arrays and adjacency is not None:
        arrays.update(_of_adjacency(adjacency))
    if "edge_index" not in arrays:
        raise SystemExit(f"{path} holds a {type(data).__name__}; expected a graph: edge_index, and x and y where there are any")
    if nodes is not None:
        arrays["num_nodes"] = np.array([int(nodes)])
    return arrays


def _from_dgl(path):
    graphs = _need("dgl", "a file of DGL").load_graphs(path)[0]
    if len(graphs) != 1:
        raise SystemExit(f"{path} holds {len(graphs)} graphs, and fringe trains on one; save that one: "
                         "dgl.save_graphs(PATH, [graph])")
    graph = graphs[0]
    if not graph.is_homogeneous:
        raise SystemExit(f"{path} has nodes or edges of several types; fringe reads graphs of one type: save "
                         "dgl.to_homogeneous(graph)")
    arrays = _of_fields(dict(graph.ndata), edges_too=False)
    arrays["edge_index"] = np.stack([_array(end) for end in graph.edges(order="eid")])
    arrays["num_nodes"] = np.array([graph.num_nodes()])
    weights = [name for name in ("weight", "w") if name in graph.edata and _one_number_each(_array(graph.edata[name]))]
    left = [name for name in graph.edata if name not in weights[:1]]
    if weights:
        arrays["edge_weight"] = _array(graph.edata[weights[0]]).ravel()
    if left:
        _say(f"not converted, of edges: {', '.join(left)}")
    return arrays


def _of_matrix(matrix):
    """Entry (i, j) is the edge from i to j; stored zeros are none."""
    matrix = _need("scipy.sparse", "a matrix").coo_matrix(matrix)
    if matrix.shape[0] != matrix.shape[1]:
        raise SystemExit(f"the matrix is {matrix.shape[0]} x {matrix.shape[1]}; that of a graph is square")
    matrix.eliminate_zeros()
    weight = np.asarray(matrix.data, np.float32)
    return {"edge_index": np.stack([matrix.row, matrix.col]).astype(np.int64), "num_nodes": np.array([matrix.shape[0]]),
            "edge_weight": None if (weight == 1).all() else weight}


ADJACENCIES = ("network", "A", "adj", "adjacency", "adj_matrix", "G", "W", "Network", "net", "graph")
CLASSES = ("y", "label", "labels", "gnd", "group", "class", "classes")


def _from_matlab(path):
    scipy_io = _need("scipy.io", "a file of MATLAB")
    try:
        found = {key: value for key, value in scipy_io.loadmat(path).items() if key[0] != "_"}
    except NotImplementedError:  # version 7.3
        return _from_hdf(path)
    if "Problem" in found:  # SuiteSparse's collection
        return _of_matrix(found["Problem"]["A"][0, 0])
    return _of_matlab(path, found)


def _of_matlab(path, found):
    square = [key for key, value in found.items() if getattr(value, "ndim", 0) == 2 and value.shape[0] == value.shape[1] > 1]
    if not square:
        raise SystemExit(f"{path}: none of its arrays is a square matrix: {', '.join(found)}")
    square.sort(key=lambda key: (key not in ADJACENCIES, not hasattr(found[key], "tocoo")))
    arrays, taken = _of_matrix(found[square[0]]), {square[0]}
    nodes = found[square[0]].shape[0]
    for key, value in found.items():
        if key in taken or getattr(value, "ndim", 0) != 2 or nodes not in value.shape:
            continue
        value = _numpy(value)
        value = value if value.shape[0] == nodes else value.T
        if key.lower() in CLASSES and "y" not in arrays:
            arrays["y"] = (value if value.shape[1] > 1 else value.ravel()).astype(np.int64)
            taken.add(key)
        elif key.lower() not in CLASSES and "x" not in arrays:
            arrays["x"] = value.astype(np.float32)
            taken.add(key)
    left = [key for key in found if key not in taken]
    if left:
        _say(f"not converted: {', '.join(left)}")
    return arrays


def _from_hdf(path):
    """MATLAB 7.3: dense arrays are turned, sparse ones have their columns in data, ir and jc."""
    sparse = _need("scipy.sparse", "a matrix")
    found = {}
    with _need("h5py", "a file of HDF5").File(path, "r") as file:
        for key, value in file.items():
            if key.startswith("#"):
                continue
            if hasattr(value, "keys") and {"data", "ir", "jc"} <= set(value.keys()):
                columns = len(value["jc"]) - 1
                found[key] = sparse.csc_matrix((value["data"][:], value["ir"][:], value["jc"][:]),
                                               (int(value.attrs.get("MATLAB_sparse", columns)), columns))
            elif hasattr(value, "shape") and len(value.shape) == 2:
                found[key] = value[:].T
    return _of_matlab(path, found)


def _node_arrays(graph, nodes):
    """Features and labels that all nodes have as attributes, under the names of PyG and DGL; names what is left."""
    attributes = dict.fromkeys(name for _, given in graph.nodes(data=True) for name in given)
    arrays, left = {}, []
    for name in attributes:
        values = [graph.nodes[node].get(name) for node in nodes]
        key = next((key for key in ("x", "y") if name in PYG_NAMES[key]), None)
        numbers = key is not None and all(v is not None and not isinstance(v, str) for v in values)
        array = np.asarray(values) if numbers and len({np.shape(v) for v in values}) == 1 else None
        if array is None or array.dtype == object or key in arrays or (key == "x" and array.ndim != 2):
            left.append(str(name))
        else:
            arrays[key] = array.astype(np.float32) if key == "x" else array
    if left:
        _say(f"not converted, of nodes: {', '.join(left)}")
    return arrays


def _weights_of_edges(edges):
    """Those of networkx: an edge without one counts 1."""
    if all(weight is None for _, _, weight in edges):
        return None
    missing = sum(weight is None for _, _, weight in edges)
    if missing:
        _say(f"{missing} of {len(edges)} edges have no weight and count 1")
    return np.asarray([1 if weight is None else float(weight) for _, _, weight in edges], np.float32)


def _of_networkx(graph):
    """Edges by the names of nodes, where these are not numbers from 0. An undirected edge is written in both directions."""
    edges = list(graph.edges(data="weight"))
    if not graph.is_directed():
        edges += [(b, a, weight) for a, b, weight in edges if a != b]
    left = {name for *_, given in graph.edges(data=True) for name in given} - {"weight", "id", "key"}
    if left:
        _say(f"not converted, of edges: {', '.join(sorted(map(str, left)))}")
    weight, nodes = _weights_of_edges(edges), sorted(graph.nodes(), key=str)
    if set(map(str, nodes)) == set(map(str, range(len(nodes)))):
        return {"edge_index": np.array([[int(a) for a, _, _ in edges], [int(b) for _, b, _ in edges]], np.int64),
                "edge_weight": weight, "num_nodes": np.array([len(nodes)]), **_node_arrays(graph, sorted(nodes, key=int))}
    return {"names": [(str(a), str(b)) for a, b, _ in edges], "edge_weight": weight, "node_names": [str(n) for n in nodes],
            **_node_arrays(graph, nodes)}


def _from_json(networkx, path):
    """The three forms of networkx.readwrite.json_graph; older versions call edges links."""
    with _opened(path) as f:
        data = json.load(f)
    if not isinstance(data, dict) or not {"nodes", "adjacency", "elements"} & set(data):
        raise SystemExit(f"{path} is no graph as networkx writes it (node_link_data, adjacency_data, cytoscape_data)")
    if "elements" in data:
        return networkx.cytoscape_graph(data)
    if "adjacency" in data:
        return networkx.adjacency_graph(data)
    edges = "links" if "links" in data else "edges"
    try:
        return networkx.node_link_graph(data, edges=edges)
    except TypeError:  # before 3.4
        return networkx.node_link_graph(data, link=edges)


def _from_networkx(path, reader):
    networkx = _need("networkx", "a graph in this format")
    return _of_networkx(_from_json(networkx, path) if reader == "json" else getattr(networkx, reader)(path))


def _opened(path):
    """The bytes of a file, unpacked if it is gzip."""
    with open(path, "rb") as f:
        packed = f.read(2) == b"\x1f\x8b"
    return gzip.open(path) if packed else open(path, "rb")


def _from_pickle(path):
    """A pickle may run any program: only from those whom you trust."""
    try:
        with _opened(path) as f:
            data = pickle.load(f, encoding="latin1")
    except ModuleNotFoundError as missing:
        raise SystemExit(f"{path} holds objects of {missing.name}, which is not installed") from None
    if hasattr(data, "edges") and hasattr(data, "is_directed") and hasattr(data, "adj"):
        return _of_networkx(data)
    if hasattr(data, "tocoo"):
        return _of_matrix(data)
    if hasattr(data, "columns") and hasattr(data, "itertuples"):  # of pandas
        return {"table": (list(map(str, data.columns)), [data[name].tolist() for name in data.columns])}
    if not isinstance(data, dict) and not hasattr(data, "edge_index") and not hasattr(data, "adj_t"):
        raise SystemExit(f"{path} holds a {type(data).__name__}; expected a graph of networkx or PyG, a sparse matrix of "
                         "scipy, a table of pandas or a dict with edge_index")
    return _of_graph(path, data)


def _from_planetoid(folder):
    """ind.NAME.x, .tx, .allx, .y, .ty, .ally, .graph and .test.index, split as PyG does and, as there, without loops."""
    name = next((f for f in sorted(os.listdir(folder)) if f.startswith("ind.") and f.endswith(".allx")), None)
    if name is None:
        raise SystemExit(f"{folder} is no folder of Planetoid: it has no ind.NAME.allx")
    name = name[4:-5]

    def part(kind):
        with open(os.path.join(folder, f"ind.{name}.{kind}"), "rb") as f:
            return pickle.load(f, encoding="latin1")

    _need("scipy.sparse", "Planetoid's features")
    x, tx, allx, y, ty, ally, graph = (part(kind) for kind in ("x", "tx", "allx", "y", "ty", "ally", "graph"))
    order = np.loadtxt(os.path.join(folder, f"ind.{name}.test.index"), dtype=np.int64, ndmin=1)
    nodes = max(int(order.max()) + 1, len(graph))
    features, labels = np.zeros((nodes, allx.shape[1]), np.float32), np.zeros((nodes, ally.shape[1]), np.int64)
    features[:allx.shape[0]], labels[:len(ally)] = allx.toarray(), ally
    features[order], labels[order] = tx.toarray(), ty
    pairs = np.array([(a, b) for a, row in graph.items() for b in row], np.int64)
    pairs = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    mask = {name: np.zeros(nodes, bool) for name in ("train_mask", "val_mask", "test_mask")}
    mask["train_mask"][:len(y)] = mask["val_mask"][len(y):min(len(y) + 500, len(ally))] = mask["test_mask"][order] = True
    return {"edge_index": pairs.T, "x": features, "y": np.where(labels.any(1), labels.argmax(1), -1), **mask}


def _from_table(path, reader):
    """A table of pyarrow becomes a csv of the same columns; pandas' index is none of them."""
    _need("pyarrow", "a Parquet or Feather table")
    table = _need(f"pyarrow.{reader}", "a table").read_table(path)
    names = [name for name in table.column_names if not name.startswith("__index_level_")]
    return {"table": (names, [table.column(name).to_pylist() for name in names])}


def _classes(y):
    """Numbers from 0, in ascending order of the values, which are said if they were others."""
    values, y = np.unique(y, return_inverse=True)
    if not np.array_equal(values, np.arange(len(values))):
        _say("classes: " + ", ".join(f"{value:g} is {number}" for number, value in enumerate(values)))
    return y.astype(np.int64)


def _from_svmlight(path):
    """Rows without edges: an adjacency without entries, and the features as they are stored, in CSR."""
    datasets = _need("sklearn.datasets", "a file of svmlight")
    try:
        x, y = datasets.load_svmlight_file(path)
        labels = _classes(y)
    except ValueError:
        x, y = datasets.load_svmlight_file(path, multilabel=True)
        names = sorted({label for row in y for label in row})
        labels = np.array([[name in row for name in names] for row in y], np.uint8)
    nodes = x.shape[0]
    arrays = {"adj_data": np.zeros(0, np.float32), "adj_indices": np.zeros(0, np.int32),
              "adj_indptr": np.zeros(nodes + 1, np.int64), "adj_shape": np.array([nodes, nodes]), "labels": labels}
    x = x.astype(np.float32)
    arrays.update((f"attr_{name}", np.asarray(getattr(x, name))) for name in ("data", "indices", "indptr", "shape"))
    return arrays


NETWORKX = {".gml": "read_gml", ".graphml": "read_graphml", ".gexf": "read_gexf", ".net": "read_pajek",
            ".paj": "read_pajek", ".json": "json"}
LOADERS = {".pt": _from_torch, ".pth": _from_torch, ".bin": _from_dgl, ".mat": _from_matlab, ".h5": _from_hdf,
           ".pkl": _from_pickle, ".pickle": _from_pickle, ".gpickle": _from_pickle, ".p": _from_pickle,
           ".svmlight": _from_svmlight, ".libsvm": _from_svmlight, ".parquet": lambda p: _from_table(p, "parquet"),
           ".feather": lambda p: _from_table(p, "feather"), ".arrow": lambda p: _from_table(p, "feather")}
BEGINNINGS = {b"PAR1": ".parquet", b"ARROW1": ".feather", b"FEA1": ".feather", b"MATLAB 5.0": ".mat", b"\x89HDF": ".h5",
              b"\x80": ".pkl", b"*vertices": ".net", b"graph [": ".gml"}


def _kind(path):
    """The ending that tells how a file is read; of other names its first bytes do, as in the program's refusals."""
    ending = os.path.splitext(path[:-3] if path.endswith(".gz") else path)[1].lower()
    if ending in NETWORKX or ending in LOADERS:
        return ending
    with _opened(path) as f:
        head = f.read(512).lstrip()
    if head.startswith(b"<"):
        return next((f".{kind}" for kind in ("graphml", "gexf") if b"<" + kind.encode() in head), ending)
    return next((kind for begin, kind in BEGINNINGS.items() if head.lower().startswith(begin.lower())), ending)


def _load(path):
    if os.path.isdir(path):
        return _from_planetoid(path)
    kind = _kind(path)
    if kind in NETWORKX:
        return _from_networkx(path, NETWORKX[kind])
    if kind not in LOADERS:
        raise SystemExit(f"{path}: '{kind}' is none of {', '.join(sorted([*NETWORKX, *LOADERS]))}")
    return LOADERS[kind](path)


def _cell(value):
    """A value of a csv, in quotes where it would read as something else: a comment, a separator, blanks at its ends."""
    text = "" if value is None or value != value else str(value)
    if "\n" in text or "\r" in text:
        raise SystemExit(f"{text!r} has a line break, which no id or name of a csv can have here")
    plain = text == text.strip() and not re.search(r'[,;|\t"]|^[#%]|^//', text)
    return text if plain else '"' + text.replace('"', '""') + '"'


def _write_csv(path, names, columns):
    with open(path, "w", newline="", encoding="utf-8") as f:
        for row in (names, *zip(*columns)):
            f.write(",".join(map(_cell, row)) + "\n")


def _write_named(stem, arrays):
    """Edges by names, and beside them the nodes, if they have more than their names or some have no edge."""
    columns = [list(ends) for ends in zip(*arrays["names"])] or [[], []]
    if "edge_weight" in arrays:
        columns.append(arrays["edge_weight"].tolist())
    _write_csv(stem + ".csv", ["source", "target", "weight"][:len(columns)], columns)
    alone = len(set(arrays["node_names"]) - {name for pair in arrays["names"] for name in pair})
    if "x" not in arrays and "y" not in arrays and alone == 0:
        return stem + ".csv"
    names, columns = ["id"], [arrays["node_names"]]
    if "y" in arrays:
        names.append("label")
        columns.append(arrays["y"].ravel().tolist())
    if "x" in arrays:
        names += [f"x{c}" for c in range(arrays["x"].shape[1])]
        columns += arrays["x"].T.tolist()
    _write_csv(stem + "-nodes.csv", names, columns)
    _say(f"nodes are in {stem}-nodes.csv ({alone} of them without an edge): name it as data.nodes")
    return stem + ".csv"


def convert(path, out):
    """Converts a file of another program with the loaders of those who made its format. Returns what was written: an .npz
    of PyG's arrays, or a .csv where ids are names or the file is a table. A pickle may run any program: convert only
    files from those whom you trust."""
    arrays = {key: value for key, value in _load(path).items() if value is not None}
    stem = os.path.splitext(out)[0]
    if "names" in arrays:
        return _write_named(stem, arrays)
    if "table" in arrays:
        _write_csv(stem + ".csv", *arrays["table"])
        return stem + ".csv"
    out = out if out.endswith(".npz") else stem + ".npz"
    np.savez(out, **arrays)
    return out

