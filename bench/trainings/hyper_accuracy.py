"""Test accuracy of hgnn on hypergraphs against a reference in numpy, last epoch, on 1 and on 4 ranks.

usage: bench/run.sh hyper_accuracy [--strict] [--only=cora-cocite,...] [--splits=10] [--ranks=4]
smoke: --only=mushroom --splits=1 --ranks=2

Trains configs/<set>-hgnn.json: every split of HyperGCN with a seed of its own, mushroom's one split with five seeds.
The reference values come from a program in numpy, not part of fringe, with the same splits and the same recipe: 2
convolutions, dropout of both inputs, Adam at 0.01, decay of the first matrix, 200 epochs, a hyperedge for every node
that has none. A set agrees if the means differ by at most max(1.5 points, 3 combined standard errors) on one rank and
on --ranks, and if the means of these two differ by at most 0.3 points over the same splits and seeds.
"""
import statistics
import sys

from figures import Bench, allowed_difference, markdown, option, trained, write_tables

REFERENCE = {  # mean, standard deviation, runs; the runs are splits, but of mushroom seeds
    "cora-cocite": (69.7, 1.5, 10),
    "cora-coauthor": (72.6, 1.5, 10),
    "citeseer-cocite": (63.0, 1.3, 10),
    "mushroom": (98.8, 0.5, 5),
}
ONE_SPLIT = ("mushroom",)
AT_LEAST_ALLOWED, BETWEEN_RANKS = 1.5, 0.3


def score(name, number, ranks):
    """Accuracy of the test nodes at the last epoch of one run, in percent."""
    row = [] if name in ONE_SPLIT else [f"data.split_row={number}"]
    run, _ = trained(name + "-hgnn", *row, f"run.seed={number}", ranks=ranks)
    return 100 * run["result"]["last"]["test"]["accuracy"]


def spread(scores):
    return statistics.stdev(scores) if len(scores) > 1 else 0.0


def measure(bench, name, runs, ranks):
    """The row of the table, as Markdown; the figures go to the bench."""
    scores = {count: [score(name, number, count) for number in range(runs)] for count in (1, ranks)}
    mean, cells = REFERENCE[name][0], []
    for count in (1, ranks):
        difference = statistics.mean(scores[count]) - mean
        allowed = allowed_difference(AT_LEAST_ALLOWED, (spread(scores[count]), runs), REFERENCE[name][1:])
        bench.within(f"{name}, ranks {count}: |difference|", abs(difference), "points", allowed)
        cells += [f"{statistics.mean(scores[count]):.2f} ± {spread(scores[count]):.2f}", f"{difference:+.2f}",
                  f"{allowed:.2f}"]
    pairs = [many - one for one, many in zip(scores[1], scores[ranks])]
    apart = statistics.mean(pairs)
    bench.within(f"{name}: |{ranks} ranks - 1 rank|", abs(apart), "points", BETWEEN_RANKS)
    kind = "seeds" if name in ONE_SPLIT else "splits"
    reference = "{:.1f} ± {:.1f} ({})".format(*REFERENCE[name])
    return f"| {name} | {reference} | {runs} {kind} | " + " | ".join(cells) + f" | {apart:+.2f} ± {spread(pairs):.2f} |"


def main():
    bench, splits, ranks = Bench("hyper_accuracy"), option("splits", 10), option("ranks", 4)
    only = option("only", "").split(",") if option("only", "") else list(REFERENCE)
    rows = []
    for name in only:
        if name not in REFERENCE:
            sys.exit(f"hyper_accuracy: there is no set {name}; there are {', '.join(REFERENCE)}")
        rows.append(measure(bench, name, min(splits, REFERENCE[name][2]), ranks))
    if only == list(REFERENCE):
        write_table(rows, ranks)
    bench.end()


def write_table(rows, ranks):
    head = (f"| set | reference (runs) | fringe | 1 rank | difference | allowed | {ranks} ranks | difference | allowed "
            f"| {ranks} ranks - 1 rank |")
    caption = ("`bench/run.sh hyper_accuracy` (hgnn; test accuracy in percent at the last epoch, mean ± standard "
               "deviation). Each of HyperGCN's splits has one run, with a seed of its own; mushroom has one split and "
               "several seeds. The reference values come from a program in numpy with the same splits and recipe, which is "
               "not part of fringe. Allowed: "
               f"max({AT_LEAST_ALLOWED} points, 3 combined standard errors). The last column is the mean over pairs of "
               f"the same split and seed ± their standard deviation; at most {BETWEEN_RANKS} points are allowed.")
    write_tables("Accuracy on hypergraphs against a reference", caption, markdown(head, rows))


main()
