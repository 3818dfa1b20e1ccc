"""What the pages call the reader's own: files that they name without making them, and arrays that their Python expects.

One graph of 600 nodes in three groups under all names, and the friends of each of 100 nodes as a hypergraph.
"""
import json
import os

import numpy as np

import fringe

NODES = 600
random = np.random.default_rng(1)
labels = y = np.arange(NODES) % 3
features = x = (random.standard_normal((NODES, 8)) + 2 * np.eye(3, 8)[labels]).astype(np.float32)
friends = np.triu(random.random((NODES, NODES)) < np.where(labels[:, None] == labels, 0.02, 0.002), 1)
edges = np.argwhere(friends).T  # each once
edge_index = np.argwhere(friends | friends.T).T
where = random.permutation(NODES)
train_mask, val_mask, test_mask = where < 300, (where >= 300) & (where < 400), where >= 400
masks = {"train": train_mask, "validation": val_mask, "test": test_mask}
hyperedge_index = np.argwhere((friends | friends.T)[:, :100]).T  # the friends of the first 100


def arrays():
    """The names that Python on a page may use."""
    return {name: globals()[name] for name in ("features", "x", "labels", "y", "edges", "edge_index", "masks", "train_mask",
                                               "val_mask", "test_mask", "hyperedge_index")}


def write_csr(path, prefix="", **more):
    """As scipy and gnn-benchmark keep a graph."""
    offset = np.concatenate([[0], np.cumsum((friends | friends.T).sum(axis=1))])
    graph = {"data": np.ones(len(edge_index[1])), "indices": edge_index[1], "indptr": offset, "shape": [NODES, NODES]}
    np.savez(path, **{prefix + key: value for key, value in graph.items()}, **more)


def write_graphs():
    splits = {"train_idx": np.flatnonzero(train_mask), "val_idx": np.flatnonzero(val_mask), "test_idx": np.flatnonzero(test_mask)}
    np.savetxt("mine.tsv", edges.T, fmt="%d", delimiter="\t")
    np.save("x.npy", x)
    np.save("y.npy", y)
    np.savez("splits.npz", **splits)
    np.savez("nodes.npz", x=x, y=y, **splits)
    np.savez("mygraph.npz", edge_index=edge_index, x=x, y=y, train_mask=train_mask, val_mask=val_mask, test_mask=test_mask)
    write_csr("cora.npz", prefix="adj_", attr_matrix=x, labels=y, **splits)
    os.makedirs("Downloads/reddit")
    write_csr("Downloads/reddit/reddit_graph.npz", format=b"csr")
    np.savez("Downloads/reddit/reddit_data.npz", feature=x, label=y, node_types=np.select([train_mask, val_mask], [1, 2], 3))
    with open("my.json", "w") as f:
        json.dump({"data": {"path": "mygraph.npz"}}, f)


def write_tables():
    """The tutorial's: friends and people by name."""
    names = [f"{('ada', 'ben', 'eva')[i % 3]}{i}" for i in range(NODES)]
    with open("friends.csv", "w") as f:
        f.write("from,to\n" + "".join(f"{names[i]},{names[j]}\n" for i, j in edges.T))
    with open("people.csv", "w") as f:
        f.write("name,group,split," + ",".join(f"x{k}" for k in range(8)) + "\n")
        for i in random.permutation(NODES):
            split = "train" if train_mask[i] else "val" if val_mask[i] else "test"
            f.write(f"{names[i]},{('readers', 'singers', 'cooks')[labels[i]]},{split}," + ",".join(map(str, x[i])) + "\n")


def write_hypergraphs():
    """As a file of hMETIS, and as a stream whose ids have gaps."""
    pins = [hyperedge_index[0][hyperedge_index[1] == h] for h in range(100)]
    with open("mine.hgr", "w") as f:
        f.write(f"100 {NODES}\n" + "".join(" ".join(map(str, nodes + 1)) + "\n" for nodes in pins))
    fringe.write_events("papers.events", (("+h", 7 * h, 10 * nodes) for h, nodes in enumerate(pins)))
    np.savez("authors.npz", ids=10 * np.arange(NODES), features=x, labels=y, train_ids=10 * np.flatnonzero(train_mask),
             val_ids=10 * np.flatnonzero(val_mask), test_ids=10 * np.flatnonzero(test_mask))
    with open("CONFIG.json", "w") as f:
        json.dump({"model": {"layer": "hgnn", "layers": 2, "hidden": 8}}, f)


def write_files():
    write_graphs()
    write_tables()
    write_hypergraphs()
