"""Does AdaQP cost accuracy? Paired seeds, vanilla against few bits.

usage: bench/run.sh adaqp_accuracy [--strict] [--only=cora-gcn,...] [--parts=4,8] [--layers=2,3]
                                   [--modes=adaqp,...] [--least=5] [--most=40]
smoke: --only=reddit-small-gcn --parts=2 --layers=2 --modes=adaqp --least=1 --most=1

Every case trains configs/<set>.json with the same seeds in all modes; a seed's score is the mean of its last ten
evaluations. A mode agrees if the means differ by at most max(0.3 points, 2 standard errors). For adaqp seeds are added
until the standard error of the difference is at most 0.15 points; the other modes take `least` seeds. Beside it stands
the noise that the mode's messages add to the gradient of vanilla's last weights, without dropout: |g_mode - g_fp32| /
|g_fp32|, root mean square over seeds.
"""
import glob
import json
import math
import os
import shutil
import statistics
import tempfile
from array import array

from cells import records_of, score_of
from figures import (ROOT, SMOKE, Bench, fringe, keep, kept, markdown, option, paired_difference, read_json, read_kept,
                     settings, write_tables)

NARROW = "lossless.order=auto"  # hundreds of seeds of products with up to 8,415 features would take days
SETS = {"cora-gcn": [NARROW], "amazon-computers-gcn": [NARROW], "coauthor-physics-gcn": [NARROW],
        "deezer-hu-gcn": [NARROW], "reddit-small-gcn": []}
FEW_BITS = "mode=adaqp-published"  # no row is left out, so that the bits have something to spoil
MODES = {  # beyond it
    "adaqp": ["quantization.assign=adaptive"],
    "uniform 1": ["quantization.assign=uniform", "quantization.initial_bits=1"],
    "uniform 2": ["quantization.assign=uniform", "quantization.initial_bits=2"],
    "uniform 4": ["quantization.assign=uniform", "quantization.initial_bits=4"],
    "uniform 8": ["quantization.assign=uniform", "quantization.initial_bits=8"],
    "random": ["quantization.assign=random"],
}
KNOWN = kept("adaqp_accuracy")
PERIOD, GROUP, BATCH, NOISE_SEEDS = 20, 50, 5, 8


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
    """One set, number of parts and depth: the scores and noises that are known, and how to find more."""

    def __init__(self, work, name, parts, layers, known, keep):
        self.config, self.parts = os.path.join(ROOT, "configs", name + ".json"), parts
        self.folder = os.path.join(work, f"{name}-{parts}-{layers}")
        config = read_json(self.config)
        decay = config.get("train", {}).get("weight_decay", [0])
        self.shape = [f"model.layers={layers}", *SETS[name]]
        if layers == 2 and isinstance(decay, list):
            self.shape.append(f"train.weight_decay={json.dumps(decay[:2])}")
        self.keep = keep  # writes down what is known
        self.scores, self.noises = known.setdefault("scores", {}), known.setdefault("noise", {})

    def train(self, mode, first, seeds):
        """Scores of `seeds` runs from seed `first` on."""
        folder = os.path.join(self.folder, mode.replace(" ", "-"))
        shutil.rmtree(folder, ignore_errors=True)
        words = ["mode=vanilla"] if mode == "vanilla" else [FEW_BITS, *MODES[mode]]
        words += self.shape + [f"run.dir={folder}", f"run.seed={first}", "train.eval_every=5", "run.log_every=0",
                               "run.checkpoint_every=0", f"quantization.period={PERIOD}", "quantization.delay=1", f"quantization.group_size={GROUP}"]
        fringe("train", self.config, "--ranks", self.parts, "--runs", seeds, *settings(words))
        return [score_of(run) for run in records_of(folder)]

    def add_seeds(self, mode, count):
        have = self.scores.setdefault(mode, [])
        while len(have) < count:
            have += self.train(mode, len(have), min(BATCH, count - len(have)))
            self.keep()

    def measure(self, mode, least, most):
        """Paired seeds, until the standard error says enough."""
        seeds = least
        while True:
            self.add_seeds("vanilla", seeds)
            self.add_seeds(mode, seeds)
            if paired_difference(self.scores[mode], self.scores["vanilla"])[1] <= 0.15 or seeds >= most:
                break
            seeds = min(most, seeds + BATCH)
        if mode not in self.noises:
            self.noises[mode] = round(self.noise(mode), 4)
            self.keep()

    def one_step(self, name, weights, words, seed):
        """The gradient at `weights`: one step of plain descent at rate 1."""
        folder = os.path.join(self.folder, "step-" + name)
        shutil.rmtree(folder, ignore_errors=True)
        words = words + self.shape + [
            f"run.dir={folder}", f"run.seed={seed}", f"model.weights={weights}", "model.dropout=0",
            "model.input_dropout=0", "train.epochs=1", "train.optimizer=sgd", "train.momentum=0", "train.lr=1",
            "train.weight_decay=[0]", "train.lr_schedule=constant", "train.warmup=0", "train.clip_norm=0", "run.log_every=0"]
        fringe("train", self.config, "--ranks", self.parts, *settings(words))
        after = tensors(os.path.join(folder, "checkpoints", "epoch-1", "model.safetensors"))
        return [x - y for x, y in zip(tensors(weights), after)]

    def found(self, mode, pattern):
        """Files of the mode's last training, which is done (again) if there is none."""
        where = os.path.join(self.folder, mode.replace(" ", "-"), "**", pattern)
        if not glob.glob(where, recursive=True):
            self.train(mode, 0, 1)
        return sorted(glob.glob(where, recursive=True), key=lambda path: (len(path), path))

    def noise(self, mode):
        """Of messages in `mode`, relative to the exact gradient at vanilla's last weights."""
        weights = os.path.join(self.folder, "weights.safetensors")
        if not os.path.exists(weights):
            shutil.copy(self.found("vanilla", "model.safetensors")[0], weights)
        words = [FEW_BITS, *MODES[mode]]
        if not mode.startswith("uniform"):  # the last widths of a run, from the first epoch on
            last = self.found(mode, os.path.join("assignments", "epoch-*.safetensors"))[-1]
            replay = os.path.join(self.folder, "replay-" + mode)
            os.makedirs(os.path.join(replay, "assignments"), exist_ok=True)
            shutil.copy(last, os.path.join(replay, "assignments", "epoch-1.safetensors"))
            words = [FEW_BITS, f"quantization.assign=replay:{replay}"]
        exact = self.one_step("exact", weights, ["mode=vanilla"], 0)
        errors = [distance(self.one_step(mode.replace(" ", "-"), weights, words, seed), exact)
                  for seed in range(1 if SMOKE else NOISE_SEEDS)]
        return math.sqrt(statistics.mean(error**2 for error in errors)) / distance(exact, [0.0] * len(exact))


def table_row(name, known):
    scores, cells, apart = known["scores"], [], []
    for mode in MODES:
        if mode not in scores:
            cells.append("")
            continue
        mean, error, allowed = paired_difference(scores[mode], scores["vanilla"])
        noise = f", {known['noise'][mode]:.3f}" if mode in known["noise"] else ""
        cells.append(f"{mean:+.2f} ± {error:.2f} ({len(scores[mode])}{noise})")
        if abs(mean) > allowed:
            apart.append(mode)
    said = "none" if all(cells) else "not adaqp"  # where the others did not run, nothing is said of them
    return [name, f"{statistics.mean(scores['vanilla']):.2f}", *cells, ", ".join(apart) or said]


def write_table(table):
    caption = ("`bench/run.sh adaqp_accuracy`: mean of the last ten evaluations (test, percent). Under each mode its "
               "difference from vanilla over paired seeds ± the standard error (seeds, gradient noise: of the mode's "
               "messages at vanilla's last weights, relative to the exact gradient). A mode stands apart if it differs by "
               "more than max(0.3 points, 2 standard errors); where none does, accuracy separates nothing. Mode "
               f"adaqp-published, quantization.period={PERIOD}, group_size={GROUP}, widths 2, 4, 8; on all sets but "
              "reddit-small with lossless.order=auto, in vanilla too: what travels in layer 0 is not the features but "
              "their product with the weights, where that is narrower.")
    write_tables("AdaQP's accuracy against vanilla", caption,
                 markdown(["case", "vanilla %", *MODES, "apart from vanilla"], [table_row(*of) for of in table.items()]))


def main():
    bench, least, most = Bench("adaqp_accuracy"), option("least", 5), option("most", 40)
    table = read_kept(KNOWN)
    modes = option("modes", ",".join(MODES)).split(",")
    with tempfile.TemporaryDirectory(prefix="fringe-adaqp-") as work:
        for name in option("only", ",".join(SETS)).split(","):
            for parts in map(int, option("parts", "4,8").split(",")):
                for layers in map(int, option("layers", "2,3").split(",")):
                    row = f"{name}, {parts} parts, {layers} layers"
                    case = Case(work, name, parts, layers, table.setdefault(row, {}), lambda: keep(KNOWN, table))
                    for mode in modes:
                        case.measure(mode, least, most if mode == "adaqp" else least)
                        mean, _, allowed = paired_difference(case.scores[mode], case.scores["vanilla"])
                        bench.within(f"{row}, {mode}", mean, "points", allowed, bar=1.0 if mode == "adaqp" else 0.0)
                    write_table(table)
                    shutil.rmtree(case.folder, ignore_errors=True)
    bench.end()


main()
