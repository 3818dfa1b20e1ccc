"""Does AdaQP cost accuracy? Paired seeds, vanilla against few bits.

usage: bench/run.sh adaqp_accuracy [--strict] [--only=cora-gcn,...] [--parts=4,8] [--layers=2,3]
                                   [--modes=adaqp,...] [--least=5] [--most=40]

Every row trains configs/<set>.json with the same seeds in both modes; a seed's score is the mean of its last ten
evaluations. It agrees if the means differ by at most max(0.3 points, 2 standard errors); seeds are added until the
standard error of the difference is at most 0.15 points. Beside it stands the noise that the mode's messages add to the
gradient of vanilla's last weights, without dropout: |g_mode - g_fp32| / |g_fp32|, root mean square over seeds. Writes
docs/results.md.
"""
import glob
import json
import math
import os
import shutil
import statistics
import sys
import tempfile
from array import array

from figures import ROOT, Bench, fringe, option, write_section

SETS = ["cora-gcn", "amazon-computers-gcn", "coauthor-physics-gcn", "deezer-hu-gcn", "reddit-small-gcn"]
FEW_BITS = "mode=adaqp-published"  # nothing is left out, so that the bits have something to spoil
MODES = {  # beyond it
    "adaqp": ["messages.assign=adaptive"],
    "uniform 1": ["messages.assign=uniform", "messages.first_width=1"],
    "uniform 2": ["messages.assign=uniform", "messages.first_width=2"],
    "uniform 4": ["messages.assign=uniform", "messages.first_width=4"],
    "uniform 8": ["messages.assign=uniform", "messages.first_width=8"],
    "random": ["messages.assign=random"],
}
PERIOD, GROUP, BATCH, NOISE_SEEDS = 20, 50, 5, 8


def settings(words):
    return [part for word in words for part in ("--set", word)]


def tensors(path):
    """The float32 tensors of a safetensors file, one after the other."""
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        data = file.read()
    entries = sorted(((name, e) for name, e in header.items() if name != "__metadata__"), key=lambda item: item[0])
    values = array("f")
    for _, entry in entries:
        values.frombytes(data[entry["data_offsets"][0]:entry["data_offsets"][1]])
    return values


def distance(a, b):
    return math.sqrt(math.fsum((x - y)**2 for x, y in zip(a, b)))


class Case:
    def __init__(self, work, name, parts, layers):
        self.config, self.parts, self.layers = os.path.join(ROOT, "configs", name + ".json"), parts, layers
        self.folder = os.path.join(work, f"{name}-{parts}-{layers}")
        with open(self.config) as file:
            config = json.load(file)
        decay = config.get("train", {}).get("weight_decay", [0])
        self.shape = [f"model.layers={layers}"]
        if layers == 2 and isinstance(decay, list):
            self.shape.append(f"train.weight_decay={json.dumps(decay[:2])}")
        self.scores = {}

    def train(self, mode, first, seeds):
        """Scores of `seeds` runs from seed `first` on."""
        folder = os.path.join(self.folder, mode.replace(" ", "-"))
        shutil.rmtree(folder, ignore_errors=True)
        words = ["mode=vanilla"] if mode == "vanilla" else [FEW_BITS, *MODES[mode]]
        words += self.shape + [f"run.dir={folder}", f"run.seed={first}", "train.eval_every=5", "run.log_every=0",
                               "run.checkpoint_every=0", f"messages.period={PERIOD}", f"messages.group_size={GROUP}"]
        fringe("train", self.config, "--ranks", self.parts, "--runs", seeds, *settings(words))
        scores = []
        for path in sorted(glob.glob(os.path.join(folder, "**", "metrics.jsonl"), recursive=True),
                           key=lambda path: (len(path), path)):
            with open(path) as lines:
                tests = [r["test"]["micro_f1"] for r in map(json.loads, lines) if "test" in r]
            scores.append(100 * statistics.mean(tests[-10:]))
        return scores

    def add_seeds(self, mode, count):
        have = self.scores.setdefault(mode, [])
        while len(have) < count:
            have += self.train(mode, len(have), min(BATCH, count - len(have)))

    def difference(self, mode, least, most):
        """Mean and standard error of (mode - vanilla), and the seeds it took."""
        seeds = least
        while True:
            self.add_seeds("vanilla", seeds)
            self.add_seeds(mode, seeds)
            pairs = [a - b for a, b in zip(self.scores[mode], self.scores["vanilla"])][:seeds]
            error = statistics.stdev(pairs) / math.sqrt(seeds)
            if error <= 0.15 or seeds >= most:
                return statistics.mean(pairs), error, seeds
            seeds = min(most, seeds + BATCH)

    def one_step(self, name, weights, words, seed):
        """The gradient at `weights`: one step of plain descent at rate 1."""
        folder = os.path.join(self.folder, "step-" + name)
        shutil.rmtree(folder, ignore_errors=True)
        words = words + self.shape + [
            f"run.dir={folder}", f"run.seed={seed}", f"model.weights={weights}", "model.dropout=0",
            "model.input_dropout=0", "train.epochs=1", "train.optimizer=sgd", "train.momentum=0", "train.rate=1",
            "train.weight_decay=[0]", "train.schedule=constant", "train.warmup=0", "train.clip=0", "run.log_every=0"]
        fringe("train", self.config, "--ranks", self.parts, *settings(words))
        after = tensors(os.path.join(folder, "checkpoints", "epoch-1", "model.safetensors"))
        return [x - y for x, y in zip(tensors(weights), after)]

    def noise(self, mode):
        """Of messages in `mode`, relative to the exact gradient at vanilla's last weights."""
        found = glob.glob(os.path.join(self.folder, "vanilla", "**", "model.safetensors"), recursive=True)
        weights = os.path.join(self.folder, "weights.safetensors")
        if not os.path.exists(weights):
            shutil.copy(sorted(found)[0], weights)
        words = [FEW_BITS, *MODES[mode]]
        if mode == "adaqp":  # the last widths of its first run, from the first epoch on
            pattern = os.path.join(self.folder, mode, "**", "assignments", "epoch-*.safetensors")
            last = max(glob.glob(pattern, recursive=True), key=lambda p: int(p.rsplit("-", 1)[1].split(".")[0]))
            replay = os.path.join(self.folder, "replay")
            os.makedirs(os.path.join(replay, "assignments"), exist_ok=True)
            shutil.copy(last, os.path.join(replay, "assignments", "epoch-1.safetensors"))
            words = [FEW_BITS, f"messages.assign=replay:{replay}"]
        if mode == "random":
            return float("nan")
        exact = self.one_step("exact", weights, ["mode=vanilla"], 0)
        errors = [distance(self.one_step(mode.replace(" ", "-"), weights, words, seed), exact)
                  for seed in range(NOISE_SEEDS)]
        return math.sqrt(statistics.mean(error**2 for error in errors)) / distance(exact, [0.0] * len(exact))


def main():
    bench, least, most = Bench("adaqp_accuracy"), option("least", 5), option("most", 40)
    table_path = os.path.join(ROOT, "bench", "reference", "adaqp_accuracy.json")
    table = json.load(open(table_path)) if os.path.exists(table_path) else {}
    modes = option("modes", ",".join(MODES)).split(",")
    with tempfile.TemporaryDirectory(prefix="fringe-adaqp-") as work:
        for name in option("only", ",".join(SETS)).split(","):
            for parts in map(int, option("parts", "4,8").split(",")):
                for layers in map(int, option("layers", "2,3").split(",")):
                    case = Case(work, name, parts, layers)
                    for mode in modes:
                        mean, error, seeds = case.difference(mode, least, most)
                        noise = case.noise(mode)
                        allowed = max(0.3, 2 * error)
                        row = f"{name}, {parts} parts, {layers} layers, {mode}"
                        bar = 1.0 if mode == "adaqp" else 0.0
                        bench.figure(row, mean, "points", "allowed", allowed, abs(mean) / allowed + 1e-9, bar,
                                     at_most=True)
                        table[row] = {"mean": mean, "error": error, "seeds": seeds, "noise": noise,
                                      "vanilla": statistics.mean(case.scores["vanilla"][:seeds])}
                        with open(table_path, "w") as out:
                            json.dump(table, out, indent=1)
                    shutil.rmtree(case.folder)
    lines = ["| case | vanilla % | seeds | difference | standard error | allowed | | gradient noise |",
             "|---|---|---|---|---|---|---|---|"]
    for row, r in table.items():
        allowed = max(0.3, 2 * r["error"])
        verdict = "ok" if abs(r["mean"]) <= allowed else "apart"
        noise = "-" if math.isnan(r["noise"]) else f"{r['noise']:.3f}"
        lines.append(f"| {row} | {r['vanilla']:.2f} | {r['seeds']} | {r['mean']:+.2f} | {r['error']:.2f} | {allowed:.2f} "
                     f"| {verdict} | {noise} |")
    caption = ("`bench/run.sh adaqp_accuracy`: mean of the last ten evaluations (test, percent), mode minus vanilla, paired "
               f"seeds; mode adaqp-published, messages.period={PERIOD}, group_size={GROUP}, widths 2, 4, 8. Gradient noise: of the mode's "
               "messages at vanilla's last weights, relative to the exact gradient.")
    write_section(os.path.join(ROOT, "docs", "results.md"), "AdaQP's accuracy against vanilla",
                  caption + "\n\n" + "\n".join(lines))
    bench.end()


main()
