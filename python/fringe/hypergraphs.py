"""Hypergraphs in the formats of other programs, as pins (node, hyperedge) by their names, or as PyG's hyperedge_index.

SPDX-License-Identifier: Apache-2.0
"""
import os

import numpy as np

from .formats import SPLITS, _is_column, _need, _of_csr, _opened, _pickled, _say, _say_left

ROLES = {"tail": "s", "head": "t"}  # of HIF: an edge leads from its tail to its head


def _numbered(edges, numbers):
    """Hyperedges by numbers in the order of their first pins, as words where nodes are words: a file has ids of one kind."""
    number = {edge: k for k, edge in enumerate(dict.fromkeys(edges))}
    if list(map(str, number)) not in ([str(k + first) for k in range(len(number))] for first in (0, 1)):
        _say("hyperedges are numbered in the order of their first nodes; their names are not converted")
    return [f"{number[edge]}" if numbers else f"e{number[edge]}" for edge in edges]


def _weights_of(edges, pins):
    """{hyperedge: weight} of {hyperedge: its attributes}; names what else they have."""
    left = {name for given in edges.values() for name in given} - {"weight"}
    _say_left(sorted(map(str, left)), ", of hyperedges")
    empty = len(edges.keys() - {edge for _, edge in pins})
    if empty:
        _say(f"{empty} hyperedge{'s have' if empty > 1 else ' has'} no nodes and {'are' if empty > 1 else 'is'} left out")
    return {edge: given["weight"] for edge, given in edges.items() if "weight" in given}


def _of_pins(pins, names=(), attributes=None, weights=None, roles=None):
    """pins: [(node, hyperedge)]; names: all nodes, those in no hyperedge too; attributes: {node: {column: value}};
    weights: {hyperedge: weight}."""
    found = {"node": [str(node) for node, _ in pins]}
    found["hyperedge"] = _numbered([edge for _, edge in pins], all(node.isdecimal() for node in found["node"]))
    if weights:
        found["weight"] = [weights.get(edge, 1) for _, edge in pins]
    if roles and any(roles):
        found["role"] = [role or "b" for role in roles]
    nodes = list(dict.fromkeys([*map(str, names), *found["node"]]))
    attributes = {str(node): given for node, given in (attributes or {}).items()}
    columns = {name: [attributes.get(node, {}).get(name) for node in nodes]
               for name in dict.fromkeys(name for given in attributes.values() for name in given)}
    kept = {str(name): values for name, values in columns.items() if _is_column(values, nodes)}
    _say_left(sorted(set(map(str, columns)) - kept.keys()), ", of nodes")
    return {"pins": found, "node_names": nodes, "columns": kept}


def of_hif(data):
    """HIF, the Hypergraph Interchange Format, which XGI, HyperNetX and Hypergraphx write."""
    pins = [(one["node"], one["edge"]) for one in data["incidences"]]
    nodes, edges = ({one[key]: {**one.get("attrs", {}), **({"weight": one["weight"]} if "weight" in one else {})}
                     for one in data.get(f"{key}s", [])} for key in ("node", "edge"))
    if any("weight" in one for one in data["incidences"]):
        _say("not converted: weights of incidences")
    return _of_pins(pins, nodes, nodes, _weights_of(edges, pins),
                    [ROLES.get(one.get("direction")) for one in data["incidences"]])


def of_xgi(data):
    """XGI's own JSON."""
    pins = [(node, edge) for edge, members in data["edge-dict"].items() for node in members]
    edges = {edge: data.get("edge-data", {}).get(edge, {}) for edge in data["edge-dict"]}
    return _of_pins(pins, data.get("node-data", {}), data.get("node-data", {}), _weights_of(edges, pins))


def are_members(data):
    """{hyperedge: its nodes}, all of them numbers or words."""
    return isinstance(data, dict) and not data.keys() <= SPLITS and all(
        isinstance(nodes, (list, tuple, set, frozenset)) and all(isinstance(node, (int, str, np.integer)) for node in nodes)
        for nodes in data.values())


def of_members(path, data):
    if set().union(*data.values()) <= data.keys():
        raise SystemExit(f"{path}: each member is the name of a list, too, so these may be the neighbours of nodes; write "
                         "edges, or hyperedges by names of their own")
    _say("lists of members: each key is the name of a hyperedge")
    return _of_pins([(node, edge) for edge, nodes in data.items() for node in sorted(nodes, key=str)])


def from_hypergcn(folder):
    """The folders of HyperGCN: hypergraph, features and labels as pickles, and splits/1.pickle, a dict of lists of nodes."""
    sparse = _need("scipy.sparse", "HyperGCN's features")
    members, x, y = (_pickled(os.path.join(folder, f"{name}.pickle")) for name in ("hypergraph", "features", "labels"))
    _say("hyperedges are numbered in the order of the pickle; their names are not converted")
    x, y = sparse.csr_matrix(x), np.asarray(y)
    node = np.concatenate([sorted(nodes) for nodes in members.values()])
    edge = np.repeat(np.arange(len(members)), [len(nodes) for nodes in members.values()])
    arrays = {"hyperedge_index": np.stack([node, edge]).astype(np.int64), "num_nodes": np.array([x.shape[0]]),
              "y": y.argmax(1) if y.ndim == 2 else y, **_of_csr(x)}
    splits = os.path.join(folder, "splits")
    names = sorted(os.listdir(splits), key=lambda name: (len(name), name)) if os.path.isdir(splits) else []
    if names:
        _say(f"the split is {names[0]}, the first of {len(names)}")
        split = _pickled(os.path.join(splits, names[0]))
        for name in ("train", "test"):
            arrays[f"{name}_mask"] = np.isin(np.arange(x.shape[0]), split[name])
    return arrays


def from_simplices(path):
    """NAME-nverts.txt, how many nodes each simplex has, and NAME-simplices.txt, these nodes one after the other."""
    stem = path.removesuffix(".gz").removesuffix("-nverts.txt").removesuffix("-simplices.txt")

    def numbers(kind):
        found = next((name for name in (f"{stem}-{kind}.txt", f"{stem}-{kind}.txt.gz") if os.path.exists(name)), None)
        if found is None:
            raise SystemExit(f"{stem}-{kind}.txt is missing; {path} is one of the two")
        with _opened(found) as f:
            return np.array(f.read().split(), np.int64)

    sizes, nodes = numbers("nverts"), numbers("simplices")
    if sizes.sum() != len(nodes):
        raise SystemExit(f"{stem}-nverts.txt counts {sizes.sum()} nodes, but {stem}-simplices.txt has {len(nodes)}")
    return _of_pins(list(zip(nodes.tolist(), np.repeat(np.arange(1, len(sizes) + 1), sizes).tolist())))
