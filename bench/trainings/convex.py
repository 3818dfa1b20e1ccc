"""Convex problems, whose optimum is known: how near a training comes to it that sums its weight gradients in another way.

usage: bench/run.sh convex [--strict] [--only=cora,mushroom,models]
smoke: --only=cora,mushroom

cora: configs/cora-sgc-convex.json on 8 ranks, 300 epochs: |W - W*| / |W*| in floats, where W* is found in double from
the same features. mushroom: figure 2 of DIANA (Horváth et al. 2019) as configs/mushroom-logistic.json, but with one
logistic column (labels [n, 1], which is multi-label with one label), all nodes in training, and twelve ranks that hold
equal ranges of the nodes sorted by label; the relative squared distance after 4,000 epochs. W* of it by Newton's
method. Weights in floats end about 2e-11 away, because steps shorter than half of their last bit are lost; DIANA's own
figure is in double. models: a support-vector machine, linear regression and logistic regression with l1, of mushroom's
112 columns and of cora's words without edges, one column, all nodes in training, on 1 and 4 ranks (alone,
--only=models): their objective above that of scikit-learn's solution (LinearSVC, Ridge, LogisticRegression; needs
sklearn). Rows with a bar must come near (at most) or stay away (at least).
"""
import os
import tempfile

from convex_problems import DECAY, PARTS, Mushroom, dataset_of, np, one_column, smooth, trained, weights_of
from figures import (ROOT, SMOKE, Bench, fringe as program, markdown, needs_module, option, read_json, settings,
                     write_json, write_tables)

import fringe

RANKS, EPOCHS = (2, 20) if SMOKE else (8, 300)
STEPS = 40 if SMOKE else 4000


def halo(**keys):
    return ["partition.method=random", "lossless.input_features=exchange", "quantization.codec=integer",
            "quantization.assign=uniform", "quantization.initial_bits=2",
            *(f"quantization.{key}={value}" for key, value in keys.items())]


def gradients(**keys):
    return [f"gradients.{key}={value}" for key, value in keys.items()]


# name, settings, distance at most (0: any), at least; a smoke run takes the first two of each
CORA = [("fp32", [], 1e-5, 0),
        ("diana", gradients(method="diana"), 1e-5, 0),
        ("diana-both", gradients(method="diana-both"), 1e-5, 0),
        ("ef21", gradients(method="ef21"), 1e-5, 0),
        ("max 2 (terngrad)", gradients(method="terngrad"), 0, 1e-2),
        ("max 4", gradients(codec="max", bits=4), 0, 1e-2),
        ("l2 4", gradients(codec="l2", bits=4), 0, 1e-2),
        ("max 8", gradients(codec="max", bits=8), 0, 0),
        ("max 2, sums in fp32", gradients(method="terngrad", down="fp32"), 0, 1e-2),
        ("max 4, sums in fp32", gradients(codec="max", bits=4, down="fp32"), 0, 1e-2),
        ("l2 4, sums in fp32", gradients(codec="l2", bits=4, down="fp32"), 0, 1e-2),
        ("max 8, sums in fp32", gradients(codec="max", bits=8, down="fp32"), 0, 0),
        ("halo rows of 2 bits", halo(), 0, 1e-2),
        ("halo rows of 2 bits, difference", halo(memory="difference"), 1e-5, 0),
        ("halo rows of 2 bits, ef21", halo(memory="ef21"), 1e-5, 0)]
# ..., noise of the codec in rows of 112 values, whether it is as Horvath et al. step: a fifth of the step with momentum
NOISE = {"max": ((1 + 111) ** 0.5 - 1) / 2, "l2": 112 ** 0.5 - 1}
MUSHROOM = [("fp32", [], 1e-9, 0, 0, True),
            ("diana, max", gradients(method="diana"), 1e-9, 0, NOISE["max"], True),
            ("diana, l2", gradients(method="diana", codec="l2"), 1e-9, 0, NOISE["l2"], True),
            ("max 2, sums in fp32", gradients(method="terngrad", down="fp32"), 0, 1e-3, NOISE["max"], False),
            ("l2 2, sums in fp32", gradients(codec="l2", bits=2, down="fp32"), 0, 1e-3, NOISE["l2"], False)]


# ---- cora: the mean loss of softmax(z W^T), z = A A x with A = D^-1/2 (E + I) D^-1/2


def softmax_optimum(z, labels, decay, rate):
    """By steps downhill, until the gradient is rounding only."""
    wanted = np.eye(labels.max() + 1)[labels]
    weight = np.zeros((wanted.shape[1], z.shape[1]))
    for _ in range(20000):
        error = np.exp(z @ weight.T)
        error = error / error.sum(1, keepdims=True) - wanted
        gradient = error.T @ z / len(z) + decay * weight
        weight -= rate * gradient
        if np.abs(gradient).max() < 1e-16:
            break
    return weight


def cora(bench, work):
    data = dataset_of("cora-sgc-convex", os.path.join(work, "cora"))
    inside = np.asarray(data.masks["train"], bool)
    rate = 1.0 if SMOKE else 424.0
    z = smooth(data, data.features.astype(float))[inside]
    optimum = softmax_optimum(z, data.labels[inside], DECAY["cora"], rate)
    for name, words, most, least in CORA[:2] if SMOKE else CORA:
        words = [f"train.epochs={EPOCHS}", f"train.lr={rate}", *words]
        weight = weights_of(trained("cora-sgc-convex", work, RANKS, words))
        report(bench, f"cora, {name}", np.linalg.norm(weight - optimum) / np.linalg.norm(optimum), most, least)


# ---- mushroom


def mushroom(bench, work):
    problem = Mushroom(work)
    for name, words, most, least, noise, momentum in MUSHROOM[:2] if SMOKE else MUSHROOM:
        rate = 1 / (problem.steepest * (1 + noise / PARTS)) / (5 if momentum else 1)
        run = problem.trained([f"train.epochs={STEPS}", f"train.lr={rate}", f"train.momentum={0.9 * momentum}", *words])
        apart = ((weights_of(run)[0] - problem.optimum) ** 2).sum() / (problem.optimum ** 2).sum()
        report(bench, f"mushroom, {name}", apart, most, least)


# ---- models, beside scikit-learn

LAMBDA, L1 = 0.01, 0.002


def objective(name, x, sign, w):
    z = x @ w
    loss = {"hinge": lambda: np.maximum(0, 1 - sign * z), "mse": lambda: (z - sign) ** 2,
            "l1": lambda: np.logaddexp(0, -sign * z)}[name]().mean()
    return float(loss + LAMBDA / 2 * (w ** 2).sum() + (L1 * np.abs(w).sum() if name == "l1" else 0))


def solution(name, x, sign):
    """scikit-learn's: its objectives are ours times a factor."""
    svm, linear = needs_module("sklearn.svm"), needs_module("sklearn.linear_model")
    n, both = len(x), LAMBDA + L1
    model = {"hinge": lambda: svm.LinearSVC(loss="hinge", C=1 / (LAMBDA * n), fit_intercept=False, tol=1e-8, max_iter=10 ** 6),
             "mse": lambda: linear.Ridge(alpha=LAMBDA * n / 2, fit_intercept=False, tol=1e-12),
             "l1": lambda: linear.LogisticRegression(penalty="elasticnet", solver="saga", C=1 / (n * both), l1_ratio=L1 / both,
                                                     fit_intercept=False, tol=1e-7, max_iter=20000)}[name]()
    return model.fit(x, sign).coef_.ravel()


def model_folder(work, name, data, plain):
    """The same nodes with one column: 0 or 1, or the numbers 1 and -1."""
    folder = os.path.join(work, f"{os.path.basename(plain)}-{name}")
    program("convert", plain, folder + "/", "--quiet")
    one_column(data, folder)
    if name == "mse":
        arrays = fringe.read_tensors(os.path.join(folder, "dataset.safetensors"))
        arrays["labels"] = 2 * arrays["labels"].astype(np.float32) - 1
        fringe.write_tensors(os.path.join(folder, "dataset.safetensors"), arrays)
        path = os.path.join(folder, "dataset.json")
        write_json(path, {**read_json(path), "multilabel": False, "numeric": True})
    return folder


def fitted(folder, ranks, words):
    run = tempfile.mkdtemp() + "/run"
    config = write_json(folder + ".json", {
        "data": {"path": folder}, "model": {"layer": "sgc", "layers": 1, "bias": False},
        "train": {"optimizer": "sgd", "weight_decay": [LAMBDA], "eval_every": 0, "epochs": 1500}})
    program("train", config, "--ranks", ranks, "--oversubscribe", "--quiet",
            *settings([f"run.dir={run}", "run.threads=1", "run.checkpoint_every=0", *words]))
    return weights_of(run)[0]


def models(bench, work):
    words = write_json(os.path.join(work, "words.json"), {"data": {"path": "cora/cora.npz", "transforms": ["drop-edges"]}})
    for name, config in (("mushroom", os.path.join(ROOT, "configs", "mushroom-logistic.json")), ("words of cora", words)):
        plain = os.path.join(work, "models", name.split()[0])
        os.makedirs(os.path.dirname(plain), exist_ok=True)
        program("convert", config, plain + "/", "--quiet")
        data = fringe.read_dataset(plain)
        x, sign = data.features.astype(float), np.where(data.labels > 0, 1, -1)
        steepest = np.linalg.eigvalsh(x.T @ x / len(x))[-1]
        for model, words in (("hinge", ["train.loss=hinge", f"train.lr={1 / LAMBDA}", "train.lr_schedule=inverse", "train.lr_step_size=1",
                                        "train.epochs=5000"]),
                             ("mse", [f"train.lr={1 / (2 * steepest + LAMBDA)}", "train.momentum=0.9"]),
                             ("l1", [f"train.lr={1 / (steepest / 4 + LAMBDA)}", f"train.l1={L1}", "train.momentum=0.9"])):
            folder = model_folder(work, model, data, plain)
            least = objective(model, x, sign, solution(model, x, sign))
            for ranks in (1, 4):
                above = objective(model, x, sign, fitted(folder, ranks, words)) - least
                bench.at_most(f"{name}, {model}, {ranks} rank{'s' * (ranks > 1)}, above scikit-learn", above, "", 1,
                              "at most", 1e-4)


def write_models(bench):
    rows = [f"| {f['name'].rsplit(',', 1)[0]} | {f['value']:.1e} | {f.get('verdict', '')} |" for f in bench.figures]
    write_tables("Optima of linear models beside scikit-learn", f"""\
`bench/run.sh convex --only=models`: a support-vector machine (hinge, steps of 1 / ({LAMBDA} t)), linear regression (mse) and
logistic regression with l1 {L1} (l1, proximal steps), one column, decay {LAMBDA}, all nodes in training: the objective above
that of scikit-learn's LinearSVC, Ridge and LogisticRegression; at most 1e-4.""",
                 markdown("| data, model, ranks | objective above scikit-learn's | |", rows))


def write(bench):
    words = {"at most": "≤ {:.0e}", "at least": "≥ {:.0e}", None: ""}
    bars = [words[f.get("against")].format(f.get("limit", 0)) for f in bench.figures]
    rows = [f"| {f['name']} | {f['value']:.2g} | {bar} | {f.get('verdict', '')} |" for f, bar in zip(bench.figures, bars)]
    write_tables("Optima of convex problems", f"""\
`bench/run.sh convex`. cora: `cora-sgc-convex` on {RANKS} ranks, ‖W - W*‖ / ‖W*‖ after {EPOCHS} epochs. mushroom:
DIANA's second figure, logistic regression of `mushroom-logistic` with one column and all nodes in training on {PARTS}
ranks that hold equal ranges of the nodes by label, ‖w - w*‖² / ‖w*‖² after {STEPS:,} epochs. As in the paper, rounding
at random stops where the gradients of single ranks, which are not 0 at the optimum, are as large as its noise, and
rounding of differences from a memory goes on: here until weights in floats can take no smaller step.""", markdown("| gradients | distance | bar | |", rows))


def report(bench, name, distance, most, least):
    limit, distance = most or least, float(distance)
    bench.figure(name, distance, "", "at most" if most else "at least" if least else "", limit,
                 distance / limit if limit else 0, 1.0 if limit else 0, at_most=bool(most))


def main():
    bench = Bench("convex")
    names = option("only", "cora,mushroom").split(",")
    with tempfile.TemporaryDirectory() as work:
        for name in names:
            {"cora": cora, "mushroom": mushroom, "models": models}[name](bench, work)
    (write_models if names == ["models"] else write)(bench)
    bench.end()


main()
