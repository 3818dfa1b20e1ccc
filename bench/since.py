"""Does this version of fringe compute what an earlier one computed?

    bench/run.sh since --commit=COMMIT [--old=PROGRAM] [--new=build/fringe] [--only=NAME,...]

Builds COMMIT beside this tree (or takes --old), trains a dozen runs with both programs and compares,
byte by byte: the tensors of weights, best weights, optimizer and widths of every checkpoint, the
predictions, and every figure of metrics.jsonl but times. It then lets the new program read what the
old one left: it predicts from the old folder and resumes an old checkpoint. Configs are those of
COMMIT, and settings stand here under their oldest names; `fringe config upgrade` of each program that has
it converts its copies.

Not compared: of checkpoint.json version, binding, config and checksums; run.json; times. A tensor may
have another name only if NAMES says so. A run without a tensor to compare fails.

Real data (cora, citeseer, amazon_photo) comes from FRINGE_DATA; runs without their data are skipped,
which is printed. Exit status 1 where anything differs.
"""
import argparse
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAMES = {}  # old name of a tensor: new name

PINNED = {"mode": "adaqp", "messages": {"period": 4, "link": [1e-9, 1e-5], "solver": "exact"}}
SHORT = {"train": {"epochs": 12, "eval_every": 4}}
SAGE = {"model": {"layer": "sage-mean"}}
# name: (config of configs/ or data made here, ranks, settings)
RUNS = {
    "cora-gcn-1": ("cora-gcn", 1, [SHORT]),
    "cora-gcn-4": ("cora-gcn", 4, [SHORT]),
    "cora-sage-lossless-3": ("cora-sage", 3, [SHORT, {"mode": "lossless"}]),
    "cora-gcn-adaqp-3": ("cora-gcn", 3, [SHORT, PINNED]),
    "citeseer-gcn-adaqp-4": ("citeseer-gcn", 4, [SHORT, PINNED]),
    "citeseer-sage-3": ("citeseer-sage", 3, [SHORT]),
    "directed-gcn-3": ("directed", 3, [SHORT, {"mode": "lossless"}]),
    "directed-sage-adaqp-4": ("directed", 4, [SHORT, SAGE, PINNED]),
    "weighted-gcn-1": ("weighted", 1, [SHORT]),
    "weighted-gcn-adaqp-3": ("weighted", 3, [SHORT, PINNED]),
    "weighted-sage-lossless-4": ("weighted", 4, [SHORT, SAGE, {"mode": "lossless"}]),
    "multilabel-gcn-3": ("multilabel", 3, [SHORT]),
    "multilabel-sage-adaqp-4": ("multilabel", 4, [SHORT, SAGE, PINNED]),
    "reddit-small-gcn-1": ("reddit-small-gcn", 1, [SHORT, {"train": {"epochs": 4}}]),
    "reddit-small-gcn-adaqp-4": ("reddit-small-gcn", 4, [SHORT, PINNED, {"train": {"epochs": 8}}]),
    "reddit-small-sage-3": ("reddit-small-sage", 3, [SHORT, {"train": {"epochs": 4}}]),
}
TIMES = ("time",)  # members of a line of metrics.jsonl that are not compared


def merge(into, settings):
    for key, value in settings.items():
        if isinstance(value, dict):
            merge(into.setdefault(key, {}), value)
        else:
            into[key] = value


def npy(kind, values, shape):
    """The bytes of a .npy file: float32 or int64."""
    about = f"{{'descr': '<{'f4' if kind == 'f' else 'i8'}', 'fortran_order': False, 'shape': {shape}, }}"
    about += " " * (-(len(about) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(about)) + about.encode() + \
        struct.pack(f"<{len(values)}{kind}", *values)


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)


class Since:
    def __init__(self, folder, old, new, old_root):
        self.folder, self.old_root = folder, old_root
        self.program = {"old": old, "new": new}
        self.compared = self.different = 0
        self.upgrades = {which: b"upgrade" in subprocess.run([program, "config", "--help"], check=True,
                                                             capture_output=True).stdout
                         for which, program in self.program.items()}

    def fringe(self, which, *words):
        environment = dict(os.environ, XDG_CACHE_HOME=os.path.join(self.folder, "cache-" + which),
                           OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
                           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        done = subprocess.run([self.program[which], *words], cwd=self.folder, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=1800)
        if done.returncode != 0:
            sys.exit(f"{which}: fringe {' '.join(words)} ended with {done.returncode}:\n{done.stdout}")

    # ---- data

    def made(self, name):
        """A graph of 600 nodes as an edge list with features, labels and splits beside it."""
        draw = random.Random(7)
        nodes, classes, columns = 600, 5, 24
        community = [draw.randrange(classes) for _ in range(nodes)]
        edges = set()
        for _ in range(9000):
            a, b = draw.randrange(nodes), draw.randrange(nodes)
            if a != b and (community[a] == community[b] or draw.random() < 0.2):
                edges.add((a, b))
        path = os.path.join(self.folder, name)
        with open(path + ".tsv", "w") as lines:
            for a, b in sorted(edges):
                lines.write(f"{a}\t{b}" + (f"\t{draw.randrange(1, 9) / 4}" if name == "weighted" else "") + "\n")
        centre = [[draw.gauss(0, 1) for _ in range(columns)] for _ in range(classes)]
        features = [value + draw.gauss(0, 1) for node in community for value in centre[node]]
        write(path + "-x.npy", npy("f", features, (nodes, columns)))
        labels, shape = community, (nodes,)
        if name == "multilabel":
            labels = [int(c == node or draw.random() < 0.2) for node in community for c in range(classes)]
            shape = (nodes, classes)
        write(path + "-y.npy", npy("q", labels, shape))
        order = draw.sample(range(nodes), nodes)
        with zipfile.ZipFile(path + "-splits.npz", "w") as splits:
            for split, ids in (("train", order[:300]), ("val", order[300:400]), ("test", order[400:])):
                splits.writestr(split + "_idx.npy", npy("q", ids, (len(ids),)))
        return {"data": {"path": name + ".tsv", "undirected": name != "directed", "features": name + "-x.npy",
                         "labels": name + "-y.npy", "splits": name + "-splits.npz"},
                "model": {"layers": 3, "hidden": [32]}}

    def config(self, source):
        path = os.path.join(self.old_root, "configs", source + ".json")
        if not os.path.exists(path):
            return self.made(source)
        with open(path) as file:
            config = json.load(file)
        data = config["data"]["path"]
        if data == "reddit-small":
            for which in self.program:
                place = os.path.join(self.folder, which + "-" + data)
                if not os.path.exists(place):
                    self.fringe(which, "generate", data, "-o", place)
            config["data"]["path"] = "old-" + data
            self.same_files("old-" + data, "new-" + data)
        elif not os.path.exists(os.path.join(os.environ.get("FRINGE_DATA", ""), data)):
            return None
        return config

    # ---- what is compared

    def differ(self, what):
        self.different += 1
        print("differ:", what)

    def same(self, what, ok):
        self.compared += 1
        if not ok:
            self.differ(what)

    def same_files(self, old, new):
        for name in sorted(os.listdir(os.path.join(self.folder, old))):
            with open(os.path.join(self.folder, old, name), "rb") as a, \
                    open(os.path.join(self.folder, new, name), "rb") as b:
                self.same(f"{new}/{name}", a.read() == b.read())

    @staticmethod
    def tensors(path):
        with open(path, "rb") as file:
            size, = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(size))
            data = file.read()
        header.pop("__metadata__", None)
        return {name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])])
                for name, entry in header.items()}

    def same_tensors(self, old, new):
        before, after = self.tensors(old), self.tensors(new)
        before = {NAMES.get(name, name): tensor for name, tensor in before.items()}
        self.same(f"names of {new}", before.keys() == after.keys())
        for name in before.keys() & after.keys():
            self.same(f"{name} of {new}", before[name] == after[name])
        return len(before.keys() & after.keys())

    def same_checkpoints(self, old, new):
        old, new = (os.path.join(self.folder, path, "checkpoints") for path in (old, new))
        folders = sorted(name for name in os.listdir(old) if name.startswith("epoch-"))
        self.same(f"checkpoints of {new}",
                  folders == sorted(name for name in os.listdir(new) if name.startswith("epoch-")))
        tensors = 0
        for folder in folders:
            for name in sorted(os.listdir(os.path.join(old, folder))):
                there = os.path.join(new, folder, name)
                if name.endswith(".safetensors") and os.path.exists(there):
                    tensors += self.same_tensors(os.path.join(old, folder, name), there)
                else:
                    self.same(there, os.path.exists(there))
        if tensors == 0:
            self.differ(f"{new}: there is no tensor to compare")

    def figures(self, run):
        with open(os.path.join(self.folder, run, "metrics.jsonl")) as lines:
            rows = [json.loads(line) for line in lines]
        for row in rows:
            for name in TIMES:
                row.pop(name, None)
        return rows

    # ---- runs

    def write(self, which, name, config, settings):
        config = json.loads(json.dumps(config))
        merge(config, {"run": {"threads": 1, "log_every": 0}})
        for setting in settings:
            merge(config, setting)
        path = f"{which}-{name}.json"
        with open(os.path.join(self.folder, path), "w") as file:
            json.dump(config, file, indent=4)
        if self.upgrades[which]:
            self.fringe(which, "config", "upgrade", path)
        return path

    def run(self, name, source, ranks, settings):
        config = self.config(source)
        if config is None:
            print(f"skipped: {name} needs {source}'s data; FRINGE_DATA names its folder")
            return
        compared, different = self.compared, self.different
        for which in self.program:
            path = self.write(which, name, config, settings)
            folder = f"{which}/{name}"
            self.fringe(which, "train", path, f"--ranks={ranks}", "--set", "run.dir=" + folder)
            self.fringe(which, "predict", folder, f"--ranks={ranks}", "-o", folder + "/predicted")
        old, new = "old/" + name, "new/" + name
        self.same_checkpoints(old, new)
        self.same_files(old + "/predicted", new + "/predicted")
        self.same(f"figures of {new}", self.figures(old) == self.figures(new))
        self.fringe("new", "predict", old, f"--ranks={ranks}", "-o", "again/" + name)
        self.same_files(old + "/predicted", "again/" + name)
        self.resume(name, config, ranks, settings)
        print(f"{name}: {self.compared - compared} compared, {self.different - different} differ", flush=True)

    def resume(self, name, config, ranks, settings):
        """The old program begins, the new one goes on: it must end where the old one does."""
        whole = {}
        for setting in settings:
            merge(whole, setting)
        half = {"train": {"epochs": 4}, "run": {"checkpoint_every": 4}}
        path = self.write("old", name + "-half", config, settings + [half])
        folder = f"resumed/{name}"
        self.fringe("old", "train", path, f"--ranks={ranks}", "--set", "run.dir=" + folder)
        path = self.write("new", name, config, settings)
        self.fringe("new", "train", path, f"--ranks={ranks}", "--set", "run.dir=" + folder, "--resume", "auto")
        for name_of in ("model", "best", "optimizer"):
            last = f"checkpoints/epoch-{whole['train']['epochs']}/{name_of}.safetensors"
            self.same_tensors(os.path.join(self.folder, "old", name, last),
                              os.path.join(self.folder, folder, last))


def build(commit, folder):
    subprocess.run(["git", "-C", ROOT, "worktree", "add", "--detach", "--force", folder, commit], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run(["cmake", "-S", folder, "-B", folder + "/build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", folder + "/build", "fringe", "fringe-solver"], check=True,
                   stdout=subprocess.DEVNULL)
    return folder + "/build/fringe"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--commit", default="")
    parser.add_argument("--old", default="")
    parser.add_argument("--new", default=os.path.join(ROOT, "build", "fringe"))
    parser.add_argument("--only", default="")
    parser.add_argument("--strict", action="store_true")  # every difference fails anyway
    options = parser.parse_args()
    if not options.old and not options.commit:
        parser.error("--commit=COMMIT or --old=PROGRAM says what to compare with")
    folder = tempfile.mkdtemp(prefix="fringe-since-")
    tree = os.path.join(folder, "tree")
    try:
        old = options.old or build(options.commit, tree)
        old_root = tree if options.commit and not options.old else os.path.dirname(os.path.dirname(options.old))
        since = Since(folder, os.path.abspath(old), os.path.abspath(options.new), os.path.abspath(old_root))
        for name, run in RUNS.items():
            if not options.only or name in options.only.split(","):
                since.run(name, *run)
        print(f"{since.compared} compared, {since.different} differ")
        return 1 if since.different or since.compared == 0 else 0
    finally:
        if os.path.exists(tree):
            subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", tree], check=False)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
