"""The files of the tests of `fringe stream`: streams, the features of their nodes, and what must be left of them.

usage: streams.py EVENTS    writes into the current folder
    marked.events  marked.twin  a stream with snapshots `half`, `late`, `half`, as text and as its binary twin
    plain.events                the same without snapshots
    nodes.npz                   features, labels and splits of all nodes
    left.json                   node ids, and pins by hyperedge id, at each snapshot and at the end
"""
import json
import os
import random
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.environ["FRINGE_SOURCE"], "python"))
import fringe

GROUPS, NODES = 8, 1200
FIRST_NODE, FIRST_HYPEREDGE = 10**12, 2**63  # ids are neither small nor signed


class Hypergraph:
    """By definition: sets of ids."""

    def __init__(self):
        self.nodes, self.pins = set(), {}

    def add(self, hyperedge, pins):
        self.pins.setdefault(hyperedge, set()).update(pins)
        self.nodes.update(pins)

    def remove_pin(self, hyperedge, node):
        self.pins[hyperedge].discard(node)
        if not self.pins[hyperedge]:
            del self.pins[hyperedge]

    def remove_node(self, node):
        for hyperedge in [h for h, pins in self.pins.items() if node in pins]:
            self.remove_pin(hyperedge, node)
        self.nodes.discard(node)

    def left(self):
        return {"nodes": sorted(self.nodes), "pins": {h: sorted(pins) for h, pins in sorted(self.pins.items())}}


def pick(chance, group):
    """A node of the group, now and then of another one."""
    group = group if chance.random() < 0.9 else chance.randrange(GROUPS)
    return FIRST_NODE + group * (NODES // GROUPS) + chance.randrange(NODES // GROUPS)


def happenings(count, graph, chance):
    """Events of all kinds, each applied to `graph` before it is given."""
    for number in range(count):
        group, new = chance.randrange(GROUPS), FIRST_HYPEREDGE + number
        draw = chance.random()
        old = chance.randrange(number) + FIRST_HYPEREDGE if number else None
        if draw < 0.08 and old in graph.pins:
            graph.pins.pop(old)
            yield "-h", old
        elif draw < 0.14 and old in graph.pins:
            node = min(graph.pins[old])
            graph.remove_pin(old, node)
            yield "-p", old, node
        elif draw < 0.2 and old in graph.pins:
            node = pick(chance, group)
            graph.add(old, [node])
            yield "+p", old, node
        elif draw < 0.202 and graph.nodes:
            node = pick(chance, group)
            if node in graph.nodes:
                graph.remove_node(node)
                yield "-v", node
        elif draw < 0.3:
            node = pick(chance, group)
            graph.add(new, [node])
            yield "+v", node, [new]
        else:
            pins = list({pick(chance, group) for _ in range(chance.randint(2, 8))})
            graph.add(new, pins)
            yield ("+h", new, pins, chance.choice([0.5, 0.1, 3])) if draw < 0.35 else ("+h", new, pins)


def write_streams(count):
    graph, marked, left = Hypergraph(), [], {}
    marks = {count // 2: "half", count * 5 // 8: "late", count * 7 // 8: "half"}
    for number, event in enumerate(happenings(count, graph, random.Random(1))):
        marked.append(event)
        if number in marks:
            left[marks[number] + ("-2" if marks[number] in left else "")] = graph.left()
            marked.append(("=", marks[number]))
    left["final"] = graph.left()
    fringe.write_events("marked.events", marked)
    fringe.write_events("marked.twin", marked, binary=True)
    fringe.write_events("plain.events", (event for event in marked if event[0] != "="))
    with open("left.json", "w") as f:
        json.dump(left, f)


def write_nodes():
    chance = np.random.default_rng(2)
    row = chance.permutation(NODES)
    label = row // (NODES // GROUPS)
    features = np.eye(GROUPS)[label] + chance.standard_normal((NODES, GROUPS))
    ids = (FIRST_NODE + row).astype(np.uint64)
    np.savez("nodes.npz", ids=ids, features=features.astype(np.float32), labels=label, train_ids=ids[:600],
             val_ids=ids[600:800], test_ids=ids[800:])


write_streams(int(sys.argv[1]))
write_nodes()
