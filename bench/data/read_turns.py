"""Does one version of fringe read files as fast as another, on a machine that is not quiet?

smoke: --old=BUILD/ --new=BUILD/ --benches=csv_rate --pairs=1 --most=1 --rows=200

    bench/run.sh read_turns --old=BUILD --new=BUILD [--pairs=20] [--most=40] [--percent=8] [--rows=30000] [--bar=1.03]
                            [--benches=npz_rate,csv_rate]

OLD and NEW are build folders with bench_npz_rate and bench_csv_rate, which read archives of arrays and a folder of OGB.
They run by turns, now one first, now the other: OLD against OLD, then OLD against NEW. A ratio is NEW's seconds by OLD's.

  ok               the 95 % interval of the median ratio ends at or below the bar
  short            it begins above the bar, or ends above it although OLD against OLD is within 2 %
  not measurable   OLD against OLD is wider than that even with --most pairs
"""
import argparse
import json
import os
import subprocess
import sys

from ratios import compared, interval, narrow

READS = {"CSR, one file: into a checked dataset", "COO as DGL's Reddit: into a checked dataset",
         "csv.gz of 100 columns into a dataset"}


def rates(build, options):
    """name -> MB/s of what a version reads"""
    found = {}
    sizes = {"npz_rate": f"--percent={options.percent}", "csv_rate": f"--rows={options.rows}"}
    for bench in options.benches.split(","):
        done = subprocess.run([os.path.join(build, "bench_" + bench), sizes[bench], "--rounds=3"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
        said = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if said:
            found.update({figure["name"]: figure["value"] for figure in json.loads(said[-1])["figures"]})
        for line in done.stdout.splitlines():  # where there is no peer the figure stands in a sentence
            name, colon, rest = line.rpartition(": ")
            if colon and rest.split()[1:2] == ["MB/s;"]:
                found.setdefault(name, float(rest.split()[0]))
    return {name: value for name, value in found.items() if name in READS}


def pairs(builds, count, ratios, options):
    while len(next(iter(ratios.values()), [])) < count:
        turn = len(next(iter(ratios.values()), [])) % 2
        found = [rates(builds[which], options) for which in ((1, 0) if turn else (0, 1))]
        old, new = reversed(found) if turn else found
        for name in old.keys() & new.keys():
            ratios.setdefault(name, []).append(old[name] / new[name])


def judge(name, own, other, bar):
    text, figure = compared(name, own, other, bar, "seconds")
    print(f"{text}: {figure['verdict']}", flush=True)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--old", required=True)
    parser.add_argument("--new", required=True)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--most", type=int, default=40)
    parser.add_argument("--percent", type=int, default=8, help="of Reddit's look-alike")
    parser.add_argument("--rows", type=int, default=30000, help="of the text")
    parser.add_argument("--benches", default="npz_rate,csv_rate")
    parser.add_argument("--bar", type=float, default=1.03)
    parser.add_argument("--strict", action="store_true")
    options = parser.parse_args()
    own, other = {}, {}
    for count in range(options.pairs, options.most + 1, options.pairs):
        pairs((options.old, options.old), count, own, options)
        if all(narrow(interval(ratios)) for ratios in own.values()):
            break
    pairs((options.old, options.new), len(next(iter(own.values()))), other, options)
    figures = [judge(name, own[name], other[name], options.bar) for name in sorted(own.keys() & other.keys())]
    print(json.dumps({"bench": "read_turns", "figures": figures}))
    sys.exit(1 if options.strict and any(figure["verdict"] == "short" for figure in figures) else 0)


main()
