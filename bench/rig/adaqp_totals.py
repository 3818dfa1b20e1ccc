"""What AdaQP's tables hold beside the epoch: whole trainings, on the network rig.

usage: bench/run.sh adaqp_totals [--strict] [--graph=products-small] [--layouts=2x2,4x1] [--share=75.2] [--epochs=60]
                                 [--repeats=3] [--kinds=vanilla,adaptive,...]
smoke: --layouts=2x1 --epochs=8 --repeats=1 --kinds=vanilla,adaptive

For each layout (hosts x ranks of each) the link rate is searched at which vanilla spends --share percent of its epoch
on communication. There every kind of widths trains --epochs epochs with --repeats seeds, by turns: adaptive, random and
uniform widths of mode adaqp-published, and mode adaqp, whose savings and widths are fringe's own. Printed and written to
bench/results/tables/adaqp_totals.json:

  - the wall clock of a training: epochs, assignment of bit widths, evaluation, and the rest (set-up, files);
  - test accuracy and epochs per second (training with assignment), as AdaQP's Table 4 has them;
  - the communication cost that few bits cut: seconds that an exchange waits under the blocking schedule, in which
    nothing hides them. AdaQP publishes 79.98 %;
  - of each part: the computation on central rows and the time of its messages, as traced under AdaQP's schedule
    (central). AdaQP hides a message where the first is longer.
"""
import os
import statistics
import tempfile

from figures import (ROOT, SMOKE, Bench, look_alike, markdown, needs_rig, option, paired_difference, read_json,
                     read_run, write_tables)
from rig import run, search

PUBLISHED_CUT = 79.98
PERIOD, EVALUATE, SEARCHED, TRACED = (3, 2, 1, (3, 4)) if SMOKE else (20, 10, 4, (12, 14))
KINDS = {  # name: mode, settings
    "vanilla": ("vanilla",),
    "adaptive": ("adaqp-published",),
    "random": ("adaqp-published", "quantization.assign=random"),
    "uniform 2": ("adaqp-published", "quantization.assign=uniform", "quantization.initial_bits=2"),
    "uniform 4": ("adaqp-published", "quantization.assign=uniform", "quantization.initial_bits=4"),
    "uniform 8": ("adaqp-published", "quantization.assign=uniform", "quantization.initial_bits=8"),
    "adaqp": ("adaqp",),
}


def train(work, config, layout, rate, kind, epochs, seed):
    """One training: its seconds by their use, its score, and the communication of an epoch."""
    mode, *settings = KINDS[kind]
    lines = run(work, config, layout, rate, mode, epochs, f"run.seed={seed}", f"train.eval_every={EVALUATE}",
                f"quantization.period={PERIOD}", "quantization.delay=3", *settings)
    spent = {part: sum(line["time"].get(part, 0) for line in lines) for part in ("epoch", "assignment", "evaluation")}
    result = read_run(os.path.join(work, mode))[0]["result"]
    last = lines[PERIOD + 3:]  # with assigned widths
    return {**spent, "wall": result["seconds"], "rest": result["seconds"] - sum(spent.values()),
            "score": 100 * result["last"]["test"]["micro_f1"],
            "rate": len(lines) / (spent["epoch"] + spent["assignment"]),
            "bytes": statistics.mean(line["bytes"] for line in last)}


def all_kinds(work, config, layout, rate, epochs, repeats):
    kinds = option("kinds", ",".join(KINDS)).split(",")  # vanilla and adaptive among them
    got = {kind: [] for kind in kinds}
    for seed in range(repeats):
        for kind in kinds if seed % 2 == 0 else reversed(kinds):
            got[kind].append(train(work, config, layout, rate, kind, epochs, seed))
            print(f"# {layout}, seed {seed}, {kind}: " + ", ".join(f"{k} {v:.4g}" for k, v in got[kind][-1].items()),
                  flush=True)
    return got


def middle(runs, key):
    return statistics.median(one[key] for one in runs)


def communication(work, config, layout, rate, repeats):
    """Seconds that an epoch packs, and waits for messages, under the blocking schedule: fp32 and adaptive widths."""
    got = {"vanilla": [], "adaqp-published": []}
    for _ in range(repeats):
        for mode in got:
            lines = run(work, config, layout, rate, mode, PERIOD + 12, "comm.schedule=blocking",
                        f"quantization.period={PERIOD}", "quantization.delay=3")[PERIOD + 4:]
            got[mode].append([statistics.mean(line["time"]["wait"] for line in lines),
                              statistics.mean(line["time"]["pack"] + line["time"]["unpack"] for line in lines)])
    return {mode: [statistics.median(column) for column in zip(*runs)] for mode, runs in got.items()}


def spans(work, mode):
    """{(rank, epoch, layer, direction): ([spans of own work], [messages])} of a trace, in seconds."""
    found = {}
    events = read_json(os.path.join(work, mode, "trace.json"))["traceEvents"]
    for event in events:
        if event["ph"] != "X" or "layer" not in event["args"]:
            continue
        key = (event["pid"], event["args"]["epoch"], event["args"]["layer"], event["args"]["direction"])
        own, messages = found.setdefault(key, ([], []))
        span = (event["ts"] / 1e6, (event["ts"] + event["dur"]) / 1e6)
        if event["name"] == "aggregate_own":
            own.append(span)
        elif event["name"].startswith("from "):
            messages.append(span)
    return found


def hiding(work, config, layout, rate, mode, *settings):
    """Of each part: seconds of an epoch that it computes on central rows while its messages travel, and theirs."""
    run(work, config, layout, rate, mode, TRACED[1], f"run.trace=[{TRACED[0]}, {TRACED[1]}]", "comm.schedule=central",
        "quantization.period=6", "quantization.delay=3", *settings)
    parts = {}
    for (rank, *_), (own, messages) in spans(work, mode).items():
        if not messages:
            continue
        end = max(message[1] for message in messages)
        central = sum(b - a for a, b in own if a < end)
        part = parts.setdefault(rank, [0, 0])
        part[0] += central / (TRACED[1] - TRACED[0] + 1)
        part[1] += (end - min(message[0] for message in messages)) / (TRACED[1] - TRACED[0] + 1)
    return parts


def kinds_table(got):
    rows = []
    for kind, runs in got.items():
        mean, error, _ = paired_difference([one["score"] for one in runs], [one["score"] for one in got["vanilla"]])
        against = "" if kind == "vanilla" else f"{mean:+.2f} ± {error:.2f}"
        rows.append(
            f"| {kind} | {middle(runs, 'wall'):.1f} | {middle(runs, 'epoch'):.1f} | {middle(runs, 'assignment'):.2f} "
            f"| {middle(runs, 'evaluation'):.2f} | {middle(runs, 'rest'):.2f} "
            f"| {statistics.mean(one['score'] for one in runs):.2f} | {against} | {middle(runs, 'rate'):.2f} "
            f"| {middle(runs, 'rate') / middle(got['vanilla'], 'rate'):.2f} | {middle(runs, 'bytes') / 1e6:.1f} |")
    return markdown("| widths | wall clock s | epochs s | assignment s | evaluation s | rest s | test % | against vanilla "
                    "| epochs/s | times vanilla | MB an epoch |", rows)


def hiding_table(parts):
    return markdown(["part", *(f"{mode}: central rows ms | messages ms | ratio" for mode in parts)], [
        [rank, *(f"{1000 * of[rank][0]:.1f} | {1000 * of[rank][1]:.1f} | {of[rank][0] / of[rank][1]:.2f}"
                 for of in parts.values())] for rank in sorted(next(iter(parts.values())))])


def measure(bench, work, config, layout, share, epochs, repeats):
    rate, _ = search(work, config, layout, share, 1000, SEARCHED)
    got = all_kinds(work, config, layout, rate, epochs, repeats)
    spent = communication(work, config, layout, rate, repeats)
    parts = {"fp32": hiding(work, config, layout, rate, "vanilla"),
             "adaptive": hiding(work, config, layout, rate, "adaqp-published")}
    cut = [100 * (1 - spent["adaqp-published"][0] / spent["vanilla"][0]),
           100 * (1 - sum(spent["adaqp-published"]) / sum(spent["vanilla"]))]
    bench.at_least(f"{layout}: communication cost cut", cut[0], "%", 1, "AdaQP", PUBLISHED_CUT)
    for kind in (kind for kind in ("random", "uniform 4", "uniform 8") if kind in got):
        bench.figure(f"{layout}: epochs/s, adaptive", middle(got["adaptive"], "rate"), "1/s", kind,
                     middle(got[kind], "rate"), middle(got["adaptive"], "rate") / middle(got[kind], "rate"))
    bench.figure(f"{layout}: wall clock, vanilla", middle(got["vanilla"], "wall"), "s", "adaptive",
                 middle(got["adaptive"], "wall"), middle(got["vanilla"], "wall") / middle(got["adaptive"], "wall"))
    mean, error, allowed = paired_difference([one["score"] for one in got["adaptive"]],
                                             [one["score"] for one in got["vanilla"]])
    bench.within(f"{layout}: accuracy, adaptive - vanilla", mean, "points", allowed)
    text = [f"**{layout}** at {rate} Mbit/s:", kinds_table(got),
            f"Communication cost cut: {cut[0]:.2f} % of the seconds that exchanges wait, {cut[1]:.2f} % with packing and "
            f"unpacking (AdaQP: {PUBLISHED_CUT} %).", hiding_table(parts)]
    print("\n\n".join(text), flush=True)
    return text


def main():
    needs_rig()
    bench, graph, share = Bench("adaqp_totals"), option("graph", "products-small"), option("share", 75.2)
    epochs, repeats, text = option("epochs", 60), option("repeats", 3), []
    config = os.path.join(ROOT, "configs", f"adaqp-{graph}-gcn.json")
    look_alike(graph)
    with tempfile.TemporaryDirectory(prefix="fringe-adaqp-") as work:
        for layout in option("layouts", "2x2,4x1").split(","):
            text += measure(bench, work, config, layout, share, epochs, repeats)
            caption = (f"`bench/run.sh adaqp_totals --graph={graph} --share={share} --epochs={epochs} --repeats={repeats}`: "
                       f"GCN 3 x 256 of hosts x ranks on the network rig, evaluated every {EVALUATE} epochs, widths assigned "
                       f"every {PERIOD}. Medians over seeds; accuracy: the mean, and the mean of paired differences ± its "
                       "standard error. Rest: set-up and files. Of each part: seconds of an epoch on central rows while "
                       "messages travel, and of the messages, under the schedule `central`; a ratio of 1 hides them.")
            write_tables(f"AdaQP's whole trainings, {graph}", caption, *text)
    bench.end()


main()
