"""Which loader reads a file of another program, and what is written: an .npz, or a .csv where ids are names.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import re

import numpy as np

from .formats import (_from_dgl, _from_graphsage, _from_hdf, _from_json_lines, _from_matlab, _from_networkx,
                      _from_planetoid, _from_ppi, _from_svmlight, _from_table, _from_torch, _of_json, _of_pickle,
                      _opened, _pickled, _read_json, _say)
from .hypergraphs import are_members, from_hypergcn, from_simplices, of_hif, of_members, of_xgi
from .process import answer


def _from_json(path):
    data = _read_json(path)
    if isinstance(data, dict) and "incidences" in data:
        return of_hif(data)
    return of_xgi(data) if isinstance(data, dict) and "edge-dict" in data else _of_json(path, data)


def _from_pickle(path):
    data = _pickled(path)
    return of_members(path, data) if are_members(data) else _of_pickle(path, data)


NETWORKX = {".gml": "read_gml", ".graphml": "read_graphml", ".gexf": "read_gexf", ".net": "read_pajek",
            ".paj": "read_pajek", ".adjlist": "read_adjlist", ".g6": "read_graph6", ".graph6": "read_graph6",
            ".s6": "read_sparse6", ".sparse6": "read_sparse6", ".leda": "read_leda", ".lgr": "read_leda"}
LOADERS = {".pt": _from_torch, ".pth": _from_torch, ".bin": _from_dgl, ".mat": _from_matlab, ".h5": _from_hdf,
           ".pkl": _from_pickle, ".pickle": _from_pickle, ".gpickle": _from_pickle, ".p": _from_pickle,
           ".svmlight": _from_svmlight, ".libsvm": _from_svmlight, ".svm": _from_svmlight, ".jsonl": _from_json_lines,
           ".json": _from_json,
           ".parquet": lambda p: _from_table(p, "parquet"),
           ".feather": lambda p: _from_table(p, "feather"), ".arrow": lambda p: _from_table(p, "feather")}
BEGINNINGS = {b"PAR1": ".parquet", b"ARROW1": ".feather", b"FEA1": ".feather", b"MATLAB 5.0": ".mat", b"\x89HDF": ".h5",
              b"\x80": ".pkl", b"*vertices": ".net", b"graph [": ".gml",
              b">>graph6<<": ".g6", b">>sparse6<<": ".s6", b"LEDA.GRAPH": ".leda"}


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


FOLDERS = {"hypergraph.pickle": (from_hypergcn, "folder of HyperGCN"),  # by a file that has such an end
           ".allx": (_from_planetoid, "folder of Planetoid"),
           "-class_map.json": (_from_graphsage, "folder of GraphSAGE"),
           "_graph_id.npy": (_from_ppi, "folder of PPI")}
SIMPLICES = ("-nverts.txt", "-simplices.txt", "-nverts.txt.gz", "-simplices.txt.gz")


def _folder(path):
    """The loader of a folder that others made, and what it is; None: nobody's."""
    return next((FOLDERS[end] for end in FOLDERS for name in os.listdir(path) if name.endswith(end)), None)


def _loader(path):
    """What reads a file or folder, and what it is."""
    if os.path.isdir(path):
        return _folder(path) or FOLDERS[".allx"]
    if path.endswith(SIMPLICES):
        return from_simplices, "list of simplices"
    kind = _kind(path)
    if kind in NETWORKX:
        return lambda p: _from_networkx(p, NETWORKX[kind]), f"'{kind}'"
    if kind not in LOADERS:
        raise SystemExit(f"{path}: '{kind}' is none of {', '.join(sorted([*NETWORKX, *LOADERS]))}")
    return LOADERS[kind], f"'{kind}'"


def _load(path):
    loader, what = _loader(path)
    try:
        return loader(path)
    except Exception as refused:  # whatever its loader has for files that are cut off, or of another kind
        raise SystemExit(f"{path} is not read, so it is perhaps damaged or no {what}: "
                         f"{(str(refused) or type(refused).__name__).splitlines()[0]}") from None


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
    _write_nodes(stem, arrays, {name for pair in arrays["names"] for name in pair})
    return stem + ".csv"


def _write_pins(stem, arrays):
    """A line for each pin, and beside them the nodes, likewise."""
    _write_csv(stem + ".pins.csv", list(arrays["pins"]), arrays["pins"].values())
    _write_nodes(stem, arrays, set(arrays["pins"]["node"]))
    return stem + ".pins.csv"


def _write_nodes(stem, arrays, linked):
    """A table of the nodes, unless it would say no more than `linked`, the names of those in edges."""
    alone = len(set(arrays["node_names"]) - linked)
    attributes = arrays.get("columns", {})
    if "x" not in arrays and "y" not in arrays and alone == 0 and not attributes:
        return
    names, columns = ["id"], [arrays["node_names"]]
    if "y" in arrays:
        names.append("label")
        columns.append(arrays["y"].ravel().tolist())
    if "x" in arrays:
        names += [f"x{c}" for c in range(arrays["x"].shape[1])]
        columns += arrays["x"].T.tolist()
    names, columns = names + list(attributes), columns + list(attributes.values())
    _write_csv(stem + "-nodes.csv", names, columns)
    _say(f"nodes are in {stem}-nodes.csv ({alone} of them without an edge): name it as data.nodes")


def is_for_python(path: str) -> bool:
    """True of what convert reads with another program's loader, or refuses; False of what fringe reads itself, and of
    configs."""
    if os.path.isdir(path):
        return not os.listdir(path) or _folder(path) is not None
    if path.endswith(SIMPLICES):
        return True
    if not os.path.exists(path):
        return False
    kind = _kind(path)
    if kind != ".json":
        return kind in NETWORKX or kind in LOADERS
    with _opened(path) as f:
        try:
            found = json.load(f)
        except ValueError:
            return True
    return not (isinstance(found, dict) and "data" in found and "elements" not in found)  # as configs have


def convert(path: str, out: str) -> str:
    """Converts a file of another program with the loaders of those who made its format. Returns what was written: an .npz
    of PyG's arrays, a .csv where ids are names or the file is a table, or a .pins.csv of a hypergraph. A pickle may run any
    program: convert only files from those whom you trust. What fringe reads itself, and configs, the program converts:
    `out` is then a dataset folder, an .npz or a METIS .graph."""
    if os.path.exists(path) and not is_for_python(path):
        answer(["convert", path, out, "--force", "--quiet"])
        return out
    arrays = {key: value for key, value in _load(path).items() if value is not None}
    stem = os.path.splitext(out)[0].removesuffix(".pins")
    if "pins" in arrays:
        return _write_pins(stem, arrays)
    if "names" in arrays:
        return _write_named(stem, arrays)
    if "table" in arrays:
        _write_csv(stem + ".csv", *arrays["table"])
        return stem + ".csv"
    out = out if out.endswith(".npz") else stem + ".npz"
    np.savez(out, **arrays)
    return out
