"""What sending and computing less gains (lossless.*), without changing a gradient.

usage: bench/run.sh savings [--strict] [--parts=graphs,rig,alone] [--graph=reddit-small] [--models=gcn,sage]
                            [--layouts=2x1,2x2,4x1] [--shares=66.8,75.2,78.2] [--epochs=5] [--repeats=3]
smoke: --parts=alone --models=gcn

graphs: how many rows covers save on small real graphs cut into 8 parts, next to the figures of a prototype, and how
long planning them takes next to METIS; how many floats are left of layers 1 and 2 of a three-layer GCN on 4 ranks where
rows that training cannot feel stay behind, too; what that does to an epoch on one rank. rig: vanilla and AdaQP, each as
published and with the savings, at the link rates at which published vanilla communicates as much as AdaQP's paper says
(bench/run.sh adaqp), --repeats times by turns: medians with their range. alone: one rank, all cores, as published and
with them.
"""
import os
import statistics
import tempfile

from figures import (BUILD, ROOT, SMOKE, Bench, keep, kept, markdown, needs_rig, option, ran, read_kept, trained,
                     write_tables)
import rig as on_rig

SAVED = {"cora": 20, "pubmed": 23, "amazon_photo": 38, "amazon_computers": 37, "coauthor_cs": 27,
         "coauthor_physics": 32, "deezer_hu": 18}  # % of rows, prototype
LEFT = {"cora": 33, "pubmed": 4, "amazon_computers": 28, "coauthor_physics": 4}  # % of floats, at most
LEFT60 = {"amazon_photo": 62, "amazon_computers": 62}  # with 60 % training nodes
SPLIT60 = 'data.split_keys=["train60_idx","val20_idx","test20_idx"]'
GAINS = {66.8: 3.2, 75.2: 4.2, 78.2: 4.7}  # AdaQP with the savings, gcn; times published vanilla


def recipe(name):
    """The config of a small graph, and what it lacks."""
    if name == "pubmed":
        return os.path.join(ROOT, "configs", "cora-gcn.json"), ["data.path=pubmed/pubmed.npz"]
    return os.path.join(ROOT, "configs", name.replace("_", "-") + "-gcn.json"), []


def train(work, name, ranks, *words, epochs=1):
    """run.json and the epochs of a short training."""
    config, lacks = recipe(name)
    return trained(config, *lacks, f"data.cache={work}/cache", f"train.epochs={epochs}", *words, ranks=ranks)


def seconds_of_cut(name, parts):
    """METIS alone."""
    config, lacks = recipe(name)
    return float(ran(os.path.join(BUILD, "bench_cut"), config, parts, *lacks).stdout.split()[0])


def seconds_of_planning(work, name, cover):
    """Making all Patterns, the least of five."""
    return min(train(work, name, 8, "lossless.receptive_field=all", f"lossless.cover={cover}")[0]["patterns_seconds"]
               for _ in range(5))


def covers(bench, work):
    rows = []
    for name, prototype in SAVED.items():
        run, _ = train(work, name, 8, "lossless.receptive_field=all")
        plan, plain = seconds_of_planning(work, name, "min"), seconds_of_planning(work, name, "sources")
        first = run["exchanges"][0]
        sent, sources = first["rows"], first["rows_of_sources_alone"]
        saved, metis = 100 * (1 - sent / sources), seconds_of_cut(name, 8)
        bench.at_least(f"{name}: rows that a cover saves", saved, "%", 1, "prototype - 2", prototype - 2)
        bench.at_most(f"{name}: finding covers", plan - plain, "s", 0.25, "METIS", metis)
        rows.append(f"| {name} | {sources} | {sent} | {saved:.1f} | {prototype} | {plan:.4f} | {plain:.4f} "
                    f"| {metis:.4f} |")
    return "One forward exchange of all rows on 8 ranks (METIS parts).", markdown(
        "| graph | rows, sources alone | rows | saved % | an independent prototype % | planning s | without covers s | METIS s |", rows)


def floats(run):
    return sum(e["rows"] * e["columns"] for e in run["exchanges"] if e["layer"] > 0)


def left(bench, work):
    rows = []
    for bars, what, extra in ((LEFT, "as given", []), (LEFT60, "60 %", [SPLIT60])):
        for name, bar in bars.items():
            base = ["model.layers=3", *extra]
            all_rows = floats(train(work, name, 4, *base, "lossless.receptive_field=all", "lossless.cover=sources")[0])
            few = 100 * floats(train(work, name, 4, *base, "lossless.cover=sources")[0]) / all_rows
            both = 100 * floats(train(work, name, 4, *base)[0]) / all_rows
            bench.at_most(f"{name}, {what}: floats left", both, "%", 1, "prototype", bar)
            rows.append(f"| {name} | {what} | {few:.1f} | {both:.1f} | {bar} |")
    return "Floats of layers 1 and 2 of a three-layer GCN on 4 ranks, of those with all rows.", markdown(
        "| graph | training nodes | train_rows % | with covers % | bar % |", rows)


def computing(bench, work):
    rows = []
    for name in ("pubmed", "coauthor_physics"):
        took = {}
        for setting in ("all", "auto"):
            _, epochs = train(work, name, 1, "model.layers=3", "model.input_dropout=0",
                              f"lossless.receptive_field={setting}", epochs=30)
            took[setting] = statistics.median(epoch["time"]["epoch"] for epoch in epochs[5:])
        gain = took["all"] / took["auto"]
        bench.figure(f"{name}: epoch, all rows over train_rows", gain, "x")
        rows.append(f"| {name} | {took['all']:.4f} | {took['auto']:.4f} | {gain:.1f} |")
    return "An epoch of a three-layer GCN on one rank.", markdown("| graph | all rows s | train_rows s | times faster |", rows)


def alone(bench, graph):
    rows = []
    for model in option("models", "gcn,sage").split(","):
        took = {"vanilla": [], "overlap": []}
        for _ in range(1 if SMOKE else 3):
            for mode in took:
                epochs = trained(f"{graph}-{model}", f"mode={mode}", "train.epochs=8")[1]
                took[mode] += [epoch["time"]["epoch"] for epoch in epochs[2:]]
        least = {mode: statistics.median(times) for mode, times in took.items()}
        gain = least["vanilla"] / least["overlap"]
        bench.at_least(f"{graph} {model}, one rank: published over savings", gain, "x", 1, "bar", 1.35)
        rows.append(f"| {model} | {least['vanilla']:.3f} | {least['overlap']:.3f} | {gain:.2f} |")
    return f"One rank, all cores, {graph}.", markdown("| model | published s | with savings s | times faster |", rows)


def spent(record):
    """How an epoch is spent, in percent."""
    parts = {"dense": record["dense"], "aggregate": record["aggregate_own"] + record["aggregate_halo"],
             "pointwise": record["pointwise"], "pack": record["pack"], "wait": record["wait"],
             "sum of weights": record["reduce"]}
    rest = record["all"] - sum(parts.values())
    return ", ".join(f"{key} {100 * value / record['all']:.0f}" for key, value in {**parts, "rest": rest}.items())


def at_share(bench, work, model, layout, share, rate, epochs):
    """One row of the table: the four combinations at the rate at which published vanilla communicates `share` %."""
    config = os.path.join(ROOT, "configs", f"{option('graph', 'reddit-small')}-{model}.json")
    rate, _ = on_rig.search(work, config, layout, share, rate, epochs)

    def assigned(mode):
        return lambda: on_rig.assigned(work, config, layout, rate, mode, epochs)

    def plain():
        return on_rig.times(on_rig.run(work, config, layout, rate, "lossless", on_rig.WARM + epochs)[on_rig.WARM:])

    turns = on_rig.in_turns(option("repeats", 3), {
        "published": lambda: on_rig.vanilla(work, config, layout, rate, epochs), "vanilla": plain,
        "bits": assigned("adaqp-published"), "blocking": assigned("quantize"), "both": assigned("adaqp")})
    published, vanilla, blocking, both = (on_rig.middle(turns[variant]) for variant in ("published", "vanilla", "blocking", "both"))
    compute = blocking["epoch"] - blocking["wait"] - blocking["pack"]
    ideal = published["epoch"] / max(compute, blocking["wait"])
    faster = {variant: on_rig.gains(turns["published"], turns[variant]) for variant in ("vanilla", "bits", "both")}
    gain = {variant: statistics.median(values) for variant, values in faster.items()}
    name = f"{model} {layout} {share} %"
    bench.at_least(f"{name}: AdaQP with savings", gain["both"], "x", 0.85, "ideal", ideal)
    bench.at_least(f"{name}: vanilla with savings", gain["vanilla"], "x", 1, "bar", 1.8)
    if model == "gcn" and share in GAINS:
        bench.at_least(f"{name}: AdaQP with savings", gain["both"], "x", 1, "bar", GAINS[share])
    row = (f"| {model} | {layout} | {share} | {rate} | {published['epoch']:.3f} | {on_rig.ranged(faster['vanilla'])} "
           f"| {on_rig.ranged(faster['bits'])} | {on_rig.ranged(faster['both'])} | {ideal:.2f} | {gain['both'] / ideal:.2f} "
           f"| {published['bytes'] / both['bytes']:.0f} | {spent(published)} | {spent(vanilla)} | {spent(both)} |")
    return row, rate


def rig(bench, work):
    needs_rig()
    graph, epochs = option("graph", "reddit-small"), option("epochs", 5)
    head = ("| model | hosts x ranks | communication % | Mbit/s | published vanilla s | vanilla with savings x "
            "| published AdaQP x | AdaQP with savings x | ideal x | of the ideal | fewer bytes "
            "| published vanilla, % of an epoch | vanilla with savings | AdaQP with savings |")
    path = kept("savings")  # rows of earlier calls stay
    table = read_kept(path)
    rows = table.setdefault(graph, {})
    for model in option("models", "gcn,sage").split(","):
        for layout in option("layouts", "2x1,2x2,4x1").split(","):
            rate = 1000
            for share in (float(share) for share in option("shares", "66.8,75.2,78.2").split(",")):
                rows[f"{model} {layout} {share}"], rate = at_share(bench, work, model, layout, share, rate, epochs)
                keep(path, table)
    return ("Speed-ups over published vanilla on the network rig (medians over repeats by turns with their range where there is "
            "one, else one measurement): modes `lossless`, `adaqp-published` and `adaqp` over "
            "`vanilla`. The ideal leaves the greater of messages and everything else, the sum of the weight gradients "
            "among it; that is hidden too, so the ideal may be passed. Rows without a sum of weights count it in the rest."), markdown(
                head, rows.values())


def main():
    bench, graph = Bench("savings"), option("graph", "reddit-small")
    parts = option("parts", "graphs,alone,rig").split(",")
    with tempfile.TemporaryDirectory(prefix="fringe-savings-") as work:
        if "graphs" in parts:
            write_tables("Rows that need not travel", "`bench/run.sh savings --parts=graphs`.", *covers(bench, work),
                         *left(bench, work), *computing(bench, work))
        if "alone" in parts:
            write_tables(f"One rank with the savings, {graph}",
                         f"`bench/run.sh savings --parts=alone --graph={graph}`.", *alone(bench, graph))
        if "rig" in parts:
            write_tables(f"The savings on the network rig, {graph}",
                         f"`bench/run.sh savings --parts=rig --graph={graph}`.", *rig(bench, work))
    bench.end()


main()
