"""Reads fringe's dataset directories, which fringe has checked (`fringe inspect FOLDER` does so again).

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

Copyright fringe authors. SPDX-License-Identifier: Apache-2.0
"""

import json
import os
from dataclasses import dataclass
from typing import Optional

import numpy as np
from safetensors import safe_open

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
    with open(os.path.join(folder, MANIFEST), encoding="utf-8") as f:
        manifest = json.load(f)
    if manifest.get("format") != "fringe-dataset" or manifest.get("version") != 1:
        raise ValueError(f"{folder}: {MANIFEST} is not a fringe-dataset of version 1")
    with safe_open(os.path.join(folder, ARRAYS), framework="numpy") as f:
        arrays = {key: f.get_tensor(key) for key in f.keys() if key in Dataset.__dataclass_fields__}
    arrays["hyperedges"] = int(manifest.get("hyperedges", 0))
    return Dataset(name=manifest["name"], classes=int(manifest["classes"]), **arrays)
