#!/usr/bin/env python3
"""Writes the corpora of the fuzzers into FOLDER/NAME: the seeds, small sound files of every kind, and what fuzzers have
found (tests/fuzz/corpus). The build does; usage: seeds.py FOLDER"""
import gzip
import io
import itertools
import json
import os
import re
import shutil
import struct
import sys
import zipfile

HERE, CORPORA = os.path.dirname(os.path.abspath(__file__)), sys.argv[1]
if os.path.exists(CORPORA) and os.listdir(CORPORA) and not os.path.isdir(os.path.join(CORPORA, "npy")):
    sys.exit(f"{CORPORA} holds other files than corpora, which would be lost; name another folder")
shutil.rmtree(CORPORA, ignore_errors=True)
shutil.copytree(os.path.join(HERE, "corpus"), CORPORA)


def seed(name, what, data):
    os.makedirs(os.path.join(CORPORA, name), exist_ok=True)
    with open(os.path.join(CORPORA, name, "seed-" + what), "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)


# ---- npy

def npy(descr, shape, data, fortran=False, version=1):
    text = f"{{'descr': {descr!r}, 'fortran_order': {fortran}, 'shape': {shape!r}, }}"
    length = "<H" if version == 1 else "<I"
    head = 6 + 2 + struct.calcsize(length)
    text += " " * (-(head + len(text) + 1) % 16) + "\n"
    return b"\x93NUMPY" + bytes((version, 0)) + struct.pack(length, len(text)) + text.encode() + data


def pack(letter, *values, order="<"):
    return struct.pack(f"{order}{len(values)}{letter}", *values)


arrays = {
    "f2": npy("<f2", (3,), pack("e", 1, -0.5, 65504)),
    "f4": npy("<f4", (2, 2), pack("f", 1, 2, 3, 4)),
    "f4-big-fortran": npy(">f4", (2, 3), pack("f", 1, 2, 3, 4, 5, 6, order=">"), fortran=True),
    "f8": npy("<f8", (2,), pack("d", 1e300, float("nan"))),
    "i1": npy("|i1", (4,), pack("b", -1, 0, 1, 2)),
    "i2": npy("<i2", (2,), pack("h", -300, 300)),
    "i4": npy("<i4", (2, 2), pack("i", 0, 1, 2, 3)),
    "i8": npy("<i8", (3,), pack("q", 0, 4, 1)),
    "i8-scalar": npy("<i8", (), pack("q", 3)),
    "u1": npy("|u1", (1, 2, 2, 1), pack("B", 0, 1, 2, 3)),
    "u8": npy("<u8", (2,), pack("Q", 1, 2**64 - 1)),
    "u2-big": npy(">u2", (2,), pack("H", 1, 2, order=">")),
    "b1-version2": npy("|b1", (3,), b"\0\1\1", version=2),
    "U": npy("<U3", (2,), "abcdef".encode("utf-32-le"), version=3),
    "S": npy("|S2", (2,), b"abcd"),
    "empty": npy("<f4", (0, 3), b""),
    "trailing": npy("<i4", (1,), pack("i", 1) + b"more"),
    "object": npy("|O", (1,), b"\x80\x04K\x01."),
}
for name, data in arrays.items():
    seed("npy", name, data)

# ---- graphs and hypergraphs as texts

seed("metis", "plain", "% c\n4 3\n2\n1 3\n2 4\n3\n")
seed("metis", "all", "4 3 111 2\n1 1 2 2 5\n1 1 2 1 5 3 6\n2 1 2 2 6 4 7\n1 1 2 3 7\n")
seed("metis", "weights", "3 2 1\n2 0.5\n1 0.5 3 1e3\r\n2 1e3\n")
seed("metis", "isolated", "3 1 10\n1 2\n1 1\n7\n")
seed("hgr", "plain", "3 4\n1 2\n2 3 4\n4\n")
seed("hgr", "all", "% c\n3 4 11\n2 1 2\r\n0.5 2 3 4 2\n1e1 4\n7\n0\n% d\n2\n12\n")
seed("hgr", "vertices", "1 2 10\n1 2\n3\n4\nrest\n")

# ---- events

EVENTS = """+h 17 3 4 5 # a comment
+h 18446744073709551615 w=0.5 0 18446744073709551615
+h 2 w=3.40282347e+38
+v 9 17 2\r
+p 17 6
-p 17 3
-h 2
-v 9
= after-8.x_Y
"""
seed("events", "text", "fringe-stream 1\n" + EVENTS)
seed("events", "wrong-lines", "fringe-stream 1\n+h\n+x 1\n+h 1 w=-1 2\n\n= a b\n+v 1 99999999999999999999\n")


def record(op, id, others=(), weight=None, name=None):  # src/events/internal.h draws it
    flags = 0 if weight is None else 1
    words = pack("Q", *others)
    if name is not None:
        words = name.encode().ljust(-(-len(name) // 8) * 8, b"\0")
    body = b"" if weight is None else pack("f", weight)
    return struct.pack("<BBHIQ", op, flags, 0, len(words) // 8, id) + body + words


BINARY = b"FRNGSTRM" + pack("I", 1)  # the version
seed("events", "binary", BINARY + record(1, 17, (3, 4, 5)) + record(1, 2, (8,), weight=0.5) +
     record(2, 9) + record(3, 17, (6,)) + record(4, 17, (3,)) + record(5, 2) + record(6, 9) +
     record(7, 5, name="after"))
seed("events", "binary-cut", BINARY + record(1, 17, (3, 4, 5))[:-3])

seed("edges", "plain", "# SNAP\n0\t1\n1\t2\n7\t0\n")
seed("edges", "weights", "source,target,weight\n0,1,0.5\r\n1,2,1e-3\n2,30,7.25\n")
seed("edges", "undirected", "# Undirected graph\n0 1\n1 1\n2 0\n")
seed("edges", "sparse", "% ids with gaps\n3 10\n10 1000000007\n\n17 3")
seed("edges", "names", "from,to,amount\nann,\"b\"\"ob\",0.5\nbob,cy d,1\n\n// c\n")
seed("edges", "index", ";source;target;weight\n0;7;8;0,5\n1;8;-9;1,25\n")
seed("edges", "konect", "% sym weighted\n% 3 4 4\n1 2 0.5 100\n2 3 1 101\n")
seed("edges", "gephi", "Source,Target,Type,Id\na,b,Undirected,0\nb,c,Undirected,1\n")
seed("edges", "mark", "\ufeffsrc|dst\nx1|x2\n007|x1\n")
seed("nodes", "ids", "id,label,split,x,y\n3,a,train,0.5,1\n1,b,val,1,2\n0,,,3,4\n")
seed("nodes", "text", "name;y;set;note;z\na;p;q;testing;;0,5\nb;;none;w;1\n")
seed("nodes", "rows", "x,y\n0.5,1\n-1e3,2\n")
seed("nodes", "labels", "label\nred\n\"blue\"\nred\n")
seed("nodes", "several", "labels\na;b\n\nb\na;b;c\n")
seed("splits", "random", "\0" "0.6,0.2")
seed("splits", "random-several", "\1" ".7")
seed("splits", "per-class", "\2" "2,5,10")
seed("splits", "shchur", "\4" "2,3")
seed("pins", "plain", "# c\n0 10\n1 10\n3 11\n0 11\n")
seed("pins", "members", "# c\n0,10,7,\nanna,\"b c\"\n\n3\n")
seed("pins", "all", "node,hyperedge,weight,role\n0,10,0.5,s\n1,10,0.5,b\n3,11,2,t\n0,11,2,s\n")
seed("mtx", "pattern", "%%MatrixMarket matrix coordinate pattern symmetric\n% c\n3 3 2\n2 1\n3 3\n")
seed("mtx", "real", "%%MatrixMarket matrix coordinate real general\n\n3 3 3\n1 2 0.5\n2 1 0\n3 1 -1e3\n")
seed("mtx", "skew", "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 7\n")
seed("part", "nodes", "0\n3\n 1 \r\n2\n" + "0\n" * 3)
seed("part", "hyperedges", "0\n1\n2\n3")
seed("part", "outside", "0\n4\n-1\n")

# ---- JSON

seed("json", "all", json.dumps({"a": [1, -2.5e-3, True, False, None, "x\u00e9\n"], "b": {"c": {}, "d": []}}))
seed("json", "escapes", r'''["\u0041\ud83d\ude00", "\"\\\/\b\f\n\r\t", 9007199254740991, 0.1, 1e308]''')
seed("json", "deep", "[" * 30 + "0" + "]" * 30)
seed("json", "twice", '{"k": 1, "\\u006b": 2}')


def by_length(text, odd, nodes):  # fuzz_json_pull.c
    while len(text) % 2 != odd or 1 + len(text) // 2 % 7 != nodes:
        text += " "
    return text


seed("json_pull", "classes", by_length('{"0": 1, "2": 0, "1": 12}', 1, 3))
seed("json_pull", "from-one", by_length('{"1":1,"0":2}', 1, 2))
seed("json_pull", "lists", by_length('{"1": [0, 1, 1], "0": [1, 0, 0]}', 1, 2))
seed("json_pull", "roles", by_length('{"tr": [0, 2], "va": [1], "te": []}', 0, 4))

# ---- entropy codes, as src/codec/rans.h describes them


def leb128(number):
    return bytes((number,)) if number < 128 else bytes((number % 128 + 128, number // 128))


def rans(bits, zero, codes):
    counts = [codes.count(s) for s in range(1 << bits)]
    left = 4096 - sum(c > 0 for c in counts)
    f = [c and 1 + c * left // len(codes) for c in counts]
    f[counts.index(max(counts))] += 4096 - sum(f)
    table, states, passed = b"", [1 << 23] * 4, b""
    for frequency, run in itertools.groupby(f):
        run = len(list(run))
        table += leb128(frequency) * run if frequency else b"\0" + leb128(run)
    for i in reversed(range(len(codes))):
        x, s = states[i % 4], codes[i]
        while x >= f[s] << 19:
            x, passed = x >> 8, bytes((x % 256,)) + passed
        states[i % 4] = (x // f[s] << 12) + x % f[s] + sum(f[:s])
    return bytes((bits - 1, zero, len(codes), 1)) + table + pack("I", *states) + passed


seed("rans", "empty", bytes((3, 7, 0, 2)))
seed("rans", "zeros", bytes((3, 7, 200, 2)))
seed("rans", "equal", rans(4, 7, [9] * 99))
seed("rans", "ternary", rans(2, 1, ([1] * 30 + [0, 1, 2]) * 7))
seed("rans", "four-bits", rans(4, 7, [7, 8, 6, 7, 9, 7, 4, 7, 12, 8, 6] * 21))
seed("rans", "many", rans(8, 127, [(i * i + 31 * i) % 256 for i in range(253)]))
seed("rans", "cut", rans(8, 127, [(i * i + 31 * i) % 256 for i in range(253)])[:-1])

# ---- powers of two with a scale for each row, in entropy codes


def log(first, rows, columns, codes, bf16=False):
    bits, scales = 3 + first % 6, [2.0 ** (i - 3) for i in range(rows)]
    scales = b"".join(struct.pack("<f", s)[2 if bf16 else 0:] for s in scales)
    return bytes((first, rows - 1, columns - 1)) + scales + (rans(bits, 0, codes)[3:] if isinstance(codes, list) else codes)


seed("log", "zeros", log(0, 3, 40, b"\2"))
seed("log", "three-bits", log(0, 3, 40, [3, 3, 4, 2, 3, 6, 0, 3] * 15))
seed("log", "five-bits-bf16", log(128 + 6, 4, 50, [15, 16, 14, 15, 30, 0, 15, 20, 15, 15] * 20, bf16=True))
seed("log", "eight-bits", log(5, 2, 120, [(i * i + 31 * i) % 256 for i in range(240)]))
seed("log", "packed", log(0, 2, 9, b"\0" + bytes(range(10))))
seed("log", "cut", log(0, 3, 40, [3, 3, 4, 2, 3, 6, 0, 3] * 15)[:-1])

# ---- values with keys, as src/codec/keys.h describes them


def ascending(places):
    sizes, differences, before = 0, b"", -1
    for k, place in enumerate(places):
        difference, before = place - before - 1, place
        size = max(1, (difference.bit_length() + 7) // 8)
        sizes |= (size - 1) << 2 * k
        differences += difference.to_bytes(size, "little")
    return sizes.to_bytes((len(places) + 3) // 4, "little") + differences


def keys(n, values):
    floats = struct.pack(f"<{len(values)}f", *(values[place] for place in sorted(values)))
    return struct.pack("<HI", n, len(values)) + floats + ascending(sorted(values))


seed("keys", "empty", bytes(2))
seed("keys", "zeros", keys(200, {}))
seed("keys", "dense", keys(9, {i: i - 9.5 for i in range(9)}))
seed("keys", "sparse", keys(300, {i * i: 1 / (i + 1) for i in range(17)}))
seed("keys", "far", keys(60000, {3: 1.5, 4: -2, 700: 3e30, 59999: 1e-40}))
seed("keys", "longer", keys(300, {i * i: 1 / (i + 1) for i in range(17)}) + b"\0")
seed("keys", "cut", keys(300, {i * i: 1 / (i + 1) for i in range(17)})[:-1])

# ---- sketches, as src/codec/sketch.h describes them; the first byte as in fuzz_sketch.c


def numbers(bits, of):
    packed = sum(number << i * bits for i, number in enumerate(of))
    return b"\0" + packed.to_bytes((len(of) * bits + 7) // 8, "little") if of and bits else b""


def sketch(options, n, form, negative, positive, rest):
    levels = [-b - 1.5 for b in reversed(range(negative))] + [b + 1.5 for b in range(positive)]
    return (struct.pack("<BHBBB", options, n, form, negative, positive) + struct.pack(f"<{len(levels)}f", *levels)
            + rest)


def key_lists(lists, cells):
    return struct.pack(f"<{1 + len(lists)}I", 99, *map(len, lists)) + b"".join(map(ascending, lists)) + cells


# two lists of 24 and 30 keys, of three buckets each, in 3 tables of as many bins as keys
two = [list(range(1, 97, 4)), list(range(3, 180, 6))]
seed("sketch", "empty", bytes(3))
seed("sketch", "zeros", sketch(0, 200, 0, 0, 0, b""))
seed("sketch", "dense", sketch(0, 90, 0, 3, 2, numbers(3, [i % 6 for i in range(90)])))
seed("sketch", "many", sketch(1, 300, 0, 127, 127, numbers(8, [i * 7 % 255 for i in range(300)])))
coded = rans(3, 3, [3, 3, 4, 3, 2, 3, 5, 3, 0, 3] * 20)[3:]
seed("sketch", "entropy", sketch(16, 200, 0, 3, 3, coded))
seed("sketch", "keys", sketch(0, 200, 1, 3, 3, key_lists(two, numbers(2, [i % 3 for i in range(3 * 54)]))))
single = [[i, i + 70, i + 300] for i in range(6)]
seed("sketch", "groups", sketch(2 + 32, 1000, 1, 3, 3, key_lists(single, b"")))
cells = rans(2, 0, [i % 4 == 1 for i in range(2 * 16)])[3:]
seed("sketch", "entropy-keys", sketch(4 + 8 + 16, 200, 1, 3, 3, key_lists(two[:1] + [two[1][:25]], cells)))
seed("sketch", "cut", sketch(0, 90, 0, 3, 2, numbers(3, [i % 6 for i in range(90)]))[:-1])
seed("sketch", "twice", sketch(0, 200, 1, 3, 3, key_lists([two[0]] * 2, numbers(2, [1] * 144))))

# ---- safetensors


def tensors(header, data, text=None):
    text = (text or json.dumps(header)).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def tensor(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


seed("safetensors", "all", tensors({
    "__metadata__": {"format": "pt"}, "w": tensor("F32", [2, 2], 0, 16), "d": tensor("F64", [1], 16, 24),
    "i": tensor("I32", [1, 1, 1], 24, 28), "b": tensor("BF16", [2], 28, 32), "l": tensor("I64", [], 32, 40),
    "u": tensor("U8", [3], 40, 43), "e": tensor("F32", [0, 5], 43, 43)}, bytes(range(43))))
seed("safetensors", "unaligned", tensors({"u": tensor("U8", [1], 0, 1), "w": tensor("F32", [2], 1, 9)}, b"\0" * 9))
seed("safetensors", "overlap", tensors({"a": tensor("U8", [4], 0, 4), "b": tensor("U8", [4], 2, 6)}, b"\0" * 6))

# ---- npz


def npz(members, method=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for key, data in members.items():
            archive.writestr(zipfile.ZipInfo(key + ".npy"), data, method)
    return file.getvalue()


graph = {"adj_data": npy("<f4", (3,), pack("f", 1, 1, 1)), "adj_indices": npy("<i4", (3,), pack("i", 1, 0, 2)),
         "adj_indptr": npy("<i4", (4,), pack("i", 0, 1, 3, 3)), "adj_shape": npy("<i8", (2,), pack("q", 3, 3)),
         "attr_matrix": npy("<f4", (3, 1), pack("f", 1, 2, 3)), "labels": npy("<i8", (3,), pack("q", 0, 1, 1))}
pairs = {"edge_index": npy("<i8", (2, 2), pack("q", 0, 1, 1, 2)), "y": npy("|u1", (3, 2), bytes((0, 1, 1, 1, 0, 0)))}
hyper = {"num_nodes": npy("<i8", (), pack("q", 4)), "node": npy("<i4", (4,), pack("i", 0, 1, 1, 3)),
         "hyperedge": npy("<i4", (4,), pack("i", 0, 0, 1, 1)), "hyperedge_weight": npy("<f4", (2,), pack("f", 1, 2))}
seed("npz", "graph", npz(graph))
seed("npz", "graph-deflated", npz(graph, zipfile.ZIP_DEFLATED))
seed("npz", "pairs", npz(pairs, zipfile.ZIP_DEFLATED))
seed("npz", "hypergraph", npz(hyper))
seed("npz", "one", npz({"x": arrays["i8"]}))
seed("npz", "method", npz({"x": arrays["i8"]}, zipfile.ZIP_BZIP2))
seed("npz", "empty", npz({}))

# ---- tables of ogb, plain and in gzip; the tenth byte says which table it is (fuzz_csv.c)

COUNT, EDGES, FEATURES, CLASS, CLASSES = range(5)


def table(name, kind, text):
    packed = bytearray(gzip.compress(text.encode(), 9, mtime=0))
    packed[9] = kind
    seed("csv", name + ".gz", bytes(packed))
    plain = bytearray(text.encode())
    while len(plain) < 10 or plain[9] % 5 != kind:  # blanks move another byte to that place
        plain = bytearray(b" ") + plain
        if len(plain) > len(text) + 60:
            return
    seed("csv", name, bytes(plain))


table("count", COUNT, "12345\n")
table("edges", EDGES, "0,1\n3,7\n2,2\r\n" + "0,5\n" * 30)
table("features", FEATURES, "0.5,-1e-3\n" * 7 + "1.0000000000000001,3.4e38\n")
table("class", CLASS, "3\n\nnan\n0.0\n1e1\n-1\n7\n3\n")
table("classes", CLASSES, "0,1,1.0\n" * 8)
table("classes-of-two", CLASSES, "0,1,2.0\n" * 8)
two = gzip.compress(b"0,1\n", mtime=0) + gzip.compress(b"1,2\n", mtime=0)
seed("csv", "two-members.gz", two[:9] + bytes((EDGES,)) + two[10:])
seed("csv", "cut.gz", two[:9] + bytes((EDGES,)) + two[10:-9])

# ---- configs and manifests of checkpoints

seed("config", "all", json.dumps({
    "$schema": "x", "mode": "adaqp",
    "data": {"path": "cora/cora.npz", "format": "npz", "split_keys": ["a", "b", "c.npy"], "undirected": True,
             "transforms": ["symmetrize", "random:8", "row-normalize"]},
    "partition": {"method": "file:x", "seed": 1, "balance": ["train"]}, "stream": {"passes": 2, "epsilon": 0.1},
    "model": {"layer": "gcn", "layers": 3, "hidden": [16, 16], "post": ["dropout", "norm", "activation"]},
    "train": {"epochs": 3, "betas": [0.9, 0.99], "weight_decay": [0.0005, 0]},
    "quantization": {"bits": [2, 4, 8], "lambda": 0.5}, "comm": {"timeout": 10}, "run": {"dir": "r"}}))
seed("config", "mistakes", json.dumps({
    "mode": "vanila", "data": {"pth": 1, "undirected": 3, "transforms": ["symetrize"]}, "modle": {}, "lr": 0.1,
    "model": {"layers": -1, "hidden": [1, 2, 3], "post": ["norm", "norm"]}, "train": 7, "epochs": {"a": 1},
    "quantization": {"bits": [8, 2]}, "train.epochs": "many", "comm": {"overlap": True}}))
seed("config", "together", json.dumps({
    "model": {"layers": 3, "hidden": [1, 2, 3], "post": ["norm", "norm"]},
    "train": {"betas": [0.9], "weight_decay": [0, 0, 0, 0]}, "data": {"split_keys": ["a"]},
    "quantization": {"bits": [8, 2], "initial_bits": 9, "link": [1], "time": "hidden"}}))
seed("config", "nothing", json.dumps({"quantization": {"bits": [], "link": [1]}, "model": {"post": []}}))
seed("config", "types", json.dumps({
    "model": {"layers": None, "hidden": {}, "post": [1], "bias": 1, "dropout": "x"}, "data": {"path": "x" * 600},
    "train": {"lr": 1e308, "epochs": 1.5, "betas": [0, 0] * 9}, "comm": {"timeout": []}, "run": {"dir": True},
    "messages": {"widths": [2]}, "commm": {}, "dropout": 1, "train.rate": 1, "zzzzzzzzzzzzzz": 0, "data.zq": 1}))
seed("config", "list", "[]")
for name in "cora-gcn", "adaqp-yelp-sage":
    seed("config", name, open(os.path.join(HERE, "..", "..", "configs", name + ".json")).read())
metrics = {"loss": 0.5, "accuracy": 0.75, "micro_f1": 0.75, "macro_f1": None, "rows": 12}
hashes = [{"name": name + ".safetensors", "hash": letter * 32} for name, letter in
          (("model", "a"), ("best", "b"), ("optimizer", "0"))]
manifest = {
    "format": "fringe-checkpoint", "version": 2, "config": {"model": {"layer": "gcn"}, "train": {"lr": 0.01}},
    "data": "1" * 32, "parts": {"count": 2, "hash": "2" * 32}, "seed": 7, "weights": None, "epoch": 4,
    "best_epoch": 2, "stale_evaluations": 1, "best_score": 0.75, "best_metrics": [metrics] * 4,
    "last_metrics": [metrics] * 4, "backend": {"name": "cpu", "spmm": None}, "files": hashes, "checksum": "0" * 32}


def sealed(document):  # of odd length, so that fuzz_manifest.c seals it
    text = json.dumps(document, separators=(",", ": "))
    seed("manifest", "v%d" % document["version"] + ("-weights" if document["weights"] else ""),
         text if len(text) % 2 == 1 else text + "\n")


sealed(manifest)
sealed(dict(manifest, weights={"path": "w", "hash": "3" * 32}, best_epoch=0, best_score=-1))
sealed(dict(manifest, version=3))

# ---- arrays of which fuzz_arrays.c makes archives

source = open(os.path.join(HERE, "fuzz_arrays.c")).read()
KEYS = re.findall(r'"(\w+)"', source[source.index("keys[]"):source.index("};", source.index("keys[]"))])
LETTERS = {"f4": (0, "f"), "i4": (1, "i"), "i8": (2, "q"), "u1": (3, "B"), "b1": (4, "B"), "f8": (5, "d"), "S3": (9, "B")}


def array(key, kind, shape, *values):
    number, letter = LETTERS[kind]
    return bytes((KEYS.index(key), number, len(shape), *shape)) + pack(letter, *values)


path3 = (array("adj_data", "f4", (4,), 1, 1, 1, 1) + array("adj_indices", "i4", (4,), 1, 0, 2, 1) +
         array("adj_indptr", "i8", (4,), 0, 1, 3, 4) + array("adj_shape", "i8", (2,), 3, 3))
dense = array("attr_matrix", "f4", (3, 2), 1, 2, 3, 4, 5, 6) + array("labels", "i8", (3,), 0, 1, 1)
masks = array("train_mask", "b1", (3,), 1, 0, 0) + array("val_mask", "b1", (3,), 0, 1, 0) + array("test_mask", "b1", (3,), 0, 0, 1)
lists = array("train_idx", "i4", (1,), 0) + array("val_idx", "i4", (1,), 1) + array("test_idx", "i4", (1,), 2)
sparse = (array("attr_data", "f4", (2,), 1, 2) + array("attr_indices", "i4", (2,), 0, 1) +
          array("attr_indptr", "i4", (4,), 0, 1, 1, 2) + array("attr_shape", "i8", (2,), 3, 2))
pyg = array("edge_index", "i8", (2, 3), 0, 1, 2, 1, 2, 2) + array("x", "f4", (3, 1), 1, 2, 3) + array("y", "u1", (3, 2), 0, 1, 1, 0, 0, 0)
csr = (array("data", "f4", (2,), 1, 0.5) + array("indices", "i4", (2,), 1, 2) + array("indptr", "i4", (4,), 0, 1, 2, 2) +
       array("shape", "i8", (2,), 3, 3))
csc = csr + array("format", "S3", (), *b"csc")
coo = (array("row", "i4", (2,), 1, 0) + array("col", "i4", (2,), 0, 2) + array("data", "f8", (2,), 1, 1) +
       array("shape", "i8", (2,), 3, 3) + array("format", "S3", (), *b"coo"))
pins = array("hyperedge_index", "i8", (2, 4), 0, 1, 1, 2, 0, 0, 1, 1) + array("hyperedge_weight", "f4", (2,), 1, 2)
roles = (array("num_nodes", "i8", (), 3) + array("node", "i4", (3,), 0, 1, 2) + array("hyperedge", "i4", (3,), 0, 0, 1) +
         array("role", "u1", (3,), 1, 3, 2) + array("node_weight", "i4", (3,), 1, 1, 2))
many = array("train_mask", "b1", (3, 2), 1, 0, 0, 1, 0, 0)
for what, reader, parts in (("benchmark", 0, path3 + dense + masks), ("benchmark-sparse", 0, path3 + sparse + lists),
                            ("pyg", 0, pyg + array("train_idx", "i4", (1,), 0)), ("pyg-undirected", 128, pyg + many),
                            ("csr", 0, csr + dense), ("csc", 0, csc), ("pins", 0, pins), ("roles", 0, roles + dense),
                            ("matrix-csr", 1, csr), ("matrix-coo", 1, coo),
                            ("weights", 0, pyg + array("edge_weight", "f4", (3,), 1, 2, 3))):
    seed("arrays", what, bytes((reader,)) + parts)
