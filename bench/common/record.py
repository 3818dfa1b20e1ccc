"""Writes the figures that a bench prints into bench/results/tables/NAME.json: bench/run.sh NAME | python3 bench/common/record.py "TITLE".
With a second argument, NAME, it takes any text with a table: bench/gpu.sh table ROWS | python3 bench/common/record.py "TITLE" gpu."""
import json
import os
import sys

from figures import markdown, write_tables


def cpu():
    with open("/proc/cpuinfo") as lines:
        name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "an unknown CPU")
    return f"{name}, {len(os.sched_getaffinity(0))} cores"


def row(figure):
    against = f"{figure['against']} {figure['limit']:.4g}" if "against" in figure else ""
    ratio = f"{figure['ratio']:.2f}" if "ratio" in figure else ""
    bar = f"≥ {figure['at_least']}" if "at_least" in figure else f"≤ {figure['at_most']}" if "at_most" in figure else ""
    name = figure["name"].replace("|", "\\|")  # a bar of its own, not the table's
    return f"| {name} | {figure['value']:.4g} {figure['unit']} | {against} | {ratio} | {bar} | {figure.get('verdict', '')} |"


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    lines = [line.rstrip("\n") for line in sys.stdin]
    if len(sys.argv) == 3:
        return write_tables(sys.argv[1], "\n".join(lines), bench=sys.argv[2])
    print("\n".join(lines))
    found = json.loads(lines[-1])
    caption = f"`bench/run.sh {found['bench']} | python3 bench/common/record.py \"{sys.argv[1]}\"` ({cpu()}). `short`: the bar was missed."
    write_tables(sys.argv[1], caption, bench=found["bench"], *[markdown(
        "| figure | value | limit or peer | ratio | bar | |", map(row, found["figures"]))])


main()
