"""Measures three pictures of docs/stream.md and draws them beside the others of the pages.

usage: bench/run.sh stream_pictures [--only=window,along,length] [--most=1000000] [--rounds=2]
smoke: --most=30000 --rounds=1

All streams are planted: a node belongs to one of many communities, a hyperedge to a random one, and each of its 2 to 10
pins is a node of that community with the probability `purity`, else any node. Ids, hyperedges and pins are in random
order, so that nothing but the pins tells of communities.

  stream-window  cut and replicas at the end of a stream against stream.window
  stream-along   replicas and balance in the snapshots along a stream, whose second half also deletes hyperedges
  stream-length  seconds of an event against the length of the stream, up to --most events, the least of --rounds
"""
import json
import math
import os
import random
import statistics
import tempfile

from figures import SMOKE, fringe, option, read_json, settings
from plots import COLOURS, Panel, Picture, legend, save, ticks
from streams import HYPEREDGE, NODE, NO_HYPEREDGE, by_hyperedges, planted, record, write

PARTS = 16


def by_nodes(pins, seed):
    """The same hypergraph, node by node in random order, each with the ids of its hyperedges."""
    of_node = {}
    for h, p in enumerate(pins):
        for v in p:
            of_node.setdefault(v, []).append(h)
    order = sorted(of_node)
    random.Random(seed).shuffle(order)
    return (record(NODE, v, of_node[v]) for v in order)


def with_deletions(pins, grows, seed):
    """Hyperedges arrive; behind the first `grows` of them, each arrival is followed by a deletion of a random one."""
    rng, there = random.Random(seed), []
    for h, p in enumerate(pins):
        yield record(HYPEREDGE, h, p)
        there.append(h)
        if h >= grows:
            i = rng.randrange(len(there))
            there[i], there[-1] = there[-1], there[i]
            yield record(NO_HYPEREDGE, there.pop())


def run(source, folder, *words):
    """What the stream has come to."""
    done = fringe("stream", source, "-o", folder, "--parts", PARTS, "--json", "--quiet", *settings(words))
    return json.loads(done.stdout)


# ---- 1: cut against the window

WINDOWS = [0, 64] if SMOKE else [0, 16, 64, 256, 1024, 4096, 16384]
WINDOW_VARIANTS = [("hyperedges", "marginal"), ("hyperedges", "thesis"), ("nodes", "marginal"), ("nodes", "fennel")]
WINDOW_WORDS = {"hyperedges": "hyperedges arrive with all pins", "nodes": "nodes arrive with their hyperedges"}


def window(folder):
    nodes, hyperedges, communities, purity, seeds = (200, 200, 8, 0.8, 1) if SMOKE else (20000, 20000, 64, 0.8, 5)
    found = {variant: [[] for _ in range(len(WINDOWS) + 1)] for variant in WINDOW_VARIANTS}
    for seed in range(seeds):
        pins = list(planted(nodes, hyperedges, communities, purity, seed))
        source = {"hyperedges": write(os.path.join(folder, "h.events"), by_hyperedges(pins)),
                  "nodes": write(os.path.join(folder, "v.events"), by_nodes(pins, seed))}
        for variant in WINDOW_VARIANTS:
            keys = [[f"stream.window={size}", "stream.refine=during"] for size in WINDOWS] + [[]]
            for each, more in zip(found[variant], keys):
                each.append(run(source[variant[0]], f"{folder}/w", f"stream.score={variant[1]}", *more))

    def mean(outcomes, value):
        return statistics.mean(map(value, outcomes))

    for variant in WINDOW_VARIANTS:
        print(variant, [f"{100 * mean(each, lambda o: o['cut_share']):.1f} % "
                    f"{mean(each, lambda o: o['replicas'] / o['nodes']):.3f}" for each in found[variant]], flush=True)
    p = Picture("stream-window", "Cut and replicas at the end of a stream against the size of the window", 940, 440)
    x = ("stream.window, nodes", [(max(size, 4), str(size) if size else "none") for size in WINDOWS])
    most = max(mean(each, lambda o: o["replicas"] / o["nodes"]) for variant in WINDOW_VARIANTS for each in found[variant])
    least = min(mean(each, lambda o: o["cut_share"]) for variant in WINDOW_VARIANTS for each in found[variant])
    shares = [(n, str(n)) for n in range(math.floor(20 * least) * 5, 101, 5)]
    for left, title, label, steps, value in [
            (70, "Cut hyperedges", "% of all hyperedges", shares, lambda o: 100 * o["cut_share"]),
            (545, "Replicas", "replicas per node", ticks(most), lambda o: o["replicas"] / o["nodes"])]:
        panel = Panel(p, left, title, x, (label, steps), log_x=True)
        for colour, variant in zip(COLOURS, WINDOW_VARIANTS):
            panel.curve([(n, mean(each, value)) for (n, _), each in zip(x[1], found[variant])], colour)
            panel.ring(4096, mean(found[variant][-1], value), colour)
    legend(p, 380, [(colour, False, f"{WINDOW_WORDS[kind]}, {score}")
                    for colour, (kind, score) in zip(COLOURS, WINDOW_VARIANTS)])
    p.circle(63, 416, 6, "page", "ink", weight=2)
    p.text(84, 420, "the same colours: stream.refine=both, the default, with a window of 4096", 11.5, anchor="start")
    save(p)


# ---- 2: along a stream

ALONG_VARIANTS = [("default: marginal, window, refined for the snapshot", []),
              ("marginal and window only", ["stream.refine=during"]),
              ("marginal only", ["stream.refine=none"]),
              ("thesis, window, refined for the snapshot", ["stream.score=thesis"])]


def snapshots(folder):
    """The figures of all snapshots, by the number of events."""
    found = []
    for name in os.listdir(os.path.join(folder, "snapshots")):
        found.append(read_json(os.path.join(folder, "snapshots", name, "stream.json")))
    return sorted((o for o in found if o["name"] != "final"), key=lambda o: o["events"])


def along(folder):
    nodes, hyperedges, communities, purity, grows, every = (500, 6000, 8, 0.9, 1000, 2000) if SMOKE else (
        20000, 60000, 64, 0.9, 40000, 4000)
    source = write(os.path.join(folder, "a.events"),
                   with_deletions(planted(nodes, hyperedges, communities, purity, 3), grows, 4))
    events = grows + 2 * (hyperedges - grows)
    found = []
    for words, keys in ALONG_VARIANTS:
        into = tempfile.mkdtemp(dir=folder)
        run(source, os.path.join(into, "s"), f"stream.snapshot_every={every}", *keys)
        found.append(snapshots(os.path.join(into, "s")))
        print(words, [f"{o['replicas'] / o['nodes']:.3f} {o['load_balance']:.3f}" for o in found[-1]], flush=True)
    p = Picture("stream-along", "Replicas and balance in the snapshots along a stream", 940, 430)
    x = ("thousands of events", [(1000 * t, str(t)) for t in range(0, events // 1000 + 1, 10)])
    most = max(o["replicas"] / o["nodes"] for each in found for o in each)
    load = max(o["load_balance"] for each in found for o in each)
    top = math.ceil((load - 1) * 20 + 0.01) / 20
    steps = [i * top / 5 for i in range(6)]
    for left, title, y, value in [
            (70, "Replicas", ("replicas per node", ticks(most)), lambda o: o["replicas"] / o["nodes"]),
            (545, "Balance", ("pins of the largest part / mean", [(1 + s, f"{1 + s:.2f}") for s in steps]),
             lambda o: o["load_balance"])]:
        panel = Panel(p, left, title, x, y)
        at = panel.at(grows, y[1][0][0])[0]
        p.path([(at, panel.top), (at, panel.top + panel.height)], colour="grey", dashed=True)
        p.text(at + 5, panel.top + 12, "deletions begin", 10, "grey", "start")
        for colour, each in reversed(list(zip(COLOURS, found))):
            panel.curve([(o["events"], value(o)) for o in each], colour)
    legend(p, 380, [(colour, False, words) for colour, (words, _) in zip(COLOURS, ALONG_VARIANTS)])
    save(p)


# ---- 3: seconds of an event against the length of the stream

LENGTH_VARIANTS = [("default: marginal, window of 4096 nodes", ["stream.refine=during"]),
               ("marginal only", ["stream.refine=none"])]


def fastest(source, folder, rounds, keys):
    return min((run(source, f"{folder}/l", *keys) for _ in range(rounds)), key=lambda o: o["seconds"])


def length(folder):
    most, rounds, found = option("most", 1000000), option("rounds", 2), [[] for _ in LENGTH_VARIANTS]
    lengths = [n for power in range(4, 8) for n in (10 ** power, 3 * 10 ** power) if n <= most]
    for events in lengths:  # nodes grow with the stream, so that degrees stay the same
        pins = planted(events, events, events // 1000, 0.9, 5)
        source = write(os.path.join(folder, "l.events"), by_hyperedges(pins))
        for each, (words, keys) in zip(found, LENGTH_VARIANTS):
            each.append(fastest(source, folder, rounds, keys))
            o = each[-1]
            print(f"{events} events, {words}: {1e6 * o['seconds'] / o['events']:.3g} us, p99 "
                  f"{o['event_p99_us']:.3g} us, p99.9 {o['event_p999_us']:.3g} us, longest "
                  f"{o['event_longest_us']:.3g} us, {o['pins'] / o['seconds'] / 1e6:.3g} M pins/s, "
                  f"{o['bytes'] / o['pins']:.3g} B per pin", flush=True)
    p = Picture("stream-length", "Time of an event and memory against the length of the stream", 940, 420)
    x = ("events in the stream", [(n, f"{n / 1e6:g} M" if n >= 1e6 else f"{n // 1000} k") for n in lengths])
    words = {0.1: "0.1 µs", 1: "1 µs", 10: "10 µs", 100: "100 µs", 1000: "1 ms", 10000: "10 ms", 100000: "100 ms"}
    panel = Panel(p, 80, "Time of one event", x, ("", list(words.items())), log_x=True, log_y=True)
    for colour, each in zip(COLOURS, found):
        panel.curve([(n, 1e6 * o["seconds"] / o["events"]) for n, o in zip(lengths, each)], colour)
        for key in "event_p50_us", "event_p99_us", "event_p999_us":
            panel.curve([(n, o[key]) for n, o in zip(lengths, each)], colour, dashed=True, dots=False)
    memory = max(o["bytes"] / o["pins"] for each in found for o in each)
    panel = Panel(p, 555, "Memory in use", x, ("bytes per pin, nodes and hyperedges included", ticks(memory)),
                  log_x=True)
    for colour, each in zip(COLOURS, found):
        panel.curve([(n, o["bytes"] / o["pins"]) for n, o in zip(lengths, each)], colour)
    legend(p, 380, [(colour, False, f"{name}; mean") for colour, (name, _) in zip(COLOURS, LENGTH_VARIANTS)]
           + [(colour, True, "50, 99 and 99.9 % of the events take at most this") for colour in COLOURS[:2]])
    save(p)


def main():
    only = option("only", "window,along,length").split(",")
    with tempfile.TemporaryDirectory() as folder:
        for picture in window, along, length:
            if picture.__name__ in only:
                picture(folder)


main()
