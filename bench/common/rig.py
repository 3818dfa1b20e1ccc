"""Trainings on the network rig (netrig.sh), by turns, and what benches tell of them."""
import json
import os
import shutil
import statistics
import subprocess
import sys

from figures import FRINGE, ROOT, SMOKE

PERIOD, DELAY, WARM = (2, 1, 1) if SMOKE else (6, 3, 2)
# Ranks go before whatever else runs here, in their session's group and in the machine's queue.
FIRST = 'exec "$@"' if SMOKE else 'echo -20 >/proc/self/autogroup; exec nice -n -19 "$@"'


def run(work, config, layout, rate, mode, epochs, *settings):
    """One training on the rig; the records of its epochs."""
    hosts, ranks = layout.split("x")
    folder = os.path.join(work, mode)
    shutil.rmtree(folder, ignore_errors=True)
    words = ["bash", os.path.join(ROOT, "bench", "common", "netrig.sh"), "run", "--name", "adaqp", "--hosts", hosts, "--ppn",
             ranks, *(("--yield", "1") if SMOKE else ("--pin",)), "--rate", f"{rate}mbit", "--", "-x", "OMP_NUM_THREADS=1", "-x", "FRINGE_DATA", "sh", "-c",
             FIRST, "sh", FRINGE, "train", config]
    for setting in (f"mode={mode}", f"run.dir={folder}", f"train.epochs={epochs}", "train.eval_every=0",
                    "run.log_every=0", "run.checkpoint_every=0", "run.threads=1", f"quantization.period={PERIOD}", *settings):
        words += ["--set", setting]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}\nended with {done.returncode}: {done.stderr[-2000:]}")
    with open(os.path.join(folder, "metrics.jsonl")) as lines:
        return [json.loads(line) for line in lines]


def times(records):
    """Means of an epoch in seconds; `epoch` is the median, `all` its mean."""
    spans = [record["time"] for record in records]
    mean = {key: statistics.mean(span[key] for span in spans) for key in spans[0] if key != "assignment"}
    mean["all"] = mean["epoch"]
    mean["epoch"] = statistics.median(span["epoch"] for span in spans)
    mean["pack"] += mean.pop("unpack")
    mean["bytes"] = statistics.mean(record["bytes"] for record in records)
    return mean


def vanilla(work, config, layout, rate, epochs):
    return times(run(work, config, layout, rate, "vanilla", WARM + epochs)[WARM:])


def assigned(work, config, layout, rate, mode, epochs, *settings):
    """After the first assignment; and the seconds that assigning took."""
    first = PERIOD + DELAY  # epoch after which the new widths travel
    records = run(work, config, layout, rate, mode, first + epochs, f"quantization.delay={DELAY}", *settings)
    seconds = sum(record["time"].get("assignment", 0) for record in records[:2 * PERIOD])  # one of them
    return {**times(records[first:]), "assignment": seconds}


def in_turns(repeats, arms):
    """Every arm `repeats` times, one after the other, and the other way round every other time: {name: [times]}."""
    got = {name: [] for name in arms}
    for turn in range(repeats):
        for name in list(arms) if turn % 2 == 0 else reversed(list(arms)):
            got[name].append(arms[name]())
    return got


def middle(repeats):
    """Medians over the repeats of one arm, key by key."""
    return {key: statistics.median(one[key] for one in repeats) for key in repeats[0]}


def gains(over, arm):
    """How many times as fast an arm is, turn by turn."""
    return [base["epoch"] / one["epoch"] for base, one in zip(over, arm)]


def ranged(values):
    """"4.32 (4.10-4.50)": the median and the range; the median alone where there is one value."""
    text = f"{statistics.median(values):.2f}"
    return text if len(values) == 1 else f"{text} ({min(values):.2f}-{max(values):.2f})"


def search(work, config, layout, share, rate, epochs):
    """The rate at which vanilla communicates `share` percent, and its times there."""
    for _ in range(4):
        found = vanilla(work, config, layout, rate, epochs)
        exchange = found["wait"] + found["pack"]
        rest = found["epoch"] - exchange
        print(f"# {layout}: {rate} Mbit/s: vanilla {found['epoch']:.3f} s, communication "
              f"{100 * exchange / found['epoch']:.1f} %", flush=True)
        if SMOKE or abs(100 * exchange / found["epoch"] - share) < 1.5:
            break
        rate = max(5, min(40000, round(rate * exchange / (rest * share / (100 - share)))))
    return rate, found
