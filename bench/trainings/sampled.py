"""Gradients of few training nodes: SketchML, DIANA with l1 and with decreasing steps, and C-LPT, on linear models.

usage: bench/run.sh sampled [--only=messages,trainings,workers,rig,diana,clpt,sampling,iaga] [--hours=3]
smoke: --only=messages,trainings,iaga

Words of documents (the features of citeseer, 0 or 1, without edges), one column: logistic regression, a support-vector
machine, and linear regression on 1 and -1; about B training nodes count in a step (train.sample), so that a rank's
gradient is 0 where none of its nodes has the word. messages: bytes of the shares for each value that is not 0, whose
expected number follows from the words of each rank's nodes, and the relative error of one sum. trainings: Adam, sums
coded too. workers: bytes of 2 to 8 ranks. rig: 4 hosts on slow links. diana: mushroom with l1, and with sampled nodes
and decreasing steps, on twelve ranks. clpt, sampling, iaga: what C-LPT compares, the last in numpy.
"""
import os
import shutil
import tempfile

from cells import known_cells, measure_cells, names_wanted
from convex_problems import DECAY, PARTS, Mushroom, dataset_of, np, smooth, trained, weights_of
from figures import SMOKE, fringe as program, kept, markdown, read_json, settings, write_json, write_tables

import fringe

WORDS = "cora" if SMOKE else "citeseer"
RANKS, SEEDS = (2, 1) if SMOKE else (4, 2)
PROBLEMS = {"logistic": [], "machine": ["train.loss=hinge"], "linear": []}
# One bucket, so that a share is one message to the first rank, as workers send theirs to SketchML's driver.
WHOLE = "gradients.bucket=65536"
SKETCH = ["gradients.codec=sketch", WHOLE]
METHODS = {
    "adam": [],
    "keys": ["gradients.codec=keys", WHOLE],
    "quantiles": [*SKETCH, "gradients.sketch_groups=128"],
    "min-max": [*SKETCH, "gradients.recalibrate=false"],
    "recalibrated": SKETCH,
    "one list": [*SKETCH, "gradients.sketch_groups=1"],
    "sketchml": ["gradients.method=sketchml", WHOLE],
    "zipml": ["gradients.method=zipml", WHOLE],
}
SAID = {"adam": "floats", "keys": "floats with keys", "quantiles": "keys and quantiles", "min-max": "and MinMaxSketches",
        "recalibrated": "recalibrated", "one list": "recalibrated, one list a sign", "sketchml": "recalibrated, with feedback",
        "zipml": "ZipML"}


# ---- words


class Documents:
    """Folders of the problems, and which words the training nodes of each rank have."""

    def __init__(self, work):
        self.work, plain = work, os.path.join(work, "words")
        config = {"data": {"path": f"{WORDS}/{WORDS}.npz", "transforms": ["drop-edges"]}}
        program("convert", write_json(os.path.join(work, "words.json"), config), plain + "/", "--quiet")
        data = fringe.read_dataset(plain)
        self.words = data.features != 0
        random = np.random.default_rng(0)
        self.fit = random.random(len(data.labels)) < 0.8
        lower = data.labels < (data.labels.max() + 1) / 2
        for name in PROBLEMS:
            self.write(plain, name, lower)

    def write(self, plain, name, lower):
        folder = os.path.join(self.work, name)
        shutil.copytree(plain, folder)
        arrays = fringe.read_tensors(os.path.join(folder, "dataset.safetensors"))
        arrays["features"] = self.words.astype(np.float32)
        arrays["labels"] = np.where(lower, 1, -1).astype(np.float32)[:, None] if name == "linear" else \
            lower.astype(np.uint8)[:, None]
        arrays["split"] = np.where(self.fit, 1, 3).astype(np.uint8)
        fringe.write_tensors(os.path.join(folder, "dataset.safetensors"), arrays)
        path = os.path.join(folder, "dataset.json")
        kind = {"multilabel": False, "numeric": True} if name == "linear" else {"multilabel": True}
        write_json(path, {**read_json(path), "classes": 1, **kind})

    def parts(self, ranks):
        """The file of parts, and the part of each node."""
        path = os.path.join(self.work, f"words.part.{ranks}")
        part = np.arange(len(self.fit)) % ranks
        np.savetxt(path, part, "%d")
        return path, part

    def values(self, ranks, sample):
        """How many values of the shares that travel are not 0, in the mean: all ranks but the first send theirs."""
        part, quiet = self.parts(ranks)[1], np.log1p(-sample / self.fit.sum())
        return sum(float((1 - np.exp(quiet * self.words[(part == r) & self.fit].sum(0))).sum()) for r in range(1, ranks))

    def config(self, name):
        model = {"layer": "sgc", "layers": 1, "bias": False}
        folder = os.path.join(self.work, name)
        return write_json(folder + ".json", {"data": {"path": folder}, "model": model})

    def settings(self, name, ranks, sample, epochs, *words):
        return [f"partition.method=file:{self.parts(ranks)[0]}", f"train.sample=uniform:{sample}", f"train.epochs={epochs}",
                "run.threads=1", "run.checkpoint_every=0", *PROBLEMS[name], *words]

    def run(self, name, ranks, sample, epochs, *words):
        folder = tempfile.mkdtemp(dir=self.work)
        program("train", self.config(name), "--ranks", ranks, "--oversubscribe", "--quiet",
                *settings([f"run.dir={folder}/run", *self.settings(name, ranks, sample, epochs, *words)]))
        return fringe.read_run(f"{folder}/run")


def step_of(documents, seed, *words):
    run = documents.run("logistic", RANKS, 24 * RANKS, 1, "train.optimizer=sgd", "train.lr=512", f"run.seed={seed}",
                        "gradients.down=fp32", "train.eval_every=0", *words)
    return next(iter(fringe.weights(run).values())).astype(float)


def error_of(documents, words):
    """Of the decoded sum, of 24 nodes of each rank: |decoded - sum|^2 / |sum|^2 from one step of plain descent."""
    errors = []
    for seed in range(SEEDS):
        start = step_of(documents, seed, "train.lr=0")
        exact = step_of(documents, seed) - start
        errors.append(float(((step_of(documents, seed, *words) - start - exact) ** 2).sum() / (exact ** 2).sum()))
    return float(np.mean(errors))


def message(documents, name, sample):
    """Bytes up for each value that is not 0; its density; the error at the middle density."""
    run = documents.run("logistic", RANKS, sample * RANKS, 6 if SMOKE else 30, "train.optimizer=sgd", "train.lr=1",
                        "train.eval_every=0", "gradients.down=fp32", *METHODS[name])
    values, all_values = documents.values(RANKS, sample * RANKS), documents.words.shape[1] * (RANKS - 1)
    headers = 0 if name == "adam" else 2 * 64 * (RANKS - 1)
    sent = float(np.mean(run.epochs["reduce_bytes"])) - headers - 4 * all_values  # without the sums, which go in fp32
    return {"bytes": round(sent / values, 4), "density": round(values / all_values, 4),
            **({"error": error_of(documents, METHODS[name])} if sample == 24 and name != "adam" else {})}


def training(documents, problem, name):
    epochs = 6 if SMOKE else 300
    run = documents.run(problem, RANKS, 24 * RANKS, epochs, "train.optimizer=adam", "train.lr=0.01", f"train.eval_every={epochs // 6}",
                        *METHODS[name])
    score = "rmse" if problem == "linear" else "accuracy"
    return {"loss": float(run.epochs["test.loss"][-1]), score: float(run.epochs[f"test.{score}"][-1]),
            "bytes": float(np.mean(run.epochs["reduce_bytes"]))}


def workers(documents, ranks, name):
    run = documents.run("logistic", ranks, 24 * ranks, 4 if SMOKE else 20, "train.eval_every=0", *METHODS[name])
    return {"bytes": float(np.mean(run.epochs["reduce_bytes"]))}


def on_rig(documents, name):
    """Seconds of an epoch, and the test loss when so many seconds of training have passed."""
    from rig import run

    layout, rate, epochs = "4x1", 1, 100
    records = run(documents.work, documents.config("logistic"), layout, rate, "vanilla", epochs,
                  *documents.settings("logistic", RANKS, 24 * RANKS, epochs, "train.optimizer=adam", "train.lr=0.01"),
                  "train.eval_every=5", *METHODS[name])
    spans = np.array([record["time"]["epoch"] for record in records])
    away = np.array([record["time"]["reduce"] + record["time"]["wait"] for record in records])
    passed = np.cumsum(spans)
    losses = {str(after): next((record["test"]["loss"] for record, at in zip(records, passed)
                                if at >= after and "test" in record), None) for after in (2, 5, 10)}
    return {"seconds": float(np.median(spans)), "share": float(np.sum(away) / np.sum(spans)), "after": losses,
            "loss": records[-1]["test"]["loss"], "rate": rate}


# ---- DIANA


def lasso_optimum(problem, weight):
    """The least value of the loss with l1, by accelerated proximal steps."""
    x, sign, decay = problem.x, np.where(problem.wanted, 1, -1), DECAY["mushroom"]
    w = at = np.zeros(x.shape[1])
    for k in range(200 if SMOKE else 20000):
        gradient = -(x * (sign / (1 + np.exp(sign * (x @ at))))[:, None]).mean(0) + decay * at
        step = at - gradient / problem.steepest
        new = np.sign(step) * np.maximum(np.abs(step) - weight / problem.steepest, 0)
        at, moved, w = new + (k / (k + 3)) * (new - w), np.abs(new - w).max(), new
        if moved < 1e-13:
            break
    return problem.loss(w) + weight * np.abs(w).sum()


L1 = 2e-3
DIANA = {"fp32": [], "diana, max": ["gradients.method=diana"],
         "max 2, sums in fp32": ["gradients.method=terngrad", "gradients.down=fp32"]}


def diana_l1(work, name):
    problem = Mushroom(work)
    noise = 0 if name == "fp32" else ((1 + 111) ** 0.5 - 1) / 2
    rate = 1 / (problem.steepest * (1 + noise / PARTS))
    run = problem.trained([f"train.epochs={20 if SMOKE else 1500}", f"train.lr={rate}", "train.momentum=0", f"train.l1={L1}",
                           *DIANA[name]])
    w = weights_of(run)[0]
    return {"gap": float(problem.loss(w) + L1 * np.abs(w).sum() - lasso_optimum(problem, L1)), "zeros": int((w == 0).sum())}


def diana_steps(work, name, schedule):
    """About 512 nodes a step, the first of rate 1 / (2 L); decreasing: 2 / (mu k + 4 L), half of it after 4 L / mu steps."""
    problem = Mushroom(work)
    half = round(4 * problem.steepest / DECAY["mushroom"])
    run = problem.trained([f"train.epochs={20 if SMOKE else 5000}", f"train.lr={0.5 / problem.steepest}", "train.momentum=0",
                           f"train.sample=uniform:{60 if SMOKE else 512}", f"train.lr_schedule={schedule}",
                           f"train.lr_step_size={half}", *DIANA[name]])
    return {"gap": problem.loss(weights_of(run)[0]) - problem.loss(problem.optimum)}


# ---- C-LPT: cora's smoothed features, mushroom

CLPT = {"fp32": [], "log 5, packed": ["gradients.codec=log", "gradients.bits=5"],
        "log 5": ["gradients.codec=log", "gradients.bits=5", "gradients.wire=entropy"],
        "log 8": ["gradients.codec=log", "gradients.bits=8", "gradients.wire=entropy"],
        "max 5": ["gradients.codec=max", "gradients.bits=5", "gradients.wire=entropy"],
        "signs with feedback": ["gradients.method=signsgd"], "log 5 and anchor (clpt)": ["gradients.method=clpt"]}


def clpt(work, name):
    data = dataset_of("cora-sgc-convex", tempfile.mkdtemp(dir=work) + "/cora")
    inside, x = np.asarray(data.masks["train"], bool), data.features.astype(float)
    z, wanted = smooth(data, x)[inside], np.eye(data.labels.max() + 1)

    def loss(weight):
        logits = z @ weight.T
        logits = logits - np.log(np.exp(logits - logits.max(1, keepdims=True)).sum(1, keepdims=True)) - logits.max(1, keepdims=True)
        return float(-(logits * wanted[data.labels[inside]]).sum(1).mean() + DECAY["cora"] / 2 * (weight ** 2).sum())

    rate = (42.4 if "signs" in name else 424) if not SMOKE else 1
    folder = trained("cora-sgc-convex", work, RANKS, [f"train.epochs={6 if SMOKE else 200}", f"train.lr={rate}", *CLPT[name]])
    run = fringe.read_run(folder)
    program("evaluate", folder, "--quiet")
    return {"loss": loss(weights_of(folder)), "bytes": float(np.mean(run.epochs["reduce_bytes"]))}


def sampling(work, rule):
    """The gap after 600 decreasing steps of about 32 nodes; the mean of four seeds."""
    problem, gaps, gains = Mushroom(work), [], []
    for seed in range(SEEDS * 2):
        run = trained("mushroom-logistic", work, 1, [
            *problem.words[:3], f"train.sample={rule}:{20 if SMOKE else 32}", f"train.epochs={20 if SMOKE else 600}", "train.momentum=0",
            f"train.lr={0.5 / problem.steepest}", "train.lr_schedule=inverse", "train.lr_step_size=100", f"run.seed={seed}"])
        gaps.append(problem.loss(weights_of(run)[0]) - problem.loss(problem.optimum))
        gains.append(fringe.read_run(run).epochs.get("sample_gain", np.ones(1))[-1])
    return {"gap": float(np.mean(gaps)), "gain": float(np.nanmean(gains))}


def log_rounded(values, random, bits=5):
    """C-LPT's codec, in numpy: powers of two below the least one that covers all, at random."""
    top = 2 ** np.ceil(np.log2(np.abs(values).max() + 1e-300))
    least = top * 2.0 ** -(2 ** (bits - 1) - 2)
    size = np.maximum(np.abs(values), 1e-300)
    low = np.where(size < least, 0, 2 ** np.floor(np.log2(size)))
    high = np.where(size < least, least, 2 * low)
    return np.sign(values) * np.where(random.random(len(values)) < (size - low) / (high - low), high, low)


def iaga(work, share):
    """Master's gradient of 32 nodes, in floats, times a share, and the coded one of all nodes times the rest."""
    problem, random = Mushroom(work), np.random.default_rng(0)
    x, sign, w = problem.x, np.where(problem.wanted, 1, -1), np.zeros(problem.x.shape[1])

    def gradient(rows, at):
        return -(x[rows] * (sign[rows] / (1 + np.exp(sign[rows] * (x[rows] @ at))))[:, None]).mean(0) + DECAY["mushroom"] * at

    everything, kept_shares, tail = np.arange(len(x)), [], []
    for step in range(20 if SMOKE else 600):
        rows = random.integers(0, len(x), 32)
        exact, part = gradient(everything, w), gradient(rows, w)
        coded = log_rounded(exact, random)
        if share == "mse":
            of_part = ((part - exact) ** 2).sum()
            own = ((coded - exact) ** 2).sum() / (of_part + ((coded - exact) ** 2).sum())
        else:
            own = float(share)
        kept_shares.append(own)
        w = w - 0.5 / problem.steepest * (own * part + (1 - own) * coded)
        tail.append(problem.loss(w))
    return {"gap": float(np.mean(tail[-100:])) - problem.loss(problem.optimum), "share": float(np.mean(kept_shares))}


# ---- tables


def cell(found, case, method, key, form="{:.3g}", otherwise="not run"):
    value = found.get(case, {}).get(method, {}).get(key)
    return otherwise if value is None else form.format(value)


SAMPLES, RANKINGS = (2, 24, 64), (2, 4, 8)


def messages_table(found):
    cases = [f"messages, {sample} nodes a rank" for sample in SAMPLES]
    density = [next((f"{100 * one['density']:.1f} %" for one in found.get(case, {}).values()), "?") for case in cases]
    rows = [[SAID[name], *(cell(found, case, name, "bytes", "{:.2f}") for case in cases),
             "0" if name in ("adam", "keys") else cell(found, cases[1], name, "error", "{:.2g}")] for name in METHODS if name != "sketchml"]
    return markdown(["shares", *(f"bytes a value that is not 0, {of} of them" for of in density), f"relative error at {density[1]}"], rows)


def trainings_table(found):
    rows = [[SAID[name], *(cell(found, f"training, {problem}", name, "loss", "{:.4f}") for problem in PROBLEMS),
             *(cell(found, f"training, {problem}", name, "accuracy", "{:.4f}") for problem in list(PROBLEMS)[:2]),
             cell(found, "training, linear", name, "rmse", "{:.4f}"),
             cell(found, "training, logistic", name, "bytes", "{:,.0f}")] for name in METHODS]
    return markdown(["gradients", *(f"{problem}, test loss" for problem in PROBLEMS), "logistic, accuracy", "machine, accuracy",
                  "linear, RMSE", "bytes a step, logistic"], rows)


def workers_table(found):
    rows = [[SAID[name], *(cell(found, f"workers, {ranks}", name, "bytes", "{:,.0f}") for ranks in RANKINGS)] for name in METHODS]
    return markdown(["gradients", *(f"{ranks} ranks, bytes a step" for ranks in RANKINGS)], rows)


def rig_table(found):
    def after(name, seconds):
        value = found.get("rig", {}).get(name, {}).get("after", {}).get(seconds)
        return "ended before" if value is None and name in found.get("rig", {}) else "not run" if value is None else f"{value:.4f}"

    rows = [[SAID[name], cell(found, "rig", name, "seconds", "{:.4f}"), cell(found, "rig", name, "share", "{:.2f}"),
             *(after(name, seconds) for seconds in ("2", "5", "10")), cell(found, "rig", name, "loss", "{:.4f}")] for name in ON_RIG]
    return markdown(["gradients", "seconds a step", "part that waits and sums", "test loss after 2 s", "5 s", "10 s", "100 steps"], rows)


def diana_table(found):
    rows = [[name, cell(found, "diana, l1", name, "gap", "{:.2g}"), cell(found, "diana, l1", name, "zeros", "{:d}"),
             cell(found, "diana, constant", name, "gap", "{:.2g}"), cell(found, "diana, inverse", name, "gap", "{:.2g}")] for name in DIANA]
    return markdown(["gradients", "l1: F - F*", "zeros of 112", "sampled, constant steps: F - F*", "sampled, decreasing steps"], rows)


def clpt_table(found):
    base = found.get("clpt", {}).get("fp32", {})
    least = min((one["loss"] for one in found.get("clpt", {}).values()), default=0)

    def fewer(name):
        one = found.get("clpt", {}).get(name)
        return f"{base['bytes'] / one['bytes']:.2f}" if one and base else "not run"

    rows = [[name, fewer(name), cell({"clpt": {key: {"gap": one["loss"] - least} for key, one in found.get("clpt", {}).items()}},
                                     "clpt", name, "gap", "{:.1e}")] for name in CLPT]
    return markdown(["gradients of cora", "times fewer bytes (4.2)", "F above the least found (4.5)"], rows)


def rest_table(found):
    rows = [[f"importance sampling (4.8): {rule}", cell(found, "sampling", rule, "gap", "{:.2g}"),
             cell(found, "sampling", rule, "gain", "{:.2f}")] for rule in ("uniform", "importance")]
    rows += [[f"IAGA (4.4), in numpy: master's share {share}", cell(found, "iaga", share, "gap", "{:.2g}"),
              cell(found, "iaga", share, "share", "{:.2f}")] for share in SHARES]
    return markdown(["mushroom", "F - F*", "gain of the draw, or the master's share"], rows)


ON_RIG = ("adam", "keys", "min-max", "recalibrated", "sketchml", "zipml")
SHARES = ("0", "0.5", "1", "mse")


def write(found):
    write_tables("Gradients of few training nodes", f"""\
`bench/run.sh sampled`: linear models on words of documents ({WORDS}'s features, 0 or 1, without edges), one column, {RANKS}
ranks, about 24 training nodes of each in a step unless another number stands there. Bytes are those of the shares alone,
without headers; expected values that are not 0 follow from the words of each rank's nodes.

{messages_table(found)}

SketchML: 1.27 bytes a key; Adam, keys, quantiles and MinMaxSketches make messages shorter in this order, 7.2 times in all
(12 bytes a pair before). Trainings with Adam, 300 steps of rate .01, sums coded as shares are (table 2 of the paper: losses
of logistic regression .6885 with Adam and SketchML, .6887 with ZipML):

{trainings_table(found)}

{workers_table(found)}

On the rig, 4 hosts on links of 1 Mbit/s, logistic regression (paper: steps 3.8 to 10.4 times as fast as Adam, 2.7 to 4.5
times as ZipML):

{rig_table(found)}

DIANA (Horváth et al. 2019) on mushroom, {PARTS} ranks with equal ranges of the nodes by label, decay .01: with l1 {L1} by
proximal steps, 1,500 of them; and about 512 sampled nodes a step, 5,000 steps, constant or falling as its theorem has them. Published: differences from a memory go on to the optimum where plain rounding stalls, and decreasing steps take
the noise of samples away, too.

{diana_table(found)}

C-LPT. The published numbers are those of networks; here its parts stand alone on convex problems. Published: 6.7 to 8.7
times fewer bytes for log codes (4.2); centring gains .3 to 1 point (4.5); importance sampling needs about a quarter less
time (4.8); shares of the master of .5 gain .2 to 1.4 points (4.4).

{clpt_table(found)}

{rest_table(found)}

{verdicts(found)}
""")


def verdicts(found):
    """What holds of the papers, said by the figures that are there."""
    said = []
    one, first = found.get("messages, 24 nodes a rank", {}), found.get("training, logistic", {})
    order = ["adam", "keys", "quantiles", "min-max"]
    if all(name in one for name in order):
        sizes = [one[name]["bytes"] for name in order]
        said.append("Messages: " + ("the published order of sizes holds" if sizes == sorted(sizes, reverse=True) else
                                    "not in the published order of sizes") + f" ({', '.join(f'{size:.2f}' for size in sizes)} bytes a value); "
                    f"a pair of a 4-byte key and a double, as the paper counts, is {12 / one['min-max']['bytes']:.1f} times as long as with "
                    "MinMaxSketches.")
    if {"adam", "recalibrated", "zipml"} <= first.keys():
        said.append(f"Trainings: test loss of logistic regression {first['adam']['loss']:.4f} with floats, {first['recalibrated']['loss']:.4f} "
                    f"recalibrated, {first['zipml']['loss']:.4f} with ZipML.")
    rig = found.get("rig", {})
    if {"adam", "recalibrated", "zipml"} <= rig.keys():
        said.append(f"Rig: a recalibrated step is {rig['adam']['seconds'] / rig['recalibrated']['seconds']:.1f} times as fast as one of floats "
                    f"and {rig['zipml']['seconds'] / rig['recalibrated']['seconds']:.1f} times as ZipML's.")
    lasso = found.get("diana, l1", {})
    if {"diana, max", "max 2, sums in fp32"} <= lasso.keys():
        said.append(f"DIANA: with l1 it ends {lasso['diana, max']['gap']:.1e} above the optimum, plain rounding {lasso['max 2, sums in fp32']['gap']:.1e}.")
    steps = [found.get(f"diana, {schedule}", {}).get("diana, max", {}).get("gap") for schedule in ("constant", "inverse")]
    if None not in steps:
        said.append(f"With sampled nodes its decreasing steps end {steps[1]:.1e} above the optimum, constant ones {steps[0]:.1e}.")
    draws, shares = found.get("sampling", {}), found.get("iaga", {})
    if {"uniform", "importance"} <= draws.keys():
        said.append(f"Importance sampling ends {draws['uniform']['gap'] / draws['importance']['gap']:.2f} times as near as uniform sampling.")
    if {"0", "0.5", "mse"} <= shares.keys():
        said.append(f"IAGA: where workers have the whole gradient the best share of the master is {shares['mse']['share']:.2f}, and .5 "
                    f"ends {shares['0.5']['gap'] / shares['0']['gap']:.1f} times as far as none: its place in full-graph steps is small.")
    return " ".join(said)


def cells_of(work):
    documents = []

    def of_words(run, *arguments):
        def go():
            if not documents:
                documents.append(Documents(work))
            return run(documents[0], *arguments)
        return go

    def apart(run, *arguments):
        return lambda: run(tempfile.mkdtemp(dir=work), *arguments)

    light = ["keys"] if SMOKE else list(METHODS)
    cells = [("messages", f"messages, {sample} nodes a rank", name, of_words(message, name, sample))
             for sample in ((24,) if SMOKE else SAMPLES) for name in light if name != "sketchml"]
    cells += [("rig", "rig", name, of_words(on_rig, name)) for name in ON_RIG]
    cells += [("iaga", "iaga", share, apart(iaga, share)) for share in SHARES]
    cells += [("trainings", f"training, {problem}", name, of_words(training, problem, name))
              for problem in (["linear"] if SMOKE else PROBLEMS) for name in light]
    cells += [("workers", f"workers, {ranks}", name, of_words(workers, ranks, name))
              for ranks in ((2,) if SMOKE else RANKINGS) for name in light]
    some = 1 if SMOKE else None
    cells += [("clpt", "clpt", name, apart(clpt, name)) for name in list(CLPT)[:some]]
    cells += [("sampling", "sampling", rule, apart(sampling, rule)) for rule in ("uniform", "importance")[:some]]
    cells += [("diana", "diana, l1", name, apart(diana_l1, name)) for name in list(DIANA)[:some]]
    return cells + [("diana", f"diana, {schedule}", name, apart(diana_steps, name, schedule))
                    for schedule in ("constant", "inverse")[:some] for name in list(DIANA)[:some]]


def main():
    path = kept("sampled")
    found = known_cells(path)
    with tempfile.TemporaryDirectory(prefix="fringe-sampled-") as work:
        wanted = [(case, name, run) for part, case, name, run in cells_of(work) if names_wanted("only", part)]
        measure_cells(path, found, wanted)
    write(found)


main()
