"""How many parts other than its own read a row, for METIS parts of real graphs and of look-alikes.

usage: bench/run.sh multiplicity [--strict] [--sets=cora+reddit-like+...] [--parts=4,8]

The distribution is counted from the lists of halo rows in the shards that `fringe partition` writes: as often as a row
stands in the lists of other parts, it is read. Multiplicity is the mean over the rows that any other part reads; halo /
own, the remote-neighbour ratio, is the mean over all rows. Real graphs are looked for in FRINGE_DATA, and those that
are not there are left out, which is said. Bar of look-alikes with a wanted multiplicity: at most 10 % off for the
parts that it is wanted for. Writes bench/results/tables/multiplicity.json unless --sets or --parts is given.
smoke: --sets=cora+tiny --parts=2
"""
import array
import collections
import glob
import json
import os
import struct
import tempfile

from figures import Bench, fringe, markdown, option, write_json, write_tables

REAL = {"citeseer": "citeseer/citeseer.npz", "cora": "cora/cora.npz", "pubmed": "pubmed/pubmed.npz",
        "coauthor_cs": "coauthor_cs/ms_academic_cs.npz", "coauthor_physics": "coauthor_physics/ms_academic_phy.npz",
        "amazon_photo": "amazon_photo/amazon_electronics_photo.npz", "deezer_hu": "deezer_hu/deezer_hu.npz",
        "amazon_computers": "amazon_computers/amazon_electronics_computers.npz",
        "blogcatalog": "blogcatalog/blogcatalog.npz"}
ALIKE = ("products-small", "reddit-small", "yelp-small", "amazon-small", "dcsbm", "reddit-like")
WANTED = {"dcsbm:multiplicity=1.5": (1.5, 4), "dcsbm:multiplicity=2": (2, 4),
          "dcsbm:multiplicity=2,parts=8": (2, 8), "dcsbm:multiplicity=3,parts=8": (3, 8),
          "amazon-small:multiplicity=2": (2, 4), "yelp-small:multiplicity=2,parts=8": (2, 8)}
ALLOWED = 0.1
TITLE = "Readers of a row"


def config_of(name, work):
    """A config with the graph alone; "" if it is not there."""
    path = os.path.join(os.environ.get("FRINGE_DATA", ""), REAL.get(name, ""))
    if name in REAL and not os.path.isfile(path):
        print(f"{name}: left out; {path} is not there (FRINGE_DATA names the folder of the real sets)", flush=True)
        return ""
    if name not in REAL:
        path = os.path.join(work, "graph")
        fringe("generate", name, "-o", path)
    return write_json(os.path.join(work, "config.json"), {"data": {"path": path, "transforms": ["drop-loops", "symmetrize"]}})


def remote_rows(path):
    """Global ids of the halo rows of a shard."""
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        begin, end = json.loads(file.read(size))["forward.remote_gid"]["data_offsets"]
        file.seek(8 + size + begin)
        return array.array("q", file.read(end - begin))


def readers_of(config, parts, work):
    """[k]: how many rows k other parts read."""
    said = json.loads(fringe("partition", config, "--parts", parts, "--json", "--set",
                             f"data.cache={os.path.join(work, 'cache')}").stdout)
    times = collections.Counter()
    for shard in glob.glob(os.path.join(said["folder"], "part-*.safetensors")):
        times.update(remote_rows(shard))
    readers = collections.Counter(times.values())
    readers[0] = said["nodes"] - len(times)
    return [readers[k] for k in range(parts)]


def row_of(name, parts, readers):
    nodes, halo = sum(readers), sum(k * rows for k, rows in enumerate(readers))
    read = max(nodes - readers[0], 1)
    shares = [f"{100 * rows / nodes:.1f}" for rows in [*readers, 0, 0, 0][:4]] + [f"{100 * sum(readers[4:]) / nodes:.1f}"]
    return [name, str(parts), *shares, f"{halo / read:.2f}", f"{halo / nodes:.2f}", f"{halo / (halo + nodes):.2f}"]


HEAD = ["graph", "parts", "read by 0 %", "1 %", "2 %", "3 %", "4 … %", "multiplicity", "halo / own", "halo / (own + halo)"]


def measure(bench, names, all_parts):
    table = []
    for name in names:
        with tempfile.TemporaryDirectory() as work:
            config = config_of(name, work)
            for parts in all_parts if config else ():
                readers = readers_of(config, parts, work)
                table.append(row_of(name, parts, readers))
                print("  ".join(f"{cell:>{12 if i else 34}}" for i, cell in enumerate(table[-1])), flush=True)
                if WANTED.get(name, (0, 0))[1] == parts:
                    mean, wanted = float(table[-1][7]), WANTED[name][0]
                    bench.figure(name, mean, "readers", "wanted", wanted, abs(mean / wanted - 1), ALLOWED, at_most=True)
    return markdown(HEAD, table)


def main():
    bench = Bench("multiplicity")
    names, parts = option("sets", ""), option("parts", "")
    chosen = names.split("+") if names else [*REAL, *ALIKE, *WANTED]
    table = measure(bench, chosen, [int(k) for k in (parts or "4,8").split(",")])
    if not names and not parts:
        write_tables(TITLE, f"""
`bench/run.sh multiplicity`: how many parts other than its own read a row, for METIS parts. Multiplicity is the mean over
the rows that another part reads, halo / own (the remote-neighbour ratio) the mean over all rows. A multiplicity that a
look-alike is asked for is met within {100 * ALLOWED:.0f} % for its number of parts.""", table)
    bench.end()


main()
