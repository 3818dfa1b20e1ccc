"""Makes the data of smoke runs in FOLDER: tiny sets under the names that the configs of the benches give them, so that
FRINGE_DATA=FOLDER stands for the real ones. bench/run.sh NAME --smoke calls it."""
import os
import sys
import zipfile

from figures import SMALL, fringe, npy

GRAPHS = ("reddit-small", "products-small")
NPZ = ("cora/cora.npz",)
HYPERGRAPHS = ("hg_walmart", "hg_mushroom")


def link(target, path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.symlink(target, path)


def main():
    folder = os.path.abspath(sys.argv[1])
    graph, npz, pins = (os.path.join(folder, name) for name in ("graph", "graph.npz", "pins.hgr"))
    fringe("generate", SMALL["planted"], "-o", graph)
    fringe("convert", graph, npz)
    fringe("generate", SMALL["hyper-planted"], "-o", os.path.join(folder, "hypergraph"))
    fringe("convert", os.path.join(folder, "hypergraph"), pins)
    for name in GRAPHS:
        link(graph, os.path.join(folder, name))
    for name in NPZ:
        link(npz, os.path.join(folder, name))
    for name in HYPERGRAPHS:
        link(pins, os.path.join(folder, name, "hypergraph.hgr"))
        write_nodes(os.path.join(folder, name, "nodes.npz"), 200, has_features=name != "hg_walmart")


def write_nodes(path, nodes, has_features):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("labels.npy", npy([v % 4 for v in range(nodes)]))
        for i, name in enumerate(("train_idx", "val_idx", "test_idx")):
            file.writestr(name + ".npy", npy(range(i, nodes, 3)))
        for name, values, code in (("data", [1] * nodes, "f"), ("indices", [v % 8 for v in range(nodes)], "i"),
                                   ("indptr", range(nodes + 1), "i"), ("shape", (nodes, 12), "q")) if has_features else ():
            file.writestr(f"attr_{name}.npy", npy(values, code))


main()
