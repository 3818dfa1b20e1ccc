#!/usr/bin/env python3
"""Makes the three smallest data sets, which fringe ships with. Each shows one form of file.

club.txt       a graph, as an edge list: a club of 34 members that is about to split in two. Each half knows its leader
               (members 0 and 33), a few friends, and seldom somebody of the other half.
seven.hgr      a hypergraph of seven vertices and four hyperedges, as hMETIS writes it
seven.events   the same hypergraph as a stream of events, with one hyperedge that comes and goes

usage: make.py [FOLDER]        default: the folder of this script
"""
import os
import sys

MEMBERS, HALF = 34, 17
HYPEREDGES = [[1, 2, 3], [3, 4], [4, 5, 6, 7], [1, 7]]  # vertices count from 1


def club():
    edges = set()
    for member in range(MEMBERS):
        first = member // HALF * HALF  # of this half
        leader = 0 if first == 0 else MEMBERS - 1
        friends = {leader, first + (member * 5 + 3) % HALF, first + (member * 3 + 7) % HALF}
        if member % 6 == 2:
            friends.add((member + HALF) % MEMBERS)  # of the other half
        edges |= {(min(member, friend), max(member, friend)) for friend in friends if friend != member}
    return sorted(edges)


def write(folder, name, lines):
    with open(os.path.join(folder, name), "w") as out:
        out.write("".join(line + "\n" for line in lines))


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    edges = club()
    write(folder, "club.txt", ["# Undirected graph: a club of 34 members", f"# Nodes: {MEMBERS} Edges: {len(edges)}"]
          + [f"{a} {b}" for a, b in edges])
    write(folder, "seven.hgr", ["% seven vertices", f"{len(HYPEREDGES)} 7"]
          + [" ".join(map(str, pins)) for pins in HYPEREDGES])
    write(folder, "seven.events", ["fringe-stream 1", "# the hypergraph of seven.hgr; ids count from 1"]
          + [f"+h {h} " + " ".join(map(str, pins)) for h, pins in enumerate(HYPEREDGES[:2], 1)]
          + ["+h 9 2 5            # comes ...", "= early"]
          + [f"+h {h} " + " ".join(map(str, pins)) for h, pins in enumerate(HYPEREDGES[2:], 3)]
          + ["-h 9                # ... and goes"])


if __name__ == "__main__":
    main()
