"""Trainings on the network rig (netrig.sh), by turns, and what benches tell of them."""
import os
import shutil
import statistics

from figures import FRINGE, QUIET, ROOT, SMOKE, ran, read_run, settings

RIG = os.path.join(ROOT, "bench", "common", "netrig.sh")
AS_IT_IS = 'exec "$@"'
PERIOD, DELAY, WARM = (2, 1, 1) if SMOKE else (6, 3, 2)
# Ranks go before whatever else runs here, in their session's group and in the machine's queue.
FIRST = AS_IT_IS if SMOKE else 'echo -20 >/proc/self/autogroup; exec nice -n -19 "$@"'


def on_hosts(layout, rate, *words, first=FIRST):
    """Runs fringe with these words by mpirun on hosts x ranks of the rig."""
    hosts, ranks = layout.split("x")
    place = ("--yield", "1") if SMOKE else ("--pin",)
    ran("bash", RIG, "run", "--name", "bench", "--hosts", hosts, "--ppn", ranks, *place, "--rate", rate, "--", "-x",
        "OMP_NUM_THREADS=1", "-x", "FRINGE_DATA", "sh", "-c", first, "sh", FRINGE, *words)


def run(work, config, layout, rate, mode, epochs, *words):
    """One training on the rig; the records of its epochs."""
    folder = os.path.join(work, mode)
    shutil.rmtree(folder, ignore_errors=True)
    on_hosts(layout, f"{rate}mbit", "train", config, *settings([
        *QUIET, f"mode={mode}", f"run.dir={folder}", f"train.epochs={epochs}", "run.threads=1",
        f"quantization.period={PERIOD}", *words]))
    return read_run(folder)[1]


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


def in_turns(repeats, variants):
    """Every variant `repeats` times, one after the other, and the other way round every other time: {name: [times]}."""
    got = {name: [] for name in variants}
    for turn in range(repeats):
        for name in list(variants) if turn % 2 == 0 else reversed(list(variants)):
            got[name].append(variants[name]())
    return got


def middle(repeats):
    """Medians over the repeats of one variant, key by key."""
    return {key: statistics.median(one[key] for one in repeats) for key in repeats[0]}


def gains(over, variant):
    """How many times as fast a variant is, turn by turn."""
    return [base["epoch"] / one["epoch"] for base, one in zip(over, variant)]


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
