# long
"""If this failed, training on 2 and 4 ranks would not learn what the PyTorch reference learns
(bench/results/reference.json: same recipe, same split, last epoch), P ranks would not train as one rank does, or a coded
sum of weight gradients would cost accuracy."""
import json
import math
import os
import statistics
import tempfile

from program import ROOT, command, needs_data, read_json


def train(config, ranks, folder, *settings):
    words = ["train", os.path.join(ROOT, "configs", config + ".json"), "--ranks", ranks, "--set", "run.dir=" + folder]
    for setting in settings:
        words += setting.split(" ") if setting.startswith("--") else ["--set", setting]
    command(*words)


def scores_of(config, runs, *settings, ranks=4):
    """Of the test nodes at the last epoch, in percent."""
    with tempfile.TemporaryDirectory() as folder:
        train(config, ranks, folder, f"--runs {runs}", "train.eval_every=0", *settings)
        return [100 * s for s in read_json(os.path.join(folder, "runs.json"))["last"]["test"]]


def agrees(config, reference, runs, ranks=4):
    scores = scores_of(config, runs, ranks=ranks)
    want = read_json(os.path.join(ROOT, "bench", "results", "reference.json"))[reference]
    error = math.sqrt(statistics.variance(scores) / runs + want["sd"] ** 2 / want["seeds"])
    difference, allowed = abs(statistics.mean(scores) - want["mean"]), max(1.0, 3 * error)
    print(f"{config}: {statistics.mean(scores):.2f} ({runs} seeds), reference {want['mean']:.2f}, allowed {allowed:.2f}")
    assert difference <= allowed, f"{config}: {scores} against {want['mean']}"
    return scores


def coded_gradients_agree(config, exact):
    """A short form of bench/run.sh gradient_accuracy: two of the same seeds with EF21's sum of weight gradients."""
    scores = scores_of(config, 2, "gradients.method=ef21")
    difference = statistics.mean(a - b for a, b in zip(scores, exact))
    print(f"{config}, gradients in 4 bits: {difference:+.2f}")
    assert difference >= -1.5, f"{config}: {scores} against {exact[:2]} with the sum in fp32"  # seeds deviate by .5


def epochs_of(config, ranks, *settings, key="loss"):
    with tempfile.TemporaryDirectory() as folder:
        train(config, ranks, folder, *settings)
        with open(os.path.join(folder, "metrics.jsonl")) as lines:
            return [json.loads(line)[key] for line in lines]


def three_ranks_are_one():
    """2 x 16 on cora: the first five losses agree to 1e-5 (later ones drift apart by themselves, ALGORITHMS A5)."""
    one, three = (epochs_of("cora-gcn", ranks, "train.epochs=5") for ranks in (1, 3))
    for epoch, (a, b) in enumerate(zip(one, three), 1):
        assert abs(a - b) <= 1e-5 * abs(a), f"epoch {epoch}: 1 rank {a}, 3 ranks {b}"
    print("cora, 1 and 3 ranks: largest relative difference", max(abs(a - b) / a for a, b in zip(one, three)))


def entropy_sends_few_bytes():
    """4 bits and less, by how frequent codes are: a fifteenth of 4 (P - 1) 2 bytes a weight."""
    coded = ("gradients.codec=max", "gradients.wire=entropy", "train.epochs=10")
    sent = epochs_of("cora-gcn", 4, *coded, key="reduce_bytes")
    exact = 10 * 24 * (1433 * 16 + 16 + 16 * 7 + 7)
    print(f"cora, gradients in 4 bits with entropy codes: {exact / sum(sent):.1f} times fewer bytes")
    assert exact >= 15 * sum(sent), sent


needs_data("cora", "accuracy on cora and amazon_photo")
three_ranks_are_one()
entropy_sends_few_bytes()
coded_gradients_agree("cora-gcn", agrees("cora-gcn", "cora-gcn", 3))
agrees("amazon-photo-gcn", "amazon_photo-gcn", 2, ranks=2)
