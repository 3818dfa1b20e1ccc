# once
"""If this failed, python/fringe would write datasets that fringe does not read, misread a run, or give a PyG model
that computes something else. tests/docs runs the code of docs/python.md.

The parts with PyG run in the Python that FRINGE_PYG names, or in the environment that setup.sh makes.
"""
import importlib.util
import os
import re
import struct
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

from interpreter import start_over
from program import ROOT, call, json_lines, own_folder, write_json

start_over("numpy, scipy", "python3-numpy, python3-scipy")

import numpy as np
import scipy.sparse

import fringe

HAS_PYG = importlib.util.find_spec("torch_geometric") is not None
if HAS_PYG:
    import torch


def command(*words, fails=None):
    done = call(*words)
    assert (done.returncode != 0) == (fails is not None), done.stderr
    assert fails is None or re.search(fails, done.stderr), (fails, done.stderr)
    return done.stdout


def refused(text, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except (ValueError, TypeError, FileNotFoundError) as error:
        assert re.search(text, str(error)), (text, str(error))
    else:
        raise AssertionError(f"nothing was raised; expected: {text}")


def trained(folder, data, **sections):
    """The run of a training, in that folder."""
    config = {"data": {"path": data}, "train": {"epochs": 3}, "run": {"dir": folder, "threads": 1}, **sections}
    command("train", write_json(os.path.basename(folder) + ".json", config))
    return fringe.read_run(folder)


# --- without PyG


def test_tensors():
    arrays = {"a": np.arange(6, dtype=np.int64).reshape(2, 3), "b": np.float32([[1.5]]), "c": np.zeros((0, 4), np.uint8),
              "d": np.asfortranarray(np.arange(6, dtype=np.float64).reshape(2, 3))}
    fringe.write_tensors("t.safetensors", arrays)
    back = fringe.read_tensors("t.safetensors")
    assert back.keys() == arrays.keys()
    for key, array in arrays.items():
        assert back[key].dtype == array.dtype and np.array_equal(back[key], array), key
    assert re.search(r"a +I64 +\[2, 3\]", command("inspect", "t.safetensors"))
    with open("t.safetensors", "rb") as file:
        assert struct.unpack("<Q", file.read(8))[0] % 8 == 0, "arrays are not aligned"


def test_dataset():
    edges = np.array([[0, 1, 2, 2], [1, 2, 2, 0]])
    masks = [0], [1], np.array([False, False, True, False])
    x = np.arange(8.0).reshape(4, 2)
    fringe.write_dataset("own", edges, x, np.array([0, 1, 1, -1]), masks, weights=[1, 2, 3, 4], undirected=True)
    data = fringe.read_dataset("own")
    stored = {(s, t): w for s, t, w in zip(*data.edges, data.weights)}
    assert stored == {(0, 1): 1, (1, 0): 1, (1, 2): 2, (2, 1): 2, (2, 2): 3, (2, 0): 4, (0, 2): 4}, stored
    assert np.array_equal(data.features, x) and data.labels.tolist() == [0, 1, 1, -1]
    assert [data.masks[k].tolist().index(True) for k in fringe.SPLITS] == [0, 1, 2]
    said = command("inspect", "own")
    assert re.search(r"4 nodes, 7 edges", said) or "7" in said, said

    refused(r"expected \[2, E\].*found \[3, 3\]", fringe.write_dataset, "bad", np.zeros((3, 3), int), x)
    refused(r"ids must lie in 0 to 3", fringe.write_dataset, "bad", edges + 2, x)
    refused(r"node 1 is in validation and in a mask before", fringe.write_dataset, "bad", edges, x, None,
            ([0, 1], [1], [2]))
    refused(r"has 3 entries, but there are 4", fringe.write_dataset, "bad", edges, x, None, [np.ones(3, bool)] * 3)
    refused(r"labels: there are 2 rows, but 4 nodes", fringe.write_dataset, "bad", edges, x, [0, 1])
    refused(r"whole numbers", fringe.write_dataset, "bad", edges, x, np.array([0, np.inf, 1, 1]))
    refused(r"both directions", fringe.write_dataset, "bad", [[0, 1], [1, 0]], x, undirected=True)
    refused(r"expected the key train, and validation and test if there are any, found train, best", fringe.write_dataset, "bad", edges, x,
            None, {"train": [0], "best": [1]})
    refused(r"run.json does not exist", fringe.read_run, "own")

    fringe.write_dataset("untested", edges, x[:, 0], [0, 1, 0, 1], {"train": [0, 2], "val": [1]})
    found = fringe.read_dataset("untested")
    assert found.features.shape == (4, 1) and found.masks["validation"].sum() == 1 and not found.masks["test"].any()
    run = fringe.train({"data": {"path": "untested"}, "train": {"epochs": 1}}, dir="one")
    assert repr(run).endswith("after 1 epochs>"), run

    columns = [np.eye(4, dtype=bool)[:, [k, (k + 1) % 4]] for k in range(3)]  # [n, splits]
    fringe.write_dataset("split", edges, x, None, columns, split=1)
    assert [fringe.read_dataset("split").masks[key].tolist().index(True) for key in fringe.SPLITS] == [1, 2, 3]
    fringe.write_dataset("split", edges, x, None, [mask.T for mask in columns], split=0)
    assert fringe.read_dataset("split").masks["test"].tolist().index(True) == 2
    refused(r"of train is \[4, 2\]: 2 splits; say which with split=0", fringe.write_dataset, "bad", edges, x, None, columns)
    refused(r"splits 0 to 1", fringe.write_dataset, "bad", edges, x, None, columns, split=2)
    refused(r"which way its splits lie", fringe.write_dataset, "bad", edges, x, None, [np.eye(4, dtype=bool)] * 3, split=0)


class Data:
    """As PyG has it."""


def test_what_pyg_users_have():
    data = Data()
    data.edge_index, data.x, data.y = np.array([[0, 1], [1, 0]]), np.eye(3), np.array([0, 1, 1])
    data.train_mask, data.val_mask, data.test_mask = np.eye(3, dtype=bool)
    data.edge_weight = [2, 3]
    fringe.write_dataset("data", data)
    assert fringe.read_dataset("data").weights.tolist() == [2, 3]
    named = {"train_mask": [0], "val_mask": [1], "test": [2]}
    fringe.write_dataset("named", data.edge_index, data.x, data.y, named)
    for folder in ("data", "named"):
        read = fringe.read_dataset(folder)
        assert read.labels.tolist() == [0, 1, 1] and np.array_equal(read.features, data.x)
        assert [read.masks[k].tolist().index(True) for k in fringe.SPLITS] == [0, 1, 2]
    refused(r"found names; numpy.unique", fringe.write_dataset, "bad", data.edge_index, data.x, ["a", "b", "b"], named)
    refused(r"value of its key data", fringe.train, data)
    matrix = scipy.sparse.csr_matrix(([2.0, 3.0], data.edge_index), (3, 3))
    np.savez("masks.npz", train_idx=[0], valid_idx=[1], test_idx=[2])
    for weight in (1, 2):  # other arrays have another folder
        folder = fringe.Data(matrix * weight, scipy.sparse.csr_matrix(data.x), data.y, np.load("masks.npz")).store("stored")
        read = fringe.read_dataset(folder)
        assert read.weights.tolist() == [2 * weight, 3 * weight] and np.array_equal(read.features, data.x), read
        assert np.array_equal(read.edges, data.edge_index) and read.masks["validation"].tolist() == [False, True, False]
    data.y = np.array([[0, 1], [0, 0], [1, 0]])
    extra = {**vars(data), "edge_attr": np.ones((2, 4)), "x": data.x.astype(object)}
    idx = SimpleNamespace(edge_index=data.edge_index, x=data.x, y=[1, -1, 0], train_idx=[2], val_idx=[], test_idx=[0])
    fringe.write_dataset("listed", idx)
    assert fringe.read_dataset("listed").masks["train"].tolist() == [False, False, True]
    for text, *arrays in (("no masks", data.edge_index, data.x, [1, -1, 0]), ("so these are classes", data),
                          ("edge_attr: not read", [SimpleNamespace(**{**extra, "y": [1, -1, 0]})]),
                          ("edge_attr: not read", {**extra, "y": [1, -1, 0]})):
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            fringe.write_dataset("warned", *arrays)
        assert len(given) == 1 and text in str(given[0].message), given
        read = fringe.read_dataset("warned")
        assert read.labels.tolist() == [1, -1, 0] and np.array_equal(read.features, data.x), text
    for text, edges, x in ((r"networkx.to_scipy_sparse_array", SimpleNamespace(adj=0), None),
                           (r"data.to_homogeneous", SimpleNamespace(node_types=0), None),
                           (r"graph.ndata", SimpleNamespace(ndata=0, adj=0), None),
                           (r"graph.get_edgelist", SimpleNamespace(get_edgelist=0), None),
                           (r"expected numbers of nodes, found names", [["a", "b"]], data.x),
                           (r"features: could not convert", data.edge_index, [["a"]] * 3),
                           (r"features: expected \[nodes, columns\], found \[3, 1, 1\]", data.edge_index, [[[1]]] * 3)):
        refused(text, fringe.write_dataset, "bad", edges, x)
    refused(r"data.to_homogeneous", fringe.train, {"data": {"path": SimpleNamespace(node_types=0)}})


def test_hypergraph():
    """Three hyperedges of five nodes, of which the last is in none; pins in any order."""
    index, x = np.array([[3, 0, 1, 2, 1, 2], [2, 0, 0, 1, 1, 2]]), np.arange(10.0).reshape(5, 2)
    y, masks, role = np.array([0, 1, 1, 0, -1]), [[0], [1], [2, 3]], [1, 3, 2, 1, 3, 3]
    fringe.write_hypergraph("pins", index, x, y, masks, [1, 2, 0.5], role)
    data = fringe.read_dataset("pins")
    assert {(v, h): r for v, h, r in zip(*data.edges, data.role)} == {(v, h): r for v, h, r in zip(*index, role)}
    assert data.hyperedges == 3 and data.hyperedge_weight.tolist() == [1, 2, 0.5] and np.array_equal(data.features, x)
    assert re.search(r"nodes +5\nhyperedges +3\npins +6\n", command("inspect", "pins"))
    run = trained("runs/pins", "pins", model={"layer": "hgnn", "layers": 2})
    assert fringe.weights(run).keys() == {
        f"{name}.{what}" for name, what in (("convs.0", "lin.weight"), ("convs.0", "bias"), ("convs.1", "lin.weight"),
                                            ("convs.1", "bias"), ("norms.0", "weight"), ("norms.0", "bias"))}

    own = Data()
    own.hyperedge_index, own.x, own.y = index, x, y
    own.train_mask, own.val_mask, own.test_mask = np.eye(3, 5, dtype=bool)
    fringe.write_hypergraph("own-pins", own)
    data = fringe.read_dataset("own-pins")
    assert data.role is None and data.hyperedge_weight is None and data.masks["test"].tolist().index(True) == 2
    write = fringe.write_hypergraph
    write("empty", index, x, hyperedge_weight=np.ones(5))
    assert fringe.read_dataset("empty").hyperedges == 5
    refused(r"expected \[2, pins\].*found \[6, 2\]", write, "bad", index.T, x)
    refused(r"ids of nodes must lie in 0 to 1", write, "bad", index, nodes=2)
    refused(r"ids of hyperedges must lie in 0 to 1", write, "bad", index, x, None, None, [1, 1])
    refused(r"at least 0", write, "bad", index, x, None, None, [1, -1, 1])
    refused(r"there is no pin", write, "bad", np.zeros((2, 0), int), x)
    refused(r"expected 6 numbers 1", write, "bad", index, x, None, None, None, [1, 2, 3, 4, 1, 1])
    refused(r"how many nodes", write, "bad", index)


EVENTS = [("+h", 7, [3, 2**64 - 1]), ("+h", 8, np.array([1, 3]), 0.1), ("+h", 7, [], 2), ("+v", 3, (9, 10)), ("+v", 4),
          ("+p", 7, 5), ("-p", 7, 3), ("=", "one"), ("-h", 9), ("-v", np.uint64(1)), ("=", "A-name.of_16-24")]
TEXT = """fringe-stream 1
+h 7 3 18446744073709551615
+h 8 w=0.1 1 3
+h 7 w=2.0
+v 3 9 10
+v 4
+p 7 5
-p 7 3
= one
-h 9
-v 1
= A-name.of_16-24
"""


def test_events():
    fringe.write_events("own.events", iter(EVENTS))
    fringe.write_events("twin.events", EVENTS, binary=True)
    assert open("own.events").read() == TEXT
    record = struct.pack("<BBHIQf2Q", 1, 1, 0, 2, 8, 0.1, 1, 3)
    assert open("twin.events", "rb").read().startswith(b"FRNGSTRM\1\0\0\0" + struct.pack(
        "<BBHIQ2Q", 1, 0, 0, 2, 7, 3, 2**64 - 1) + record)
    for name in "own", "twin":
        command("stream", f"{name}.events", "-o", f"{name}-stream")
        assert sorted(os.listdir(f"{name}-stream/snapshots")) == ["A-name.of_16-24", "final", "one"]
        assert np.load(f"{name}-stream/snapshots/final/node_ids.npy").tolist() == [3, 4, 5, 2**64 - 1]
        assert np.load(f"{name}-stream/snapshots/final/hyperedge_ids.npy").tolist() == [7, 8, 10]
        weight = fringe.read_dataset(f"{name}-stream/snapshots/one").hyperedge_weight
        assert weight.tolist() == [2, np.float32(0.1), 1, 1]

    def wrong(sentence, *event):
        for binary in False, True:
            refused(rf"^events\[1\]: {sentence}", fringe.write_events, "bad", [("-h", 1), event], binary)

    wrong(r"'\+x' is none of the kinds \+h, \+v", "+x", 1)
    wrong(r"the form is \(\"\+p\", H, V\)", "+p", 1)
    wrong(r"the form is \(\"-h\", H\)", "-h", 1, [2])
    wrong(r"-1 is not an id", "-v", -1)
    wrong(r"18446744073709551616 is not an id", "+h", 1, [2**64])
    wrong(r"1.5 is not an id \(a whole number\)", "+v", 1, [1.5])
    wrong(r"the weight inf is not a number", "+h", 1, [2], float("inf"))
    wrong(r"the weight 1e\+39 is not a number", "+h", 1, [2], 1e39)
    wrong(r"the weight -1 is not a number", "+h", 1, [2], -1)
    wrong(r"'\+h' with neither pins nor a weight", "+h", 1, [])
    for name in "", ".hidden", "a/b", "x" * 65:
        wrong("'.*' cannot name a snapshot", "=", name)


def test_multilabel():
    random = np.random.default_rng(0)
    fringe.write_dataset("many", random.integers(0, 50, (2, 200)), random.standard_normal((50, 4)),
                         random.integers(0, 2, (50, 3)), [range(20), range(20, 30), range(30, 50)])
    run = trained("runs/many", "many", model={"layers": 1})
    refused(r"fringe predict runs/many$", fringe.predictions, run)
    command("predict", "runs/many")
    assert fringe.predictions(run).classes.shape == (50, 3)


def test_run():
    command("train", os.path.join(ROOT, "configs/villages.json"), "--set", "train.epochs=20")
    run = fringe.read_run("runs/villages")
    lines = json_lines("runs/villages/metrics.jsonl")
    assert run.epochs["epoch"].tolist() == list(range(1, 21))
    assert run.epochs["loss"].tolist() == [line["loss"] for line in lines]
    accuracy = run.epochs["validation.accuracy"]
    assert np.isnan(accuracy[:9]).all() and accuracy[9] == lines[9]["validation"]["accuracy"]
    assert run.epochs["time.epoch"][3] == lines[3]["time"]["epoch"]
    assert run.config["model"]["hidden"] == [32] and run.result["epochs"] == 20
    assert fringe.weights(run)["convs.0.lin.weight"].shape == (32, 8)
    refused(r"--layer 1$", fringe.embeddings, run, 1)
    refused(r"it holds the runs many, pins, villages", fringe.read_run, "runs")


def test_villages():
    subprocess.run([sys.executable, "-B", os.path.join(ROOT, "data/villages/make.py"), "villages"], check=True)
    made, shipped = fringe.read_dataset("villages"), fringe.read_dataset(os.path.join(ROOT, "data/villages"))
    assert np.array_equal(made.edges, shipped.edges) and np.array_equal(made.labels, shipped.labels)
    assert np.allclose(made.features, shipped.features)


def numpy_scores(model, w, x, edges):
    """The formulas of PyG's documentation, from weights by their names; gcn_norm adds self-loops."""
    n, kind, skip, jk = len(x), model["layer"], model["skip"] == "residual", model["jk"]
    m = np.eye(n)
    m[edges[1], edges[0]] += 1
    root = m.sum(1) ** -0.5
    m = root[:, None] * m * root
    act = {"relu": lambda x: np.maximum(x, 0), "elu": lambda x: np.where(x > 0, x, np.expm1(x)),
           "leaky-relu": lambda x: np.where(x > 0, x, model["slope"] * x)}[model["activation"]]

    def linear(name, x):
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def norm(x, layer):
        if model["norm"] == "batch":
            name = f"norms.{layer}.module"
            x = (x - w[f"{name}.running_mean"]) / np.sqrt(w[f"{name}.running_var"] + 1e-5)
        elif model["norm"] == "layer":
            name = f"norms.{layer}"
            x = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
        return x * w[f"{name}.weight"] + w[f"{name}.bias"] if model["norm"] != "none" else x

    def post(x, layer):  # in both orders that FORMS has, norm before the activation
        return act(norm(x, layer))

    if kind == "gcn2":
        x = first = post(linear("lins.0", x), 0)
        for l in range(model["layers"]):
            p, beta = 0.9 * m @ x + 0.1 * first, np.log(model["theta"] / (l + 1) + 1)
            x = post((1 - beta) * p + beta * p @ w[f"convs.{l}.weight1"], l + 1)
        return linear("lins.1", x)
    found = []
    for l in range(model["layers"]):
        name = {"mlp": f"lins.{l}", "appnp": f"lin{l + 1}", "gcn": f"convs.{l}"}[kind]
        z = m @ x @ w[f"{name}.lin.weight"].T + w[f"{name}.bias"] if kind == "gcn" else linear(name, x)
        z = z + x @ w[f"self_lins.{l}.weight"].T if model.get("gcn_self") else z
        z = post(z, l) if l + 1 < model["layers"] or jk != "none" else z
        x = z + x if skip and z.shape == x.shape and (l + 1 < model["layers"] or jk != "none") else z
        found.append(x)
    if jk != "none":
        levels = found if jk == "cat" else [np.max(found, 0) if jk == "max" else found[-1]]
        x = linear("lin", np.concatenate(levels, 1))
    for _ in range(model["steps"] if kind == "appnp" else 0):
        x = 0.9 * m @ x + 0.1 * found[-1]
    return x


def test_forms():
    """Layers without edges, levels read again and norms of columns, against numpy."""
    random = np.random.default_rng(0)
    half = np.argwhere(np.triu(random.random((80, 80)) < 0.06, 1)).T
    edges = np.concatenate([half, half[::-1]], 1)
    x = random.standard_normal((80, 5)).astype(np.float32)
    fringe.write_dataset("both-ways", edges, x, random.integers(0, 3, 80), [range(40), range(40, 50), range(50, 80)])

    def check(number):
        folder = f"form-{number}"
        run = trained(folder, "both-ways", model={"layers": 2, "hidden": [7], **FORMS[number]},
                      train={"epochs": 3, "lr": 1e-30})
        command("predict", folder)
        w = {name: array.astype(float) for name, array in fringe.weights(run).items()}
        want, got = numpy_scores(run.config["model"], w, x.astype(float), edges), fringe.predictions(run).scores
        off = np.abs(want - got).max() / np.abs(want).max()
        assert off <= 5e-6, (FORMS[number], off)  # floats through a few layers
        if number == 0:  # torch's running statistics of three epochs, whose weights were the same
            z, share = x @ w["lins.0.weight"].T + w["lins.0.bias"], 1 - 0.9**3
            assert np.allclose(w["norms.0.module.running_mean"], share * z.mean(0), rtol=1e-5, atol=1e-7)
            assert np.allclose(w["norms.0.module.running_var"], 1 - share + share * z.var(0, ddof=1), rtol=1e-5)
            assert fringe.weights(run)["norms.0.module.num_batches_tracked"] == 3
        arrays = fringe.weights(run)
        fringe.from_pyg(arrays, f"{folder}.safetensors")
        command("predict", f"{folder}.json", "--weights", f"{folder}.safetensors", "-o", f"again-{number}")
        assert np.array_equal(np.load(f"again-{number}/scores.npy"), got)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(check, range(len(FORMS))))


# --- with PyG


def test_tensors_of_torch():
    """Sparse ones, those of types that numpy lacks, and those that hold nothing."""
    edges, x = torch.tensor([[0, 1, 2], [1, 2, 2]]), torch.eye(3)
    matrix = torch.sparse_coo_tensor(edges, torch.tensor([2.0, 3, 4]), (3, 3))
    turned = SimpleNamespace(adj_t=matrix.t().to_sparse_csr(), x=x.to_sparse(), y=None)
    for number, (graph, of) in enumerate(((matrix, x.bfloat16()), (matrix.to_sparse_csr(), x), (turned, None))):
        read = fringe.read_dataset(fringe.Data(graph, of, [0, 1, 1], [[0], [1], [2]], name=str(number)).store("stored"))
        assert np.array_equal(read.edges, edges) and read.weights.tolist() == [2, 3, 4], graph
        assert np.array_equal(read.features, x), graph
    refused("device 'meta'", fringe.write_dataset, "bad", edges, x.to("meta"))


LAYERS = [{"layer": "gcn"}, {"layer": "gcn", "gcn_norm": "in", "norm": "none"}, {"layer": "sage-mean"},
          {"layer": "sage-mean", "self_loops": True, "bias": False}, {"layer": "sage-gcn"},
          {"layer": "gin", "gin_epsilon": 0.5, "post": ["activation", "norm"]}, {"layer": "sgc"}]
FORMS = [{"layer": "mlp", "norm": "batch", "activation": "elu", "dropout": 0},
         {"layer": "appnp", "layers": 2, "steps": 3, "norm": "none"},
         {"layer": "gcn2", "layers": 3, "theta": 1.5, "post": ["norm", "activation", "dropout"], "activation": "leaky-relu"},
         {"layer": "gcn", "gcn_norm": "in", "layers": 3, "skip": "residual", "jk": "max", "activation": "elu"},
         {"layer": "gcn", "gcn_norm": "in", "norm": "batch", "jk": "cat"},
         {"layer": "gcn", "gcn_norm": "in", "gcn_self": True, "jk": "last"}]
LAYERS += FORMS


def largest_difference(model, data, scores, weighted):
    x, edges = torch.from_numpy(data.features), torch.from_numpy(data.edges)
    with torch.no_grad():
        mine = model(x, edges, *([torch.from_numpy(data.weights)] if weighted else [])).numpy()
    return np.abs(mine - scores).max() / np.abs(scores).max()


def test_layers():
    """Each kind of layer on a directed graph, with edge weights where PyG's layer knows them."""
    random = np.random.default_rng(0)
    edges = np.argwhere((random.random((80, 80)) < 0.06) & ~np.eye(80, dtype=bool)).T
    x, y = random.standard_normal((80, 5)), random.integers(0, 3, 80)
    masks = [range(40), range(40, 50), range(50, 80)]
    fringe.write_dataset("plain", edges, x, y, masks)
    fringe.write_dataset("weighted", edges, x, y, masks, weights=random.uniform(0.5, 2, edges.shape[1]))

    def check(number):
        settings, folder = LAYERS[number], f"kind-{number}"
        weighted = settings["layer"] in ("gcn", "sage-gcn", "sgc", "appnp", "gcn2")
        graph = "weighted" if weighted else "plain"
        shape = {"layers": 2} if settings["layer"] == "sgc" else {"layers": 2, "hidden": [7]}
        run = trained(folder, graph, model={**shape, **settings})
        command("predict", folder)
        off = largest_difference(fringe.to_pyg(run), fringe.read_dataset(graph), fringe.predictions(run).scores, weighted)
        assert off <= 2e-6, (settings, off)  # sums of 7 floats in another order

    with ThreadPoolExecutor(4) as pool:  # starting MPI mostly waits
        list(pool.map(check, range(len(LAYERS))))
    run = fringe.read_run("kind-0")
    run.config["train"]["label_input"] = "masked:0.5"
    refused(r"train.label_input=masked:0.5: the first layer also reads labels", fringe.to_pyg, run)


def random_pins(nodes, hyperedges):
    """Every hyperedge has a node; some nodes are in none."""
    random = np.random.default_rng(2)
    inside = random.random((nodes - 5, hyperedges)) < 0.08
    inside[random.integers(0, nodes - 5, hyperedges), np.arange(hyperedges)] = True
    return np.argwhere(inside).T


def test_hypergraph_conv():
    random, pins = np.random.default_rng(0), random_pins(80, 40)
    fringe.write_hypergraph("hyper", pins, random.standard_normal((80, 5)), random.integers(0, 3, 80),
                            [range(40), range(40, 50), range(50, 80)])
    shape = {"layers": 2, "hidden": [7]}
    run = trained("hyper-row", "hyper", model={"layer": "hgnn", "norm_hyper": "row", **shape})
    command("predict", "hyper-row")
    net, data = fringe.to_pyg(run), fringe.read_dataset("hyper")
    off = largest_difference(net, data, fringe.predictions(run).scores, False)
    assert off <= 2e-6, off  # sums of 7 floats in another order
    refused(r"divides by the weights of hyperedges", net, torch.zeros(80, 5), torch.from_numpy(data.edges), torch.ones(40))
    refused(r"norm_hyper=sym", fringe.to_pyg, trained("hyper-sym", "hyper", model={"layer": "hgnn", **shape}))
    refused(r"hnhn: PyG has no layer", fringe.to_pyg, trained("hyper-hnhn", "hyper", model={"layer": "hnhn", **shape}))

    fringe.from_pyg(net, "hyper.safetensors")
    command("predict", "hyper-row.json", "--weights", "hyper.safetensors", "-o", "again")
    assert np.array_equal(np.load("again/scores.npy"), fringe.predictions(run).scores)


def test_from_pyg():
    from torch_geometric.nn import GIN, GATConv, SAGEConv

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.conv2 = SAGEConv(5, 7), SAGEConv(7, 3)

        def forward(self, x, edge_index):
            return self.conv2(self.conv1(x, edge_index).relu(), edge_index)

    def check(layer, net):
        fringe.from_pyg(net, f"{layer}.safetensors")
        write_json(f"{layer}.json", {"data": {"path": "plain"}, "run": {"dir": layer},
                                     "model": {"layer": layer, "layers": 2, "hidden": [7], "norm": "none"}})
        command("predict", f"{layer}.json", "--weights", f"{layer}.safetensors")
        scores = np.load(f"{layer}/predictions/scores.npy")
        off = largest_difference(net, fringe.read_dataset("plain"), scores, False)
        assert off <= 2e-6, off

    check("sage-mean", Net())
    check("gin", GIN(5, 7, 2, 3))
    refused(r"is no weight of a layer that fringe has", fringe.from_pyg, GATConv(5, 7), "no.safetensors")


tests = [test_tensors, test_dataset, test_what_pyg_users_have, test_hypergraph, test_events, test_multilabel, test_run,
         test_villages, test_forms]
tests += [test_tensors_of_torch, test_layers, test_hypergraph_conv, test_from_pyg] if HAS_PYG else []
own_folder()
for test in tests:
    test()
    print("ok:", test.__name__[5:])
if not HAS_PYG:
    print("skipped: PyG's layers against fringe's, because there is no PyG; tests/python/setup.sh installs it")
