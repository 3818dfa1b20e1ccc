"""What labels alone say of a hypergraph's nodes, beside what HGNN makes of features, too.

usage: bench/run.sh program_accuracy [--strict] [--sets=cora-cocite,cora-coauthor,citeseer-cocite] [--splits=10]
smoke: --sets=mushroom --splits=1

On every split of HyperGCN: accuracy over the nodes that are not in training of harmonic (of those reached, and of all),
random-walk, hgnn as configs/SET-hgnn.json has it (its last epoch), and, where numpy is there, of a direct solve of
harmonic's equations in double. With scikit-learn, too: its k-means of the spectral vectors, where each cluster has the
class that most of its training nodes have. Bar: harmonic is within a point of the direct solve.
"""
import os
import statistics
import tempfile

from figures import ROOT, SMOKE, Bench, fringe, markdown, option, read_json, settings, trained, write_tables
from hypergraphs import pins_of, sizes_of

SOLVED = 10  # splits that are solved and clustered, too: 15 s each

try:
    import numpy
except ImportError:
    numpy = None
try:
    from sklearn.cluster import KMeans
except ImportError:
    KMeans = None


def program(name, config, split, folder):
    out = os.path.join(folder, name)
    fringe("program", name, config, "-o", out, "--quiet",
           *settings(["data.transforms=[]", *([f"data.split_row={split}"] if split is not None else [])]))
    return read_json(os.path.join(out, "program.json")), out


def hgnn(config, split):
    row = [] if split is None else [f"data.split_row={split}"]
    return trained(config, *row, f"run.seed={split or 0}")[0]["result"]["last"]["test"]["accuracy"]


def incidence(path):
    """[nodes, hyperedges] of an .hgr without weights: its lines list the nodes of a hyperedge, from 1 on."""
    found = numpy.zeros(sizes_of(path))
    for edge, pins in enumerate(pins_of(path)):
        found[pins, edge] = 1
    return found


def solved(pins, labels, train):
    """Accuracy of harmonic's equations among the nodes that they reach."""
    covered = pins.sum(1) > 0
    mean = (pins / numpy.maximum(pins.sum(1, keepdims=True), 1)) @ (pins / numpy.maximum(pins.sum(0), 1)).T
    known = numpy.zeros(len(labels), bool)
    known[train] = True
    start = numpy.where(known[:, None], numpy.eye(labels.max() + 1)[labels], 0)
    free = covered & ~known
    system = (1 + 1e-9) * numpy.eye(free.sum()) - mean[numpy.ix_(free, free)]  # singular where nothing is known
    scores = numpy.linalg.solve(system, mean[numpy.ix_(free, known)] @ start[known])
    reached = scores.sum(1) > 1e-6
    return (scores.argmax(1) == labels[free])[reached].mean()


def clustered(vectors, labels, train):
    """Accuracy of clusters, which have the class of most of their training nodes."""
    covered, classes = numpy.abs(vectors).sum(1) > 0, labels.max() + 1
    rows = vectors[covered] / numpy.maximum(numpy.linalg.norm(vectors[covered], axis=1, keepdims=True), 1e-12)
    cluster = numpy.full(len(labels), -1)
    cluster[covered] = KMeans(classes, n_init=10, random_state=1).fit_predict(rows.astype(float))
    votes = numpy.zeros((classes, classes))
    numpy.add.at(votes, (cluster[train][cluster[train] >= 0], labels[train][cluster[train] >= 0]), 1)
    asked = covered.copy()
    asked[train] = False
    return (votes.argmax(1)[cluster[asked]] == labels[asked]).mean()


def measure(bench, name, splits):
    config = os.path.join(ROOT, "configs", f"{name}-hgnn.json")
    data = read_json(config)["data"]
    columns = {}
    for split in range(splits):
        with tempfile.TemporaryDirectory(prefix="fringe-programs-") as folder:
            row = None if SMOKE else split
            harmonic, _ = program("harmonic", config, row, folder)
            walk, _ = program("random-walk", config, row, folder)
            found = {"share reached": harmonic["share_reached"], "harmonic, of those reached": harmonic["accuracy_of_those_reached"],
                     "random-walk, of those reached": walk["accuracy_of_those_reached"], "harmonic": harmonic["accuracy"],
                     "random-walk": walk["accuracy"], "hgnn": hgnn(config, row)}
            if numpy is not None and not SMOKE and split < SOLVED:
                root = os.path.join(os.environ["FRINGE_DATA"], os.path.dirname(data["path"]))
                nodes = numpy.load(os.path.join(root, "nodes.npz"))
                labels, train = nodes["labels"].ravel(), nodes["train_idx"][split]
                found["direct solve, of those reached"] = solved(incidence(os.path.join(root, "hypergraph.hgr")), labels, train)
                if KMeans is not None:
                    _, out = program("spectral", config, row, folder)
                    found["spectral and k-means, of covered"] = clustered(numpy.load(os.path.join(out, "embeddings.npy")), labels, train)
            for column, value in found.items():
                columns.setdefault(column, []).append(100 * float(value))
    for column, values in columns.items():
        bench.figure(f"{name}: {column}", statistics.mean(values), "%")
    direct = columns.get("direct solve, of those reached")
    if direct:
        apart = abs(statistics.mean(columns["harmonic, of those reached"]) - statistics.mean(direct))
        bench.within(f"{name}: harmonic beside a direct solve", apart, "points", 1)
    return columns


def said(values):
    return f"{statistics.mean(values):.1f}" + (f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else "")


def main():
    bench, splits = Bench("program_accuracy"), option("splits", 10)
    table = {name: measure(bench, name, splits)
             for name in option("sets", "cora-cocite,cora-coauthor,citeseer-cocite").split(",")}
    heads = list(dict.fromkeys(column for columns in table.values() for column in columns))
    rows = [[name, *(said(columns[head]) if head in columns else "" for head in heads)] for name, columns in table.items()]
    write_tables("Programs beside HGNN", (
        f"`bench/run.sh program_accuracy`: accuracy in percent over {splits} splits of HyperGCN, mean ± standard deviation. What "
        "hgnn has beyond harmonic comes from features, and from the nodes that no label reaches."), markdown(["set", *heads], rows))
    bench.end()


main()
