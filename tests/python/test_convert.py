# once
"""If this failed, fringe.convert would make another graph of a file than the one that its maker has saved, or lose a part
of it without a word.

Every file is written by the savers of those who made its format; what comes back is compared with what went in, and for
one file of a format with what the program reads. Parts whose package is not installed are skipped, and named.
"""
import contextlib
import csv
import gzip
import importlib.util
import io
import json
import os
import pickle
import re
import subprocess
import sys

from interpreter import start_over
from program import FRINGE, call, command, own_folder, write, write_json

start_over("numpy", "python3-numpy")

import numpy as np

import fringe

# --- one graph for all: directed, with weights, a loop, and a last node without edges

NODES, RANDOM = 30, np.random.default_rng(4)
EDGES = RANDOM.permutation(np.argwhere(RANDOM.random((NODES - 1, NODES - 1)) < 0.1)).T  # in no order
WEIGHTS = (RANDOM.integers(1, 50, EDGES.shape[1]) / 4).astype(np.float32)
X = RANDOM.standard_normal((NODES, 6)).astype(np.float32)
Y = RANDOM.integers(0, 3, NODES)
MANY = RANDOM.integers(0, 2, (NODES, 4))
MASKS = {f"{name}_mask": RANDOM.permutation(np.arange(NODES) % 3 == k) for k, name in enumerate(("train", "val", "test"))}
MASKS["val_mask"] &= ~MASKS["train_mask"]
MASKS["test_mask"] &= ~(MASKS["train_mask"] | MASKS["val_mask"])


def quietly(call, *arguments):
    """What it returns, and what it said on standard error."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        return call(*arguments), said.getvalue()


REFUSED = set()  # kinds of files whose refusal has been followed


def follow_refusal(path):
    """The program reads no such file, and names a command that converts it."""
    kind = os.path.splitext(path.removesuffix(".gz"))[1] or path
    if kind in REFUSED:
        return
    REFUSED.add(kind)
    write_json("refused.json", {"data": {"path": path}})
    done = call("config", "check", "--files", "refused.json")
    line = re.search(r"convert (?:it|them): (python3 .*)$", done.stderr, re.M)
    assert done.returncode == 65 and line, (path, done.returncode, done.stderr)
    for name in ("graph.npz", "graph.csv", "graph.pins.csv"):
        with contextlib.suppress(FileNotFoundError):
            os.remove(name)
    ran = subprocess.run(line[1].replace("python3", sys.executable, 1), shell=True, capture_output=True, text=True)
    assert ran.returncode == 0 and re.fullmatch(r"wrote graph\.(npz|csv|pins\.csv)\n", ran.stdout), (line[1], ran.stdout, ran.stderr)


def wrote(path):
    """The file that convert makes, and what was said."""
    follow_refusal(path)
    return quietly(fringe.convert, path, "out.npz")


def converted(path):
    """The arrays, and what was said."""
    out, said = wrote(path)
    with np.load(out) as file:
        return dict(file), said


def refused(words, path):
    try:
        quietly(fringe.convert, path, "out.npz")
    except SystemExit as stop:
        assert words in str(stop), (words, str(stop))
    else:
        raise AssertionError(f"{path} was converted; expected: {words}")


def same_edges(found, edges=EDGES, weights=None):
    order, want = np.lexsort(found["edge_index"]), np.lexsort(edges)
    assert np.array_equal(found["edge_index"][:, order], np.asarray(edges)[:, want]), found["edge_index"]
    assert (weights is None) == ("edge_weight" not in found), found.keys()
    if weights is not None:
        assert np.array_equal(found["edge_weight"][order], np.asarray(weights)[want])


def same(found, **arrays):
    """Exactly these arrays beside those of edges."""
    assert set(found) - {"edge_index", "edge_weight", "num_nodes"} == set(arrays), (set(found), set(arrays))
    for name, array in arrays.items():
        assert found[name].shape == array.shape and (found[name] == array).all(), name


def gives(path, weights=None, **arrays):
    """What is converted: these edges, and exactly these arrays if any are named."""
    found, said = converted(path)
    same_edges(found, weights=weights)
    if arrays:
        same(found, **arrays)
    return found, said


def program_reads(path, *words):
    """The arrays that the program makes of a converted file."""
    command("convert", path, "read/", "--force", "--quiet", *words)
    return fringe.read_dataset("read")


def names_read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


# --- by maker


def files_of_torch():
    """torch_geometric's InMemoryDataset keeps (data, slices), since 2.4 (dict, slices, class); also graphs by themselves."""
    import torch
    from torch_geometric.data import Batch, Data, HeteroData, InMemoryDataset

    tensors = {name: torch.from_numpy(array) for name, array in {"x": X, "y": Y, "edge_index": EDGES, **MASKS}.items()}
    whole, weight = Data(**tensors), torch.from_numpy(WEIGHTS)
    bare = Data(edge_index=tensors["edge_index"], x=tensors["x"], y=tensors["y"])  # as Amazon has it
    InMemoryDataset.save([whole], "new.pt")
    assert isinstance(torch.load("new.pt", weights_only=False)[0], dict)
    torch.save((whole, None), "old.pt")
    torch.save((whole, {"x": torch.tensor([0, NODES]), "edge_index": torch.tensor([0, EDGES.shape[1]])}), "sliced.pt")
    torch.save(whole, "graph.pt")
    write("graph.pkl", pickle.dumps(whole))
    for path in ("new.pt", "old.pt", "sliced.pt", "graph.pt", "graph.pkl"):
        said = gives(path, x=X, y=Y, **MASKS)[1]
        assert said == "", said
    read = program_reads("out.npz")
    assert np.array_equal(read.features, X) and np.array_equal(read.labels, Y)
    assert np.array_equal(read.masks["validation"], MASKS["val_mask"])

    InMemoryDataset.save([bare], "bare.pt")
    gives("bare.pt", x=X, y=Y)
    for kind, value in (("edge_weight", weight), ("edge_attr", weight), ("edge_attr", weight[:, None])):
        torch.save(Data(edge_index=tensors["edge_index"], num_nodes=NODES, **{kind: value}), "w.pt")
        found, said = gives("w.pt", WEIGHTS)
        assert found["num_nodes"] == NODES and said == "", said
    assert program_reads("out.npz").edges.shape == EDGES.shape and len(program_reads("out.npz").masks["train"]) == NODES
    torch.save(Data(edge_index=tensors["edge_index"], edge_attr=torch.ones(EDGES.shape[1], 3), pos=tensors["x"]), "attr.pt")
    said = gives("attr.pt")[1]
    assert "not converted: edge_attr, pos" in said, said

    # what ToSparseTensor makes without torch_sparse: rows are targets
    values = torch.sparse_coo_tensor(tensors["edge_index"].flip(0), weight, (NODES, NODES)).coalesce()
    for adjacency in (values, values.to_sparse_csr()):
        torch.save(Data(x=tensors["x"].to_sparse(), y=torch.from_numpy(MANY).float(), adj_t=adjacency), "adj.pt")
        gives("adj.pt", WEIGHTS, x=X, y=MANY)
    assert np.array_equal(program_reads("out.npz").labels, MANY)

    InMemoryDataset.save([bare, bare], "two.pt")
    refused("two.pt holds 2 graphs", "two.pt")
    torch.save([bare, bare, bare], "three.pt")
    refused("three.pt holds 3 graphs", "three.pt")
    torch.save(Batch.from_data_list([bare, bare])[0], "one.pt")
    gives("one.pt")
    several = HeteroData()
    several["a"].x, several["a", "to", "a"].edge_index = tensors["x"], tensors["edge_index"]
    torch.save(several, "several.pt")
    refused("of several types", "several.pt")
    InMemoryDataset.save([several], "several.pt")
    refused("of several types", "several.pt")
    torch.save(torch.nn.Linear(2, 2).state_dict(), "weights.pt")
    refused("expected a graph: edge_index", "weights.pt")


def files_of_dgl():
    import dgl
    import torch

    graph = dgl.graph((torch.from_numpy(EDGES[0]), torch.from_numpy(EDGES[1])), num_nodes=NODES)
    graph.ndata.update({"feat": torch.from_numpy(X), "label": torch.from_numpy(Y),
                        **{name: torch.from_numpy(mask) for name, mask in MASKS.items()}})
    dgl.save_graphs("plain.bin", [graph])
    found, said = gives("plain.bin", x=X, y=Y, **MASKS)
    assert said == "" and found["num_nodes"] == NODES
    graph.edata["w"], graph.edata["feat"] = torch.from_numpy(WEIGHTS), torch.ones(EDGES.shape[1], 2)
    dgl.save_graphs("weights.bin", [graph], {"glabel": torch.zeros(1)})
    said = gives("weights.bin", WEIGHTS)[1]
    assert "not converted, of edges: feat" in said, said
    dgl.save_graphs("two.bin", [graph, graph])
    refused("two.bin holds 2 graphs", "two.bin")
    dgl.save_graphs("several.bin", [dgl.heterograph({("a", "to", "b"): ([0, 1], [1, 0])})])
    refused("of several types", "several.bin")


WRITERS = {"gml": "write_gml", "graphml": "write_graphml", "gexf": "write_gexf", "graphml.gz": "write_graphml", "net": "write_pajek"}


def graphs_of_networkx():
    """Nodes that are numbers from 0; an undirected edge is written in both directions, a loop once."""
    import networkx

    graph = networkx.DiGraph()
    graph.add_nodes_from(range(NODES))
    graph.add_weighted_edges_from((int(a), int(b), float(w)) for (a, b), w in zip(EDGES.T, WEIGHTS))
    for ending, writer in WRITERS.items():
        getattr(networkx, writer)(graph, f"g.{ending}")
        assert gives(f"g.{ending}", WEIGHTS)[0]["num_nodes"] == NODES, ending
    assert len(program_reads("out.npz").masks["train"]) == NODES
    os.replace("g.graphml", "g.xml")  # told by its first bytes
    gives("g.xml", WEIGHTS)
    for write_as in networkx.write_graph6, networkx.write_sparse6:
        write_as(networkx.path_graph(4), f"g.{write_as.__name__[6]}6", header=False)
        found, said = converted(f"g.{write_as.__name__[6]}6")
        assert sorted(map(tuple, found["edge_index"].T.tolist())) == [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)], said
    networkx.write_adjlist(graph, "g.adjlist")
    found, said = converted("g.adjlist")
    assert "it is read as undirected" in said and found["num_nodes"] == NODES, said
    forms = {"new": networkx.node_link_data(graph), "old": networkx.node_link_data(graph, edges="links"),
             "adjacency": networkx.adjacency_data(graph), "cytoscape": networkx.cytoscape_data(graph)}
    for name, form in forms.items():
        write(f"{name}.json.gz", gzip.compress(json.dumps(form).encode()))
        gives(f"{name}.json.gz", WEIGHTS)
    write_json("list.json", [1, 2])
    refused("no graph as networkx writes it", "list.json")
    write_json("list.json", [[2, 0, 0.5], [0, 1, 1.5]])
    assert names_read(wrote("list.json")[0]) == [["source", "target", "weight"], ["2", "0", "0.5"], ["0", "1", "1.5"]]
    for name, last in (("ids", "1 target 0"), ("twice", "0 target 1")):
        write(f"{name}.gml", "graph [ directed 1 node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] edge [ source "
                             f"{last} ] ]")
    assert converted("ids.gml")[0]["edge_index"].tolist() == [[0, 1], [1, 0]]
    refused("twice.gml: networkx does not read it: edge #1", "twice.gml")
    for node in graph:
        graph.nodes[node].update(x=X[node].tolist(), y=int(Y[node]), colour="red")
    write("g.gpickle", pickle.dumps(graph))
    said = gives("g.gpickle", WEIGHTS, x=X, y=Y)[1]
    assert "not converted, of nodes: colour" in said, said
    for node in graph:  # without x and y a table has what there is
        graph.nodes[node].clear()
        graph.nodes[node].update(group="ab"[node % 2], age=node / 4, place=str(node), at=[1, 2])
    write("g.gpickle", pickle.dumps(graph))
    out, said = wrote("g.gpickle")
    rows = names_read("out-nodes.csv")
    assert rows[:3] == [["id", "group", "age"], ["0", "a", "0.0"], ["1", "b", "0.25"]] and len(rows) == NODES + 1, rows
    assert names_read(out)[0] == ["source", "target", "weight"] and "not converted, of nodes: place, at" in said, said
    for name in ("cut.gpickle", "cut.svmlight", "cut.json"):
        write(name, b"\x80\x04\x95 cut")
        refused(f"{name} is not read, so it is perhaps damaged", name)
    once = networkx.Graph([(0, 1), (1, 1), (2, 0)])
    networkx.write_gml(once, "once.gml")
    same_edges(converted("once.gml")[0], [[0, 1, 1, 2, 0], [1, 0, 1, 0, 2]])


ODD_NAMES = ["b", "#a", "c, d", " e", 'f"g', "h;i", "//j", "k\tl", "Ωμέγα", "%m"]


def names_of_networkx():
    """Names survive whatever they look like; so do nodes without an edge, and features and labels of named nodes."""
    import networkx

    ring = list(zip(ODD_NAMES, ODD_NAMES[1:] + ODD_NAMES[:1]))
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from((a, b, 0.5 + k) for k, (a, b) in enumerate(ring))
    for ending, writer in WRITERS.items():
        if ending == "net":
            continue  # Pajek's names have no blanks or quotes
        getattr(networkx, writer)(graph, f"n.{ending}")
        out, _ = wrote(f"n.{ending}")
        rows = names_read(out)
        assert rows[0] == ["source", "target", "weight"] and not os.path.exists("out-nodes.csv")
        assert sorted((a, b, float(w)) for a, b, w in rows[1:]) == sorted(graph.edges(data="weight")), ending
        command("convert", out, "named/", "--force", "--quiet")
        read, order = fringe.read_dataset("named"), sorted(name.encode() for name in ODD_NAMES)
        stored = {(order[a].decode(), order[b].decode(), w) for a, b, w in zip(*read.edges, read.weights)}
        assert stored == set(graph.edges(data="weight")), ending
    graph.add_node("alone")
    del graph["b"]["#a"]["weight"]
    for number, node in enumerate(graph):
        graph.nodes[node].update(feat=[number, 0.5], label=number % 2)
    write("n.pkl", pickle.dumps(graph))
    out, said = wrote("n.pkl")
    assert "out-nodes.csv (1 of them without an edge): name it as data.nodes" in said, said
    assert "1 of 10 edges have no weight and count 1" in said, said
    assert {tuple(row) for row in names_read(out)[1:]} >= {("b", "#a", "1.0"), ("#a", "c, d", "1.5")}
    rows = names_read("out-nodes.csv")
    assert rows[0] == ["id", "label", "x0", "x1"] and {row[0] for row in rows[1:]} == {"alone", *ODD_NAMES}
    read = program_reads(out, "--set", "data.nodes=out-nodes.csv")
    want = {name.encode(): (float(k), k % 2) for k, name in enumerate(graph)}
    assert [(x, y) for x, y in zip(read.features[:, 0], read.labels)] == [want[name] for name in sorted(want)]
    networkx.write_gml(networkx.Graph([("a\nb", "c")]), "line.gml", stringizer=str)
    refused("has a line break", "line.gml")


def matrices_of_scipy():
    import scipy.io
    import scipy.sparse as sp

    matrix = sp.coo_matrix((WEIGHTS, tuple(EDGES)), (NODES, NODES))
    many, square = sp.csc_matrix(MANY), np.eye(NODES)  # square: dense, before the sparse one in the file
    scipy.io.savemat("m.mat", {"attrb": X, "square": square, "network": matrix.tocsc(), "group": many, "word": "text"})
    said = gives("m.mat", WEIGHTS, x=X, y=MANY)[1]
    assert "not converted: square, word" in said, said
    scipy.io.savemat("m.mat", {"A": matrix.tocsr() != 0, "Y": Y[None, :]}, do_compression=True)
    assert gives("m.mat", y=Y)[0]["num_nodes"] == NODES
    scipy.io.savemat("m.mat", {"Problem": {"A": matrix.tocsc(), "title": "t"}})  # as SuiteSparse has it
    gives("m.mat", WEIGHTS)
    scipy.io.savemat("m.mat", {"X": X})
    refused("none of its arrays is a square matrix: X", "m.mat")
    zeros = matrix.tocsr(copy=True)
    zeros.data[0] = 0
    write("s.pkl", pickle.dumps(zeros, protocol=2))
    assert converted("s.pkl")[0]["edge_index"].shape[1] == EDGES.shape[1] - 1
    write("dict.pkl.gz", gzip.compress(pickle.dumps({"edge_index": EDGES, "x": sp.csr_matrix(X), "labels": Y, "note": "n"})))
    gives("dict.pkl.gz", x=X, y=Y)
    write("s.pkl", pickle.dumps(sp.csr_matrix(X)))
    refused("is 30 x 6; that of a graph is square", "s.pkl")
    write("s.pkl", pickle.dumps(3))
    refused("holds a int", "s.pkl")


def matrices_of_hdf():
    """MATLAB 7.3, as MATLAB lays it out."""
    import h5py
    import scipy.sparse as sp

    matrix = sp.csc_matrix((WEIGHTS.astype(float), tuple(EDGES)), (NODES, NODES))
    with h5py.File("m.mat", "w", userblock_size=512) as file:
        group = file.create_group("A")
        group.attrs["MATLAB_sparse"] = np.uint64(NODES)
        for name, value in (("data", matrix.data), ("ir", matrix.indices.astype(np.uint64)), ("jc", matrix.indptr.astype(np.uint64))):
            group[name] = value
        file["X"], file["label"] = X.T, Y[:, None].T.astype(float)
    with open("m.mat", "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    with h5py.File("m.h5", "w") as file:
        file["net"], file["X"], file["label"] = matrix.toarray().T, X.T, Y[:, None].T.astype(float)
    for path in ("m.mat", "m.h5"):
        gives(path, WEIGHTS, x=X, y=Y)


def planetoid(folder):
    """520 nodes, 4 for training and the last 10 for test but for one, which no list names: PyG knows this of citeseer. The
    graph lists some edges twice, and loops. Returns what PyG has of them."""
    import scipy.sparse as sp
    os.makedirs(folder)
    nodes, known, lost = 520, 510, 515
    x, y = RANDOM.integers(0, 2, (nodes, 3)).astype(np.float32), np.eye(2, dtype=np.int64)[RANDOM.integers(0, 2, nodes)]
    y[lost] = x[lost] = 0
    test = RANDOM.permutation([v for v in range(known, nodes) if v != lost])
    ends = {tuple(pair) for pair in RANDOM.integers(0, nodes, (900, 2)).tolist()} | {(7, 7)}
    graph = {a: [b for c, b in sorted(ends | {(b, a) for a, b in ends}) if c == a] for a in range(nodes)}
    graph[7] += graph[7]
    parts = {"x": sp.csr_matrix(x[:4]), "tx": sp.csr_matrix(x[test]), "allx": sp.csr_matrix(x[:known]), "y": y[:4],
             "ty": y[test], "ally": y[:known], "graph": graph}
    for kind, value in parts.items():
        write(os.path.join(folder, f"ind.citeseer.{kind}"), pickle.dumps(value, protocol=2))
    np.savetxt(os.path.join(folder, "ind.citeseer.test.index"), test, "%d")
    rows, masks = np.arange(nodes), {}
    masks.update(train_mask=rows < 4, val_mask=(rows >= 4) & (rows < 504), test_mask=np.isin(rows, test))
    edges = np.array([(a, b) for a in graph for b in sorted(set(graph[a]) - {a})]).T
    return edges, {"x": x, "y": np.where(y.any(1), y.argmax(1), -1), **masks}


def files_of_planetoid():
    edges, arrays = planetoid("planetoid")
    found, _ = converted("planetoid")
    same(found, **arrays)
    same_edges(found, edges)
    read = program_reads("out.npz")
    assert np.array_equal(read.labels, arrays["y"]) and np.array_equal(read.masks["test"], arrays["test_mask"])
    os.makedirs("empty")
    refused("no folder of Planetoid", "empty")


def planetoid_of_pyg():
    """PyG's own reader makes the same arrays, but for the label of the node that no list names."""
    from torch_geometric.io import read_planetoid_data

    planetoid("mini")
    data, (found, _) = read_planetoid_data("mini", "citeseer"), converted("mini")
    known = found["y"] >= 0
    same_edges(found, data.edge_index.numpy())
    same({**found, "y": found["y"][known]}, x=data.x.numpy(), y=data.y.numpy()[known],
         **{name: data[name].numpy() for name in ("train_mask", "val_mask", "test_mask")})
    assert known.sum() == len(known) - 1


def tables_of_pandas():
    """With text ids, an index that is kept, and a column that is none of a graph's."""
    import pandas

    frame = pandas.DataFrame({"source": ["b", "a,1", "#c"], "target": ["a,1", "b", "b"], "weight": [1.5, 2.5, 0.25],
                              "when": pandas.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"])}, index=["r", "s", "t"])
    frame.to_parquet("t.parquet")
    frame.reset_index(drop=True).to_feather("t.feather")
    frame.to_pickle("t.pkl")
    os.link("t.parquet", "part-0")  # told by its first bytes
    frame.to_json("t.jsonl", orient="records", lines=True)
    frame.to_json("t.json", orient="records")
    for path in ("t.parquet", "t.feather", "t.pkl", "t.jsonl", "t.json", "part-0"):
        rows = names_read(wrote(path)[0])
        assert rows[0] == ["source", "target", "weight", "when"], rows[0]
        assert [(a, b, float(w)) for a, b, w, _ in rows[1:]] == list(frame[["source", "target", "weight"]].itertuples(
            index=False, name=None)), path
    read = program_reads("out.csv")
    assert sorted(zip(*read.edges.tolist(), read.weights.tolist())) == [(0, 2, 0.25), (1, 2, 2.5), (2, 1, 1.5)]


def files_of_sklearn():
    """Rows without edges; classes that are -1 and 1 are two classes, for -1 means none."""
    from sklearn.datasets import dump_svmlight_file

    x = np.where(X > 0, X, 0)
    for labels, words in ((Y, ""), (2 * (Y > 0) - 1, "classes: -1 is 0, 1 is 1"), (MANY, "")):
        dump_svmlight_file(x, labels, "f.svmlight", multilabel=labels.ndim == 2)
        found, said = converted("f.svmlight")
        assert said.strip() == words, said
        read = program_reads("out.npz")
        assert np.allclose(read.features, x, rtol=1e-6) and read.edges.shape == (2, 0)
        assert np.array_equal(read.labels, labels if words == "" else (labels + 1) // 2)
    dump_svmlight_file(x, X[:, 0], "f.svmlight")
    found, said = converted("f.svmlight")
    assert np.allclose(found["labels"], X[:, 0]) and said == "", said


def lists_of_json():
    """Features as MUSAE has them, for data.nodes and data.features; a split; ids in no order, and none twice."""
    rows = {"10": [3, 1, 1], "2": [], "1": [0]}
    write_json("f.json", rows)
    found, said = converted("f.json")
    assert "data.nodes" in said and found["ids"].tolist() == [1, 2, 10] and found["attr_shape"].tolist() == [3, 4]
    assert found["attr_indptr"].tolist() == [0, 1, 1, 3] and found["attr_indices"].tolist() == [0, 1, 3]
    write("e.txt", "1 10\n10 2\n2 1\n")
    for key in ("nodes", "features"):
        write_json("c.json", {"data": {"path": "e.txt", key: "out.npz"}})
        subprocess.run([FRINGE, "convert", "c.json", "read.npz", "--force", "--quiet"], check=True)
        with np.load("read.npz") as read:
            dense = np.zeros((3, 4))
            for row in range(3):
                dense[row, read["attr_indices"][read["attr_indptr"][row]:read["attr_indptr"][row + 1]]] = 1
        assert np.array_equal(dense, [[1, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 1]]), (key, dense)
    write("e.txt", "1 10\n10 3\n3 1\n")
    stopped = subprocess.run([FRINGE, "convert", "c.json", "read.npz", "--force"], capture_output=True, text=True)
    assert stopped.returncode == 65 and "are not those of the nodes" in stopped.stderr, stopped.stderr
    write_json("f.json", {"train": [2, 0], "val": [], "test": [1]})
    assert converted("f.json")[0]["train"].tolist() == [2, 0]
    masks = [[True, False, False], [False, True, False]]  # of two splits, as WikiCS has them
    write_json("f.json", {"features": [[1, 2], [3, 4], [5, 6]], "labels": [0, 1, 1], "links": [[1, 1], [], [0, 2]],
                          "train_masks": masks, "val_masks": masks[::-1], "test_mask": [False, False, True],
                          "stopping_masks": masks})
    found, said = converted("f.json")
    same_edges(found, np.array([(0, 1), (1, 0), (2, 0), (0, 2), (2, 2)]).T)
    same(found, x=np.array([[1, 2], [3, 4], [5, 6]], np.float32), y=np.array([0, 1, 1]), train_mask=np.array(masks).T,
         val_mask=np.array(masks[::-1]).T, test_mask=np.array([False, False, True]))
    assert "not converted: stopping_masks" in said and program_reads("out.npz").labels.tolist() == [0, 1, 1], said


def members_read(path, *words):
    """The hyperedges that the program makes of a converted file, in their order, each with its nodes."""
    read = program_reads(path, *words)
    return read, [sorted(read.edges[0][read.edges[1] == k].tolist()) for k in range(read.hyperedges)]


def hypergraphs_of_others():
    """Node 9 is in no hyperedge; the last hyperedge has one node."""
    members = [[0, 1, 2, 3], [2, 5], [8, 7, 6, 4], [3, 0], [7]]
    ids = list(range(10))
    hif = {"network-type": "undirected", "edges": [{"edge": f"e{k}", "attrs": {"weight": k + 1, "color": 0}} for k in range(6)],
           "nodes": [{"node": v, "attrs": {"club": "ab"[v % 2]}} for v in ids],
           "incidences": [{"node": v, "edge": f"e{k}"} for k, nodes in enumerate(members) for v in nodes]}
    xgi = {"hypergraph-data": {}, "node-data": {str(v): {} for v in ids}, "edge-data": {str(k): {} for k in range(5)},
           "edge-dict": {str(k): [str(v) for v in nodes] for k, nodes in enumerate(members)}}
    for name, data in (("hif", hif), ("xgi", xgi)):
        write_json(f"{name}.json", data)
        out, said = wrote(f"{name}.json")
        assert out == "out.pins.csv" and "nodes are in out-nodes.csv (1 of them" in said, (out, said)
        assert ("their names are not converted" in said and "of hyperedges: color" in said and "1 hyperedge has no nodes" in said) == (
            name == "hif"), said
        columns = {"label": "club"} if name == "hif" else {}
        write_json("nodes.json", {"data": {"path": out, "nodes": "out-nodes.csv", "columns": columns}})
        read, found = members_read("nodes.json")
        assert found == [sorted(nodes) for nodes in members] and read.features is None
        assert (read.hyperedge_weight.tolist() == [1, 2, 3, 4, 5] and read.labels.tolist() == [0, 1] * 5) if name == "hif" else (
            read.hyperedge_weight is None)
    for one, role in zip(hif["incidences"], "ttthth" * 3):
        one["direction"] = {"t": "tail", "h": "head"}[role]
    write_json("directed.json", hif)
    read = members_read(wrote("directed.json")[0])[0]
    want = sorted({"t": 1, "h": 2}[role] for _, role in zip(hif["incidences"][:-1], "ttthth" * 3))  # a tail alone leads nowhere
    assert sorted(read.role.tolist()) == want, (read.role, want)
    write("named.pickle", pickle.dumps({f"paper {k}": {f"author {v}" for v in nodes} for k, nodes in enumerate(members)}))
    found = members_read(wrote("named.pickle")[0])[1]
    assert found == [sorted(nodes) for nodes in members], found
    write("neighbours.pickle", pickle.dumps({0: [1, 2], 1: [0], 2: [0]}))
    refused("may be the neighbours of nodes", "neighbours.pickle")
    sizes = "".join(f"{len(one)}\n" for one in members)
    write("mails-nverts.txt", sizes)
    write("mails-simplices.txt", "".join(f"{v}\n" for one in members for v in one))
    assert members_read(wrote("mails-nverts.txt")[0])[1] == [sorted(nodes) for nodes in members]
    write("mails-nverts.txt", sizes + "3\n")
    refused("counts 16 nodes, but mails-simplices.txt has 13", "mails-simplices.txt")
    write("mails-nverts.txt", sizes + "x")
    refused("damaged or no list of simplices", "mails-simplices.txt")
    assert quietly(fringe.convert, "hif.json", "named.pins.csv")[0] == "named.pins.csv"


def folder_of_hypergcn():
    import scipy.sparse as sp
    os.makedirs("cocitation/splits")
    members = {"a": {0, 4, 2}, "b": {3, 1}, "c": {2, 3}}
    x, y = sp.csr_matrix(RANDOM.integers(0, 2, (6, 4)).astype(np.float32)), [0, 1, 2, 0, 1, 2]
    for name, value in (("hypergraph", members), ("features", x), ("labels", y),
                        ("splits/1", {"train": [0, 5], "test": [1, 2, 3, 4]}), ("splits/10", {"train": [], "test": []})):
        write(f"cocitation/{name}.pickle", pickle.dumps(value))
    out, said = wrote("cocitation")
    assert "the split is 1.pickle, the first of 2" in said, said
    read, found = members_read(out)
    assert found == [[0, 2, 4], [1, 3], [2, 3]] and read.labels.tolist() == y
    assert np.array_equal(read.features if isinstance(read.features, np.ndarray) else read.features.toarray(), x.toarray())
    assert np.flatnonzero(read.masks["train"]).tolist() == [0, 5] and np.flatnonzero(read.masks["test"]).tolist() == [1, 2, 3, 4]


def folder_of_graphsage():
    """Rows of the features in another order than the nodes; a node that is for validation and test is one of test."""
    os.makedirs("sage")
    names = ["n0", "n1", "n2", "n3"]
    nodes = [{"id": name, "val": v in (1, 2), "test": v == 2} for v, name in enumerate(names)]
    links = [{"source": 0, "target": 1}, {"source": "n2", "target": "n1"}, {"source": 3, "target": 0}]
    row, several = [2, 0, 3, 1], [[1, 1, 0], [0, 1, 1], [0, 0, 0], [1, 0, 0]]
    for kind, value in (("G", {"nodes": nodes, "links": links}), ("class_map", dict(zip(names, several))),
                        ("id_map", dict(zip(names, row)))):
        write(f"sage/mini-{kind}.json", json.dumps(value))
    x = RANDOM.standard_normal((4, 2))
    np.save("sage/mini-feats.npy", x)
    found, _ = converted("sage")
    same_edges(found, np.array([(0, 1), (1, 0), (2, 1), (1, 2), (3, 0), (0, 3)]).T)
    same(found, x=x[row].astype(np.float32), y=np.array(several), train_mask=np.array([True, False, False, True]),
         val_mask=np.array([False, True, False, False]), test_mask=np.array([False, False, True, False]))
    assert np.array_equal(program_reads("out.npz").labels, several)
    os.remove("sage/mini-id_map.json")
    refused("damaged or no folder of GraphSAGE", "sage")
    write("sage/mini-id_map.json", "{}")
    write("sage/mini-G.json", json.dumps({"nodes": [{"id": 1}, {"id": 0}], "links": links[:1]}))
    refused("may be ids or places of nodes", "sage")


def folder_of_ppi():
    """Links of train are of an undirected graph, and of the others both directions are written; one is there twice."""
    os.makedirs("ppi")
    links = {"train": [(0, 1), (1, 2)], "valid": [(0, 1), (1, 0)], "test": [(1, 0), (1, 0), (0, 1)]}
    x, y = {}, {}
    for kind, pairs in links.items():
        nodes = 3 if kind == "train" else 2
        x[kind], y[kind] = RANDOM.standard_normal((nodes, 4)), RANDOM.integers(0, 2, (nodes, 3))
        np.save(f"ppi/{kind}_feats.npy", x[kind])
        np.save(f"ppi/{kind}_labels.npy", y[kind])
        np.save(f"ppi/{kind}_graph_id.npy", np.ones(nodes))
        graph = {"directed": kind != "train", "nodes": [{"id": v} for v in range(nodes)],
                 "links": [{"source": a, "target": b} for a, b in pairs]}
        write(f"ppi/{kind}_graph.json", json.dumps(graph))
    found, _ = converted("ppi")
    same_edges(found, np.array([(0, 1), (1, 0), (1, 2), (2, 1), (3, 4), (4, 3), (5, 6), (6, 5)]).T)
    several, place = np.concatenate(list(y.values())), np.arange(7)
    same(found, x=np.concatenate(list(x.values())).astype(np.float32), y=several, train_mask=place < 3,
         val_mask=(place >= 3) & (place < 5), test_mask=place >= 5)
    assert np.array_equal(program_reads("out.npz").labels, several)
    np.save("ppi/valid_labels.npy", y["train"])
    refused("valid_graph.json has other nodes than the 2 rows of features and 3 of labels", "ppi")
    graph = {"nodes": [{"id": v} for v in range(3)], "links": [{"source": 1, "target": 3}]}
    write("ppi/train_graph.json", json.dumps(graph))
    refused("train_graph.json has links to nodes that are none of its 3", "ppi")


def unknown_files():
    """Of the command, with its exit status; what no loader is for is left to the program."""
    for name, words, *codes in (("graph.unknown", "does not say what format", 78), ("graph.bin", "", 65, 69)):
        write(name, "?")
        stopped = subprocess.run([sys.executable, os.path.dirname(fringe.__file__), "convert", name, "o.npz"],
                                 env={**os.environ, "FRINGE_PROGRAM": FRINGE}, capture_output=True, text=True)
        assert stopped.returncode in codes and words in stopped.stderr, (stopped.returncode, stopped.stderr)


PARTS = [(unknown_files, ()), (lists_of_json, ()), (hypergraphs_of_others, ()), (folder_of_hypergcn, ("scipy",)),
         (folder_of_graphsage, ()), (folder_of_ppi, ()), (matrices_of_scipy, ("scipy",)), (files_of_planetoid, ("scipy",)),
         (matrices_of_hdf, ("scipy", "h5py")), (graphs_of_networkx, ("networkx",)), (names_of_networkx, ("networkx",)),
         (tables_of_pandas, ("pandas", "pyarrow")), (files_of_sklearn, ("sklearn",)),
         (files_of_torch, ("torch", "torch_geometric")), (planetoid_of_pyg, ("scipy", "torch_geometric")),
         (files_of_dgl, ("torch", "dgl"))]


def main():
    for part, modules in PARTS:
        gone = next((module for module in modules if importlib.util.find_spec(module) is None), None)
        name = part.__name__.replace("_", " ")
        if gone:
            print(f"skipped: {name}, because {gone} is not installed")
            continue
        own_folder()
        part()
        print("ok:", name, flush=True)
    print("ok: the commands of refusals of", *sorted(REFUSED))


main()
