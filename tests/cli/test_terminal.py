#!/usr/bin/env python3
# once
"""If this failed, a line of fringe would wrap on a terminal of 80 columns, colours would appear where nobody wants
them, or a command would not say what it does."""
import os
import re

from program import FRINGE, check, end, own_folder, write, write_json
from terminal import run

work = own_folder()
os.environ.pop("FRINGE_DATA", None)


def command(*words, **environment):
    seen = run([FRINGE, *words], work, 60, **environment)
    check(f"{' '.join(words)[:60]}: no line wraps", not seen.too_long(), seen.too_long()[:3])
    return seen


def shows(name, seen, pattern):
    lines = seen.lines()
    check(f"{name}: /{pattern}/", any(re.search(pattern, line) for line in lines), "\n".join(lines))


# --- every command
for words in ([], ["--help"], *([name, "--help"] for name in (
        "train", "compare", "evaluate", "predict", "partition", "stream", "generate", "inspect", "config", "doctor"))):
    command(*words)
shows("generate", command("generate", "tiny", "-o", "tiny"), "tiny")
write_json(work + "/tiny.json", {"data": {"path": "tiny"}, "model": {"layers": 2, "hidden": [16]},
                                 "train": {"epochs": 20, "eval_every": 5}})
train = command("train", "tiny.json", "--ranks", "4", "--set", "run.dir=one")
check("it trains", train.status == 0, train.raw)
shows("starting ranks", train, r"^start +4 ranks  0\.\d s$")
shows("training", train, r"^train +20 epochs")
shows("an epoch", train, r"^epoch 20/20  loss [\d.]+  val [ \d.]+  test [ \d.]+ .*left$")
shows("where the time went", train, r"^time +20 epochs .*compute \d+ %")
# Drawn ten times a second: twenty epochs can lie between two of its drawings.
again = command("train", "tiny.json", "--ranks", "4", "--set", "run.dir=again", "--set", "train.eval_every=1",
                "--set", "train.epochs=1000")
check("the live line has loss and score", re.search(r"train +1000 epochs, \d+ %, loss [\d.]+, val [\d.]+", again.raw), again.raw)
shows("a cut in the cache", again, "^cut +metis, 4 parts, found in the cache")
command("partition", "tiny.json", "--parts", "4")
command("partition", "tiny.json", "--parts", "40")
command("compare", "tiny.json", "--ranks", "2", "--modes", "vanilla,adaqp-published", "--set", "run.dir=compared")
command("doctor", "tiny.json")
command("train", "tiny.json", "--sweep", "train.lr=0.01,0.003", "--sweep", "model.layers=1,2", "--set",
        "train.epochs=2", "--set", "run.dir=swept")
for path in ("tiny", "one", "compared", "swept", "swept/sweep.json", "one/metrics.jsonl", "one/run.json", "tiny.json"):
    command("inspect", path)
shows("the runs of a sweep", command("runs", "swept"), "^ +finished .* (0|[0-9]+) s$")
command("runs", ".")
command("cache")
command("report", "one")
command("evaluate", "one")
command("predict", "one")
write(work + "/slow.sh", """{ echo fringe-stream 1; seq 123456 | sed 's/.*/+h & & 9&/'; echo = half; sleep 1.5; echo +h 1 2; } |
        $FRINGE stream - -o streamed --parts 4\n""")
seen = run(["bash", "slow.sh"], work, 60)
check("a stream: no line wraps", not seen.too_long(), seen.too_long()[:3])
shows("its progress", seen, r"^stream +[\d.]+ k events, [\d.]+ k/s, load [\d.]+, [\d.]+ % cut  [\d.]+ s$")
shows("a snapshot", seen, r"^snapshot +half, after event 123457  ")
shows("a pause", seen, r"^stream +123.5 k events, waiting, ")
shows("what has come of it", seen, r"^replicas +\d+ \(replication factor [\d.]+\), \d+ rows per layer$")
for path in ("streamed", "streamed/snapshots/half", "streamed/checkpoints"):
    command("inspect", path)
command("train", "tiny.json", "--set", "train.epohcs=3")
shows("a very long error is broken at words", command("train", "nothing/" * 30 + "config.json"), "^ +cannot open|^fringe:")

# --- colours
green, red = "\x1b[32m*", "\x1b[31m"
check("the best epoch is green", green in train.raw)
check("an error is red", red in command("train", "nowhere.json").raw)
for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
    seen = command("train", "tiny.json", "--set", "run.dir=plain-" + name, **{name: value})
    check(f"{name}={value}: no colours", "\x1b[3" not in seen.raw, seen.raw)

# --- --quiet and --verbose
quiet = command("train", "tiny.json", "--quiet", "--set", "run.dir=quiet")
check("--quiet leaves the result", [line.split()[0] for line in quiet.lines() if line] == ["result", "best", "cost"],
      quiet.raw)
verbose = command("train", "tiny.json", "--verbose", "--ranks", "2", "--set", "run.dir=verbose")
for label in ("messages", "memory", "kernels", " +compute .* pack .* wait .* rest"):
    shows("--verbose", verbose, "^" + label)

end()
