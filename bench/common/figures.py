"""The lines a bench written in Python ends with: the same as bench.c prints (name, value, limit or peer, ratio, bar,
ok or short, then one line of JSON; --strict makes the exit status say whether every bar was reached)."""
import array
import importlib
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FRINGE = os.environ.get("FRINGE", os.path.join(ROOT, "build", "fringe"))
BUILD = os.environ.get("FRINGE_BUILD", os.path.dirname(FRINGE))
SMOKE = os.environ.get("FRINGE_SMOKE", "")  # the folder of a smoke run, which writes nothing elsewhere and has no bars
SHORT = ("train.epochs=6", "quantization.period=2", "quantization.delay=1")  # of shipped configs
SMALL = {"planted": "planted:nodes=240,edges=2400,features=16,classes=4,communities=8",
         "hyper-planted": "hyper-planted:nodes=200,hyperedges=150,classes=4"}


class Bench:
    def __init__(self, name):
        self.name, self.strict, self.figures, self.missed = name, "--strict" in sys.argv, [], 0

    def figure(self, name, value, unit, against="", limit=0.0, ratio=0.0, bar=0.0, at_most=False):
        bar = 0 if SMOKE else bar
        short = bar > 0 and (ratio > bar if at_most else ratio < bar)
        self.missed += short
        line = f"{name:<50} {value:9.4g} {unit:<7}"
        line += f" | {against} {limit:.4g}" if against else ""
        line += f" | ratio {ratio:.2f}" if ratio > 0 else ""
        line += f" | bar {'<=' if at_most else '>='} {bar:.2f} | {'short' if short else 'ok'}" if bar > 0 else ""
        print(line, flush=True)
        entry = {"name": name, "value": value, "unit": unit}
        if against:
            entry.update(against=against, limit=limit)
        if ratio > 0:
            entry["ratio"] = ratio
        if bar > 0:
            entry.update({"at_most" if at_most else "at_least": bar, "verdict": "short" if short else "ok"})
        self.figures.append(entry)

    def at_least(self, name, value, unit, bar, against, limit):
        """The bar is about value / limit."""
        self.figure(name, value, unit, against, limit, value / limit, bar)

    def at_most(self, name, value, unit, bar, against, limit):
        self.figure(name, value, unit, against, limit, value / limit, bar, at_most=True)

    def within(self, name, value, unit, limit, against="allowed", bar=1.0):
        """The distance from 0 may be at most the limit."""
        self.figure(name, value, unit, against, limit, abs(value) / limit + 1e-9, bar, at_most=True)

    def end(self):
        print(json.dumps({"bench": self.name, "missed": self.missed, "figures": self.figures}))
        sys.exit(1 if self.strict and self.missed else 0)


def option(name, otherwise):
    """--name=value among the arguments."""
    start = f"--{name}="
    return next((type(otherwise)(a[len(start):]) for a in sys.argv[1:] if a.startswith(start)), otherwise)


def skip(reason):
    """Ends a bench that cannot run here, as ctest knows it."""
    print(f"skipped: bench {os.path.splitext(os.path.basename(sys.argv[0]))[0]}: {reason}", flush=True)
    sys.exit(77)


def needs_module(name):
    """A module that is not Python's own."""
    try:
        return importlib.import_module(name)
    except ImportError:
        skip(f"{sys.executable} has no {name}")


ENVS = os.environ.get("FRINGE_ENVS", os.path.expanduser("~/.cache/fringe-envs"))


def peer_python(system):
    """The interpreter of a peer's environment; "" if it is not there, which ends all but a smoke run."""
    python = os.path.join(ENVS, system, "bin", "python")
    if not os.path.exists(python) and not SMOKE:
        skip(f"{python} is not there; bench/peers/systems/setup.sh {system} makes it")
    return python if os.path.exists(python) else ""


def needs_rig():
    """Root, namespaces and tools for bench/common/netrig.sh."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("ip", "tc", "unshare"))):
        skip("the network rig needs root, ip and tc")
    if subprocess.run(["unshare", "--net", "--mount", "true"], stderr=subprocess.DEVNULL).returncode != 0:
        skip("the network rig needs namespaces, which this machine does not give")


def made_small(words):
    """What a smoke run does instead: small graphs, short trainings."""
    if words[0] == "generate":
        kind = "hyper-planted" if str(words[1]).startswith("hyper") else "planted"
        return ["generate", SMALL[kind], *words[2:]]
    if words[0] == "train" and str(words[1]).startswith(os.path.join(ROOT, "configs")):
        says_epochs = any(str(word).startswith("train.epochs=") for word in words)
        return [*words, *settings(SHORT[says_epochs:])]
    return words


def look_alike(name):
    """Makes a graph where configs find it by its name; those of a smoke run are there."""
    if not SMOKE:
        fringe("generate", name, "--quiet")


def ran(*words, **more):
    """Runs a command; its own sentence ends the bench if it fails."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\nended with {done.returncode}: {done.stderr[-2000:]}")
    return done


def fringe(*words):
    """Runs the program; its own sentence ends the bench if it fails."""
    words = made_small(words) if SMOKE else words
    return ran(FRINGE, *words)


def on_ranks(ranks, program, *words):
    """The lines that a bench's own program prints under mpirun; its sentence ends the bench if it fails."""
    environment = dict(os.environ, OMP_NUM_THREADS="1", OMPI_MCA_mpi_yield_when_idle="1")
    return ran("mpirun", "--oversubscribe", "--bind-to", "none", "-n", ranks, os.path.join(BUILD, program), *words,
               env=environment).stdout.splitlines()


def settings(words):
    return [part for word in words for part in ("--set", word)]


QUIET = ("train.eval_every=0", "run.log_every=0", "run.checkpoint_every=0")


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write_json(path, value):
    """Returns the path."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)
    return path


def json_lines(path):
    with open(path) as lines:
        return [json.loads(line) for line in lines]


def read_run(folder):
    """run.json, and what each epoch says."""
    return read_json(os.path.join(folder, "run.json")), json_lines(os.path.join(folder, "metrics.jsonl"))


def trained(config, *words, ranks=1):
    """read_run of a training of configs/CONFIG.json, or of a path; unless the words say so, it evaluates only at its end."""
    path = config if os.path.isabs(config) else os.path.join(ROOT, "configs", config + ".json")
    with tempfile.TemporaryDirectory(prefix="fringe-") as work:
        fringe("train", path, "--ranks", ranks, "--quiet", *settings([*QUIET, f"run.dir={work}/run", *words]))
        return read_run(f"{work}/run")


def median_epoch(epochs):
    """Its seconds, without the first two epochs."""
    return statistics.median([epoch["time"]["epoch"] for epoch in epochs][2:])


def npy(values, code="q"):
    """The bytes of an .npy of int64, or of another type of array.array."""
    kind = {"q": "i8", "i": "i4", "f": "f4"}[code]
    head = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    head += " " * (64 - (len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + array.array(code, values).tobytes()


def paired_difference(scores, baseline):
    """Mean of scores - baseline over the pairs both have, its standard error, what is allowed."""
    pairs = [a - b for a, b in zip(scores, baseline)]
    error = statistics.stdev(pairs) / math.sqrt(len(pairs)) if len(pairs) > 1 else math.inf
    return statistics.mean(pairs), error, max(0.3, 2 * error)


def allowed_difference(least, *samples):
    """Of two means: `least` points, or 3 combined standard errors of (standard deviation, count)."""
    return max(least, 3 * math.sqrt(sum(deviation ** 2 / count for deviation, count in samples)))


def kept(name):
    """The file of what a bench has found, bench/results/NAME.json, or in the folder of --results=FOLDER."""
    folder = SMOKE or option("results", "") or os.path.join(ROOT, "bench", "results")
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, f"{name}.json")


def read_kept(path):
    return read_json(path) if os.path.exists(path) else {}


def keep(path, table):
    """Writes what is known so far, one key a line."""
    lines = [f"{json.dumps(key)}: {json.dumps(known)}" for key, known in table.items()]
    with open(path, "w") as out:
        out.write("{\n" + ",\n".join(lines) + "\n}\n")


def cells_of(row):
    """Of a row of a Markdown table; \\| is a bar of a cell's own."""
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip()[1:-1])]


def parts_of(text):
    """Paragraphs, each a string, and tables, each {columns, rows}, in their order."""
    for part in re.split(r"\n\s*\n", text.strip()):
        lines = part.split("\n")
        first = next((i for i, line in enumerate(lines) if line.startswith("|")), len(lines))
        if first > 0:
            yield " ".join(" ".join(lines[:first]).split())
        if first < len(lines):
            rows = [cells_of(line) for line in lines[first:]]
            yield {"columns": rows[0], "rows": rows[2:]}


def tables_path(bench):
    folder = SMOKE or option("results", "") or os.path.join(ROOT, "bench", "results")
    return os.path.join(folder, "tables", f"{bench}.json")


def read_tables(bench):
    """What it has written: {title: [paragraphs and tables]}."""
    return read_kept(tables_path(bench))


def as_lines(part, indent):
    """JSON with one row of a table a line."""
    if isinstance(part, str):
        return indent + json.dumps(part, ensure_ascii=False)
    rows = ",\n".join(f"{indent} {json.dumps(row, ensure_ascii=False)}" for row in part["rows"])
    return f'{indent}{{"columns": {json.dumps(part["columns"], ensure_ascii=False)}, "rows": [\n{rows}]}}'


def markdown(columns, rows):
    """A table; columns and rows are lists of cells, or whole lines "| a | b |"."""
    lines = [row if isinstance(row, str) else "| " + " | ".join(map(str, row)) + " |" for row in (columns, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(cells_of(lines[0])), *lines[1:]])


def write_tables(title, *texts, bench=""):
    """Puts what the texts say (Markdown: paragraphs and tables) under the title in bench/results/tables/BENCH.json."""
    bench = bench or os.path.splitext(os.path.basename(sys.argv[0]))[0]
    table = {**read_tables(bench), title: list(parts_of("\n\n".join(filter(None, texts))))}
    os.makedirs(os.path.dirname(tables_path(bench)), exist_ok=True)
    sections = [f"{json.dumps(name)}: [\n" + ",\n".join(as_lines(part, " ") for part in parts) + "]"
                for name, parts in table.items()]
    with open(tables_path(bench), "w", encoding="utf-8") as out:
        out.write("{\n" + ",\n".join(sections) + "\n}\n")
