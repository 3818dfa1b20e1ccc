"""Sampled training nodes: the floor of SGD on a convex problem, and what importance gains.

usage: bench/run.sh sampling [--strict] [--only=floor,importance] [--seeds=3]
smoke: --only=floor,importance --seeds=1

floor: mushroom-logistic with weight decay 1e-3, train.sample=uniform:64, SGD without momentum at eta = 0.1 / lambda max
and at half of it, 6,000 epochs from w* (found by Newton's method in double). The mean of L(w_t) - L(w*) over the last
2,000 epochs, of weights 10 epochs apart, is eta / 4 tr(C): C is the covariance of the sampled gradient at w*.
importance: cora, its features 0 and 1, two steps of sgc, Adam 0.2, 20 of the training nodes an epoch: the variance of
the gradient over 2,000 draws at the weights of epoch 20, beside a uniform draw's; and the epochs until the loss of all
training nodes is below a target. The same on row-normalised features, where rows of nodes are as long as each other.
"""
import os
import statistics
import tempfile

from convex_problems import dataset_of, fringe, np, program, smooth
from figures import ROOT, SMOKE, Bench, keep, kept, markdown, option, read_kept, settings, write_tables

SIZE, DECAY, APART = 8 if SMOKE else 64, 1e-3, 10
EPOCHS, LAST = (60, 20) if SMOKE else (6000, 2000)
DRAWS, FEW, MOST = 2000, 20, 40 if SMOKE else 400


def trained(config, work, words, *options, run=""):
    run = run or os.path.join(tempfile.mkdtemp(dir=work), "run")
    program("train", os.path.join(ROOT, "configs", config + ".json"), "--quiet", *options,
            *settings([f"run.dir={run}", "run.threads=1", *words]))
    return run


# ---- the floor: L(w) = mean of the softmax loss + DECAY / 2 |w|^2, w [classes, features]


class Problem:
    def __init__(self, x, labels):
        self.x, self.wanted = x, np.eye(labels.max() + 1)[labels]

    def shares(self, w):
        z = self.x @ w.T
        z = np.exp(z - z.max(1, keepdims=True))
        return z / z.sum(1, keepdims=True)

    def loss(self, w):
        z = self.x @ w.T
        top = z.max(1, keepdims=True)
        logs = np.log(np.exp(z - top).sum(1)) + top[:, 0] - (z * self.wanted).sum(1)
        return logs.mean() + DECAY / 2 * (w ** 2).sum()

    def gradient(self, w):
        return (self.shares(w) - self.wanted).T @ self.x / len(self.x) + DECAY * w

    def hessian(self, w):
        p, (n, columns), classes = self.shares(w), self.x.shape, self.wanted.shape[1]
        h = DECAY * np.eye(classes * columns)
        for a in range(classes):
            for b in range(classes):
                curved = p[:, a] * ((a == b) - p[:, b])
                h[a * columns:(a + 1) * columns, b * columns:(b + 1) * columns] += self.x.T @ (self.x * curved[:, None]) / n
        return h

    def optimum(self):
        """By Newton's method, with half a step where a whole one does not go down."""
        w = np.zeros((self.wanted.shape[1], self.x.shape[1]))
        for _ in range(100):
            step = np.linalg.solve(self.hessian(w), self.gradient(w).ravel()).reshape(w.shape)
            while self.loss(w - step) > self.loss(w) and np.abs(step).max() > 1e-14:
                step /= 2
            w = w - step
        return w

    def noise(self, w):
        """tr(C) of a draw of SIZE nodes in the mean."""
        q = SIZE / len(self.x)
        lengths = ((self.shares(w) - self.wanted) ** 2).sum(1) * (self.x ** 2).sum(1)
        return (1 - q) / q * lengths.sum() / len(self.x) ** 2


def sampled(problem, work, first, rate, seed):
    """The mean of L - L* over the last epochs."""
    words = [f"model.weights={first}", f"train.sample=uniform:{SIZE}", f"train.lr={rate}", "train.momentum=0",
             f"train.weight_decay=[{DECAY}]", "train.eval_every=0", f"run.keep_checkpoints={LAST // APART}",
             f"run.seed={seed}"]
    run = trained("mushroom-logistic", work, [*words, f"train.epochs={EPOCHS - LAST}", "run.checkpoint_every=0"])
    trained("mushroom-logistic", work, [*words, f"train.epochs={EPOCHS}", f"run.checkpoint_every={APART}"],
            "--resume", "auto", run=run)
    folder, losses = os.path.join(run, "checkpoints"), []
    for name in os.listdir(folder):
        if name.startswith("epoch-"):
            arrays = fringe.read_tensors(os.path.join(folder, name, "model.safetensors"))
            losses.append(float(problem.loss(next(iter(arrays.values())).astype(float))))
    return statistics.mean(losses) - float(problem.loss(problem.optimum_found))


def floor(bench, work):
    data = dataset_of("mushroom-logistic", os.path.join(work, "mushroom"))
    inside = np.asarray(data.masks["train"], bool)
    problem = Problem(data.features[inside].astype(float), data.labels[inside])
    w = problem.optimum_found = problem.optimum()
    first = os.path.join(work, "optimum.safetensors")
    fringe.write_tensors(first, {"convs.0.lin.weight": w.astype(np.float32)})
    rate, noise = 0.1 / float(np.linalg.eigvalsh(problem.hessian(w))[-1]), float(problem.noise(w))
    means = []
    for part in (1, 2):
        eta = rate / part
        over = [sampled(problem, work, first, eta, seed) / (eta / 4 * noise) for seed in range(option("seeds", 3))]
        means.append(statistics.mean(over) * eta)
        bench.figure(f"floor at eta {eta:.3g}", statistics.mean(over), "x", "eta / 4 tr(C)", eta / 4 * noise,
                     abs(statistics.mean(over) - 1), 0.2, at_most=True)
    half = means[1] / means[0]
    bench.figure("floor at half of eta", half, "x", "half", 0.5, abs(2 * half - 1), 0.2, at_most=True)


# ---- importance


def variance(x, error, norms):
    """Of the gradient by the weights, over draws: what fringe's draw (sample.c) leaves, by these norms or uniform."""
    n, random, random_rows = len(x), np.random.default_rng(1), []
    p = np.full(n, 1 / n) if norms is None else (norms + norms.mean() / 10) / (1.1 * norms.sum())
    q = np.minimum(1, FEW * p)
    whole = error.T @ x / n
    for _ in range(20 if SMOKE else DRAWS):
        row = (random.random(n) < q) / q
        random_rows.append(float((((error * row[:, None]).T @ x / n - whole) ** 2).sum()))
    return statistics.mean(random_rows)


def epochs_to(target, work, words, rule, seed):
    run = fringe.read_run(trained("cora-sgc", work, [
        *words, f"train.sample={rule}:{FEW}", f"train.epochs={MOST}", "train.eval_every=1", f"run.seed={seed}",
        "run.checkpoint_every=0"]))
    below = np.flatnonzero(run.epochs["train.loss"] <= target)
    return int(below[0]) + 1 if len(below) else MOST


def importance(bench, work):
    data = dataset_of("cora-sgc", os.path.join(work, "cora"))
    inside = np.asarray(data.masks["train"], bool)
    for name, words, x, target in (
            ("0/1 features", ["data.transforms=[]"], (data.features > 0).astype(float), 0.02),
            ("row-normalised", [], data.features.astype(float), 0.8)):
        run = fringe.read_run(trained("cora-sgc", work, [*words, f"train.sample=importance:{FEW}", "train.epochs=20",
                                                         "run.checkpoint_every=0"]))
        arrays = fringe.weights(run)
        z = smooth(data, x)[inside]
        logits = z @ arrays["convs.0.lin.weight"].astype(float).T + arrays["convs.0.lin.bias"].astype(float)
        p = np.exp(logits - logits.max(1, keepdims=True))
        error = p / p.sum(1, keepdims=True) - np.eye(logits.shape[1])[data.labels[inside]]
        ratio = variance(z, error, np.sqrt((error ** 2).sum(1))) / variance(z, error, None)
        bar = 0.7 if name == "0/1 features" else 0
        bench.at_most(f"variance at epoch 20, {name}", ratio, "x", bar, "uniform's", 1.0)
        for rule in ("uniform", "importance"):
            took = [epochs_to(target, work, words, rule, seed) for seed in range(option("seeds", 3))]
            bench.figure(f"epochs to a loss of {target}, {name}, {rule}", statistics.mean(took), "epochs")


def write(bench):
    table = read_kept(kept("sampling")) | {f["name"]: f["value"] for f in bench.figures}  # rows of earlier calls stay
    keep(kept("sampling"), table)
    write_tables("A sample of the training nodes", f"""\
`bench/run.sh sampling`. Floor: logistic regression of mushroom with weight decay {DECAY:g} from its optimum w*,
`train.sample=uniform:{SIZE}`, SGD at η = 0.1/λ_max (of the Hessian at w*) and at half of it; L(w_t) − L(w*) in the mean
over the last {LAST:,} of {EPOCHS:,} epochs, over (η/4) tr C; bars: within 20 %. Importance: cora's features behind two
steps of sgc, Adam, {FEW} of 140 training nodes an epoch: variance of the gradient over {DRAWS:,} draws at the weights of
epoch 20 over a uniform draw's (bar 0.7 where features are 0 and 1 and the model is sharp), and epochs until the loss of
all training nodes is below what the row says ({MOST}: not within these). Means over {option("seeds", 3)} seeds.""",
                 markdown("| figure | value |", [[name, f"{value:.3g}"] for name, value in table.items()]))


def main():
    bench = Bench("sampling")
    memory = "/dev/shm" if os.path.isdir("/dev/shm") and not SMOKE else None  # hundreds of checkpoints
    with tempfile.TemporaryDirectory(dir=memory) as work:
        for name in option("only", "floor,importance").split(","):
            {"floor": floor, "importance": importance}[name](bench, work)
    write(bench)
    bench.end()


main()
