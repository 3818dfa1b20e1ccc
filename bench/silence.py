#!/usr/bin/env python3
"""How long fringe is silent on a terminal: its longest pause must not be above 2 s, however long a stage takes.

  silence.py [--strict] [--graph=reddit-medium] [--ranks=100] [--epochs=2]
"""
import json
import os
import shutil
import sys
import tempfile

from figures import FRINGE, ROOT, Bench, option

sys.path.insert(0, os.path.join(ROOT, "tests", "cli"))
from terminal import run

LIMIT = 2.0
bench = Bench("silence")
ranks, epochs, graph = option("ranks", 100), option("epochs", 2), option("graph", "reddit-medium")
work = tempfile.mkdtemp(prefix="fringe-silence-")
os.environ["XDG_CACHE_HOME"] = work + "/cache"
with open(work + "/graph.json", "w") as file:
    json.dump({"data": {"path": "graph"}, "model": {"layers": 2, "hidden": [16]}, "train": {"epochs": epochs},
               "run": {"memory_limit": 100}}, file)

try:
    for name, words in (
            ("generate", ["generate", graph, "-o", "graph"]),
            ("partition", ["partition", "graph.json", "--parts", "4"]),
            ("train, cut found", ["train", "graph.json", "--ranks", "4", "--set", "run.dir=four"]),
            ("train, many ranks", ["train", "graph.json", "--ranks", str(ranks), "--set", "run.dir=many"])):
        seen = run([FRINGE, *words], work, 3600)
        if seen.status != 0:
            sys.exit(f"{' '.join(words)} ended with {seen.status}:\n{seen.raw[-2000:]}")
        bench.figure(f"{name}: longest silence", seen.silence, "s", "at most", LIMIT, seen.silence / LIMIT, 1.0, True)
        for line in seen.too_long():
            bench.missed += 1
            print("too long:", line)
        if seen.silence > LIMIT:
            print("on the screen meanwhile:", repr(seen.during))
finally:
    shutil.rmtree(work)
bench.end()
