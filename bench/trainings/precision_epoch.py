"""What an epoch is made of in fp32 and in bf16, by turns on one rank: time of each kind of work, and memory.

usage: bench/run.sh precision_epoch [--strict] [--graph=reddit-small] [--models=gcn,sage] [--repeats=5] [--epochs=12]
                                    [--threads=2]
smoke: --models=gcn --repeats=1 --epochs=4

Medians over the repeats, of medians over epochs. The bars are those of reddit-small; docs/pictures/draw.py draws the
table. Memory is what the rank's allocator took.
"""
import statistics

from figures import Bench, look_alike, markdown, option, trained, write_tables

PRECISIONS = ("fp32", "bf16")
FASTER, MEMORY = {"gcn": 1.7, "sage": 1.75}, 0.6
KINDS = {"products": ["dense"], "aggregates": ["aggregate_own", "aggregate_halo"], "pointwise": ["pointwise"]}


def measured(graph, model, precision):
    """Milliseconds of an epoch and of each kind of work in it, and MiB."""
    run, epochs = trained(f"{graph}-{model}", f"run.precision={precision}", f"train.epochs={option('epochs', 12)}",
                          f"run.threads={option('threads', 2)}")
    spans = [epoch["time"] for epoch in epochs[2:]]

    def median(keys):
        return statistics.median(1000 * sum(span[key] for key in keys) for span in spans)

    found = {kind: median(keys) for kind, keys in KINDS.items()}
    found["epoch"] = median(["epoch"])
    found["rest"] = max(found["epoch"] - sum(found[kind] for kind in KINDS), 0)
    return {**found, "MiB": run["result"]["memory_taken"] / 2 ** 20}


def compare(bench, graph, model):
    """Rows of the table: one for each precision."""
    turns = [{precision: measured(graph, model, precision) for precision in (PRECISIONS, PRECISIONS[::-1])[turn % 2]}
             for turn in range(option("repeats", 5))]
    faster = [turn["fp32"]["epoch"] / turn["bf16"]["epoch"] for turn in turns]
    middle = {precision: {key: statistics.median(turn[precision][key] for turn in turns) for key in turns[0][precision]}
              for precision in PRECISIONS}
    gain, memory = statistics.median(faster), middle["bf16"]["MiB"] / middle["fp32"]["MiB"]
    bench.at_least(f"{model}: epoch, fp32 over bf16", gain, "x", 1, "bar", FASTER[model])
    bench.at_most(f"{model}: memory, bf16 of fp32", memory, "", 1, "bar", MEMORY)
    said = {"fp32": ["", ""], "bf16": [f"{gain:.2f} ({min(faster):.2f} to {max(faster):.2f})", f"{memory:.3f}"]}
    return [[f"{model}, {precision}", *(f"{middle[precision][key]:.1f}" for key in (*KINDS, "rest", "epoch")), *said[precision]]
            for precision in PRECISIONS]


def main():
    bench, graph = Bench("precision_epoch"), option("graph", "reddit-small")
    look_alike(graph)
    rows = [row for model in option("models", "gcn,sage").split(",") for row in compare(bench, graph, model)]
    write_tables("An epoch in fp32 and in bf16", f"`bench/run.sh precision_epoch --graph={graph} "
                 f"--threads={option('threads', 2)}`: milliseconds on one rank, medians of {option('repeats', 5)} turns; "
                 "rest: loss, optimizer, sums and bookkeeping.", markdown(
                     ["model", *KINDS, "rest", "epoch", "times as fast", "memory, of fp32's"], rows))
    bench.end()


main()
