"""Kinds of the zoo beside PyG's own layers with the same recipe: test accuracy over seeds.

usage: bench/run.sh zoo_accuracy [--strict] [--cells=cora-mlp,...] [--programs=fringe,pyg] [--seeds=10] [--hours=3]
                                 [--results=FOLDER] [--merge=FOLDER,...]
smoke: --cells=cora-mlp,cora-batch --seeds=2 --programs=fringe

A cell is a recipe and a program, fringe (one rank) or PyG (bench/peers/systems/zoo.py, in the environment that its setup.sh
makes): as many trainings, on the same prepared data, one after the other and on one thread. Without a norm the score is
that of the last epoch; with BatchNorm, whose last epoch moves by a point with the order of sums, that of the first epoch
of the best validation score. The means may differ by at most max(0.5 points, 3 combined standard errors).
"""
import json
import os
import statistics
import tempfile
from functools import partial

from cells import known_cells, measure_cells, names_wanted, not_run
from figures import (ROOT, Bench, allowed_difference, fringe, kept, markdown, option, peer_python, ran, read_json,
                     settings, trained, write_json, write_tables)

SIXTY = 'data.split_keys=["train60_idx","val20_idx","test20_idx"]'
BATCH = ["model.norm=batch", 'model.post=["norm","activation","dropout"]']
CASES = {  # config, settings beyond it, what the recipe is
    "cora-mlp": ("cora-mlp", [], "2 layers of 16"),
    "citeseer-mlp": ("citeseer-mlp", [], "2 layers of 16"),
    "cora-appnp": ("cora-appnp", [], "64 columns, 10 steps"),
    "citeseer-appnp": ("citeseer-appnp", [], "64 columns, 10 steps"),
    "cora-gcn2": ("cora-gcn2", [], "16 convolutions of 64"),
    "citeseer-gcn2": ("cora-gcn2", ["data.path=citeseer/citeseer.npz"], "16 convolutions of 64, cora's recipe"),
    "amazon_photo-residual": ("amazon-photo-gcn", [SIXTY, "model.layers=3", "model.skip=residual"], "3 layers of 64"),
    "amazon_photo-jk-cat": ("amazon-photo-gcn", [SIXTY, "model.jk=cat"], "2 layers of 64, one on top"),
    "amazon_photo-jk-max": ("amazon-photo-gcn", [SIXTY, "model.jk=max"], "2 layers of 64, one on top"),
    "cora-batch": ("cora-gcn", BATCH, "2 layers of 16"),
    "amazon_computers-batch": ("amazon-computers-gcn", BATCH, "2 layers of 64"),
    "coauthor_cs-batch": ("coauthor-cs-gcn", BATCH, "2 layers of 64"),
}
PUBLISHED = {"cora-appnp": 83.3, "cora-gcn2": 84.6}  # Gasteiger et al. 2019; Chen et al. 2020, 16 layers
PROGRAMS = ("fringe", "pyg")
LEAST = 0.5  # points
KNOWN = kept("zoo_accuracy")
SYSTEMS = os.path.join(ROOT, "bench", "peers", "systems")


def at_best(case):
    return case.endswith("-batch")


def config_of(case):
    return os.path.join(ROOT, "configs", CASES[case][0] + ".json")


def runs_of(case, seeds, *words):
    """run.json of the runs from seed 0 on, in their order."""
    return [trained(CASES[case][0], *CASES[case][1], f"run.seed={seed}", "run.threads=1",
                    f"train.eval_every={int(at_best(case))}", *words)[0] for seed in range(seeds)]


def run_fringe(case, seeds):
    records = runs_of(case, seeds)
    which = "best" if at_best(case) else "last"
    return {"scores": [round(100 * record["result"][which]["test"]["accuracy"], 3) for record in records],
            "versions": records[0]["versions"]}


def run_pyg(case, seeds):
    """On the data that fringe has prepared and with its whole config."""
    with tempfile.TemporaryDirectory() as work:
        folder = os.path.join(work, "data")
        fringe("convert", config_of(case), folder + "/", *settings(CASES[case][1]))
        config = write_json(os.path.join(work, "config.json"), runs_of(case, 1, "train.epochs=1")[0]["config"])
        epochs = read_json(config_of(case))["train"]["epochs"]
        words = [peer_python("pyg"), os.path.join(SYSTEMS, "zoo.py"), folder, config, f"--seeds={seeds}",
                 f"--epochs={epochs}", *["--best"][:at_best(case)]]
        return json.loads(ran(*words, env=dict(os.environ, OMP_NUM_THREADS="1")).stdout.splitlines()[-1])


def spread(known):
    return statistics.stdev(known["scores"]), len(known["scores"])


def difference(known):
    """fringe - PyG, and what is allowed."""
    means = [statistics.mean(known[program]["scores"]) for program in PROGRAMS]
    return means[0] - means[1], allowed_difference(LEAST, *(spread(known[program]) for program in PROGRAMS))


def judge(bench, table):
    for case in CASES:
        known = table.get(case, {})
        if names_wanted("cells", case) and all(program in known for program in PROGRAMS):
            mean, allowed = difference(known)
            bench.within(f"{case}: |fringe - PyG|", abs(mean), "points", allowed)


def said(known, program):
    if program not in known:
        return "not run"
    return f"{statistics.mean(known[program]['scores']):.2f} ± {spread(known[program])[0]:.2f} ({spread(known[program])[1]})"


def row(case, known):
    cells = [case, CASES[case][2], "best validation" if at_best(case) else "last",
             *(said(known, program) for program in PROGRAMS),
             str(PUBLISHED.get(case, ""))]
    if not all(program in known for program in PROGRAMS):
        return [*cells, "", "", ""]
    mean, allowed = difference(known)
    return [*cells, f"{mean:+.2f}", f"{allowed:.2f}", "ok" if abs(mean) <= allowed else "short"]


def write(table):
    versions = sorted({f"{name} {version}" for known in table.values() if "pyg" in known
                       for name, version in known["pyg"]["versions"].items()})
    caption = ("`bench/run.sh zoo_accuracy`: test accuracy in percent, mean ± standard deviation (seeds), on one rank and in "
               f"PyG ({', '.join(versions)}), on the same data and with the same recipe: 200 epochs (gcn2: 500) of Adam at "
               "0.01, L2 decay of matrices, Xavier-uniform matrices and zero biases on both sides. amazon_photo: 60/20/20 "
               "splits; the others: 20 training nodes a class. Allowed: max(0.5 points, 3 combined standard errors).")
    write_tables("The zoo's kinds against PyG with the same recipe", caption,
                 markdown("| set and kind | recipe | epoch | fringe | PyG | published | difference | allowed | |",
                          [row(case, table[case]) for case in CASES if case in table]),
                 not_run(table, [(case, program) for case in CASES for program in PROGRAMS]))


def main():
    bench, seeds, table = Bench("zoo_accuracy"), option("seeds", 10), known_cells(KNOWN)
    run = {"fringe": run_fringe, "pyg": run_pyg}
    measure_cells(KNOWN, table, [(case, program, partial(run[program], case, seeds))
                                 for case in CASES for program in PROGRAMS
                                 if names_wanted("cells", case) and names_wanted("programs", program)])
    judge(bench, table)
    write(table)
    bench.end()


main()
