"""Every system of the papers on gradients in few bits: what it is here, and a figure of it in kind beside the published one.

usage: bench/run.sh systems
smoke:

Measures nothing: figures are those of bench/results/gradients.json, gradient_accuracy.json, sampled.json and of the
tables "Optima of convex problems" in bench/results/tables/convex.json; what is not there is said to be not measured.
"""
import os
import statistics

from figures import ROOT, markdown, read_kept, write_tables

NOT = "not measured"


def read(name):
    return read_kept(os.path.join(ROOT, "bench", "results", name + ".json"))


BITS, ACCURACY, SAMPLED = read("gradients"), read("gradient_accuracy"), read("sampled")
OPTIMA = {row[0]: row[1] for part in read("tables/convex").get("Optima of convex problems", []) if isinstance(part, dict)
          for row in part["rows"]}


def optimum(name, what):
    return f"{what}: {OPTIMA[name]} from the optimum" if name in OPTIMA else NOT


def accuracy(method, case="cora-gcn, 4 ranks, adam"):
    """Of a GCN: difference from floats over paired seeds, and how many times fewer bytes."""
    of, base = ACCURACY.get(case, {}).get(method), ACCURACY.get(case, {}).get("fp32")
    if not of or not base:
        return NOT
    apart = [a - b for a, b in zip(of["scores"], base["scores"])]
    error = statistics.stdev(apart) / len(apart) ** 0.5
    return (f"cora's GCN with {case.rsplit(', ', 1)[1]}: {statistics.mean(apart):+.2f} ± {error:.2f} points in "
            f"{base['bytes'] / of['bytes']:.1f} times fewer bytes")


def bits(rule):
    of, fixed = BITS.get(f"fp32 4 {rule}"), BITS.get("fp32 4 fixed")
    if not of or not fixed:
        return NOT
    return f"mushroom, in the place of 4 bits: {of['bits']:.2f} bits, {of['gap'] / fixed['gap']:.2f} times the gap of fixed bits"


def sampled(case, method, text):
    """text(cell of the method, cells of the case)"""
    found = SAMPLED.get(case, {})
    try:
        return text(found[method], found) if method in found else NOT
    except (KeyError, TypeError, ZeroDivisionError):
        return NOT


def message(method, said=""):
    return sampled("messages, 24 nodes a rank", method,
                   lambda one, all_of: f"{said}{one['bytes']:.2f} bytes a value that is not 0, "
                   f"{all_of['adam']['bytes'] / one['bytes']:.1f} times fewer than all floats")


def rig(method):
    return sampled("rig", method, lambda one, all_of: f"a step on 1 Mbit/s {all_of['adam']['seconds'] / one['seconds']:.1f} times as "
                   f"fast as with floats")


def loss(method):
    return sampled("training, logistic", method, lambda one, all_of: f"test loss {one['loss']:.4f} (floats {all_of['adam']['loss']:.4f})")


def both(*figures):
    known = [figure for figure in figures if figure != NOT]
    return "; ".join(known) if known else NOT


def clpt(method):
    return sampled("clpt", method, lambda one, all_of: f"{all_of['fp32']['bytes'] / one['bytes']:.2f} times fewer bytes, objective "
                   f"{one['loss'] - min(cell['loss'] for cell in all_of.values()):.1e} above the least found")


def gap(case, method, text):
    return sampled(case, method, lambda one, _: f"{text} {one['gap']:.1e}")


ROWS = [
    ("DIANA", "`gradients.method=diana`, `diana-both`; `train.l1`; `train.lr_schedule=inverse`",
     lambda: both(optimum("mushroom, diana, max", "mushroom, relative squared distance"), gap("diana, l1", "diana, max", "with l1, F - F*"),
                  gap("diana, inverse", "diana, max", "sampled nodes, decreasing steps, F - F*")),
     "linear convergence to the optimum in 2 bits, where QSGD and TernGrad stall; with regularizers by proximal steps"),
    ("QSGD", "`gradients.method=qsgd`: steps of the 2-norm; entropy codes for Elias'", lambda: accuracy("qsgd"),
     "accuracy of floats in 4 to 8 bits"),
    ("TernGrad", "`gradients.method=terngrad`, without clipping, scales of each rank's rows", lambda: accuracy("terngrad"),
     "no loss with AlexNet, less than 2 points with GoogLeNet"),
    ("DQGD", "`gradients.method=terngrad gradients.down=fp32`: quantized descent without a memory",
     lambda: both(optimum("mushroom, max 2, sums in fp32", "mushroom, relative squared distance"), gap("diana, l1", "max 2, sums in fp32", "with l1, F - F*")),
     "stops at a distance that the noise sets"),
    ("DQ-SGD", "`gradients.method=dq-sgd`, `gradients.bits_rule=dq`", lambda: both(bits("dq"), accuracy("dq-sgd")),
     "fewer bits than fixed ones for the same end"),
    ("fixed bits", "`gradients.codec=max gradients.bits=4`", lambda: both(bits("fixed"), accuracy("max-4")), "the baseline of DQ-SGD"),
    ("rms", "`gradients.bits_rule=rms` (after it: the paper prints no formula)", lambda: bits("rms"), "a baseline of DQ-SGD, worse than it"),
    ("adaqs", "`gradients.bits_rule=adaqs` (likewise)", lambda: bits("adaqs"), "a baseline of DQ-SGD, worse than it"),
    ("SketchML", "`gradients.method=sketchml`, `gradients.codec=sketch`, `gradients.sketch_*`, `gradients.recalibrate`",
     lambda: both(message("recalibrated"), rig("recalibrated"), loss("recalibrated")),
     "messages 7.2 times shorter; steps 3.8 to 10.4 times as fast as Adam's, 2.7 to 4.5 times as ZipML's; loss .6885 as Adam's"),
    ("ZipML", "`gradients.method=zipml`: 8 bits between the least and the greatest value", lambda: both(message("zipml"), rig("zipml"), loss("zipml")),
     "SketchML's baseline: loss .6887"),
    ("Adam", "`train.optimizer=adam`, floats", lambda: both(message("keys", "with keys "), loss("adam")), "SketchML's baseline: keys of 4 bytes, values of 8; loss .6885"),
    ("C-LPT, log codes", "`gradients.codec=log`", lambda: clpt("log 5"), "6.7 to 8.7 times fewer bytes (table 4.2, whose sizes exceed 32 / bits)"),
    ("C-LPT, centring", "scales of each bucket follow differences to 0: no range is configured (`gradients.memory=anchor`)",
     lambda: clpt("log 5 and anchor (clpt)"), "+.3 to +1 point (table 4.5)"),
    ("C-LPT, anchor", "`gradients.method=clpt`", lambda: both(optimum("cora, clpt", "cora, distance"), clpt("log 5 and anchor (clpt)")),
     "converges where codes of the gradient itself stop"),
    ("C-LPT, importance sampling", "`train.sample=importance:B`",
     lambda: sampled("sampling", "importance", lambda one, all_of: f"mushroom, 600 steps of 32 nodes: F - F* {one['gap']:.1e}, uniform "
                     f"{all_of['uniform']['gap']:.1e}"), "23 % less time (table 4.8)"),
    ("C-LPT, IAGA", "not in the program: a full-graph gradient is exact, and a master's sample of it only adds noise; numpy in `bench/run.sh sampled`",
     lambda: sampled("iaga", "mse", lambda one, all_of: f"best share of the master {one['share']:.2f}; F - F* {one['gap']:.1e}, with none "
                     f"{all_of['0']['gap']:.1e}, with .5 {all_of['0.5']['gap']:.1e}"), "+.2 to +1.4 points with .5 (table 4.4)"),
    ("SignSGD", "`gradients.method=signsgd`: signs, a mean magnitude for each row, feedback", lambda: accuracy("signsgd"), "32 times fewer bits, accuracy of floats"),
    ("EF21", "`gradients.method=ef21`", lambda: both(accuracy("ef21"), optimum("cora, ef21", "cora, distance")), "converges as gradient descent does, with biased codes"),
    ("PowerSGD", "`gradients.method=powersgd:R`", lambda: accuracy("powersgd:4"), "accuracy of floats at rank 2 to 4"),
]


def main():
    rows = [[name, here, figure(), published] for name, here, figure, published in ROWS]
    write_tables("Every system of the papers", """\
`bench/run.sh systems` puts this table together from what the benches of coded gradients have measured ("Optima of convex
problems", "Bits over time", "Accuracy of coded weight gradients", "Gradients of few training nodes"). Published figures are
those of sampled batches and other models: they stand beside ours in kind, not in size.""",
                 markdown("| system | here | its figure in kind | published |", rows))


main()
