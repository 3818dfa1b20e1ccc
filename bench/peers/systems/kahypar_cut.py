"""Cuts a hypergraph with Mt-KaHyPar and says what that took.

usage: kahypar_cut.py FILE.hgr PARTS OUT [--epsilon 0.1] [--seed 1] [--threads 1]

FILE.hgr is in the format of hMETIS. The preset is the default one, the objective the sum of connectivity - 1, and no
part has more than (1 + epsilon) of the mean number of nodes. Writes the part of every node to OUT, one a line, and
prints one line of JSON: seconds of the partitioning alone (the hypergraph has been read), the objective and the cut
hyperedges as Mt-KaHyPar counts them, the peak of the process's resident memory and what of it was there before the
hypergraph was read, and the version.

Copyright fringe authors. SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import time
from importlib.metadata import version

import mtkahypar


def resident(key):
    """A figure of /proc/self/status, in MiB."""
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(key))


def options():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("hgr")
    ap.add_argument("parts", type=int)
    ap.add_argument("out")
    ap.add_argument("--epsilon", type=float, default=0.1)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--threads", type=int, default=1)
    return ap.parse_args()


def main():
    opt = options()
    library = mtkahypar.initialize(opt.threads)
    mtkahypar.set_seed(opt.seed)
    context = library.context_from_preset(mtkahypar.PresetType.DEFAULT)
    context.set_partitioning_parameters(opt.parts, opt.epsilon, mtkahypar.Objective.KM1)
    before = resident("VmRSS:")
    hypergraph = library.hypergraph_from_file(opt.hgr, context, mtkahypar.FileFormat.HMETIS)
    since = time.perf_counter()
    cut = hypergraph.partition(context)
    seconds = time.perf_counter() - since
    peak = resident("VmHWM:")
    with open(opt.out, "w") as out:
        out.writelines(f"{part}\n" for part in cut.get_partition())
    print(json.dumps({"seconds": seconds, "connectivity": cut.km1(), "cut": cut.cut(), "mib": peak,
                      "mib_before": before, "version": version("mtkahypar")}))


if __name__ == "__main__":
    main()
