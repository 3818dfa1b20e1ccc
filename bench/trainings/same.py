"""Do two versions of fringe train to the same bytes?

usage: bench/same.sh OLD NEW [--only=WORD] [--jobs=2] [--short] [CONFIG...]
smoke: BUILD/fringe BUILD/fringe --short

OLD and NEW are programs (build/fringe). Both train every case, each on shards of its own making, and these are compared
byte by byte: the checkpoint (weights, best weights, optimizer, widths), all assigned widths and the predictions; of
metrics.jsonl all that OLD writes but the times (losses, scores, bytes of messages, reductions and evaluations); of
run.json the rows that each pair of ranks exchanges. Some cases are resumed: OLD trains half of the epochs, then both go
on from OLD's checkpoint.

Not every combination is tried. There are six groups of cases:

  kinds      every kind of layer on every number of ranks, hypergraph layers on two hypergraphs, with the modes in turn
  codecs     gcn: every mode x codec x number of ranks
  fenced     every kind of layer on 1 and 3 ranks, and every mode on 3, on the backend "fenced"
  settings   what modes do not set, on 3 ranks
  gradients  methods of coded gradients, in vanilla and adaqp, on 2 and 3 ranks
  resume     vanilla and adaqp, on 3 ranks; methods of coded gradients

With CONFIGs these train instead, in every mode on every number of ranks. --only=WORD: cases whose name has it. --jobs:
cases at a time. --short: one hypergraph, and one graph resumed. Exit status 1 if a byte differs.

Links are pinned and widths solved exactly, so that nothing depends on the clock, but for what mode auto measures: NEW
repeats OLD's choice (quantization.exchanges=replay:OLD's run). The backend "fenced" is that of the program
fringe-fenced beside OLD or NEW; a version that has neither trains on "cpu".
Methods of gradients that OLD does not know are left out.
"""
import argparse
import collections
import concurrent.futures
import glob
import json
import os
import re
import shutil
import sys
import tempfile
import time

from versions import Version

GRAPHS = {  # name: what generates it
    "graph": "planted:nodes=3000,edges=40000,features=48,communities=16",
    "labels": "dcsbm:nodes=2000,edges=20000,features=24,labels=6,classes=6",
    "planted": "hyper-planted:nodes=1500,hyperedges=900,features=32",
    "zipf": "hyper-zipf:vertices=1500,hyperedges=900,features=32,classes=6",
}
KINDS = [("graph", layer) for layer in ("gcn", "sage-mean", "sage-gcn", "gin", "sgc")]
KINDS += [(data, layer) for data in ("planted", "zipf") for layer in ("hgnn", "hnhn")]
MODES = ("vanilla", "adaqp", "lossless", "quantize", "overlap", "auto", "adaqp-published")
CODECS = ("fp32", "bf16", "integer")
METHODS = ("qsgd", "dq-sgd", "diana-both", "signsgd", "ef21", "powersgd:4", "topk:0.05", "clpt", "sketchml")
RANKS = (1, 2, 3, 4)
EPOCHS = 12
PINNED = {"quantization.link": [1e-9, 1e-5], "quantization.solver": "exact", "run.threads": 1, "run.log_every": 0}
SMALL = {"model.layers": 2, "model.hidden": [32], "train.epochs": EPOCHS, "train.eval_every": 4,
         "quantization.period": 4}
SETTINGS = {  # name: data, settings
    "random-widths": ("graph", {"mode": "quantize", "quantization.assign": "random"}),
    "two-bits": ("graph", {"mode": "adaqp", "quantization.assign": "uniform", "quantization.initial_bits": 2,
                           "quantization.scale_dtype": "fp32"}),
    "hidden-time": ("graph", {"mode": "adaqp", "quantization.time": "hidden", "quantization.link": [1e-9, 1e-5, 1e-4]}),
    "sender": ("graph", {"mode": "adaqp", "quantization.wait": "sender", "quantization.sensitivity": "safe"}),
    "central": ("graph", {"mode": "adaqp-published", "comm.schedule": "central"}),
    "targets": ("graph", {"mode": "lossless", "lossless.cover": "targets"}),
    "input-dropout": ("graph", {"mode": "lossless", "model.input_dropout": 0.3}),
    "sgd": ("graph", {"train.optimizer": "sgd", "train.momentum": 0.9, "train.clip_norm": 1, "train.warmup": 3,
                      "train.lr_schedule": "cosine", "train.weight_decay": [5e-4, 0]}),
    "bare-layers": ("graph", {"model.gcn_norm": "in", "model.norm": "none", "model.bias": False}),
    "fennel": ("graph", {"partition.method": "fennel", "model.layers": 3}),
    "gin-epsilon": ("graph", {"mode": "adaqp", "model.layer": "gin", "model.gin_learn_epsilon": True}),
    "several-labels": ("labels", {"mode": "adaqp", "model.layer": "sage-mean"}),
    "row-norm": ("zipf", {"mode": "adaqp", "model.layer": "hgnn", "model.norm_hyper": "row"}),
}

Case = collections.namedtuple("Case", "name data ranks settings resumed", defaults=[False])


def kind_cases():
    for i, (data, layer) in enumerate(KINDS):
        for ranks in RANKS:
            mode = MODES[(i + 2 * ranks) % len(MODES)]
            yield Case(f"kinds-{data}-{layer}-{mode}-{ranks}", data, ranks, {"mode": mode, "model.layer": layer})


def codec_cases():
    for mode in MODES:
        yield Case(f"codecs-{mode}-1", "graph", 1, {"mode": mode, "model.layers": 3})
        for codec in CODECS:
            for ranks in RANKS[1:]:  # one rank sends nothing
                yield Case(f"codecs-{mode}-{codec}-{ranks}", "graph", ranks,
                           {"mode": mode, "model.layers": 3, "quantization.codec": codec})


def fenced_cases():
    on_fenced = {"run.backend": "fenced"}
    for i, (data, layer) in enumerate(KINDS):
        for ranks in (1, 3):
            mode = MODES[(i + ranks) % len(MODES)]
            yield Case(f"fenced-{data}-{layer}-{mode}-{ranks}", data, ranks,
                       {"mode": mode, "model.layer": layer, **on_fenced})
    for mode in MODES:
        yield Case(f"fenced-{mode}-3", "graph", 3, {"mode": mode, "model.layers": 3, **on_fenced})


def setting_cases():
    for name, (data, settings) in SETTINGS.items():
        yield Case(f"settings-{name}-3", data, 3, settings)


def gradient_cases():
    for i, method in enumerate(METHODS):
        for ranks in (2, 3):
            mode = ("vanilla", "adaqp")[(i + ranks) % 2]
            yield Case(f"gradients-{method}-{mode}-{ranks}", "graph", ranks,
                       {"mode": mode, "gradients.method": method, "gradients.bits_period": 3})


def resume_cases():
    for mode in ("vanilla", "adaqp"):
        yield Case(f"resume-{mode}-3", "graph", 3, {"mode": mode}, resumed=True)
    for method in ("diana-both", "signsgd", "powersgd:4", "topk:0.05"):
        yield Case(f"resume-{method}-3", "graph", 3, {"gradients.method": method}, resumed=True)


def short_cases():
    yield Case("short-hgnn-adaqp-2", "planted", 2, {"mode": "adaqp", "model.layer": "hgnn", "gradients.method": "ef21"})
    yield Case("short-resume-1", "graph", 1, {"mode": "lossless"}, resumed=True)


def config_cases(configs):
    for config in map(os.path.abspath, configs):
        for mode in MODES:
            for ranks in RANKS:
                name = os.path.splitext(os.path.basename(config))[0]
                yield Case(f"{name}-{mode}-{ranks}", config, ranks, {"mode": mode})


def cases_of(options):
    if options.configs:
        cases = config_cases(options.configs)
    elif options.short:
        cases = short_cases()
    else:
        cases = [*kind_cases(), *codec_cases(), *fenced_cases(), *setting_cases(), *gradient_cases(),
                 *resume_cases()]
    return [case for case in cases if options.only in case.name]


class Trainings:
    """The runs of both versions, in folder/old and folder/new."""

    def __init__(self, folder, old, new):
        self.folder, self.empty = folder, os.path.join(folder, "empty.json")
        with open(self.empty, "w") as config:
            config.write("{}")
        self.version = {which: Version(path, os.path.join(folder, "cache-" + which))
                        for which, path in (("old", old), ("new", new))}
        self.fenced = {which: version.fenced(version.environment["XDG_CACHE_HOME"])
                       for which, version in self.version.items()}
        for which, version in self.version.items():
            if self.fenced[which] is None:
                print(f"{version.path} has no backend fenced and trains on cpu instead", flush=True)

    def run(self, which, case):
        return os.path.join(self.folder, which, case.name)

    def generate(self, cases):
        for data in sorted({case.data for case in cases} & GRAPHS.keys()):
            self.version["old"].call("generate", GRAPHS[data], "--seed", "3", "-o", os.path.join(self.folder, data))

    def known(self, case):
        """Does the old version know the method of gradients, if the case has one?"""
        method, row = case.settings.get("gradients.method"), self.version["old"].row("gradients.method")
        kinds = row.get("anyOf", [row]) if row is not None else []
        return method is None or any(method in kind.get("enum", []) or
                                     ("pattern" in kind and re.match(kind["pattern"], method)) for kind in kinds)

    def program(self, which, case):
        """The one that has the backend of the case, if this version has any; results do not depend on which."""
        on_fenced = case.settings.get("run.backend") == "fenced" and self.fenced[which] is not None
        return self.fenced[which] if on_fenced else self.version[which]

    def settings(self, which, case):
        small = {**SMALL, "data.path": os.path.join(self.folder, case.data)} if case.data in GRAPHS else {}
        # modes bring methods of gradients along, and not the same ones in all versions
        method = {"gradients.method": "fp32"} if self.version["old"].row("gradients.method") else {}
        settings = {**PINNED, **method, **small, **case.settings, "run.dir": self.run(which, case)}
        if which == "new" and case.settings.get("mode") == "auto":
            settings["quantization.exchanges"] = "replay:" + self.run("old", case)
        if settings.get("run.backend") == "fenced" and self.fenced[which] is None:
            settings["run.backend"] = "cpu"
        return settings

    def train(self, which, case, epochs=None):
        version, settings = self.program(which, case), self.settings(which, case)
        config = self.empty if case.data in GRAPHS else case.data
        words = ["train", config, "--ranks", str(case.ranks), "--resume", "auto"]
        for key, value in {**settings, **({"train.epochs": epochs} if epochs else {})}.items():
            words += ["--set", f"{version.key(key)}={value if isinstance(value, str) else json.dumps(value)}"]
        version.call(*words)

    def predict(self, which, case):
        run = self.run(which, case)
        self.program(which, case).call("predict", run, "--ranks", str(case.ranks), "-o", os.path.join(run, "predicted"))

    def both(self, case):
        if case.resumed:
            self.train("old", case, EPOCHS // 2)
            shutil.copytree(self.run("old", case), self.run("new", case))
        for which in self.version:
            self.train(which, case)
            self.predict(which, case)


def binaries(run):
    """Their names in the run. The choice of mode auto is left out: it holds the seconds that were measured."""
    found = [name for pattern in ("checkpoints/*/*.safetensors", "assignments/*.safetensors", "predicted/*.npy")
             for name in glob.glob(os.path.join(run, pattern))]
    return sorted(os.path.relpath(name, run) for name in found if not name.endswith("choice.safetensors"))


def read(run, name):
    try:
        with open(os.path.join(run, name), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def metrics(run):
    """What each epoch says but for its times."""
    return [{key: value for key, value in json.loads(line).items() if key != "time"}
            for line in read(run, "metrics.jsonl").splitlines()]


def same_metrics(old, new):
    """Also if the new ones say more."""
    return len(old) == len(new) and all({key: more.get(key) for key in epoch} == epoch for epoch, more in zip(old, new))


def compare(old, new):
    """{name of what is compared: is it the same?} of two runs."""
    found = {name: read(old, name) == read(new, name) for name in sorted({*binaries(old), *binaries(new)})}
    found["metrics.jsonl"] = same_metrics(metrics(old), metrics(new))
    exchanges = [json.loads(read(run, "run.json")).get("exchanges") for run in (old, new)]
    return {**found, "run.json (exchanges)": exchanges[0] == exchanges[1]}


def tried(trainings, case):
    trainings.both(case)
    runs = [trainings.run(which, case) for which in ("old", "new")]
    found = compare(*runs)
    for run in runs:
        shutil.rmtree(run)
    for name in (name for name, is_same in found.items() if not is_same):
        print(f"differ: {case.name} {name}", flush=True)
    return list(found.values())


def main():
    parser = argparse.ArgumentParser(prog="same.sh", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("configs", nargs="*")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--short", action="store_true")
    options = parser.parse_args()
    cases, begin = cases_of(options), time.monotonic()
    if not cases:
        parser.error(f"no case has '{options.only}' in its name")
    os.environ.update(OMP_NUM_THREADS="1", OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_hwloc_base_binding_policy="none")
    with tempfile.TemporaryDirectory(prefix="fringe-same-") as folder:
        trainings = Trainings(folder, options.old, options.new)
        unknown = [case for case in cases if not trainings.known(case)]
        cases = [case for case in cases if case not in unknown]
        if unknown:
            print(f"left out, not known to {options.old}: {' '.join(case.name for case in unknown)}", flush=True)
        trainings.generate(cases)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            same = sum(pool.map(lambda case: tried(trainings, case), cases), [])
    print(f"{len(cases)} cases in {time.monotonic() - begin:.0f} s")
    print(f"{len(same)} files compared, {same.count(False)} differ")
    sys.exit(0 if all(same) else 1)


main()
