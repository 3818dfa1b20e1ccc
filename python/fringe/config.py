"""What a call says about a config: a file, the name of a shipped one, the folder of a run, a dict, or dataclasses of keys.py.

SPDX-License-Identifier: Apache-2.0
"""
import dataclasses
import hashlib
import json
import os
import re
import tempfile
import warnings
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, Union

import numpy as np

from .datasets import OTHERS, fields_of, graph_of, write_dataset, write_hypergraph
from .tensors import _array, _entries

ConfigLike = Union[str, "os.PathLike[str]", Mapping[str, Any], Any]


@dataclasses.dataclass
class Data:
    """Arrays in the place of data.path: {"data": {"path": fringe.Data(edges, x, y, masks)}}; arguments as those of
    write_dataset. `edges` may be a Data object of PyG, also one with hyperedge_index. The arrays are written once, under
    their hash, into data.cache, from where `fringe cache prune` removes them."""

    edges: Any
    x: Any = None
    y: Any = None
    masks: Any = None
    weights: Any = None
    nodes: Optional[int] = None
    undirected: bool = False
    name: str = "arrays"
    split: Optional[int] = None

    def __post_init__(self) -> None:
        self.edges = graph_of(self.edges)

    def _write(self, folder: str) -> None:
        if hasattr(self.edges, "hyperedge_index"):
            write_hypergraph(folder, self.edges, self.x, self.y, self.masks, nodes=self.nodes, name=self.name)
        else:
            write_dataset(folder, self.edges, self.x, self.y, self.masks, weights=self.weights, nodes=self.nodes,
                          undirected=self.undirected, name=self.name, split=self.split)

    def store(self, cache: Optional[str] = None) -> str:
        """The folder of these arrays in the cache, which is written unless it is there."""
        cache = cache or cache_folder()
        folder = os.path.join(cache, "arrays-" + _hash(self))
        if not os.path.exists(os.path.join(folder, "dataset.json")):
            os.makedirs(cache, mode=0o700, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=os.path.basename(folder) + ".tmp-", dir=cache) as inside:
                self._write(os.path.join(inside, "arrays"))
                try:
                    os.rename(os.path.join(inside, "arrays"), folder)
                except OSError:  # another thread or process was faster; its arrays are the same
                    if not os.path.exists(os.path.join(folder, "dataset.json")):
                        raise
        else:
            os.utime(folder)  # `cache prune` goes by the last use
        return folder


def cache_folder() -> str:
    """That of the program where data.cache is empty."""
    home = os.environ.get("XDG_CACHE_HOME") or (os.environ.get("HOME") and os.path.join(os.environ["HOME"], ".cache"))
    return os.path.join(home, "fringe") if home else f"/tmp/fringe-cache-{os.getuid()}"


def is_of_pyg(value: Any) -> bool:
    """A Data object of PyG, or what graph_of refuses."""
    return any(hasattr(value, name) for name in ("edge_index", "hyperedge_index", *OTHERS))


def path_of(graph: Any) -> str:
    """Of a path, of fringe.Data or of a Data object of PyG."""
    graph = Data(graph) if is_of_pyg(graph) else graph
    if not isinstance(graph, (str, os.PathLike, Data)):
        raise TypeError(f"a graph is a path, fringe.Data(edges, x, y, masks) or a Data object of PyG, not a "
                        f"{type(graph).__name__}")
    return graph.store() if isinstance(graph, Data) else os.fspath(graph)


def _pieces(value: Any) -> Iterator[Any]:
    """The arrays and other values of `value`, in an order that does not change."""
    if isinstance(value, Mapping):
        for key in sorted(value, key=str):
            yield key
            yield from _pieces(value[key])
    elif is_of_pyg(value):
        yield from _pieces(fields_of(value))
    elif _entries(value) is not None:
        yield from (str(getattr(value, "shape", "")), *_entries(value))
    elif isinstance(value, (list, tuple)) and any(np.ndim(one) for one in value):
        for one in value:
            yield from _pieces(one)
    else:
        yield value


def _hash(data: Data) -> str:
    """32 hexadecimal digits of all that is written."""
    digest = hashlib.sha256()
    for piece in (piece for field in dataclasses.fields(data) for piece in _pieces(getattr(data, field.name))):
        if piece is None or isinstance(piece, (str, bool, int)):
            digest.update(repr(piece).encode())
        else:
            array = np.ascontiguousarray(_array(piece))
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(array.tobytes())
    return digest.hexdigest()[:32]


def _plain(value: Any) -> Any:
    """Dicts, lists, texts and numbers of what users write: dataclasses, paths, arrays and numbers of numpy."""
    if isinstance(value, Data):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        named = {field.name.rstrip("_"): getattr(value, field.name) for field in dataclasses.fields(value)}
        return {name: _plain(inner) for name, inner in named.items() if inner is not None}
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if is_of_pyg(value):
        return Data(value)
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _stored(config: Dict[str, Any]) -> Dict[str, Any]:
    """The config with folders in the place of arrays."""
    data = config.get("data")
    if isinstance(data, Data):
        data = {"path": data}
    if isinstance(data, dict) and not isinstance(data.get("path", ""), (str, Data)):
        path_of(data["path"])  # refuses it
    if isinstance(data, dict) and isinstance(data.get("path"), Data):
        with warnings.catch_warnings():
            if data.get("splits"):
                warnings.simplefilter("ignore")  # "no masks": the config draws them
            data = {**data, "path": data["path"].store(data.get("cache"))}
    return config if data is None else {**config, "data": data}


def settings(values: Mapping[str, Any], path: str = "") -> List[str]:
    """--set words of {"train.lr": 0.01} or {"train": {"lr": 0.01}}."""
    words: List[str] = []
    if not isinstance(values, Mapping):
        raise TypeError(f"set: expected a dict such as {{\"train.lr\": 0.01}}, not a {type(values).__name__}")
    for key, value in values.items():
        value = _plain(value)
        if isinstance(value, dict) and "." not in key and not path:
            words += settings(value, f"{key}.")
        else:
            words += ["--set", f"{path}{key}={value if isinstance(value, str) else json.dumps(value)}"]
    return words


def words_of(config: ConfigLike) -> Tuple[str, Optional[str]]:
    """The word of the command line that stands for a config, and the text that the word `-` is read from."""
    if hasattr(config, "folder"):  # a Run
        return os.fspath(config.folder), None
    if isinstance(config, (str, os.PathLike)):
        return os.fspath(config), None
    plain = _plain(config)
    if not isinstance(plain, dict):
        graph = "; a graph is the value of its key data: {\"data\": graph}" if hasattr(config, "edges") or hasattr(
            config, "edge_index") else ""
        raise TypeError(f"a config is a dict, a fringe.Config or the path of a file, not a {type(config).__name__}{graph}")
    return "-", json.dumps(_stored(plain))


def _own_folder(word: str, text: Optional[str]) -> Optional[str]:
    """run.dir of a dict or of a file of JSON."""
    if text is None and os.path.isfile(word) and word.endswith(".json"):
        with open(word, encoding="utf-8") as f:
            text = f.read()
    try:
        section = json.loads(text or "{}").get("run", {})
        return section.get("dir") or None
    except (ValueError, AttributeError):
        return None  # the program says what is wrong with it


def name_of(word: str, text: Optional[str] = None) -> str:
    """What the folders of its runs are called: as the file of the config or, of a dict, as its data."""
    if text is not None:
        data = json.loads(text).get("data", {})
        word = str(data.get("path", "")) if isinstance(data, dict) else ""
        if os.path.basename(word).startswith("arrays-"):
            return "arrays"
    stem = re.sub(r"\.(json|npz|graph|hgr|csv|tsv|txt|gz|mtx|events)$", "", os.path.basename(os.path.normpath(word)))
    if text is None and os.path.isdir(word):
        stem = re.sub(r"-\d+$", "", stem)  # the folder of a run
    return re.sub(r"[^A-Za-z0-9_-]", "-", stem).strip("-") or "run"


def run_folder(word: str, text: Optional[str], dir: Optional[str], kind: str = "") -> str:
    """A folder that no run has: `dir` or run.dir, or dir-2, dir-3, ... where there is one; without these the first free
    runs/NAME-N. It is made at once, so that two calls at the same time never share one."""
    dir = dir or _own_folder(word, text)
    base = os.path.abspath(os.fspath(dir) if dir else os.path.join("runs", name_of(word, text) + kind))
    if dir and not (os.path.isdir(base) and os.listdir(base)):
        os.makedirs(base, exist_ok=True)
        return base
    number = 2 if dir else 1
    while True:
        try:
            os.makedirs(f"{base}-{number}")
            return f"{base}-{number}"
        except FileExistsError:
            number += 1


def last_folder(word: str, text: Optional[str], dir: Optional[str], kind: str = "") -> Optional[str]:
    """The folder that a training would be resumed from: that of a run itself, `dir` or run.dir, or the last of
    runs/NAME-N."""
    if text is None and os.path.exists(os.path.join(word, "run.json")):
        return os.path.abspath(word)
    dir = dir or _own_folder(word, text)
    if dir:
        return os.path.abspath(dir)
    name, found = re.escape(name_of(word, text) + kind), []
    for entry in os.listdir("runs") if os.path.isdir("runs") else []:
        match = re.fullmatch(name + r"-(\d+)", entry)
        if match:
            found.append((int(match[1]), entry))
    return os.path.abspath(os.path.join("runs", max(found)[1])) if found else None
