"""The folder of a run as arrays: config, epochs, result, weights, predictions.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

from .tensors import read_tensors


@dataclass(repr=False)
class Run:
    """A training. config: sections of keys, run.config["train"]["lr"]; epochs: an array per figure, run.epochs["loss"],
    ["validation.accuracy"] (NaN where it was not evaluated), ["time.epoch"]; result: of the last and the best epoch, {}
    of a run that was stopped."""

    folder: str
    config: Dict[str, Any]
    epochs: Dict[str, np.ndarray]
    result: Dict[str, Any]
    record: Dict[str, Any]  # all of run.json

    @property
    def finished(self) -> bool:
        """False if it was stopped, or trains still."""
        return bool(self.result)

    def __repr__(self) -> str:
        epochs = len(self.epochs.get("epoch", ()))
        score = next((f", {name.replace('_', ' ')} {value:.4f}" for name, value in self.result.items()
                      if name.startswith("test_") and value is not None), "")
        return f"<fringe.Run {self.folder}: {'finished' if self.finished else 'stopped'} after {epochs} epochs{score}>"

    def weights(self, best: bool = False) -> Dict[str, np.ndarray]:
        """Arrays by PyG's names, of the newest checkpoint, or of the best epoch."""
        return weights(self, best)

    def to_pyg(self, best: bool = False) -> Any:
        """A torch module of PyG's layers with these weights; see fringe.to_pyg."""
        from .pyg import to_pyg  # needs torch, and reads runs itself

        return to_pyg(self, best)

    def predict(self, new: Any = None, *, layer: Optional[int] = None, best: bool = False, ranks: int = 1,
                set: Mapping[str, Any] = {}) -> "Predictions":
        """Ids, classes and scores of all nodes, or of those of `new`; see fringe.predict."""
        from .calls import predict  # which makes runs

        return predict(self, new, layer=layer, best=best, ranks=ranks, set=set)

    def embeddings(self, layer: int = -1, *, new: Any = None, best: bool = False, ranks: int = 1) -> np.ndarray:
        """The input rows of a layer, float32 [n, width]; -1 is the last layer, 1 the first that has any."""
        rows: np.ndarray = self.predict(new, layer=layer, best=best, ranks=ranks).embeddings
        return rows

    def resume(self, *, epochs: Optional[int] = None, hosts: Union[None, str, Sequence[str]] = None,
               set: Mapping[str, Any] = {}, on_epoch: Optional[Callable[[Dict[str, Any]], Any]] = None,
               progress: Optional[bool] = None) -> "Run":
        """Goes on from the newest checkpoint, to `epochs` in all, on as many ranks as before; returns the Run as it then
        is. The same epochs come out as if it had never been stopped."""
        from .calls import train  # which makes runs

        wanted = dict(set) if epochs is None else {**set, "train.epochs": epochs}
        return train(self.folder, ranks=int(self.record.get("parts", {}).get("count", 1)), hosts=hosts,
                     resume=True, set=wanted, on_epoch=on_epoch, progress=progress)

    def _curves(self) -> Sequence[str]:
        """The loss, and the validation score that train.metric names, or else the first."""
        scores = [name for name in self.epochs if name.startswith("validation.") and not name.endswith((".loss", ".rows"))]
        metric = f"validation.{self.config['train']['metric']}".replace("-", "_")
        return ["loss", *([metric] if metric in scores else scores[:1])]

    def plot(self, figures: Optional[Sequence[str]] = None, axes: Any = None) -> Any:
        """Curves of run.epochs, drawn by matplotlib, each in a row of its own, or in `axes`: those that are named, or the
        loss and a validation score. Returns the axes."""
        figures = figures or self._curves()
        for name in figures:
            if name not in self.epochs:
                raise ValueError(f"there is no figure '{name}' in this run, only {', '.join(self.epochs)}")
        if axes is None:
            from matplotlib import pyplot

            axes = pyplot.subplots(len(figures), 1, sharex=True, squeeze=False)[1][:, 0]
        for axis, name in zip(np.atleast_1d(axes), figures):
            there = ~np.isnan(self.epochs[name])
            axis.plot(self.epochs["epoch"][there], self.epochs[name][there])
            axis.set_ylabel(name)
            axis.set_xlabel("epoch")
        return axes


def _flat(value, path=""):
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from _flat(inner, f"{path}{key}.")
        elif isinstance(inner, (int, float)):  # also true and false
            yield path + key, inner


def read_run(folder: str) -> Run:
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


def weights(run: Run, best: bool = False) -> Dict[str, np.ndarray]:
    """Arrays by PyG's names ("convs.0.lin.weight" [out, in]): of the newest checkpoint, or of the best epoch."""
    folder = os.path.join(run.folder, "checkpoints")
    with open(os.path.join(folder, "LATEST"), encoding="utf-8") as f:
        folder = os.path.join(folder, f.read().strip())
    arrays = read_tensors(os.path.join(folder, "best.safetensors" if best else "model.safetensors"))
    arrays.pop("normalisation", None)  # of hypergraphs: the name of the operator, no weight
    return arrays


def _predicted(folder, name, command):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path} does not exist; make it with: {command}")
    return np.load(path)


@dataclass
class Predictions:
    classes: Any  # int64 [n, 1], or [n, K] zeros and ones; None: labels are numbers
    scores: np.ndarray  # float32 [n, K], before softmax or sigmoid
    ids: Any = None  # int64 [n], or a list of texts, as the input names its nodes
    embeddings: Any = None  # float32 [n, width], where a layer was asked for
    class_names: Optional[List[str]] = None  # of class 0, 1, ..., where the input names its classes


def _lines(folder: str, name: str) -> Optional[List[str]]:
    """Those of a file, None where there is none."""
    if not os.path.exists(os.path.join(folder, name)):
        return None
    with open(os.path.join(folder, name), encoding="utf-8") as f:
        return f.read().split("\n")[:-1]


def read_predictions(folder: str, command: str = "fringe predict", layer: Optional[int] = None,
                     numeric: bool = False) -> Predictions:
    """What `fringe predict` wrote into a folder; ids are 0 to n-1 where it wrote none. numeric: there are no classes."""
    scores = _predicted(folder, "scores.npy", command)
    classes = None if numeric else _predicted(folder, "classes.npy", command)
    ids: Any = _lines(folder, "ids.txt") or np.arange(len(scores))
    if os.path.exists(os.path.join(folder, "ids.npy")):
        ids = np.load(os.path.join(folder, "ids.npy"))
    rows = None if layer is None else _predicted(folder, f"embeddings-{layer}.npy", f"{command} --layer {layer}")
    return Predictions(classes, scores, ids, rows, _lines(folder, "class_names.txt"))


def predictions(run: Run) -> Predictions:
    """What `fringe predict RUN` wrote, for all nodes in the order of the dataset."""
    return read_predictions(os.path.join(run.folder, "predictions"), f"fringe predict {run.folder}",
                            numeric=run.record["data"].get("numeric", False))


def embeddings(run: Run, layer: int) -> np.ndarray:
    """The input rows of layer `layer`, float32 [n, width], which `fringe predict RUN --layer L` wrote."""
    return _predicted(os.path.join(run.folder, "predictions"), f"embeddings-{layer}.npy",
                      f"fringe predict {run.folder} --layer {layer}")
