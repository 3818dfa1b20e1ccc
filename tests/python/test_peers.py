# once
"""If this failed, a kind of layer, a loss, an optimizer, a schedule or a score of fringe would not be what PyG, torch and
scikit-learn compute under that name.

Models are made of PyG's own layers, with random weights that fringe reads; gradients are read off one step of plain
descent, W - W' = rate * gradient. Runs where torch, torch_geometric or sklearn is there; else it is skipped in part.
"""
import contextlib
import importlib.util
import io
import json
import os
import warnings

from interpreter import start_over
from program import ROOT, command, own_folder, write_json

start_over("numpy", "python3-numpy")

import numpy as np

import fringe

RATE = 512  # of the step that shows a gradient: a power of two, large beside the rounding of weights
NODES, COLUMNS, CLASSES = 80, 5, 3
TRAINED = 40  # the first nodes


def train(folder, **sections):
    """The run of a config, whose sections lie over defaults without chance."""
    config = {"data": {"path": "plain"}, "model": {"norm": "none", "dropout": 0}, "train": {"epochs": 1, "eval_every": 0},
              "run": {"dir": folder, "threads": 1}}
    for name, section in sections.items():
        config[name] = {**config[name], **section}
    command("train", write_json(f"{folder}.json", config), "--quiet")
    return fringe.read_run(folder)


def largest(difference, of):
    return np.abs(difference).max() / max(np.abs(of).max(), 1e-30)


def start_file(net, name):
    """The weights of a model, in a file for model.weights."""
    fringe.from_pyg(net, name)
    return fringe.read_tensors(name)


STEP = {"optimizer": "sgd", "lr": RATE, "weight_decay": [0]}


def make_graph():
    random = np.random.default_rng(0)
    edges = np.argwhere((random.random((NODES, NODES)) < 0.06) & ~np.eye(NODES, dtype=bool)).T
    x = random.standard_normal((NODES, COLUMNS)).astype(np.float32)
    y = (x[:, :CLASSES] + 0.3 * random.standard_normal((NODES, CLASSES)) + [0, 0.4, 0.8]).argmax(1)  # of different sizes
    many = random.integers(0, 2, (NODES, CLASSES))
    masks = [range(TRAINED), range(TRAINED, 60), range(60, NODES)]
    fringe.write_dataset("plain", edges, x, y, masks)
    fringe.write_dataset("many", edges, x, many, masks)
    fringe.write_dataset("numbers", edges, x, numbers_of(x), masks)
    return edges, x, y, many


def numbers_of(x):
    """What a regression predicts."""
    return np.sin(3 * x[:, :CLASSES]).astype(np.float32) + np.arange(CLASSES, dtype=np.float32)


# --- layers


def nets():
    """What to try: a name, a section model and the same in PyG, as (modules by names, forward)."""
    import torch
    from torch_geometric.nn import (APPNP, MLP, BatchNorm, GCN2Conv, GCNConv, GINConv, JumpingKnowledge, LayerNorm, SAGEConv,
                                    SGConv, SSGConv)

    functional = torch.nn.functional
    activations = {"relu": functional.relu, "none": lambda x: x, "leaky-relu": lambda x: functional.leaky_relu(x, 0.2),
                   "elu": functional.elu, "gelu": functional.gelu}

    class Stack(torch.nn.Module):
        """Convolutions; behind each but the last a norm and an activation."""

        def __init__(self, conv, widths, activation="relu", norm=None, skip=False, jk=None, own=False):
            super().__init__()
            if own:
                self.self_lins = torch.nn.ModuleList(torch.nn.Linear(i, o, False) for i, o in zip(widths, widths[1:]))
            self.activation, self.skip = activations[activation], skip
            self.convs = torch.nn.ModuleList(conv(i, o) for i, o in zip(widths, widths[1:]))
            hidden = widths[1:] if jk else widths[1:-1]
            self.norms = torch.nn.ModuleList(norm(width) for width in hidden) if norm else None
            self.jump = (lambda levels: levels[-1]) if jk == "last" else JumpingKnowledge(jk) if jk else None
            if jk:
                self.lin = torch.nn.Linear(sum(hidden) if jk == "cat" else hidden[-1], CLASSES)

        def forward(self, x, edges):
            levels = []
            for layer, conv in enumerate(self.convs):
                below, x = x, conv(x, edges)
                x = x + self.self_lins[layer](below) if hasattr(self, "self_lins") else x
                if self.jump or layer + 1 < len(self.convs):
                    x = self.activation(self.norms[layer](x) if self.norms else x)
                    x = x + below if self.skip and x.shape == below.shape else x
                levels.append(x)
            return self.lin(self.jump(levels)) if self.jump else x

    class Predict(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin1, self.lin2, self.prop1 = torch.nn.Linear(COLUMNS, 7), torch.nn.Linear(7, CLASSES), APPNP(4, 0.15)

        def forward(self, x, edges):
            return self.prop1(self.lin2(self.lin1(x).relu()), edges)

    class Returning(torch.nn.Module):
        def __init__(self, norm=None):
            super().__init__()
            self.lins = torch.nn.ModuleList([torch.nn.Linear(COLUMNS, 7), torch.nn.Linear(7, CLASSES)])
            self.convs = torch.nn.ModuleList(GCN2Conv(7, 0.2, 0.7, l + 1) for l in range(4))
            self.norms = torch.nn.ModuleList(norm(7) for _ in range(5)) if norm else None

        def forward(self, x, edges):
            norms = self.norms or [lambda x: x] * 5
            x = first = norms[0](self.lins[0](x)).relu()
            for layer, conv in enumerate(self.convs):
                x = norms[layer + 1](conv(x, first, edges)).relu()
            return self.lins[1](x)

    class Edgeless(torch.nn.Module):
        def __init__(self, **named):
            super().__init__()
            self.mlp = MLP([COLUMNS, 7, 6, CLASSES], dropout=0.0, **named)

        def forward(self, x, edges):
            return self.mlp(x)

        def state_dict(self):
            return self.mlp.state_dict()

    def rows(width):
        return LayerNorm(width, mode="node")

    gcn, two, three = {"layer": "gcn", "gcn_norm": "in"}, [COLUMNS, 7, CLASSES], [COLUMNS, 7, 7, CLASSES]
    after, post = {"layers": 2, "hidden": [7]}, {"post": ["norm", "activation"]}
    batch = {"norm": "batch", **post}
    yield "gcn", {**gcn, **after}, Stack(GCNConv, two)
    yield "sage", {"layer": "sage-mean", **after}, Stack(SAGEConv, two)
    yield "gin", {"layer": "gin", "gin_epsilon": 0.5, **after}, Stack(lambda i, o: GINConv(
        torch.nn.Sequential(torch.nn.Linear(i, o), torch.nn.ReLU(), torch.nn.Linear(o, o)), eps=0.5), two)
    yield "sgc", {"layer": "sgc", "layers": 3}, Stack(lambda i, o: SGConv(i, o, K=3), [COLUMNS, CLASSES])
    yield "mix", {"layer": "sgc", "layers": 4, "mix": [0.1, *[0.9 / 4] * 4]}, Stack(
        lambda i, o: SSGConv(i, o, alpha=0.1, K=4), [COLUMNS, CLASSES])
    yield "mlp", {"layer": "mlp", "layers": 3, "hidden": [7, 6]}, Edgeless(norm=None)
    yield "mlp-batch", {"layer": "mlp", "layers": 3, "hidden": [7, 6], **batch}, Edgeless()  # PyG's default norm
    yield "appnp", {"layer": "appnp", "steps": 4, "alpha": 0.15, **after}, Predict()
    returns = {"layer": "gcn2", "layers": 4, "hidden": [7], "alpha": 0.2, "theta": 0.7}
    yield "gcn2", returns, Returning()
    yield "gcn2-batch", {**returns, **batch}, Returning(BatchNorm)
    yield "residual", {**gcn, "layers": 3, "hidden": [7], "skip": "residual"}, Stack(GCNConv, three, skip=True)
    yield "residual-batch", {**gcn, "layers": 3, "hidden": [7], "skip": "residual", **batch}, Stack(
        GCNConv, three, norm=BatchNorm, skip=True)
    for jk in ("cat", "max"):
        yield f"jk-{jk}", {**gcn, "layers": 3, "hidden": [7], "jk": jk}, Stack(GCNConv, [COLUMNS, 7, 7, 7], jk=jk)
        yield f"jk-{jk}-batch", {**gcn, **after, "jk": jk, **batch}, Stack(
            GCNConv, [COLUMNS, 7, 7], norm=BatchNorm, jk=jk)
    yield "own", {**gcn, "layers": 3, "hidden": [7], "gcn_self": True, "jk": "last", **batch}, Stack(
        GCNConv, [COLUMNS, 7, 7, 7], norm=BatchNorm, jk="last", own=True)
    for activation in activations:
        yield activation, {**gcn, **after, **post, "norm": "layer", "activation": activation, "slope": 0.2}, Stack(
            GCNConv, two, activation, rows)
    yield "batch", {**gcn, **after, **batch}, Stack(GCNConv, two, norm=BatchNorm)
    yield "sage-batch", {"layer": "sage-mean", "layers": 3, "hidden": [7], **batch}, Stack(
        SAGEConv, three, norm=BatchNorm)


def shaken(net, torch):
    """Random weights, norms and biases among them; running statistics as if something had been seen."""
    torch.manual_seed(1)
    for name, value in net.state_dict().items():
        if value.dtype == torch.float32 and not name.endswith(".eps"):
            value.copy_(torch.rand(value.shape) + 0.5 if name.endswith("running_var") else 0.7 * torch.randn(value.shape))
    return net


def check_net(name, model, net, graph, torch, **data):
    edges, x, y, _ = graph
    x, edges, fit = torch.from_numpy(x), torch.from_numpy(edges), slice(TRAINED)
    before = start_file(shaken(net, torch), f"{name}.start")

    def scores(folder, weights):
        command("predict", f"{name}.json", "--weights", weights, "-o", folder, "--quiet")
        return np.load(f"{folder}/scores.npy")

    run = train(name, model={**model, "weights": f"{name}.start"}, train=STEP, data=data)
    net.eval()
    with torch.no_grad():
        want = net(x, edges).numpy()
    found = {"logits": largest(scores(f"{name}-before", f"{name}.start") - want, want)}
    net.train()
    loss = torch.nn.functional.cross_entropy(net(x, edges)[fit], torch.from_numpy(y)[fit])
    loss.backward()
    found["loss"] = abs(run.epochs["loss"][0] / loss.item() - 1)
    with torch.no_grad():
        for value in net.parameters():
            value -= RATE * (value.grad if value.grad is not None else 0)
    after, want = fringe.weights(run), start_file(net, f"{name}.want")
    assert after.keys() == want.keys(), (name, after.keys() ^ want.keys())
    steps = {key: np.abs(want[key] - before[key]).max() for key in want}
    most = max(step for key, step in steps.items() if "running" not in key)
    for key in want:
        if key.endswith("num_batches_tracked"):
            assert after[key] == want[key], (name, key)
            continue
        kind = "running statistics" if "running" in key else "gradients"
        size = steps[key] if "running" in key else max(steps[key], 1e-2 * most)  # in front of a norm a bias has rounding alone
        found[kind] = max(found.get(kind, 0), np.abs(after[key] - want[key]).max() / size)
    assert max(found.values()) <= 1e-4, (name, found)
    return found


def test_layers(graph):
    """Logits of evaluation; loss, gradients and running statistics of training."""
    import torch

    found = [check_net(name, model, net, graph, torch) for name, model, net in nets()]
    edges, x, y, many = graph
    words = np.where(np.random.default_rng(2).random(x.shape) < 0.4, x, 0).astype(np.float32)
    fringe.write_dataset("words", edges, words, y, [range(TRAINED), range(TRAINED, 60), range(60, NODES)])
    found += [check_net(f"sparse-{name}", model, net, (edges, words, y, many), torch, path="words", features_as="sparse")
              for name, model, net in nets()]
    for kind in ("logits", "loss", "gradients", "running statistics"):
        print(f"{len(found)} models, {kind}: largest difference {max(of.get(kind, 0) for of in found):.1e}")


# --- losses


def check_loss(name, graph, wanted, data="plain", **settings):
    """Value and gradients of a training loss, of a linear layer."""
    import torch

    lin = shaken(torch.nn.Linear(COLUMNS, CLASSES), torch)
    before = start_file({"lins.0." + key: value for key, value in lin.state_dict().items()}, f"{name}.start")
    run = train(name, data={"path": data}, model={"layer": "mlp", "layers": 1, "weights": f"{name}.start"},
                train={**STEP, **settings})
    value = wanted(lin(torch.from_numpy(graph[1])[:TRAINED]))
    value.backward()
    off = [run.epochs["loss"][0] / value.item() - 1]
    for key, grad in (("weight", lin.weight.grad.numpy()), ("bias", lin.bias.grad.numpy())):
        mine = (before[f"lins.0.{key}"] - fringe.weights(run)[f"lins.0.{key}"]) / RATE
        off.append(largest(mine - grad, grad))
    assert max(map(abs, off)) <= 1e-6, (name, off)
    print(f"{name}: loss and gradients differ by {max(map(abs, off)):.1e}")


def test_losses(graph):
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

    y, many = torch.from_numpy(graph[2])[:TRAINED], torch.from_numpy(graph[3]).float()[:TRAINED]
    weights, counts = torch.tensor([0.5, 2.0, 7.0]), torch.bincount(y, minlength=CLASSES)
    balanced = TRAINED / (CLASSES * counts)
    check_loss("plain-loss", graph, lambda z: cross_entropy(z, y))
    check_loss("classes", graph, lambda z: cross_entropy(z, y, weights), class_weights=weights.tolist())
    check_loss("balanced", graph, lambda z: cross_entropy(z, y, balanced), class_weights="balanced")
    check_loss("smooth", graph, lambda z: cross_entropy(z, y, label_smoothing=0.15), label_smoothing=0.15)
    check_loss("smooth-classes", graph, lambda z: cross_entropy(z, y, weights, label_smoothing=0.15),
               class_weights=weights.tolist(), label_smoothing=0.15)
    positive = torch.full((CLASSES,), 3.5)  # fringe sums over classes, torch takes their mean
    check_loss("bce", graph, lambda z: CLASSES * binary_cross_entropy_with_logits(z, many), "many")
    check_loss("positive", graph, lambda z: CLASSES * binary_cross_entropy_with_logits(z, many, pos_weight=positive), "many",
               positive_weight=3.5)
    numbers = torch.from_numpy(numbers_of(graph[1]))[:TRAINED]
    check_loss("mse", graph, lambda z: torch.nn.functional.mse_loss(z, numbers), "numbers")
    for name, data, side in (("machines", "plain", torch.eye(CLASSES)[y]), ("machines-many", "many", many)):
        check_loss(name, graph, lambda z, side=side: torch.relu(1 - (2 * side - 1) * z).sum(1).mean(), data, loss="hinge")


# --- optimizers and schedules


def test_optimizers(graph):
    """50 steps of a linear layer, whose gradients torch computes in double at fringe's course."""
    import torch

    y, x = torch.from_numpy(graph[2])[:TRAINED], torch.from_numpy(graph[1]).double()[:TRAINED]
    for name, decay, optimizer in (("adamw", 0.3, torch.optim.AdamW), ("adam", 0.02, torch.optim.Adam)):
        lin = shaken(torch.nn.Linear(COLUMNS, CLASSES), torch)
        start_file({"lins.0." + key: value for key, value in lin.state_dict().items()}, f"{name}.start")
        lin = lin.double()
        steps = optimizer([{"params": [lin.weight], "weight_decay": decay}, {"params": [lin.bias], "weight_decay": 0}],
                          lr=0.03, betas=(0.85, 0.99), eps=1e-6)
        for _ in range(50):
            steps.zero_grad()
            torch.nn.functional.cross_entropy(lin(x), y).backward()
            steps.step()
        run = train(name, model={"layer": "mlp", "layers": 1, "weights": f"{name}.start"},
                    train={"epochs": 50, "optimizer": name, "lr": 0.03, "betas": [0.85, 0.99], "eps": 1e-6,
                           "weight_decay": [decay]})
        for key, want in lin.state_dict().items():
            off = np.abs(fringe.weights(run)[f"lins.0.{key}"] - want.numpy()).max()
            assert off <= 1e-6, (name, key, off)
            print(f"{name}, {key}: after 50 steps {off:.1e}")


def test_plateau(graph):
    """The rates of torch's schedule, given the scores of the run."""
    import torch

    run = train("plateau", model={"layer": "gcn", "hidden": [7], "layers": 2, "norm": "layer", "dropout": 0.6},
                train={"epochs": 120, "lr": 0.01, "eval_every": 1, "lr_schedule": "plateau", "lr_gamma": 0.7, "lr_patience": 2})
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.01)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, "max", 0.7, 2, threshold=0)
    want = []
    for score in run.epochs["validation.accuracy"]:
        want.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step(score)
    rises = np.diff(np.maximum.accumulate(run.epochs["validation.accuracy"])) > 0
    assert len(set(want)) > 5 and rises.sum() > 2, "the scores try neither the count nor its return to zero"
    assert np.allclose(run.epochs["rate"], want, rtol=1e-12, atol=0), (run.epochs["rate"], want)

    run = train("exponential", model={"layer": "mlp", "layers": 1},
                train={"epochs": 9, "lr": 0.3, "lr_schedule": "exponential", "lr_gamma": 0.7})
    assert np.allclose(run.epochs["rate"], 0.3 * 0.7 ** np.arange(9), rtol=1e-12, atol=0)


# --- areas under curves


def areas(folder):
    """What fringe says of each split, and the scores of all nodes."""
    found = json.loads(command("evaluate", folder, "--all-metrics", "--json", "--quiet"))
    command("predict", folder, "--quiet")
    return found, np.load(f"{folder}/predictions/scores.npy").astype(np.float64)


def check_areas(folder, labels, masks):
    """labels [n, K] of 0 and 1. Classes that all or none of a split have are left out."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    found, scores = areas(folder)
    if (labels.sum(1) == 1).all():  # one class a node: probabilities
        scores = np.exp(scores - scores.max(1, keepdims=True))
        scores /= scores.sum(1, keepdims=True)
    ties = 0
    for split in ("validation", "test"):
        y, z = labels[masks[split]], scores[masks[split]]
        both = [k for k in range(y.shape[1]) if 0 < y[:, k].sum() < len(y)]
        ties += sum(len(z) - len(np.unique(z[:, k])) for k in both)
        for name, score in (("roc_auc", roc_auc_score), ("average_precision", average_precision_score)):
            want = np.mean([score(y[:, k], z[:, k]) for k in both])
            assert abs(found[split][name] - want) <= 1e-12, (folder, split, name, found[split][name], want)
            print(f"{folder}, {name} of {split}: {abs(found[split][name] - want):.1e} from that of scikit-learn")
    return ties


def test_areas():
    """Features of few values make rows of equal scores; a class that nobody has is left out."""
    random = np.random.default_rng(3)
    x = random.integers(0, 3, (200, 2)).astype(np.float32)
    masks = {"train": np.arange(200) < 40, "validation": (np.arange(200) >= 40) & (np.arange(200) < 90),
             "test": np.arange(200) >= 90}
    y = random.integers(0, 4, 200)
    many = random.integers(0, 2, (200, 4))
    many[:, 2] = masks["train"]  # no row of the other splits
    for name, labels in (("tied", y), ("tied-many", many)):
        fringe.write_dataset(name, np.zeros((2, 0), int), x, labels, masks)
        train(name + "-run", data={"path": name}, model={"layer": "mlp", "layers": 1}, train={"epochs": 3})
        ties = check_areas(name + "-run", many if labels.ndim == 2 else np.eye(4)[y], masks)
        assert ties > 300, ties


def test_errors(graph):
    """RMSE, MAE and R2 of all columns, from what was predicted."""
    from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

    run = train("errors", data={"path": "numbers"}, model={"layer": "mlp", "layers": 1}, train={"epochs": 30})
    command("predict", "errors", "--quiet")
    found = fringe.predictions(run)
    assert found.classes is None and found.scores.shape == (NODES, CLASSES)
    y, z = numbers_of(graph[1]).astype(float), found.scores.astype(float)
    for split, rows in (("validation", slice(TRAINED, 60)), ("test", slice(60, NODES))):
        want = {"mae": mean_absolute_error(y[rows], z[rows]), "r2": r2_score(y[rows], z[rows]),
                "rmse": root_mean_squared_error(y[rows].ravel(), z[rows].ravel())}
        for name, value in want.items():
            got = run.epochs[f"{split}.{name}"][-1]
            assert abs(got - value) <= 1e-6, (split, name, got, value)


def test_deezer():
    folder = os.path.join(os.environ.get("FRINGE_DATA", ""), "deezer_hu")
    if not os.path.exists(os.path.join(folder, "deezer_hu.npz")):
        return "FRINGE_DATA has no deezer_hu"
    labels = np.load(os.path.join(folder, "deezer_hu.npz"))["labels"]
    splits, masks = np.load(os.path.join(folder, "splits.npz")), {}
    for split, key in (("validation", "val20_idx"), ("test", "test20_idx")):
        masks[split] = np.isin(np.arange(len(labels)), splits[key])
    command("train", os.path.join(ROOT, "configs/deezer-hu-gcn-auc.json"), "--quiet", "--set", "train.epochs=2", "--set",
            "run.dir=deezer", "--set", "model.hidden=[8]", "--set", 'data.transforms=["random:8"]')
    check_areas("deezer", labels, masks)


# --- nodes that were not there in training


def check_new_nodes(name, ending, model, prepared, edges, transforms=()):
    """Weights of NAME-part, scores of NAME-whole: those of PyG with the weights on the features as `prepared`."""
    import torch

    run = train(name, data={"path": f"{name}-part{ending}", "transforms": transforms}, model={"layer": "gcn", "layers": 2, "norm": "none", **model},
                train={"epochs": 3})
    command("predict", name, "--data", f"{name}-whole{ending}", "-o", f"{name}-new", "--quiet")
    scores = np.load(f"{name}-new/scores.npy")
    with torch.no_grad():
        want = fringe.to_pyg(run)(torch.from_numpy(prepared), torch.from_numpy(edges)).numpy()
    assert scores.shape == want.shape and largest(scores - want, want) <= 1e-4, (name, largest(scores - want, want))
    print(f"{name}: {len(scores)} nodes, scores differ by {largest(scores - want, want):.1e} of the largest")


def test_new_nodes(graph):
    """Scores of nodes beyond the first 60, with the norm's statistics of those."""
    edges, x, y, _ = graph
    seen = 60
    part = edges[:, (edges < seen).all(0)]
    with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fringe.write_dataset("new-part", part, x[:seen], y[:seen], [range(40), range(40, 50), range(50, seen)])
        fringe.write_dataset("new-whole", edges, x)
    check_new_nodes("new", "", {"hidden": [7], "norm": "batch", "gcn_norm": "in", "post": ["norm", "activation", "dropout"]},
                    x, edges)


def test_new_authors():
    """Of coauthor_cs, with words that are 0 or 1 and sum to 1."""
    import scipy.sparse as sp

    path = os.path.join(os.environ.get("FRINGE_DATA", ""), "coauthor_cs/ms_academic_cs.npz")
    if not os.path.exists(path):
        return "FRINGE_DATA has no coauthor_cs"
    with np.load(path, allow_pickle=True) as file:
        adj, attr = (sp.csr_matrix(tuple(file[f"{name}_{of}"] for of in ("data", "indices", "indptr")),
                                   tuple(file[f"{name}_shape"])) for name in ("adj", "attr"))
        y = file["labels"]
    order = np.random.default_rng(5).permutation(len(y))
    seen = np.sort(order[:len(y) * 7 // 10])

    def stored(of, name):
        return {f"{name}_{key}": getattr(of, key) for key in ("data", "indices", "indptr", "shape")}

    split = {f"{part}_idx": nodes for part, nodes in zip(("train", "val", "test"), np.split(np.arange(len(seen)), [4000, 6000]))}
    np.savez("authors-part.npz", **stored(adj[seen][:, seen], "adj"), **stored(attr[seen], "attr"), labels=y[seen], **split)
    np.savez("authors-whole.npz", **stored(adj, "adj"), **stored(attr, "attr"))
    x = (attr.toarray() > 0).astype(np.float32)
    x /= np.maximum(x.sum(1, keepdims=True), 1e-12)
    coo = adj.tocoo()
    check_new_nodes("authors", ".npz", {"hidden": [16]}, x, np.stack([coo.row, coo.col]).astype(np.int64),
                    ["binary", "row-normalize"])


def missing(*modules):
    return next((module for module in modules if importlib.util.find_spec(module) is None), None)


def main():
    parts = [("layers of PyG", test_layers, ("torch", "torch_geometric")), ("losses of torch", test_losses, ("torch",)),
             ("optimizers of torch", test_optimizers, ("torch",)), ("schedules of torch", test_plateau, ("torch",)),
             ("areas of scikit-learn", test_areas, ("sklearn",)), ("errors of scikit-learn", test_errors, ("sklearn",)), ("areas of deezer_hu", test_deezer, ("sklearn",)),
             ("new nodes in PyG", test_new_nodes, ("torch", "torch_geometric")),
             ("new authors in PyG", test_new_authors, ("torch", "torch_geometric", "scipy"))]
    own_folder()
    graph = make_graph()
    for name, test, modules in parts:
        gone = missing(*modules)
        why = f"{gone} is not installed; tests/python/setup.sh installs it" if gone else \
            test(*[graph][:test.__code__.co_argcount])
        print(f"skipped: {name}, because {why}" if why else f"ok: {name}", flush=True)


main()
