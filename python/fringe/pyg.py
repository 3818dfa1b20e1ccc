"""Weights of runs as modules of PyTorch Geometric (PyG), and back.

SPDX-License-Identifier: Apache-2.0
"""
import re
from typing import Any

import numpy as np

from .tensors import _array, write_tensors
from .runs import Run, weights


def _with_loops(edge_index, nodes, torch):
    return torch.cat([edge_index, torch.arange(nodes, device=edge_index.device).repeat(2, 1)], 1)


def _scaled_edges(kind, edge_index, edge_weight, nodes, torch):
    """fringe's own scaling of gcn (in- and out-degree) and sage-gcn (mean with the node itself)."""
    ones = torch.ones(nodes, device=edge_index.device)
    weight = torch.ones(edge_index.shape[1], device=edge_index.device) if edge_weight is None else edge_weight
    into, out = ones.index_add(0, edge_index[1], weight), ones.index_add(0, edge_index[0], weight)
    edge_index, weight = _with_loops(edge_index, nodes, torch), torch.cat([weight, ones])
    if kind == "sage-gcn":
        return edge_index, weight / into[edge_index[1]]
    return edge_index, weight / (into[edge_index[1]] * out[edge_index[0]]).sqrt()


def _convolution(model, inputs, outputs):
    """The layer of PyG that computes what the run's layer computes."""
    from torch.nn import Linear, ReLU, Sequential
    from torch_geometric.nn import GCNConv, GINConv, HypergraphConv, SAGEConv, SGConv

    kind, bias = model["layer"], model["bias"]
    if kind == "hgnn":
        return HypergraphConv(inputs, outputs, bias=bias)
    if kind in ("gcn", "sage-gcn"):
        return GCNConv(inputs, outputs, bias=bias, normalize=kind == "gcn" and model["gcn_norm"] == "in")
    if kind == "sage-mean":
        return SAGEConv(inputs, outputs, bias=bias)
    if kind == "gin":
        net = Sequential(Linear(inputs, outputs, bias), ReLU(), Linear(outputs, outputs, bias))
        return GINConv(net, train_eps=model["gin_learn_epsilon"])
    return SGConv(inputs, outputs, K=model["layers"], bias=bias)


def _check_layer(config):
    """PyG must have the layer, and read what it reads."""
    model, kind, labels = config["model"], config["model"]["layer"], config["train"].get("label_input", "none")
    if kind not in ("gcn", "sage-gcn", "sage-mean", "gin", "sgc", "mlp", "appnp", "gcn2", "hgnn"):
        raise ValueError(f"model.layer={kind}: PyG has no layer that computes this")
    if model.get("mix"):
        raise ValueError("model.mix: PyG has no layer that adds aggregates with factors of their own")
    if labels != "none":
        raise ValueError(f"train.label_input={labels}: the first layer also reads labels of training nodes, and PyG's does not")
    if kind == "hgnn" and model["norm_hyper"] != "row":
        raise ValueError(f"model.norm_hyper={model['norm_hyper']}: PyG's HypergraphConv computes D_v^-1 H D_e^-1 H^T X, "
                         "which is model.norm_hyper=row; train with that")


def _check_hypergraph(data):
    if data.get("hyperedges") and not data["symmetric"]:
        raise ValueError("the run trained on a directed hypergraph: PyG's HypergraphConv knows no roles of pins")
    if data.get("hyperedge_weights"):
        raise ValueError("the run trained on hyperedges with weights: PyG's HypergraphConv divides by the weights but does "
                         "not multiply by them; fringe's hgnn does both")


def _width_of(array, name):
    """The first of the layers' matrices whose names match, as (inputs, outputs) of each, in order."""
    found = []
    while name.format(len(found)) in array:
        found.append(array[name.format(len(found))].shape[::-1])
    return found


def _layers(settings, array):
    """The modules with weights, by the names that files have."""
    import torch
    from torch_geometric.nn import GCN2Conv

    kind, bias = settings["layer"], settings["bias"]
    modules = {}
    for name in ("lins.{}.weight", "self_lins.{}.weight", "convs.{}.weight1", "convs.{}.lin.weight", "convs.{}.lin_l.weight",
                 "convs.{}.nn.0.weight"):
        shapes, place = _width_of(array, name), name.partition(".")[0]
        if not shapes:
            continue
        modules[place] = torch.nn.ModuleList(
            torch.nn.Linear(i, o, bias and place == "lins") if place.endswith("lins")
            else GCN2Conv(o, settings["alpha"], settings["theta"], layer + 1) if kind == "gcn2"
            else _convolution(settings, i, o) for layer, (i, o) in enumerate(shapes))
    for name in ("lin", *(f"lin{l + 1}" for l in range(settings["layers"]))):
        if f"{name}.weight" in array:
            modules[name] = torch.nn.Linear(*array[f"{name}.weight"].shape[::-1], bias)
    return modules


def _norms(settings, array):
    import torch
    from torch_geometric.nn import BatchNorm

    batch = settings["norm"] == "batch"
    name = "norms.{}.module.weight" if batch else "norms.{}.weight"
    return torch.nn.ModuleList((BatchNorm if batch else torch.nn.LayerNorm)(shape[0]) for shape in _width_of(array, name))


def to_pyg(run: Run, best: bool = False) -> Any:
    """A torch module of PyG's layers with the run's weights, in evaluation mode: model(x, edge_index, edge_weight=None)
    gives the scores of fringe predict. x and edges must be those that the run trained on, after data.transforms; of hgnn
    with model.norm_hyper=row edge_index is hyperedge_index, and all hyperedges weigh 1, for PyG's HypergraphConv computes
    D_v^-1 H D_e^-1 H^T X with weights in D_v alone. model.layers_of(...) gives a list: the rows behind each layer, the
    scores last."""
    import torch
    from torch.nn import functional

    settings, kind = run.config["model"], run.config["model"]["layer"]
    _check_layer(run.config)
    _check_hypergraph(run.record["data"])
    array = weights(run, best)
    own_scaling = kind == "sage-gcn" or (kind == "gcn" and settings["gcn_norm"] == "both")
    skip, jk = settings.get("skip", "none"), settings.get("jk", "none")
    activations = {"relu": functional.relu, "elu": functional.elu, "gelu": functional.gelu, "none": lambda x: x,
                   "leaky-relu": lambda x: functional.leaky_relu(x, settings["slope"])}

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for name, module in _layers(settings, array).items():
                setattr(self, name, module)
            self.norms = _norms(settings, array)
            if kind == "appnp":
                from torch_geometric.nn import APPNP

                self.prop1 = APPNP(settings["steps"], settings["alpha"])

        def drop(self, x, probability):
            return functional.dropout(x, probability, self.training)

        def post(self, x, layer, dropout=True):
            for step in settings["post"]:
                if step == "norm" and len(self.norms):
                    x = self.norms[layer](x)
                elif step == "activation":
                    x = activations[settings["activation"]](x)
                elif step == "dropout" and dropout:
                    x = self.drop(x, settings["dropout"])
            return x

        def stacked(self, x, layers, *graph):
            found, hidden = [], len(layers) - (jk == "none")
            for layer, module in enumerate(layers):
                below, x = x, module(x, *graph)
                x = x + self.self_lins[layer](below) if hasattr(self, "self_lins") else x
                if layer < hidden:
                    x = self.post(x, layer)
                    x = x + below if skip == "residual" and x.shape == below.shape else x
                found.append(x)
            return found

        def perceptron(self, x):
            return self.stacked(
                x, self.lins if kind == "mlp" else [getattr(self, f"lin{l + 1}") for l in range(settings["layers"])])

        def returning(self, x, edge_index, weight):
            first = self.post(self.lins[0](x), 0, dropout=False)
            found = [self.drop(first, settings["dropout"] if "dropout" in settings["post"] else 0)]
            for layer, conv in enumerate(self.convs):
                x = self.post(conv(found[-1], first, edge_index, *weight), layer + 1)
                found.append(x + found[-1] if skip == "residual" else x)
            return [*found, self.lins[1](found[-1])]

        def layers_of(self, x, edge_index, edge_weight=None):
            if edge_weight is not None and kind in ("sage-mean", "gin"):
                raise ValueError(f"PyG's layer for {kind} knows no edge weights")
            if edge_weight is not None and kind == "hgnn":
                raise ValueError("PyG's HypergraphConv divides by the weights of hyperedges but does not multiply by them; "
                                 "fringe's hgnn does both, so only hyperedges without weights give the same scores")
            if own_scaling:
                edge_index, edge_weight = _scaled_edges(kind, edge_index, edge_weight, len(x), torch)
            elif kind == "sage-mean" and settings["self_loops"]:
                edge_index = _with_loops(edge_index, len(x), torch)
            weight = () if edge_weight is None else (edge_weight,)
            x = self.drop(x, settings["input_dropout"])
            if kind == "gcn2":
                return self.returning(x, edge_index, weight)
            found = self.perceptron(x) if kind in ("mlp", "appnp") else self.stacked(x, self.convs, edge_index, *weight)
            if kind == "appnp":
                found.append(self.prop1(found[-1], edge_index, *weight))
            if jk != "none":
                levels = found if jk == "cat" else [torch.stack(found).max(0).values if jk == "max" else found[-1]]
                found.append(self.lin(torch.cat(levels, 1)))
            return found

        def forward(self, x, edge_index, edge_weight=None):
            return self.layers_of(x, edge_index, edge_weight)[-1]

    model = Network()
    model.load_state_dict({name: torch.from_numpy(value) for name, value in array.items()}, strict=True)
    return model.eval()


KNOWN = re.compile(r"convs\.\d+\.(lin\.weight|lin\.bias|bias|lin_[lr]\.weight|lin_l\.bias|nn\.[02]\.(weight|bias)|eps|weight1)"
                   r"|(lins\.\d+|lin\d*)\.(weight|bias)|self_lins\.\d+\.weight|norms\.\d+\.(weight|bias)"
                   r"|norms\.\d+\.module\.(weight|bias|running_mean|running_var|num_batches_tracked)")


def from_pyg(model: Any, path: str) -> None:
    """Writes the weights of a torch model of PyG's layers as a file for model.weights. The layers are named
    convs.0, convs.1, ... (PyG's own models GCN, GraphSAGE, GIN; to_pyg) or conv1, conv2, ..., norms alike; those without
    edges lins.0, lins.1, ... (PyG's MLP), lin1, lin2, ... before APPNP, lin behind JumpingKnowledge or the last convolution,
    and self_lins.0, ... beside GCNConv (model.gcn_self)."""
    state = model.state_dict() if hasattr(model, "state_dict") else model
    arrays = {}
    for name, value in state.items():
        new = re.sub(r"^(conv|norm)(\d+)\.", lambda m: f"{m[1]}s.{int(m[2]) - 1}.", name)
        new = re.sub(r"\.nn\.lins\.(\d)\.", lambda m: f".nn.{2 * int(m[1])}.", new)  # PyG's MLP in its GIN
        if ".module." not in new and re.sub(r"\.\w+$", ".running_mean", name) in state:  # torch's BatchNorm1d, which PyG's wraps
            new = re.sub(r"^(norms\.\d+)\.", r"\1.module.", new)
        if not KNOWN.fullmatch(new):
            raise ValueError(f"'{name}' is no weight of a layer that fringe has (convs.N of GCNConv, SAGEConv, "
                             "GINConv, SGConv, GCN2Conv or HypergraphConv, lins.N, linN, norms.N of LayerNorm or BatchNorm)")
        if new.endswith("num_batches_tracked"):
            arrays[new] = np.asarray(_array(value), np.int64)
        else:
            arrays[new] = np.asarray(_array(value), np.float32).reshape(_array(value).shape or (1,))
    write_tensors(path, arrays)
