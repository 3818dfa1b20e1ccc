"""Graphs in the formats of other programs, each read with the loader of those who made it, as arrays of PyG's names.

SPDX-License-Identifier: Apache-2.0
"""
import gzip
import importlib
import json
import os
import pickle
import sys

import numpy as np

from .datasets import fields_of
from .tensors import _array, _entries


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


def _say_left(names, of=""):
    """Names what is not converted, if there is any."""
    if names:
        _say(f"not converted{of}: {', '.join(map(str, names))}")


def _numpy(value):
    """Arrays of torch and scipy, sparse ones too; None if it is none of these."""
    if hasattr(value, "toarray"):
        return np.asarray(value.toarray())
    return _array(value) if hasattr(value, "shape") and len(getattr(value, "shape", ())) > 0 else None


PYG_NAMES = {"x": ("x", "feat", "features"), "y": ("y", "label", "labels"), "edge_index": ("edge_index",),
             "edge_weight": ("edge_weight",), "train_mask": ("train_mask",), "val_mask": ("val_mask", "valid_mask"),
             "test_mask": ("test_mask",), "train_idx": ("train_idx",), "val_idx": ("val_idx", "valid_idx"),
             "test_idx": ("test_idx",)}


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
    _say_left([name for name, value in fields.items() if name not in taken and _numpy(value) is not None])
    return arrays


def _of_adjacency(adjacency):
    """Ends and weights of PyG's adj_t, [target, source]: of torch_sparse, or a sparse tensor of torch."""
    target, source, weight = _entries(adjacency)
    return {"edge_index": np.stack([source, target]), "edge_weight": weight}


def _one_graph(path, data):
    """The graph of a file of PyG: (data, slices), since 2.4 (dict, slices, class); a list of graphs; or the graph."""
    slices = data[1] if isinstance(data, tuple) and len(data) > 1 else None
    graphs = max((len(ends) - 1 for ends in slices.values() if hasattr(ends, "__len__")), default=1) if isinstance(
        slices, dict) else len(data) if isinstance(data, list) else 1
    if graphs > 1:
        raise SystemExit(f"{path} holds {graphs} graphs, and fringe trains on one; save that one: torch.save(dataset[0], PATH)")
    while isinstance(data, (tuple, list)) and len(data) > 0:
        data = data[0]
    kinds = [key for key, value in fields_of(data).items() if isinstance(value, dict) and key != "_global_store"]
    if kinds and "edge_index" not in fields_of(data):
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
    fields = dict(fields_of(data))
    adjacency, nodes = fields.pop("adj_t", None), fields.pop("num_nodes", None)
    arrays = _of_fields(fields)
    if "edge_index" not in arrays and adjacency is not None:
        arrays.update(_of_adjacency(adjacency))
    if "edge_index" not in arrays:
        save = "; of an array numpy.save('x.npy', array) makes a file for data.features or data.labels" * hasattr(data, "shape")
        raise SystemExit(f"{path} holds a {type(data).__name__}; expected a graph: edge_index, and x and y where there are "
                         f"any{save}")
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
    if weights:
        arrays["edge_weight"] = _array(graph.edata[weights[0]]).ravel()
    _say_left([name for name in graph.edata if name not in weights[:1]], ", of edges")
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
    _say_left([key for key in found if key not in taken])
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


def _is_column(values, nodes):
    """Numbers or words, one for each node, that do not just name the nodes once more."""
    return all(v is None or isinstance(v, (str, int, float)) for v in values) and list(map(str, values)) != list(
        map(str, nodes)) and len({v for v in values if isinstance(v, str)}) < len(values)


def _node_arrays(graph, nodes, numbered):
    """Features and labels that all nodes have as attributes, under the names of PyG and DGL; columns of a table where
    there are none of these or nodes have names; names what is left."""
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
    if not (numbered and arrays):
        columns = {name: [graph.nodes[node].get(name) for node in nodes] for name in attributes if str(name) in left}
        arrays["columns"] = {str(name): values for name, values in columns.items() if _is_column(values, nodes)}
        left = [name for name in left if name not in arrays["columns"]]
    _say_left(left, ", of nodes")
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
    _say_left(sorted(map(str, left)), ", of edges")
    weight, numbered = _weights_of_edges(edges), set(map(str, graph)) == set(map(str, range(len(graph))))
    nodes = sorted(graph, key=int if numbered else str)
    arrays = {**_node_arrays(graph, nodes, numbered), "edge_weight": weight}
    if numbered and not arrays.get("columns"):
        arrays.pop("columns", None)
        return {"edge_index": np.array([[int(a) for a, _, _ in edges], [int(b) for _, b, _ in edges]], np.int64),
                "num_nodes": np.array([len(nodes)]), **arrays}
    return {"names": [(str(a), str(b)) for a, b, _ in edges], "node_names": [str(n) for n in nodes], **arrays}


def _are_lists_of_numbers(data):
    return isinstance(data, dict) and bool(data) and all(
        isinstance(row, list) and all(type(column) is int and column >= 0 for column in row) for row in data.values())


def _of_lists(data):
    """{id: [columns that are 1]}, as MUSAE has features: rows with ids, in CSR."""
    numbers = all(id.isdecimal() for id in data)
    ids = sorted(data, key=int) if numbers else sorted(data)
    columns = [np.unique(np.array(data[id], np.int64)) for id in ids]
    found = np.concatenate(columns)
    return {"ids": np.array([int(id) for id in ids] if numbers else ids), "attr_data": np.ones(len(found), np.float32),
            "attr_indices": found, "attr_indptr": np.cumsum([0, *map(len, columns)]),
            "attr_shape": np.array([len(ids), found.max(initial=0) + 1])}


def _read_json(path):
    with _opened(path) as f:
        return json.load(f)


def _of_wikics(data):
    """A list of neighbours a node, which count both ways, as in PyG; masks of training and validation, one a split."""
    pairs = np.array([(v, other) for v, row in enumerate(data["links"]) for other in row], np.int64).reshape(-1, 2)
    masks = {name: data[key] for name, key in (("train_mask", "train_masks"), ("val_mask", "val_masks"),
                                               ("test_mask", "test_mask")) if key in data}
    _say_left(sorted(data.keys() - {"features", "labels", "links", "train_masks", "val_masks", "test_mask"}))
    return {"edge_index": np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0).T,
            "x": np.array(data["features"], np.float32), "y": np.array(data["labels"]),
            **{name: np.array(rows, bool).T for name, rows in masks.items()}}


SPLITS = {"train", "val", "valid", "test"}


def _of_json(path, data):
    if _are_lists_of_numbers(data) and data.keys() <= SPLITS:
        _say("a split: name the file as data.splits")
        return {name: np.array(nodes, np.int64) for name, nodes in data.items()}
    if _are_lists_of_numbers(data):
        _say("rows of features by ids: name the file as data.nodes, or as data.features beside a data.nodes of the same ids "
             "(of neighbours, or members of hyperedges, write a line for each list)")
        return _of_lists(data)
    if isinstance(data, list) and data and all(isinstance(row, dict) for row in data):
        return _of_records(data)
    if isinstance(data, list) and data and all(isinstance(row, list) for row in data) and {len(row) for row in data} in ({2}, {3}):
        return {"table": (["source", "target", "weight"][:len(data[0])], [list(column) for column in zip(*data)])}
    if isinstance(data, dict) and {"features", "labels", "links"} <= data.keys():
        return _of_wikics(data)
    return _of_networkx(_graph_of_json(_need("networkx", "a graph in this format"), path, data))


def _graph_of_json(networkx, path, data):
    """The three forms of networkx.readwrite.json_graph; older versions call edges links."""
    if not isinstance(data, dict) or not {"nodes", "adjacency", "elements"} & set(data):
        raise SystemExit(f"{path} is no graph as networkx writes it (node_link_data, adjacency_data, cytoscape_data), and "
                         "no object of lists of features, {id: [column, ...]}, and no list of edges, [[source, target], ...]")
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
    if reader == "read_adjlist":
        _say("a list of neighbours does not say whether it is directed; it is read as undirected, as networkx does")
    try:
        return _of_networkx(_read_by_networkx(networkx, path, reader))
    except (networkx.NetworkXException, ValueError, SyntaxError) as refused:
        raise SystemExit(f"{path}: networkx does not read it: {refused}") from None


def _read_by_networkx(networkx, path, reader):
    try:
        found = getattr(networkx, reader)(path)
        if isinstance(found, list):
            raise SystemExit(f"{path} holds {len(found)} graphs, and fringe trains on one; keep one of its lines")
        return found
    except networkx.NetworkXError as refused:
        if "has no 'label' attribute" not in str(refused):
            raise
        return networkx.read_gml(path, label="id")  # which all have


def _opened(path):
    """The bytes of a file, unpacked if it is gzip."""
    with open(path, "rb") as f:
        packed = f.read(2) == b"\x1f\x8b"
    return gzip.open(path) if packed else open(path, "rb")


def _pickled(path):
    """A pickle may run any program: only from those whom you trust."""
    try:
        with _opened(path) as f:
            return pickle.load(f, encoding="latin1")
    except ModuleNotFoundError as missing:
        raise SystemExit(f"{path} holds objects of {missing.name}, which is not installed") from None


def _of_pickle(path, data):
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


def _from_graphsage(folder):
    """NAME-G.json, -class_map.json and -id_map.json, and -feats.npy if there is one. Ends of links are places of nodes, as
    networkx wrote them then, or ids."""
    name = next(f for f in sorted(os.listdir(folder)) if f.endswith("-class_map.json")).removesuffix("-class_map.json")
    path = os.path.join(folder, name)
    graph, classes, row = (_read_json(f"{path}-{kind}.json") for kind in ("G", "class_map", "id_map"))
    nodes = graph["nodes"]
    place = {node["id"]: i for i, node in enumerate(nodes)}
    ends = [(link["source"], link["target"]) for link in graph["links"]]
    ids = all(end in place for pair in ends for end in pair)
    places = all(isinstance(end, int) and 0 <= end < len(nodes) for pair in ends for end in pair)
    if ids and places and any(place[end] != end for pair in ends for end in pair):
        raise SystemExit(f"{path}-G.json has links whose ends may be ids or places of nodes")
    if not places:
        ends = [[place[end] if end in place else end for end in pair] for pair in ends]
    pairs = np.array(ends, np.int64).reshape(-1, 2)
    held = [(bool(node.get("val")), bool(node.get("test"))) for node in nodes]
    val, test = np.array(held, bool).reshape(-1, 2).T
    arrays = {"edge_index": np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0).T,
              "y": np.array([classes[str(node["id"])] for node in nodes]),
              "train_mask": ~val & ~test, "val_mask": val & ~test, "test_mask": test}
    if os.path.exists(path + "-feats.npy"):
        arrays["x"] = np.load(path + "-feats.npy").astype(np.float32)[[row[str(node["id"])] for node in nodes]]
    return arrays


def _from_ppi(folder):
    """train, valid and test, each a _graph.json of links between its nodes, _feats.npy and _labels.npy: one graph, with
    the nodes of each behind those before."""
    edges, x, y, sizes = [], [], [], []
    for kind in ("train", "valid", "test"):
        path = os.path.join(folder, kind)
        graph, features, labels = _read_json(path + "_graph.json"), np.load(path + "_feats.npy"), np.load(path + "_labels.npy")
        pairs = np.array([(link["source"], link["target"]) for link in graph["links"]], np.int64).reshape(-1, 2)
        if [node["id"] for node in graph["nodes"]] != list(range(len(features))) or len(labels) != len(features):
            raise SystemExit(f"{path}_graph.json has other nodes than the {len(features)} rows of features and "
                             f"{len(labels)} of labels")
        if pairs.min(initial=0) < 0 or pairs.max(initial=0) >= len(features):
            raise SystemExit(f"{path}_graph.json has links to nodes that are none of its {len(features)}")
        edges += [sum(sizes) + (pairs if graph.get("directed") else np.concatenate([pairs, pairs[:, ::-1]]))]
        x, y, sizes = [*x, features], [*y, labels], [*sizes, len(features)]
    masks = np.repeat(np.eye(3, dtype=bool), sizes, axis=1)
    return {"edge_index": np.unique(np.concatenate(edges), axis=0).T, "x": np.concatenate(x).astype(np.float32),
            "y": np.concatenate(y).astype(np.int64), "train_mask": masks[0], "val_mask": masks[1], "test_mask": masks[2]}


def _from_table(path, reader):
    """A table of pyarrow becomes a csv of the same columns; pandas' index is none of them."""
    _need("pyarrow", "a Parquet or Feather table")
    table = _need(f"pyarrow.{reader}", "a table").read_table(path)
    names = [name for name in table.column_names if not name.startswith("__index_level_")]
    return {"table": (names, [table.column(name).to_pylist() for name in names])}


def _of_records(rows):
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {"table": (names, [[row.get(name) for row in rows] for name in names])}


def _from_json_lines(path):
    """Each line is an object, a row of a table; its keys are the columns."""
    with _opened(path) as f:
        rows = [json.loads(line) for line in f if line.strip()]
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise SystemExit(f"{path} is no table: each of its lines must be a JSON object")
    return _of_records(rows)


def _of_csr(x):
    """Features as they are stored."""
    x = x.astype(np.float32)
    return {f"attr_{name}": np.asarray(getattr(x, name)) for name in ("data", "indices", "indptr", "shape")}


def _classes(y):
    """Numbers from 0, in ascending order of the values, which are said if they were others. Fractions are no classes."""
    if (y != np.floor(y)).any():
        return y.astype(np.float32)
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
    return {**arrays, **_of_csr(x)}
