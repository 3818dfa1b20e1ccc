"""Streams against offline partitioners: what srp cuts of six hypergraphs, beside METIS and Mt-KaHyPar.

usage: bench/run.sh srp [--strict] [--sets=walmart,...] [--parts=2,8,28] [--seeds=5] [--limit=60] [--again]
smoke: --sets=walmart --parts=2 --seeds=1

srp sees every node or hyperedge once, METIS and Mt-KaHyPar see the whole hypergraph. bench/peers/systems/setup.sh
mtkahypar makes the environment of Mt-KaHyPar first; without it that method is left out, and the output says so. A
method with a seed is run with the seeds 1, 2, ..., one without as often, for its time alone; if a run takes more than
`limit` seconds no other follows. Every method runs on one thread in a process of its own, its parts go through
partition.method=file:PATH, and `fringe partition` measures them. Nothing is printed before replicas and connectivity
have been counted again here, from the pins and the parts. Cuts are kept in bench/results/srp.json as soon as they are
known and not made again, but for those of tests/data/srp.tsv, the bars of --strict (--again: all are made again).
"""
import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from figures import (BUILD, ENVS, ROOT, Bench, fringe, keep, kept, markdown, option, read_kept, settings, skip,
                     write_json, write_tables)
from hypergraphs import ALLOWED, SETS, TABLE, pins_of, sizes_of, table_rows

PARTS = (2, 8, 28)


def srp(order, score, *others):
    return ["partition.method=srp", f"stream.order={order}", f"stream.score={score}", *others]


METHODS = {
    "srp marginal": srp("hyperedges", "marginal"),
    "srp marginal, 6 passes": srp("hyperedges", "marginal", "stream.passes=6"),
    "srp fennel": srp("nodes", "fennel"),
    "srp thesis": srp("nodes", "thesis"),
    "srp balance-big": srp("nodes", "balance-big", "stream.refine=none"),
    "srp aweto": srp("hyperedges", "aweto", "stream.refine=none"),
    "srp random": srp("hyperedges", "random", "stream.refine=none"),
    "metis": ["partition.method=metis"],
    "metis:star": ["partition.method=metis:star"],
    "Mt-KaHyPar": None,
}
SEEDED = ("srp aweto", "srp random", "metis", "metis:star", "Mt-KaHyPar")
TABLE_WAYS = {"srp marginal": ("hyperedges", "marginal"), "srp fennel": ("nodes", "fennel")}
EPSILON = 0.1  # stream.epsilon's default
KNOWN = kept("srp")
KAHYPAR = os.path.join(ENVS, "mtkahypar", "bin", "python")
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1"}

# Least known cuts into 2 parts that may deviate from one half by 1, 2, 5 and 10 % of all nodes, from the leader board
# of TILOS-AI-Institute/HypergraphPartitioning (README, unit weights).
DEVIATIONS = (1, 2, 5, 10)
BEST = {"ibm01": (203, 203, 180, 169), "ibm10": (1305, 1283, 1263, 1263), "ibm14": (1905, 1905, 1826, 1665)}


def lines_of(path):
    with open(path) as file:
        return [int(line) for line in file]


class Hypergraph:
    """One set in a folder of its own: the dataset that methods cut, and its pins to count what they cut."""

    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        self.hgr = os.path.join(os.environ["FRINGE_DATA"], SETS[name])
        self.pins = pins_of(self.hgr)
        self.config = os.path.join(folder, "config.json")
        self.configure(self.hgr)
        fringe("partition", self.config, "--parts", 2, "--quiet", *settings(["partition.method=blocks"]))
        self.dataset = glob.glob(os.path.join(folder, "dataset-*"))[0]
        self.configure(self.dataset)

    def configure(self, path):
        write_json(self.config, {"data": {"path": path, "cache": self.folder}})

    def out(self, parts):
        return os.path.join(self.folder, f"cut.part.{parts}"), os.path.join(self.folder, f"cut.hpart.{parts}")

    def run(self, method, parts, seed):
        """Leaves the parts in the files `out`; seconds, MiB and what the method says of its cut."""
        for path in self.out(parts):
            if os.path.exists(path):
                os.remove(path)
        if method == "Mt-KaHyPar":
            words = [KAHYPAR, os.path.join(ROOT, "bench", "peers", "systems", "kahypar_cut.py"), self.hgr, parts, self.out(parts)[0],
                     "--seed", seed, "--epsilon", EPSILON]
        else:
            words = [os.path.join(BUILD, "bench_cut"), self.config, parts, "--turns=1",
                     "--out=" + os.path.join(self.folder, "cut"), f"partition.seed={seed}", *METHODS[method]]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, env=ONE_THREAD)
        if done.returncode != 0:
            print(f"# {self.name}, {parts} parts: {method} ended with {done.returncode}: {done.stderr[-500:]}", flush=True)
            return None
        if method == "Mt-KaHyPar":
            return json.loads(done.stdout.splitlines()[-1])
        return dict(zip(("seconds", "mib"), map(float, done.stdout.split())))

    def measure(self, parts):
        """What `fringe partition` says of the parts in the files, counted again."""
        path = os.path.join(self.folder, "cut")
        done = fringe("partition", self.config, "--parts", parts, "--json", "--quiet",
                      *settings([f'partition.method="file:{path}"']))
        report = json.loads(done.stdout)
        self.check(report, parts)
        shutil.rmtree(report["folder"])
        return {"replicas": report["replicas"], "cut": report["cut_hyperedges"],
                "connectivity": report["connectivity_minus_1"], "variation": round(report["workload_cov"], 6),
                "balance": round(report["balance_nodes"], 6)}

    def check(self, report, parts):
        node, home = (lines_of(glob.glob(os.path.join(report["folder"], f"*.{kind}.{parts}"))[0])
                      for kind in ("part", "hpart"))
        if node != lines_of(self.out(parts)[0]) or not set(node + home) <= set(range(parts)):
            sys.exit(f"{self.name}: fringe has measured other parts than those it was given")
        replicas = {(v, home[h]) for h, pins in enumerate(self.pins) for v in pins if node[v] != home[h]}
        homes = [len({node[v] for v in pins}) for pins in self.pins]
        counted = {"replicas": len(replicas), "connectivity_minus_1": sum(homes) - len(homes),
                   "cut_hyperedges": sum(count > 1 for count in homes)}
        for key, value in counted.items():
            if report[key] != value:
                sys.exit(f"{self.name}, {parts} parts: {key} is {report[key]} in the report, but {value} when counted")
        largest = max(node.count(p) for p in range(parts)) * parts / len(node)
        if abs(report["balance_nodes"] - largest) > 1e-9:
            sys.exit(f"{self.name}: the largest part has {largest} of the mean, not {report['balance_nodes']}")

    def check_published(self):
        """A partition that others published, where it lies beside the hypergraph, must have the cut that they tell."""
        published = self.hgr + ".part.2"
        if self.name in BEST and os.path.exists(published):
            shutil.copy(published, self.out(2)[0])
            cut = self.measure(2)["cut"]
            if cut != BEST[self.name][1]:
                sys.exit(f"{published}: {cut} hyperedges are cut here, {BEST[self.name][1]} as published")
            print(f"{self.name}: the published partition at 2 % cuts {cut} hyperedges here, too", flush=True)

    def cuts(self, method, parts, seeds, limit):
        """All runs of a method, or fewer if one takes longer than the limit; [] if it does not run."""
        runs, bytes_before = [], None
        for seed in range(1, seeds + 1):
            taken = self.run(method, parts, seed if method in SEEDED else 1)
            if taken is None:
                return []
            if method in SEEDED or not runs:
                measured = self.measure(parts)
            files = [open(path, "rb").read() for path in self.out(parts) if os.path.exists(path)]
            if method not in SEEDED and bytes_before not in (None, files):
                sys.exit(f"{self.name}, {parts} parts: {method} has no seed, but its parts are not those of its last run")
            bytes_before = files
            for key in ("connectivity", "cut"):
                if taken.get(key, measured[key]) != measured[key]:
                    sys.exit(f"{self.name}, {parts} parts: {method} counts {taken[key]} as {key}, not {measured[key]}")
            runs.append({**taken, **measured})
            if taken["seconds"] > limit:
                break
        return runs


# ---- figures of the runs

def median(runs, key):
    return statistics.median(run[key] for run in runs)


def spread(runs, key):
    """(highest - lowest) in percent of the median."""
    values = [run[key] for run in runs]
    return 100 * (max(values) - min(values)) / (statistics.median(values) or 1)


def key_of(name, parts, method):
    return f"{name}, {parts}, {method}"


def best_known(name, balance):
    """The deviation from one half in percent, the column of the leader board that allows it, and its cut."""
    deviation = 100 * (balance - 1) / 2
    for allowed, cut in zip(DEVIATIONS, BEST[name]):
        if deviation <= allowed:
            return deviation, allowed, cut
    return deviation, None, None


def bars(bench, table, name, parts, method, run):
    told = table.get((name, parts, *TABLE_WAYS[method]))
    if told is None:
        sys.exit(f"{TABLE} has no row for {name}, {parts} parts, {method}")
    for key, limit in zip(("replicas", "connectivity"), told):
        bench.at_most(f"{name}, {parts} parts, {method}: {key}", run[key], "", ALLOWED, "table", limit)


# ---- the page

def ratio(mine, other):
    return f"{mine / other:.2f}" if mine is not None and other else "-"


def overview(known):
    """Connectivity over that of Mt-KaHyPar, and replicas over its replicas."""
    methods = [method for method in METHODS if method not in ("srp random", "srp aweto", "srp balance-big", "Mt-KaHyPar")]
    rows = []
    for name in SETS:
        for parts in PARTS:
            peer = known.get(key_of(name, parts, "Mt-KaHyPar"))
            runs = [known.get(key_of(name, parts, method)) for method in methods]
            if peer and any(runs):
                rows.append([name, str(parts), f"{median(peer, 'connectivity'):,.0f}"]
                            + [ratio(median(one, "connectivity") if one else None, median(peer, "connectivity")) + ", "
                               + ratio(median(one, "replicas") if one else None, median(peer, "replicas")) for one in runs])
    return markdown(["set", "k", "Mt-KaHyPar"] + methods, rows)


def halves(known):
    """2 parts of the circuits beside the least cuts known; the run with the median cut."""
    rows = []
    for name in BEST:
        for method in METHODS:
            runs = known.get(key_of(name, 2, method))
            if not runs:
                continue
            cut = statistics.median_low(run["cut"] for run in runs)
            run = next(run for run in runs if run["cut"] == cut)
            deviation, allowed, best = best_known(name, run["balance"])
            rows.append([name, method, f"{run['cut']:,}", f"{100 * (run['balance'] - 1):.2f}", f"{deviation:.2f}",
                         f"{best:,} at {allowed} %" if best else "none", ratio(run["cut"], best)])
    return markdown(["set", "method", "cut", "largest / mean - 1, %", "from one half, %", "least known cut", "cut over it"], rows)


FIGURES = ["k", "method", "runs", "R", "2R", "con. - 1", "range %", "cut %", "nodes", "CoV", "MiB", "s", "ms / node"]


def all_figures(known, name, nodes):
    rows = []
    for parts in PARTS:
        for method in METHODS:
            runs = known.get(key_of(name, parts, method))
            if runs:
                seconds, replicas = median(runs, "seconds"), median(runs, "replicas")
                varied = f"{spread(runs, 'replicas'):.1f}, {spread(runs, 'connectivity'):.1f}" if method in SEEDED else ""
                rows.append([str(parts), method, str(len(runs)), f"{replicas:,.0f}", f"{2 * replicas:,.0f}",
                             f"{median(runs, 'connectivity'):,.0f}", varied, f"{100 * median(runs, 'cut') / nodes[1]:.1f}",
                             f"{median(runs, 'balance'):.3f}", f"{median(runs, 'variation'):.3f}", f"{median(runs, 'mib'):.0f}",
                             f"{seconds:.3g}", f"{1e3 * seconds / nodes[0]:.2g}"])
    return rows


CAPTION = """`bench/run.sh srp`: srp places every node or hyperedge as it arrives; METIS and Mt-KaHyPar see the whole \
hypergraph first. Sets and numbers of parts k are those of tests/data/srp.tsv.
"""
LEGEND = """Connectivity - 1 (sum over hyperedges of the parts of their pins, less 1) of Mt-KaHyPar; of the others \
connectivity and R, each over that of Mt-KaHyPar.
"""
METHODS_TOLD = """srp marginal: order hyperedges, the defaults; 6 passes: stream.passes=6; fennel and thesis: order nodes, \
refined; balance-big (order nodes), aweto and random (order hyperedges): baselines, stream.refine=none. metis cuts the \
clique expansion, metis:star the star. Mt-KaHyPar {version}, preset DEFAULT, objective KM1, at most {epsilon} of the nodes \
above the mean, as stream.epsilon; METIS aims at 3 %. Both balance nodes; srp balances pins, so that its parts may have \
more nodes than that, and its workload differs less (CoV below). KM1 is connectivity - 1 and does not count replicas, of \
which others may therefore have fewer.
"""
COLUMNS_TOLD = """Figures are medians of the runs. R: replicas of nodes; 2R: rows of an exchange of two stages; con.: \
connectivity; range: highest less lowest R, and connectivity, in percent of the median, where there is a seed; cut: \
hyperedges with pins in several parts; nodes: largest part over the mean; CoV: standard deviation of the workload (nodes, \
hyperedges and replicas) of parts over its mean; MiB: peak resident memory of the process (of Mt-KaHyPar's {before} are \
Python and the library); s and ms / node: the method alone on one thread, without reading the hypergraph. Hyperedges of \
METIS and Mt-KaHyPar live where most of their pins do. All methods are measured by `fringe partition`, and R, connectivity \
and cut were counted again from the parts.
"""
HALVES_TOLD = """Circuits in 2 parts beside the least cuts that are known (leader board of \
TILOS-AI-Institute/HypergraphPartitioning). Its imbalance is the deviation of a part from one half in percent of all \
nodes, which is half of largest / mean - 1; the column is the least imbalance that allows what was reached.
"""


def write_page(known, sizes):
    peers = [runs[0] for key, runs in known.items() if key.endswith("Mt-KaHyPar") and runs]
    version = peers[0]["version"] if peers else "did not run"
    before = f"{statistics.median(run['mib_before'] for run in peers):.0f}" if peers else "0"
    text = [CAPTION, LEGEND, overview(known), METHODS_TOLD.format(version=version, epsilon=f"{100 * EPSILON:.0f} %"),
            HALVES_TOLD, halves(known), COLUMNS_TOLD.format(before=before)]
    for name in SETS:
        rows = all_figures(known, name, sizes[name]) if name in sizes else []
        if rows:
            text += [f"{name}: {sizes[name][0]:,} nodes, {sizes[name][1]:,} hyperedges.", markdown(FIGURES, rows)]
    write_tables("Streams against offline partitioners", *text)


def show(key, runs):
    print(f"{key}: R {median(runs, 'replicas'):,.0f}, connectivity - 1 {median(runs, 'connectivity'):,.0f}, "
          f"{median(runs, 'seconds'):.3g} s, {len(runs)} runs", flush=True)


def measure_set(bench, known, table, hypergraph, methods):
    hypergraph.check_published()
    for parts in [int(word) for word in option("parts", "2,8,28").split(",")]:
        for method in methods:
            key = key_of(hypergraph.name, parts, method)
            if key not in known or method in TABLE_WAYS or "--again" in sys.argv:
                runs = hypergraph.cuts(method, parts, option("seeds", 5), option("limit", 60))
                if not runs:
                    continue
                known[key] = runs
                keep(KNOWN, known)
            show(key, known[key])
            if method in TABLE_WAYS:
                bars(bench, table, hypergraph.name, parts, method, known[key][0])


def main():
    if "FRINGE_DATA" not in os.environ:
        skip("FRINGE_DATA names no folder of hypergraphs")
    bench, table, known, methods = Bench("srp"), table_rows(), read_kept(KNOWN), list(METHODS)
    if not os.path.exists(KAHYPAR):
        print(f"# Mt-KaHyPar is left out: {KAHYPAR} is not there; bench/peers/systems/setup.sh mtkahypar makes it", flush=True)
        methods.remove("Mt-KaHyPar")
    for name in option("sets", ",".join(SETS)).split(","):
        with tempfile.TemporaryDirectory(prefix="fringe-srp-") as folder:
            measure_set(bench, known, table, Hypergraph(name, folder), methods)
    paths = {name: os.path.join(os.environ["FRINGE_DATA"], path) for name, path in SETS.items()}
    write_page(known, {name: sizes_of(path) for name, path in paths.items() if os.path.exists(path)})
    bench.end()


main()
