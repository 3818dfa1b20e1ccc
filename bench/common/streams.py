"""Planted streams (docs/stream.md) in their binary form, for the benches."""
import array
import random
import struct

HYPEREDGE, NODE, NO_HYPEREDGE = 1, 2, 5


def record(kind, number, others=()):
    return struct.pack("<BBHIQ", kind, 0, 0, len(others), number) + array.array("Q", others).tobytes()


def planted(nodes, hyperedges, communities, purity, seed):
    """The pins of each hyperedge; nodes v, v + communities, ... are one community."""
    rng = random.Random(seed)
    draw, size = rng.random, nodes // communities
    for _ in range(hyperedges):
        arity, own, pins = 2 + int(draw() * 9), int(draw() * communities), set()
        while len(pins) < arity:
            pins.add(own + communities * int(draw() * size) if draw() < purity else int(draw() * nodes))
        yield rng.sample(sorted(pins), arity)


def write(path, records):
    with open(path, "wb") as out:
        out.write(b"FRNGSTRM" + struct.pack("<I", 1))
        out.writelines(records)
    return path


def by_hyperedges(pins):
    return (record(HYPEREDGE, h, p) for h, p in enumerate(pins))
