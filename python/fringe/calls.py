"""The program's commands as functions: configs in, runs, tables and arrays out. docs/python.md has examples.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import shutil
import tempfile
import warnings
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from .config import ConfigLike, last_folder, path_of, run_folder, settings, words_of
from .process import STOPPED, Call, answer
from .progress import Line
from .runs import Predictions, Run, read_predictions, read_run
from .tables import Table, table_of

OnEpoch = Optional[Callable[[Dict[str, Any]], Any]]
Hosts = Union[None, str, Sequence[str]]


def _follow(call: Call, on_epoch: OnEpoch, line: Line, several: bool) -> int:
    """Hands the epochs to the callback, in the thread of the caller, and returns the exit code."""

    def on_event(event: Dict[str, Any]) -> Optional[bool]:
        kind = event.pop("event")
        if not several:
            event.pop("run", None)  # the line of metrics.jsonl has none
        if kind == "warning":
            warnings.warn(str(event.get("text")), stacklevel=6)
        elif kind == "run":
            line.run(event)
        elif kind == "epoch":
            line.epoch(event)
            if on_epoch is not None and on_epoch(event) is False:
                return False
        return None

    try:
        return call.follow(on_event)
    finally:
        line.end()


def _words(ranks: int, hosts: Hosts, mode: Optional[str], set: Mapping[str, Any]) -> List[str]:
    words = ["--ranks", str(ranks)] if ranks != 1 or hosts else []
    words += ["--hosts", hosts if isinstance(hosts, str) else ",".join(hosts)] if hosts else []
    words += ["--set", f"mode={mode}"] if mode is not None else []
    return words + settings(set)


def _training(command: str, given: Tuple[str, Optional[str]], words: List[str], dir: Optional[str], resume: bool,
              on_epoch: OnEpoch, progress: Optional[bool], kind: str = "") -> str:
    """Runs a command that trains and returns its folder, that to be resumed or a new one, when it has ended or was stopped
    with a checkpoint; else raises."""
    folder = (last_folder(*given, dir, kind) if resume else None) or run_folder(*given, dir, kind)
    words = [command, given[0], "--quiet", *words, "--set", f"run.dir={folder}", *(["--resume", "auto"] if resume else [])]
    try:
        call = Call(words, given[1], events=True)
        code = _follow(call, on_epoch, Line(progress), several=kind != "")
    finally:
        if os.path.isdir(folder) and not os.listdir(folder):
            os.rmdir(folder)  # nothing was begun
    if code not in (0, STOPPED):
        raise call.error(code)
    return folder


def _run_in(folder: str) -> Run:
    """The run; one that was stopped before its first epoch has nothing yet."""
    if os.path.exists(os.path.join(folder, "run.json")):
        return read_run(folder)
    return Run(folder, {}, {"epoch": np.zeros(0, int)}, {}, {})


def train(config: ConfigLike, *, ranks: int = 1, hosts: Hosts = None, mode: Optional[str] = None,
          dir: Optional[str] = None, resume: bool = False, set: Mapping[str, Any] = {}, on_epoch: OnEpoch = None,
          progress: Optional[bool] = None) -> Run:
    """Trains as the config says and returns the Run.

    config    a dict, a fringe.Config, the path of a file, the name of a shipped config, or a Run (the same again)
    ranks     processes that train together, as `fringe train --ranks`
    hosts     machines on which they start, ["a", "b"] or ["a:1", "b:3"], or the path of a hostfile (docs/cluster.md)
    mode      a preset such as "adaqp"
    dir       the folder of the run; without it the first free runs/NAME-N
    resume    goes on from the newest checkpoint in `dir`, of the Run, or in the last runs/NAME-N
    set       more keys, {"train.lr": 0.01}
    on_epoch  is called with the line of metrics.jsonl of every epoch, while training goes on. If it returns False the
              training stops with a checkpoint; if it raises, too, and the exception comes out of train.
    progress  a line on stderr that follows the epochs; None: in notebooks and terminals

    Raises fringe.Error with the program's sentence. Ctrl-C stops with a checkpoint and raises KeyboardInterrupt; a second
    one ends the program at once.
    """
    return _run_in(_training("train", words_of(config), _words(ranks, hosts, mode, set), dir, resume, on_epoch, progress))


def _listed(values: Any) -> List[Any]:
    """A list, also of one value by itself."""
    return [values] if isinstance(values, (str, int, float)) else list(values)


def compare(config: ConfigLike, *, modes: Optional[Sequence[str]] = None, runs: int = 1, ranks: int = 1,
            hosts: Hosts = None, dir: Optional[str] = None, resume: bool = False, set: Mapping[str, Any] = {},
            on_epoch: OnEpoch = None, progress: Optional[bool] = None) -> Table:
    """Trains in each of the modes from the same weights, `runs` seeds each, and returns the comparison as a table with a
    row for each mode. on_epoch also gets the folder of the run, as "run"."""
    words = _words(ranks, hosts, None, set) + (["--modes", ",".join(map(str, _listed(modes)))] if modes else [])
    words += ["--runs", str(runs)] if runs != 1 else []
    folder = _training("compare", words_of(config), words, dir, resume, on_epoch, progress, "-compare")
    return table_of(folder, "compare.json", "modes")


def sweep(config: ConfigLike, values: Mapping[str, Sequence[Any]], *, runs: int = 1, ranks: int = 1,
          hosts: Hosts = None, mode: Optional[str] = None, dir: Optional[str] = None, resume: bool = False,
          set: Mapping[str, Any] = {}, on_epoch: OnEpoch = None, progress: Optional[bool] = None) -> Table:
    """Trains with every combination of the values, {"train.lr": [0.01, 0.003]}, `runs` seeds each, and returns a table
    with a row for each; table.best is the one with the best validation score."""
    words = _words(ranks, hosts, mode, set) + (["--runs", str(runs)] if runs != 1 else [])
    for key, choices in values.items():
        texts = [choice if isinstance(choice, str) else json.dumps(choice) for choice in _listed(choices)]
        words += ["--sweep", f"{key}={','.join(texts)}"]
    folder = _training("train", words_of(config), words, dir, resume, on_epoch, progress, "-sweep")
    return table_of(folder, "sweep.json", "points")


def _json(command: str, config: ConfigLike, words: Sequence[str]) -> Dict[str, Any]:
    word, text = words_of(config)
    found: Dict[str, Any] = json.loads(answer([command, word, "--json", *words], text))
    return found


def partition(config: ConfigLike, parts: int = 2, *, set: Mapping[str, Any] = {}) -> Dict[str, Any]:
    """Cuts the graph of a config into parts, where training then finds them; returns sizes, balance and rows sent."""
    return _json("partition", config, ["--quiet", "--parts", str(parts), *settings(set)])


def plan(config: ConfigLike, ranks: Union[int, Sequence[int]] = (1, 2, 4, 8), *, ranks_per_host: Optional[int] = None,
         cores: Optional[float] = None, link: Optional[Tuple[float, float]] = None,
         compute: Optional[Tuple[float, float]] = None, set: Mapping[str, Any] = {}) -> Dict[str, Any]:
    """What training would take on these numbers of ranks, in every mode: memory, bytes, seconds. link: Gbit/s and seconds
    of latency; compute: GFLOP/s and GB/s of a core."""
    words = ["--quiet", "--ranks", ",".join(map(str, _listed(ranks)))]
    for name, value in (("ranks-per-host", ranks_per_host), ("cores", cores), ("link", link), ("compute", compute)):
        if value is not None:
            words += [f"--{name}", ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)]
    return _json("plan", config, [*words, *settings(set)])


def inspect(path: Union[str, "os.PathLike[str]", Run]) -> Dict[str, Any]:
    """What a file or folder holds: a run, a dataset, a checkpoint, a graph of any format that fringe reads."""
    return _json("inspect", path, [])


def generate(name: str, output: Optional[str] = None, *, seed: int = 1) -> str:
    """Makes a synthetic graph, "reddit-small" or "planted:nodes=2000,edges=30000", and returns its folder: `output`, or a
    folder of that name without signs that a folder cannot have."""
    output = os.path.abspath(output or "".join(sign if sign.isalnum() or sign in "-_." else "-" for sign in name))
    answer(["generate", name, "--output", output, "--seed", str(seed), "--quiet"])
    return output


class Arrays(Dict[str, np.ndarray]):
    """Arrays by name, also as attributes: found.embeddings."""

    def __init__(self, folder: str, record: Dict[str, Any]) -> None:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".npy"))
        super().__init__({name[:-4].replace("-", "_"): np.load(os.path.join(folder, name)) for name in names})
        self.folder = folder
        self.record = record  # program.json

    def __getattr__(self, name: str) -> np.ndarray:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no array '{name}', only {', '.join(self)}") from None


def program(name: str, config: ConfigLike, *, ranks: int = 1, hosts: Hosts = None, dir: Optional[str] = None,
            set: Mapping[str, Any] = {}, **keys: Any) -> Arrays:
    """Computes on the graph without a network ("components", "random-walk", "harmonic", "label-propagation", "spectral")
    and returns its arrays; keys are those of section program: program("spectral", config, pairs=16).embeddings."""
    given = words_of(config)
    words = [*_words(ranks, hosts, None, set), *settings({"program": keys})]
    folder = run_folder(*given, dir, f"-{name}")
    words = ["program", name, given[0], "--json", *words, "--output", folder, "--quiet"]
    try:
        record = json.loads(answer(words, given[1]))
    finally:
        if not os.listdir(folder):
            os.rmdir(folder)
    return Arrays(folder, record)


def predict(run: ConfigLike, new: Any = None, *, layer: Optional[int] = None, best: bool = False, ranks: int = 1,
            hosts: Hosts = None, output: Optional[str] = None, set: Mapping[str, Any] = {}) -> Predictions:
    """Ids, classes and scores, and with `layer` the rows that enter it (-1: the last), of all nodes of a run or of those
    of `new`: another graph, as a path, fringe.Data or a Data object of PyG. They are also written into `output` where it
    is given."""
    given = words_of(run)
    if layer is not None and layer < 0:
        layer += int(read_run(given[0]).config["model"]["layers"])
    folder = output or tempfile.mkdtemp(prefix="fringe-")
    words = [*_words(ranks, hosts, None, set), "--output", folder, "--quiet", *(["--best"] if best else [])]
    words += ["--layer", str(layer)] if layer is not None else []
    if new is not None:
        words += ["--data", path_of(new)]
    try:
        answer(["predict", given[0], *words], given[1])
        return read_predictions(folder, layer=layer, numeric=not os.path.exists(os.path.join(folder, "classes.npy")))
    finally:
        if output is None:
            shutil.rmtree(folder)
