"""Dataset folders: a graph or hypergraph of arrays as fringe reads it (data.path), and back.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import warnings
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Dict, Mapping, Optional

import numpy as np

from .tensors import _array, _entries, read_tensors, write_tensors

SPLITS = ("train", "validation", "test")


@dataclass
class Dataset:
    """edges [2, E]: edges[0, k] -> edges[1, k]; masks: {"train", "validation", "test"} of bools [n]. Of a hypergraph
    edges is hyperedge_index [2, pins]: node edges[0, k] is in hyperedge edges[1, k]."""

    name: str
    edges: np.ndarray
    weights: Optional[np.ndarray]
    features: Any  # float32 [n, F]; None: there are none
    labels: Any  # int32 [n] classes, -1 for none; uint8 [n, K] of 0 and 1; float32 [n, K] numbers; None
    masks: Dict[str, np.ndarray]
    hyperedges: int = 0  # 0: a graph
    hyperedge_weight: Optional[np.ndarray] = None
    role: Optional[np.ndarray] = None  # [pins] 1 source, 2 target, 3 both; None: all are both


MASK_NAMES = {"train": "train", "validation": "validation", "valid": "validation", "val": "validation", "test": "test"}


def _masks_in_order(masks):
    """The masks of a dict or archive, whose keys may be those of PyG or OGB, such as "val_mask" and "valid_idx"."""
    named = {MASK_NAMES.get(str(key).removesuffix("_mask").removesuffix("_idx")): mask for key, mask in masks.items()}
    if SPLITS[0] not in named or not set(named) <= set(SPLITS):
        raise ValueError("masks: expected the key train, and validation and test if there are any, found "
                         f"{', '.join(map(str, masks))}")
    return [named.get(key) for key in SPLITS]


def _one_split(mask, nodes, name, which):
    """One of several splits: a row of [splits, n], or a column of [n, splits] as PyG stores them."""
    mask = np.squeeze(mask) if mask.ndim == 2 and 1 in mask.shape and which is None else mask
    if mask.ndim < 2:
        return mask
    if mask.ndim > 2 or mask.shape[0] == mask.shape[1] == nodes:
        raise ValueError(f"masks: the one of {name} is {list(mask.shape)}, which does not say which way its splits lie; "
                         "give one of them")
    columns = mask.shape[0] == nodes
    if which is None:
        raise ValueError(f"masks: the one of {name} is {list(mask.shape)}: {mask.shape[1 if columns else 0]} splits; "
                         "say which with split=0")
    if not 0 <= which < mask.shape[1 if columns else 0]:
        raise ValueError(f"split: {which}, but the mask of {name} holds splits 0 to {mask.shape[1 if columns else 0] - 1}")
    return mask[:, which] if columns else mask[which]


def _split(masks, nodes, which=None):
    """0 none, 1 training, 2 validation, 3 test, from three masks of n bools or three lists of node ids, of which
    None is empty; which: of several splits."""
    split = np.zeros(nodes, np.uint8)
    masks = _masks_in_order(masks) if isinstance(masks, Mapping) else masks
    if len(masks) != 3:
        raise ValueError(f"masks: expected three, [training, validation, test], found {len(masks)}")
    if masks[1] is None and masks[2] is None:
        warnings.warn("only a training mask: no node is in validation or test", stacklevel=5)
    for number, (name, mask) in enumerate(zip(SPLITS, masks), 1):
        mask = _one_split(_array([] if mask is None else mask), nodes, name, which)
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
    return labels.shape[1] > 1 and np.isin(labels, (0, 1)).all() and labels.any() and labels.sum(1).max() <= 1


# By an attribute that tells them: graphs that are not read, and what is.
OTHERS = {"node_types": "a graph with nodes of several types; give data.to_homogeneous()",
          "ndata": "a graph of DGL; give torch.stack(graph.edges()), and features, labels and masks of graph.ndata",
          "adj": "a graph of networkx; give networkx.to_scipy_sparse_array(graph, weight=None), whose rows are list(graph)",
          "get_edgelist": "a graph of igraph; give graph.get_edgelist(), each edge once"}


def graph_of(edges: Any) -> Any:
    """Edges, or an object with PyG's names: also of a dict with them, and of a list or dataset of one graph."""
    what = next((OTHERS[name] for name in OTHERS if hasattr(edges, name) and not hasattr(edges, "edge_index")), None)
    if what is not None:
        raise ValueError(f"edges: this is {what}")
    one = isinstance(edges, (list, tuple)) and len(edges) == 1 and hasattr(edges[0], "edge_index")
    return SimpleNamespace(**edges) if isinstance(edges, Mapping) else edges[0] if one else edges


def fields_of(data: Any) -> Dict[str, Any]:
    """What an object of PyG or a dict holds, by name."""
    if isinstance(data, dict):
        return data
    if hasattr(data, "to_dict"):
        return data.to_dict()
    return {name: value for name, value in vars(data).items() if not name.startswith("_")} if hasattr(data, "__dict__") else {}


def _edges(edges, nodes, undirected, weights):
    """Source, target and weights, sorted by source, then target."""
    entries = _entries(edges)
    if entries is not None:
        edges, weights = np.stack(entries[:2]), entries[2] if weights is None else weights
    edges = _array(edges)
    if edges.ndim != 2 or 2 not in edges.shape:
        raise ValueError("edges: expected [2, E] (as PyG's edge_index), [E, 2] or a sparse adjacency matrix, such as "
                         f"scipy.sparse.coo_matrix of a dense one, found {list(edges.shape)}")
    if edges.dtype.kind not in "biuf":
        raise ValueError("edges: expected numbers of nodes, found names; numpy.unique(edges, return_inverse=True) gives both")
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


def _count_of(nodes, features, labels):
    """How many nodes there are, or None."""
    given = next((given for given in (nodes, features, labels) if given is not None), None)
    if hasattr(given, "shape") and len(given.shape) > 0:  # matrices of scipy have no length
        return given.shape[0]
    return given if given is None or isinstance(given, int) else int(given) if np.ndim(given) == 0 else len(given)


def _parts_of_data(data, features, labels, masks, weights):
    """What a Data object of PyG holds, where the caller gives nothing else."""
    features = getattr(data, "x", None) if features is None else features
    labels = getattr(data, "y", None) if labels is None else labels
    found = [getattr(data, f"{name}_mask", getattr(data, f"{name}_idx", None)) for name in ("train", "val", "test")]
    masks = found if masks is None and found[0] is not None else masks
    edges, weights = getattr(data, "edge_index", None), getattr(data, "edge_weight", None) if weights is None else weights
    if edges is None and getattr(data, "adj_t", None) is not None:  # [target, source]
        target, source, values = _entries(data.adj_t)
        edges, weights = np.stack([source, target]), values if weights is None else weights
    left = [name for name in fields_of(data) if name.startswith("edge_") and name not in ("edge_index", "edge_weight")]
    if left:
        warnings.warn(f"{', '.join(left)}: not read; weights=data.edge_attr takes one number for each edge", stacklevel=4)
    return edges, features, labels, masks, weights


def write_dataset(folder: str, edges: Any, features: Any = None, labels: Any = None, masks: Any = None, *,
                  weights: Any = None, nodes: Optional[int] = None, undirected: bool = False,
                  name: Optional[str] = None, split: Optional[int] = None) -> None:
    """Writes a folder that fringe reads (data.path); arrays of numpy or torch.

    edges     [2, E] as PyG's edge_index: node edges[1, k] aggregates row edges[0, k]; or a sparse adjacency matrix of
              scipy or torch, whose entry [i, j] is an edge from i to j; or a Data object of PyG or a dict with its
              names, which may hold features, labels and masks as well
    features  [n, F] or [n] numbers, or a sparse matrix
    labels    [n] classes from 0, -1 for none; or [n, K] zeros and ones: several labels per node, unless no row has
              more than one; or floats that are not whole: numbers to predict, nan for none
    masks     training, validation, test: three masks of n bools or lists of node ids, or a dict of them with the keys
              "train", "validation", "test" or PyG's names; the last two may be None or missing. Without masks fringe can
              predict but not train
    split     which one, from 0, where masks are [n, splits] or [splits, n]
    weights   [E] of the edges
    undirected: each edge is given once and stands for both directions
    """
    edges = graph_of(edges)
    if hasattr(edges, "edge_index") or hasattr(edges, "adj_t"):
        edges, features, labels, masks, weights = _parts_of_data(edges, features, labels, masks, weights)
    nodes = _count_of(nodes, features, labels)
    if nodes is None:
        raise ValueError("how many nodes are there? Give features, labels or nodes=")
    source, target, weights = _edges(edges, nodes, undirected, weights)
    arrays = {"edge_offset": np.searchsorted(source, np.arange(nodes + 1)).astype(np.int64),
              "edge_target": target.astype(np.int32)}
    if weights is not None:
        arrays["edge_weight"] = weights
    _write_folder(folder, name, nodes, arrays, features, labels, masks, {}, split)


def _are_numbers(labels):
    labels = _array(labels)
    return labels.dtype.kind == "f" and not (np.isfinite(labels) <= (labels == np.trunc(labels))).all()


def _label_array(labels):
    labels = _array(labels)
    labels = labels.ravel() if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if labels.dtype.kind not in "biuf":
        raise ValueError("labels: expected numbers of classes, found names; numpy.unique(labels, return_inverse=True) gives "
                         "both")
    if not (labels == labels.astype(np.int32)).all():
        raise ValueError("labels: expected whole numbers; -1 means that a node has none")
    if labels.ndim == 2 and _are_one_hot(labels):
        warnings.warn("labels: no row has more than one 1, so these are classes", stacklevel=4)
        labels = np.where(labels.any(1), labels.argmax(1), -1)
    return labels


def _write_folder(folder, name, nodes, arrays, features, labels, masks, more, split=None):
    """The folder, from the arrays of its edges or pins and what belongs to nodes; more: further keys of the manifest."""
    manifest = {"format": "fringe-dataset", "version": 1, "name": name or os.path.basename(os.path.abspath(folder)),
                "nodes": nodes, "edges": len(arrays["edge_target"]), "features": 0, "classes": 0, "multilabel": False,
                **more}
    if features is not None:
        features = features.toarray() if hasattr(features, "toarray") else features  # of scipy
        try:
            arrays["features"] = np.asarray(_array(features), np.float32)
        except ValueError as refused:
            raise ValueError(f"features: {refused}") from None
        if arrays["features"].ndim == 1:
            arrays["features"] = arrays["features"][:, None]
        if arrays["features"].ndim != 2:
            raise ValueError(f"features: expected [nodes, columns], found {list(arrays['features'].shape)}")
        manifest["features"] = arrays["features"].shape[1]
    if labels is not None and _are_numbers(labels):
        arrays["labels"] = _array(labels).astype(np.float32).reshape(len(labels), -1)
        manifest.update(numeric=True, classes=arrays["labels"].shape[1])
    elif labels is not None:
        labels = _label_array(labels)
        manifest["multilabel"] = labels.ndim == 2
        manifest["classes"] = labels.shape[1] if labels.ndim == 2 else int(labels.max()) + 1
        arrays["labels"] = labels.astype(np.uint8 if labels.ndim == 2 else np.int32)
    if masks is not None:
        arrays["split"] = _split(masks, nodes, split)
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


def write_hypergraph(folder: str, hyperedge_index: Any, x: Any = None, y: Any = None, masks: Any = None,
                     hyperedge_weight: Any = None, role: Any = None, *, nodes: Optional[int] = None,
                     name: Optional[str] = None) -> None:
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
    nodes = _count_of(nodes, x, y)
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


def read_dataset(folder: str) -> Dataset:
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
