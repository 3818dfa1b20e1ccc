"""Reads and writes fringe's dataset directories.

A directory holds two files:
  dataset.json          the manifest: format, version, name, nodes, edges, features, classes, multilabel
  dataset.safetensors   the arrays; n nodes, E stored edges, F features, K classes:
      edge_offset  I64 [n+1]   CSR by source
      edge_target  I32 [E]     a stored edge (i, j) carries a message from i to j
      edge_weight  F32 [E]     optional
      features     F32 [n, F]  optional
      labels       I32 [n]     class, -1 for none;  U8 [n, K] when multi-label
      split        U8  [n]     0 none, 1 train, 2 validation, 3 test
Of a hypergraph (the manifest says how many hyperedges) edge_target has the hyperedges of each node.

usage: dataset_dir.py FOLDER          checks it and prints one line

Copyright fringe authors. SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import sys
from dataclasses import dataclass
from typing import Optional

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

MANIFEST, ARRAYS = "dataset.json", "dataset.safetensors"
NONE, TRAIN, VALIDATION, TEST = range(4)


@dataclass
class Dataset:
    name: str
    classes: int
    edge_offset: np.ndarray  # int64 [n+1]
    edge_target: np.ndarray  # int32 [E]
    labels: np.ndarray  # int32 [n], or uint8 [n, K]
    split: np.ndarray  # uint8 [n]
    features: Optional[np.ndarray] = None  # float32 [n, F]
    edge_weight: Optional[np.ndarray] = None  # float32 [E]
    hyperedges: int = 0  # 0: a graph

    @property
    def nodes(self):
        return len(self.edge_offset) - 1

    @property
    def edges(self):
        return len(self.edge_target)

    @property
    def multilabel(self):
        return self.labels.ndim == 2

    def sources(self):
        """The source of every stored edge, int32 [E]."""
        return np.repeat(np.arange(self.nodes, dtype=np.int32), np.diff(self.edge_offset))


def is_dataset(folder):
    return os.path.exists(os.path.join(folder, MANIFEST))


def read(folder):
    """The data set in a folder; ValueError names what does not fit."""
    with open(os.path.join(folder, MANIFEST), encoding="utf-8") as f:
        manifest = json.load(f)
    if manifest.get("format") != "fringe-dataset" or manifest.get("version") != 1:
        raise ValueError(f"{folder}: {MANIFEST} is not a fringe-dataset of version 1")
    with safe_open(os.path.join(folder, ARRAYS), framework="numpy") as f:
        arrays = {key: f.get_tensor(key) for key in f.keys() if key in Dataset.__dataclass_fields__}
    arrays["hyperedges"] = int(manifest.get("hyperedges", 0))
    for key in ("edge_offset", "edge_target", "labels", "split"):
        if key not in arrays:
            raise ValueError(f"{folder}: {ARRAYS} has no '{key}'")
    data = Dataset(name=manifest["name"], classes=int(manifest["classes"]), **arrays)
    check(data, folder)
    for key, found in (("nodes", data.nodes), ("edges", data.edges), ("multilabel", data.multilabel)):
        if key in manifest and manifest[key] != found:
            raise ValueError(f"{folder}: the manifest says {key} {manifest[key]}, the arrays {found}")
    return data


def write(folder, data):
    check(data, folder)
    os.makedirs(folder, exist_ok=True)
    arrays = {
        "edge_offset": data.edge_offset.astype(np.int64),
        "edge_target": data.edge_target.astype(np.int32),
        "labels": data.labels.astype(np.uint8 if data.multilabel else np.int32),
        "split": data.split.astype(np.uint8),
    }
    for key in ("features", "edge_weight"):
        if getattr(data, key) is not None:
            arrays[key] = np.ascontiguousarray(getattr(data, key), np.float32)
    save_file(arrays, os.path.join(folder, ARRAYS))
    manifest = {
        "format": "fringe-dataset",
        "version": 1,
        "name": data.name,
        "nodes": data.nodes,
        "edges": data.edges,
        "features": 0 if data.features is None else data.features.shape[1],
        "classes": data.classes,
        "multilabel": data.multilabel,
    }
    with open(os.path.join(folder, MANIFEST), "w", encoding="utf-8") as f:
        json.dump(manifest, f, indent=2)
        f.write("\n")


def check(data, where):
    n, offset, target = data.nodes, data.edge_offset, data.edge_target
    if offset[0] != 0 or offset[-1] != data.edges or (np.diff(offset) < 0).any():
        raise ValueError(f"{where}: edge_offset must rise from 0 to the {data.edges} stored edges")
    ends = data.hyperedges or n
    if data.edges and (target.min() < 0 or target.max() >= ends):
        raise ValueError(f"{where}: edge_target has ids outside 0..{ends - 1}")
    for key in ("labels", "split", "features"):
        array = getattr(data, key)
        if array is not None and len(array) != n:
            raise ValueError(f"{where}: '{key}' has {len(array)} rows but there are {n} nodes")
    if data.multilabel:
        if data.labels.shape[1] != data.classes:
            raise ValueError(f"{where}: labels have {data.labels.shape[1]} columns, not {data.classes}")
    elif n and not -1 <= data.labels.min() <= data.labels.max() < data.classes:
        raise ValueError(f"{where}: labels must be -1 or below {data.classes}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    d = read(sys.argv[1])
    print(
        f"{d.name}: {d.nodes} nodes, {d.edges} stored edges,",
        f"{0 if d.features is None else d.features.shape[1]} features, {d.classes} classes,",
        "train/validation/test %d/%d/%d" % tuple((d.split == s).sum() for s in (1, 2, 3)),
    )
