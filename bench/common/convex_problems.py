"""Problems whose optimum is known: trainings of them, and logistic regression of mushroom as Horváth et al. (2019) have
it in the second figure of DIANA."""
import os
import sys
import tempfile

from figures import ROOT, SMOKE, fringe as program, needs_module, read_json, settings, write_json

np = needs_module("numpy")
sys.path.insert(0, os.path.join(ROOT, "python"))
import fringe

PARTS = 3 if SMOKE else 12
DECAY = {"cora": 5e-4, "mushroom": 0.01}


def dataset_of(config, folder):
    program("convert", os.path.join(ROOT, "configs", config + ".json"), folder + "/", "--quiet")
    return fringe.read_dataset(folder)


def smooth(data, x):
    """A A x with A = D^-1/2 (E + I) D^-1/2."""
    a = np.eye(len(x))
    a[data.edges[1], data.edges[0]] = 1
    root = 1 / np.sqrt(a.sum(1))
    a *= root[:, None] * root
    return a @ (a @ x)


def trained(config, work, ranks, words):
    """The folder of a run."""
    run = os.path.join(tempfile.mkdtemp(dir=work), "run")
    program("train", os.path.join(ROOT, "configs", config + ".json"), "--ranks", ranks, "--oversubscribe", "--quiet",
            *settings([f"run.dir={run}", "run.checkpoint_every=0", "train.eval_every=0", "run.threads=1", *words]))
    return run


def weights_of(run):
    """In double."""
    return next(iter(fringe.weights(fringe.read_run(run)).values())).astype(float)


def one_column(data, folder):
    """The same nodes with one label of 0 and 1, all of them in training."""
    arrays = fringe.read_tensors(os.path.join(folder, "dataset.safetensors"))
    arrays["labels"] = (data.labels > 0).astype(np.uint8)[:, None]
    arrays["split"] = np.ones(len(data.labels), np.uint8)
    fringe.write_tensors(os.path.join(folder, "dataset.safetensors"), arrays)
    path = os.path.join(folder, "dataset.json")
    write_json(path, {**read_json(path), "classes": 1, "multilabel": True})


def ranges_by_label(labels, path):
    part = np.empty(len(labels), int)
    part[np.argsort(labels, kind="stable")] = np.arange(len(labels)) * PARTS // len(labels)
    np.savetxt(path, part, "%d")


def logistic_optimum(x, wanted, decay):
    """By Newton's method."""
    weight = np.zeros(x.shape[1])
    for _ in range(100):
        p = 1 / (1 + np.exp(-x @ weight))
        gradient = x.T @ (p - wanted) / len(x) + decay * weight
        hessian = x.T @ (x * (p * (1 - p))[:, None]) / len(x) + decay * np.eye(len(weight))
        weight -= np.linalg.solve(hessian, gradient)
    return weight


class Mushroom:
    """The mean of log(1 + exp(-b x W)), b = 1 or -1, over all nodes, and its decay; PARTS ranks hold equal ranges of
    the nodes by label."""

    def __init__(self, work):
        self.work, folder, parts = work, os.path.join(work, "mushroom"), os.path.join(work, "ranges.part")
        data = dataset_of("mushroom-logistic", folder)
        one_column(data, folder)
        ranges_by_label(data.labels, parts)
        self.words = [f"data.path={folder}", "data.nodes=", "data.transforms=[]", f"partition.method=file:{parts}"]
        self.x, self.wanted, decay = data.features.astype(float), data.labels > 0, DECAY["mushroom"]
        self.steepest = np.linalg.eigvalsh(self.x.T @ self.x / len(self.x))[-1] / 4 + decay
        self.optimum = logistic_optimum(self.x, self.wanted, decay)

    def trained(self, words):
        return trained("mushroom-logistic", self.work, PARTS, [*self.words, *words])

    def loss(self, weight):
        sign = np.where(self.wanted, 1, -1)
        return float(np.logaddexp(0, -sign * (self.x @ weight)).mean() + DECAY["mushroom"] / 2 * (weight ** 2).sum())
