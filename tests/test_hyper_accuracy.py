# once
"""If this failed, hgnn would not learn on hypergraphs what a reference in numpy learns by the same recipe: on the first split
of cora's co-citations 70.0 % of the test nodes, on mushroom 98.8 % (five seeds, deviation 0.5).

Seeds deviate by 0.3 points on cora and 0.3 on mushroom; the bounds are 1.5 points each way, or up to all nodes but a few. Both
sets were seen outside them once the sizes of hyperedges no longer divided (67.9 and 91.2 %), cora without hyperedges for
the nodes that have none (43 %)."""
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor

from program import ROOT, command, needs_data, read_json

BOUNDS = {"cora-cocite": (68.5, 71.5), "mushroom": (97.3, 99.8)}


def score(name, ranks):
    """Accuracy of the test nodes after the last epoch, in percent."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["train", os.path.join(ROOT, "configs", name + "-hgnn.json"), "--ranks", ranks]
        for setting in (f"run.dir={folder}", "train.eval_every=0", "run.log_every=0", "run.threads=1"):
            words += ["--set", setting]
        command(*words)
        return 100 * read_json(os.path.join(folder, "run.json"))["result"]["last"]["test"]["accuracy"]


needs_data("hg_mushroom", "accuracy on hg_cora_cocite and hg_mushroom")
cases = [(name, ranks) for name in BOUNDS for ranks in (1, 4)]
with ThreadPoolExecutor(2) as pool:
    scores = dict(zip(cases, pool.map(lambda case: score(*case), cases)))
for name, (least, most) in BOUNDS.items():
    one, four = scores[name, 1], scores[name, 4]
    print(f"{name}: {one:.2f} on 1 rank, {four:.2f} on 4; {least} to {most}")
    assert least <= one <= most, f"{name}: {one} on 1 rank"
    assert abs(four - one) <= 0.5, f"{name}: {four} on 4 ranks, {one} on 1"  # a few nodes on the edge of two classes
