"""What codecs make of the weight gradients of trainings, and whether bits that change over time end as well as fixed
ones.

usage: bench/run.sh gradients [--strict] [--only=codecs,bits] [--sets=cora-gcn,...] [--epochs=1,20,100] [--rounds=11]
                              [--seeds=5] [--rules=fixed,dq,rms,adaqs]
smoke: --only=codecs,bits --sets=cora-gcn --epochs=1 --rounds=1 --seeds=1 --rules=fixed,dq

codecs: bench/trainings/gradients.c takes each rank's own share of the gradient after these epochs of configs/SET.json
on 4 ranks and codes it by every rule and width. Errors are |Q(g) - g|^2 / |g|^2, the least and the greatest of all
ranks and epochs; lengths are bits a value, packed and with entropy codes, beside the entropy of the codes. Errors and
lengths on cora stand beside those that a program in numpy of its own found. Nanoseconds are printed only.

bits: DQ-SGD's, and the two rules after its baselines, against fixed bits on the logistic regression of mushroom, twelve
ranks by label, steps of 1 / L: mean bits of 600 epochs, chosen anew every 25, and the gap to the optimum, F - F*, over
that of fixed bits; also with fp32's own gap taken off both, which has a bar where that is not nearly all. With coded
sums nothing has a bar. --seeds=1 --rules=fixed,dq is the short form. Keeps bench/results/gradients.json; bits that are
there with as many seeds are not run again.
"""
import json
import math
import os
import statistics
import tempfile

from figures import ROOT, SMOKE, Bench, keep, kept, markdown, on_ranks, option, read_kept, write_tables

SETS = {"cora-gcn": [], "reddit-small-gcn": [], "coauthor-physics-gcn": ["lossless.order=auto"]}
RANKS = 2 if SMOKE else 4
FIELDS = "packed coded entropy write read coded_write coded_read".split()
# of cora's shares: the greatest error, and bits a value with entropy codes
EXPECTED = {"max 4": (.023, 1.6), "max 8": (8e-5, 4.9), "minmax 4": (.012, 3.1), "l2 4": (.08, None),
            "max 2": (.91, .44), "log 5": (None, 3.9)}
WIDTHS, EPOCHS, PERIOD = ((4,), 20, 5) if SMOKE else ((4, 6, 8), 600, 25)
RULES = ("fixed", "dq", "rms", "adaqs")
MOST_BITS, MOST_GAP = {4: .97, 6: .95, 8: .95}, 1.2
KNOWN = kept("gradients")


# ---- codecs


def variants_of(name):
    """{"max 4": {"random": [least, most], "nearest": ..., "packed": bits, ...}}"""
    words = [f"--config={os.path.join(ROOT, 'configs', name + '.json')}", f"--epochs={option('epochs', '1,20,100')}",
             f"--rounds={option('rounds', 11)}", *SETS[name]]
    lines = [line.split()[2:] for line in on_ranks(RANKS, "bench_gradients", *words) if line.startswith("variant ")]
    return {f"{rule} {bits}": joined([line for line in lines if line[:2] == [rule, bits]]) for rule, bits, *_ in lines}


def joined(lines):
    """Of all epochs: the ends of the errors by rounding, and the means of what else was measured, at random if it
    was."""
    of = {rounding: [line[3:] for line in lines if line[2] == rounding] for rounding in {line[2] for line in lines}}
    ends = {rounding: [min(float(line[0]) for line in some), max(float(line[1]) for line in some)]
            for rounding, some in of.items()}
    columns = zip(*(map(float, line[2:]) for line in of.get("random", of["nearest"])))
    return {**ends, **{field: round(statistics.mean(column), 3) for field, column in zip(FIELDS, columns)}}


def report_variants(bench, name, variants):
    for variant, found in variants.items():
        worst = found.get("random", found["nearest"])[1]
        error, length = EXPECTED.get(variant, (None, None)) if name == "cora-gcn" else (None, None)
        for what, value, unit, expected in (("error", worst, "", error), ("coded", found["coded"], "bits", length)):
            bar = ("expected at most", expected, value / expected, 1.2, True) if expected else ()
            bench.figure(f"{name}, {variant}: {what}", value, unit, *bar)
        print(f"{'':50} ns a value: write {found['write']:.2f}, read {found['read']:.2f}; with entropy codes "
              f"{found['coded_write']:.2f}, {found['coded_read']:.2f}")


def short(ends):
    return " – ".join(f"{end:.2g}" for end in ends)


def codec_cells(found):
    if found is None:  # not run since there is this codec
        return " |  | "
    errors = (short(found[rounding]) if rounding in found else "" for rounding in ("random", "nearest"))
    entropy = f" ({found['entropy']:.2f})" if found["entropy"] else ""
    return " | ".join((*errors, f"{found['coded']:.2f}{entropy}"))


def codec_table(known):
    names = [name for name in SETS if name in known]
    return markdown(["codec, bits", "packed", *(f"{name}: random | nearest | coded (entropy)" for name in names)], [
        [variant, f"{first['packed']:.2f}", *(codec_cells(known[name].get(variant)) for name in names)]
        for variant, first in known[names[0]].items()])


# ---- bits over time


class Descent:
    """Trainings of mushroom, and what is left of each to the optimum."""

    def __init__(self, work):
        from convex_problems import Mushroom, weights_of
        self.problem, self.weights_of, self.exact = Mushroom(work), weights_of, {}
        self.least = self.problem.loss(self.problem.optimum)

    def run(self, seed, words):
        """Gap and mean bits."""
        rate = 1 / self.problem.steepest
        run = self.problem.trained([f"run.seed={seed}", f"train.epochs={EPOCHS}", f"train.lr={rate}",
                                    "train.momentum=0", *words])
        with open(os.path.join(run, "metrics.jsonl")) as lines:
            bits = [json.loads(line).get("gradient_bits", 0) for line in lines]
        return self.problem.loss(self.weights_of(run)[0]) - self.least, statistics.mean(bits)

    def gap_of_fp32(self, seed):
        if seed not in self.exact:
            self.exact[seed] = self.run(seed, [])[0]
        return self.exact[seed]

    def case(self, down, width, rule):
        """Means over seeds: bits, gap, and that of fp32."""
        words = ["gradients.codec=max", f"gradients.bits={width}", f"gradients.down={down}",
                 f"gradients.bits_rule={rule}", f"gradients.bits_period={PERIOD}"]
        seeds = range(option("seeds", 5))
        runs = [self.run(seed, words) for seed in seeds]
        exact = [self.gap_of_fp32(seed) for seed in seeds]
        return {"bits": statistics.mean(bits for _, bits in runs) if rule != "fixed" else width,
                "gap": statistics.mean(gap for gap, _ in runs), "fp32": statistics.mean(exact), "seeds": len(runs)}


def ratio_of(case, fixed):
    """Of the gaps beyond that of fp32; NaN where fp32's is nearly all."""
    beyond = fixed["gap"] - fixed["fp32"]
    return (case["gap"] - case["fp32"]) / beyond if beyond > 0.1 * fixed["gap"] else math.nan


def report_bits(bench, name, case, fixed):
    down, width, rule = name.split()
    if rule == "fixed":
        return
    has_bar, beyond = rule == "dq" and down == "fp32", ratio_of(case, fixed)
    bench.at_most(f"mushroom, {name}: bits", case["bits"], "bits", MOST_BITS[int(width)] if has_bar else 0, "fixed",
                  int(width))
    bench.at_most(f"mushroom, {name}: gap", case["gap"], "", MOST_GAP if has_bar else 0, "fixed bits'", fixed["gap"])
    if not math.isnan(beyond):
        bench.figure(f"mushroom, {name}: gap beyond fp32's", case["gap"] - case["fp32"], "", "fixed bits'",
                     fixed["gap"] - fixed["fp32"], beyond, MOST_GAP if has_bar else 0, True)


def measure_bits(bench, known):
    with tempfile.TemporaryDirectory() as work:
        descent = Descent(work)
        for down in ("fp32",) if SMOKE else ("fp32", "same"):
            for width in WIDTHS:
                for rule in option("rules", ",".join(RULES)).split(","):
                    name = f"{down} {width} {rule}"
                    if known.get(name, {}).get("seeds") != option("seeds", 5):
                        known[name] = descent.case(down, width, rule)
                        keep(KNOWN, known)
                    report_bits(bench, name, known[name], known[f"{down} {width} fixed"])


def bits_table(known):
    rows = []
    names = (f"{down} {width} {rule}" for down in ("fp32", "same") for width in WIDTHS for rule in RULES)
    for name in (name for name in names if name in known):
        case, fixed = known[name], known[name.rsplit(" ", 1)[0] + " fixed"]
        rows.append([*name.split(), case["seeds"], f"{case['bits']:.2f}", f"{case['gap']:.3g}", f"{case['gap'] / fixed['gap']:.2f}",
                      f"{ratio_of(case, fixed):.2f}".replace("nan", ""), f"{case['fp32']:.3g}"])
    return markdown(["sums", "as good as", "rule", "seeds", "mean bits", "F - F*", "ratio", "beyond fp32's", "fp32"], rows)


# ---- both


def write(known):
    if any(name in known for name in SETS):
        write_tables("Codecs on weight gradients", CODECS, codec_table(known))
    if "fp32 4 fixed" in known:
        write_tables("Bits over time", BITS, bits_table(known))


CODECS = """\
`bench/run.sh gradients --only=codecs`: each rank's share of the gradient after 1, 20 and 100 epochs on 4 ranks, in rows
of 512 and messages of 16 rows as they travel. Errors ‖Q(g) - g‖² / ‖g‖², random and nearest, from the least to the
greatest of ranks and epochs; bits a value, packed (scales included) and with entropy codes (tables included), beside
the entropy of the codes alone. max 2 is TernGrad's, l2 4 QSGD's, mean 1 SignSGD's, log 5 C-LPT's without its anchor;
sketch is SketchML's with so many quantiles, all values in their code. Nanoseconds a value are printed."""
BITS = """\
`bench/run.sh gradients --only=bits`: DQ-SGD's choice of bits against fixed bits of the same worth: logistic regression
of mushroom on twelve ranks by label, 600 steps of 1 / L, bits chosen every 25; means over seeds. sums: fp32, where
shares alone are coded, or the same codec. F - F* is the gap to the optimum, ratio that to fixed bits; beyond fp32's:
the gap of the same steps in fp32 (last column) taken off both, where it is not nearly all."""


def main():
    bench = Bench("gradients")
    known = read_kept(KNOWN)
    only = option("only", "codecs,bits").split(",")
    for name in option("sets", ",".join(SETS)).split(",") if "codecs" in only else ():
        known[name] = variants_of(name)
        keep(KNOWN, known)
        report_variants(bench, name, known[name])
    if "bits" in only:
        measure_bits(bench, known)
    write(known)
    bench.end()


main()
