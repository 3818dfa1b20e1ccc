#!/usr/bin/env python3
"""Makes the graph villages, which fringe ships with: `fringe train villages`.

480 people live in 8 villages. A person's features are those of the village and much noise; who a person knows tells
the village better: most acquaintances live there, some elsewhere. A classifier of the features alone is right for
about half of the people.

usage: make.py [FOLDER]        default: the folder of this script
"""
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../python"))
import fringe

VILLAGES, PEOPLE, FEATURES, FRIENDS, ABROAD, SIGNAL, SEED = 8, 60, 8, 5, 1, 0.75, 1


def make():
    random = np.random.default_rng(SEED)
    nodes = VILLAGES * PEOPLE
    village = random.permutation(np.repeat(np.arange(VILLAGES), PEOPLE))
    same = village[:, None] == village[None, :]
    chance = np.where(same, FRIENDS / PEOPLE, ABROAD / (nodes - PEOPLE))
    pairs = np.argwhere(np.triu(random.random((nodes, nodes)) < chance, 1))
    means = SIGNAL * random.standard_normal((VILLAGES, FEATURES))
    features = np.round(64 * (means[village] + random.standard_normal((nodes, FEATURES)))) / 64
    order = random.permutation(nodes)
    masks = order[: nodes // 4], order[nodes // 4 : nodes // 2], order[nodes // 2 :]
    return pairs, features, village, masks


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else HERE
    fringe.write_dataset(folder, *make(), undirected=True, name="villages")
