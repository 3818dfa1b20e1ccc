"""Parts of streams against the bound that stream.epsilon promises: the six hypergraphs of tests/data/srp.tsv, 2 to 512
parts, both ways of streaming.

usage: bench/run.sh balance [--strict] [--sets=walmart,...] [--parts=2,4,...] [--epsilon=0.03]
smoke: --sets=walmart --parts=2

No part may have more pins than (1 + epsilon) times the mean where the mean is at least 4 times the largest hyperedge;
elsewhere than the epsilon that the run's warning named. The pins of a part are counted here, from the hypergraph and the
file of the hyperedges' parts. Connectivity is held against tests/data/srp.tsv where that has the number of parts, and
printed elsewhere.
"""
import glob
import json
import os
import re
import tempfile

from figures import Bench, fringe, option, settings, skip, write_json
from hypergraphs import ALLOWED, SETS, pins_of, table_rows

WAYS = {"marginal": "hyperedges", "fennel": "nodes"}
AMPLE = 4  # the largest hyperedges in a mean part, so that the promise is due
NAMED = re.compile(r"as with stream\.epsilon=([0-9.e+-]+)")


def most_pins(report, sizes, parts):
    pins = [0] * parts
    with open(glob.glob(os.path.join(report["folder"], f"*.hpart.{parts}"))[0]) as file:
        for size, part in zip(sizes, file, strict=True):
            pins[int(part)] += size
    return max(pins)


def allowed(report, epsilon, mean, largest):
    """The epsilon that is due, and who says so."""
    named = NAMED.search(report["warnings"])
    if mean >= AMPLE * largest or named is None:
        return epsilon, "asked for"
    return float(named[1]), "named"


def walk(bench, known, name, hgr, folder):
    sizes, epsilon = [len(set(pins)) for pins in pins_of(hgr)], option("epsilon", 0.03)
    config = write_json(os.path.join(folder, "config.json"), {"data": {"path": hgr, "cache": folder}})
    for parts in [int(word) for word in option("parts", "2,4,8,16,28,64,128,256,512").split(",")]:
        for score, order in WAYS.items():
            words = ["partition.method=srp", f"stream.order={order}", f"stream.score={score}", f"stream.epsilon={epsilon}"]
            done = fringe("partition", config, "--parts", parts, "--json", "--quiet", *settings(words))
            report, mean, what = json.loads(done.stdout), sum(sizes) / parts, f"{name}, {parts} parts, {score}"
            most, (due, whose) = most_pins(report, sizes, parts) / mean, allowed(report, epsilon, mean, max(sizes))
            bench.at_most(f"{what}: largest part", most, "means", 1, f"epsilon {whose}", 1 + due)
            connectivity, told = report["connectivity_minus_1"], known.get((name, parts, order, score))
            bench.figure(f"{what}: connectivity", connectivity, "", *(
                ("table", told[1], connectivity / told[1], ALLOWED, True) if told else ()))


def main():
    if "FRINGE_DATA" not in os.environ:
        skip("FRINGE_DATA names no folder of hypergraphs")
    bench, known = Bench("balance"), table_rows()
    for name in option("sets", ",".join(SETS)).split(","):
        with tempfile.TemporaryDirectory(prefix="fringe-balance-") as folder:
            walk(bench, known, name, os.path.join(os.environ["FRINGE_DATA"], SETS[name]), folder)
    bench.end()


main()
