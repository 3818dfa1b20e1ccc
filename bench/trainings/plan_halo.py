"""Halo rows of 16, 32 and 64 parts as fringe plan extrapolates them, against those of real cuts.

usage: bench/run.sh plan_halo [--strict] [--sets=reddit-small,...]
smoke: --sets=reddit-small

Each set begins with an empty cache, so the plan cuts it into 2, 4 and 8 parts only. Then it is cut into 16, 32 and 64.
Halo rows are those of the whole graph; rows are what an epoch sends in that mode, partial sums included. A ratio is
the larger of extrapolated and real by the smaller. The shared sets need FRINGE_DATA; without it they are left out.
"""
import json
import os
import sys
import tempfile

from figures import ROOT, Bench, fringe, look_alike, option

BAR = 1.25
PARTS = (16, 32, 64)
SETS = ("reddit-small", "products-small", "coauthor_physics", "amazon_computers")
MODES = ("vanilla", "lossless")


def recipe(name):
    config = "adaqp-products-small" if name == "products-small" else name.replace("_", "-")
    return os.path.join(ROOT, "configs", config + "-gcn.json")


def plan(config):
    ranks = ",".join(map(str, PARTS))
    return json.loads(fringe("plan", config, "--ranks", ranks, "--compute", "50,10", "--json", "--quiet").stdout)["modes"]


def compare(bench, name):
    found = plan(recipe(name))
    if any(point["checked"] for point in found["vanilla"]):
        sys.exit(f"plan_halo: the cache of {name} was not empty")
    for parts in PARTS:
        fringe("partition", recipe(name), "--parts", parts, "--quiet")
    real = plan(recipe(name))
    if not all(point["checked"] for point in real["vanilla"]):
        sys.exit(f"plan_halo: the cuts of {name} were not found")
    for i, parts in enumerate(PARTS):
        one(bench, f"{name}, {parts} parts, halo rows", found["vanilla"][i]["halo"], real["vanilla"][i]["halo"])
        for mode in MODES:
            one(bench, f"{name}, {parts} parts, rows, {mode}", found[mode][i]["rows"], real[mode][i]["rows"])


def one(bench, name, found, real):
    bench.figure(name, found, "rows", "real", real, max(found / real, real / found), BAR, at_most=True)


def main():
    bench = Bench("plan_halo")
    for name in option("sets", ",".join(SETS)).split(","):
        if "_" in name and not os.environ.get("FRINGE_DATA"):
            print(f"{name}: left out, FRINGE_DATA is not set")
            continue
        with tempfile.TemporaryDirectory() as work:
            os.environ["XDG_CACHE_HOME"] = work
            if "_" not in name:
                look_alike(name)
            compare(bench, name)
    bench.end()


main()
