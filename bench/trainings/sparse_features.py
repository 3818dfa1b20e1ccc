"""Sparse features (data.features_as) against dense ones: an epoch, the memory, the losses.

usage: bench/run.sh sparse_features [--strict] [--sets=physics,words,cora,citeseer] [--repeats=3] [--epochs=12] [--nodes=20000]
smoke: --sets=words --repeats=1 --epochs=4 --nodes=300

Each set is trained on one rank, all cores, on CSR and on rows of floats by turns; these are multiplied before they are
aggregated where that is faster (the faster of lossless.order=auto and transform-first, measured in the first round).
words: a bag of words over a random graph, half a percent of 6,000 columns, made here.
"""
import os
import statistics
import tempfile

from figures import ROOT, SMOKE, Bench, markdown, median_epoch, needs_module, option, trained, write_json, write_tables

numpy = needs_module("numpy")
SHARE60 = "data.splits=random:0.6,0.2"
# name: config, settings, the bar of dense over sparse
PHYSICS = {"100 training nodes, input dropout": ([], 5), "60 % training nodes, input dropout": ([SHARE60], 20),
           "60 % training nodes": ([SHARE60, "model.input_dropout=0"], 1.5),
           "100 training nodes": (["model.input_dropout=0"], 1.5)}
DENSE = {"as it was": [], "multiplied first": ["lossless.order=transform-first"],
         "aggregated in every epoch": ["lossless.input_features=exchange"]}


def make_words(work, nodes, columns):
    """A graph of ten edges a node and rows of about columns / 200 words, of which few are frequent."""
    rng = numpy.random.default_rng(1)
    words = [numpy.unique((columns * rng.random(max(columns // 200, 2)) ** 2).astype(numpy.int32)) for _ in range(nodes)]
    source, target = rng.integers(0, nodes, (2, 5 * nodes))
    pairs = numpy.unique(numpy.concatenate([source * nodes + target, target * nodes + source]))
    pairs = pairs[pairs // nodes != pairs % nodes]
    path, split = os.path.join(work, "words.npz"), rng.permutation(nodes)
    numpy.savez(path, adj_data=numpy.ones(len(pairs), numpy.float32), adj_indices=(pairs % nodes).astype(numpy.int32),
                adj_indptr=numpy.searchsorted(pairs, numpy.arange(nodes + 1) * nodes),
                adj_shape=numpy.array([nodes, nodes]), labels=rng.integers(0, 8, nodes),
                attr_data=numpy.ones(sum(map(len, words)), numpy.float32), attr_indices=numpy.concatenate(words),
                attr_indptr=numpy.cumsum([0, *map(len, words)]), attr_shape=numpy.array([nodes, columns]),
                train_idx=split[:nodes * 6 // 10], val_idx=split[nodes * 6 // 10:nodes * 8 // 10],
                test_idx=split[nodes * 8 // 10:])
    model = {"layer": "gcn", "layers": 2, "hidden": [64], "norm": "none", "post": ["activation", "dropout"],
             "input_dropout": 0.5}
    return write_json(os.path.join(work, "words.json"), {"data": {"path": path}, "model": model})


def cases(work):
    """(name, config, settings, bar) of the sets that were asked for."""
    for name in option("sets", "physics,words,cora,citeseer").split(","):
        if name == "physics":
            for what, (more, bar) in PHYSICS.items():
                yield f"coauthor_physics, {what}", os.path.join(ROOT, "configs", "coauthor-physics-gcn.json"), more, bar
        elif name == "words":
            config = make_words(work, option("nodes", 20000), 60 if SMOKE else 6000)
            yield "a bag of words, input dropout", config, [], 5
        else:
            yield name, os.path.join(ROOT, "configs", f"{name}-gcn.json"), [], 1


def train(work, config, words):
    """Seconds of an epoch, bytes of memory, and the losses of ten epochs."""
    run, epochs = trained(config, f"data.cache={work}/cache", f"train.epochs={option('epochs', 12)}", *words)
    return median_epoch(epochs), run["result"]["memory_resident"], [epoch["loss"] for epoch in epochs[:10]]


def measure(bench, work, name, config, words, bar):
    dense = min(DENSE, key=lambda variant: train(work, config, words + DENSE[variant])[0])
    rounds = [(train(work, config, words + DENSE[dense]), train(work, config, [*words, "data.features_as=sparse"]))
              for _ in range(option("repeats", 3))]
    gain = [was[0] / now[0] for was, now in rounds]
    memory = statistics.median(now[1] / was[1] for was, now in rounds)
    apart = max(abs(a - b) / abs(a) for a, b in zip(rounds[0][0][2], rounds[0][1][2]))
    middle = statistics.median(gain)
    bench.at_least(f"{name}: epoch, dense over sparse", middle, "x", 1, "bar", bar)
    bench.at_most(f"{name}: memory, sparse over dense", memory, "", 0 if bar == 1 else 1.0, "bar", 0.1)
    bench.at_most(f"{name}: losses of ten epochs", apart, "", 1, "bar", 1e-5)
    seconds = [1000 * statistics.median(pair[variant][0] for pair in rounds) for variant in (0, 1)]
    return (f"| {name} | {dense} | {seconds[0]:.1f} | {seconds[1]:.1f} | {middle:.1f} ({min(gain):.1f} to {max(gain):.1f}) "
            f"| {memory:.3f} | {apart:.0e} |")


def main():
    bench = Bench("sparse_features")
    with tempfile.TemporaryDirectory(prefix="fringe-sparse-") as work:
        rows = [measure(bench, work, *case) for case in cases(work)]
    write_tables("Sparse features", "`bench/run.sh sparse_features`: one rank, GCN of two layers, rounds by turns; "
                 "losses apart: the largest relative difference in ten epochs; memory: resident, at the most.", markdown(
                     "| set | dense features | ms an epoch | sparse, ms | times as fast | memory, of dense | losses apart |", rows))
    bench.end()


main()
