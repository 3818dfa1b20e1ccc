"""The folder of a run as arrays: config, epochs, result, weights, predictions.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
from dataclasses import dataclass
from typing import Optional

import numpy as np

from .tensors import read_tensors


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
    classes: Optional[np.ndarray]  # int64 [n, 1], or [n, K] zeros and ones; None: labels are numbers
    scores: np.ndarray  # float32 [n, K], before softmax or sigmoid


def predictions(run):
    """What `fringe predict RUN` wrote, for all nodes in the order of the dataset."""
    numeric = run.record["data"].get("numeric", False)
    return Predictions(None if numeric else _predicted(run, "classes.npy", ""), _predicted(run, "scores.npy", ""))


def embeddings(run, layer):
    """The input rows of layer `layer`, float32 [n, width], which `fringe predict RUN --layer L` wrote."""
    return _predicted(run, f"embeddings-{layer}.npy", f" --layer {layer}")
