"""Random numbers of dropout and rounding in the tests of dieharder (Debian: dieharder), by each word of their counter.

usage: bench/run.sh battery [--axes=column,row,peer,epoch,layer] [--rounds=7,10] [--tests=0,2,100,...|all] [--hours=3] [--strict]
smoke: --axes=row --rounds=7 --tests=100

An axis (battery.c) is the word that runs, as a training makes it run. Of the p-values of a generator without fault
one in a hundred is below .005 or above .995 ("weak") in the mean, and none below 1e-6 ("failed"). Numbers of 8 bits
are the same bytes as those of 16. --tests: the seventeen of Marsaglia's battery and of NIST's that dieharder has, by
default, a minute an axis; all of dieharder's take hours.
"""
import os
import shutil
import subprocess

from cells import known_cells, measure_cells, names_wanted
from figures import ROOT, Bench, kept, markdown, option, skip, write_tables

AXES = {"column": "columns of a row of 256, then the next row", "row": "8 columns of one row after the other",
        "peer": "8 readers of a row", "epoch": "200 epochs", "layer": "8 layers in both directions"}
ROUNDS = ("7", "10")
TESTS = "0,1,2,3,4,8,9,10,11,12,13,15,16,17,100,101,102"  # but for those that dieharder's author suspects
KNOWN = kept("battery")
PROGRAM = os.path.join(os.environ.get("FRINGE_BUILD", os.path.join(ROOT, "build")), "bench_battery")


def judged(axis, rounds):
    """How many p-values dieharder finds good, weak and bad, and the names of those that are not good."""
    numbers = str(option("tests", TESTS))
    asked = [["-a"]] if numbers == "all" else [["-d", number] for number in numbers.split(",")]
    lines = []
    for words in asked:
        numbers = subprocess.Popen([PROGRAM, axis, rounds], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        lines += subprocess.run(["dieharder", "-g", "200", "-c", ",", "-D", "default", *words], stdin=numbers.stdout, check=True,
                                capture_output=True, text=True).stdout.splitlines()
        numbers.stdout.close()
        numbers.wait()
    rows = [[word.strip() for word in line.split(",")] for line in lines]
    rows = [row for row in rows if row[-1] in ("PASSED", "WEAK", "FAILED")]
    return {"tests": len(rows), "not good": [f"{row[0]} {row[1]}: p = {row[4]}" for row in rows if row[-1] != "PASSED"],
            "failed": sum(row[-1] == "FAILED" for row in rows)}


def show(table, bench):
    lines = []
    for axis, cells in table.items():
        for rounds, cell in cells.items():
            bench.figure(f"{axis}, {rounds} rounds: failed", cell["failed"], f"of {cell['tests']}")
            lines.append(f"| {AXES[axis]} | {rounds} | {cell['tests']} | {'; '.join(cell['not good']) or 'none'} | "
                         f"{cell['failed']} |")
    write_tables("Random numbers", markdown("| what runs | rounds | p-values | weak | failed |", lines), """\
`bench/run.sh battery`: dieharder reads the numbers in the order in which a training uses them, one word of the counter after
the other. weak: p below .005 or above .995, one of a hundred by chance. `run.random=philox7` has seven rounds; numbers of 8
bits (`run.random_bits=8`) are the same bytes.""")


if __name__ == "__main__":
    if shutil.which("dieharder") is None:
        skip("there is no dieharder (Debian: apt install dieharder)")
    todo = [(axis, rounds, lambda axis=axis, rounds=rounds: judged(axis, rounds))
            for rounds in ROUNDS for axis in AXES if names_wanted("axes", axis) and names_wanted("rounds", rounds)]
    cells = known_cells(KNOWN)
    measure_cells(KNOWN, cells, todo)
    b = Bench("battery")
    show(cells, b)
    b.end()
