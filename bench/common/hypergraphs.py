"""The hypergraphs that streams are tried on, their pins, and the table of their cuts, tests/data/srp.tsv."""
import os
import sys

from figures import ROOT

SETS = {"walmart": "hg_walmart/hypergraph.hgr", "dblp-coauthor": "hg_dblp_coauthor/hypergraph.hgr",
        "cora-coauthor": "hg_cora_coauthor/hypergraph.hgr", "ibm01": "hg_ispd98/ibm01.hgr",
        "ibm10": "hg_ispd98/ibm10.hgr", "ibm14": "hg_ispd98/ibm14.hgr"}
TABLE, ALLOWED = os.path.join(ROOT, "tests", "data", "srp.tsv"), 1.05  # times what it says


def lines_of(hgr):
    with open(hgr) as file:
        return [line.split() for line in file if not line.startswith("%")]


def pins_of(hgr):
    """[hyperedges][pins], nodes from 0 on."""
    lines = lines_of(hgr)
    if len(lines[0]) > 2:
        sys.exit(f"{hgr}: hypergraphs with weights are not compared here")
    return [[int(word) - 1 for word in line] for line in lines[1:1 + int(lines[0][0])]]


def sizes_of(hgr):
    """Nodes and hyperedges."""
    hyperedges, nodes = lines_of(hgr)[0][:2]
    return int(nodes), int(hyperedges)


def table_rows():
    """{(set, parts, order, score): (replicas, connectivity - 1)}"""
    with open(TABLE) as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines][1:]
    return {(row[0], int(row[1]), row[2], row[3]): (int(row[4]), int(row[5])) for row in rows}
