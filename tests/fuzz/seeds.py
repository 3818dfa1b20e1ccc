#!/usr/bin/env python3
"""Writes the seeds of the fuzzers, small sound files of every kind, into tests/fuzz/corpus/NAME. They
are committed; run this only after a change here. Other files of a corpus (found-*) are left alone."""
import gzip
import io
import json
import os
import struct
import zipfile

corpus = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")


def seed(name, what, data):
    os.makedirs(os.path.join(corpus, name), exist_ok=True)
    with open(os.path.join(corpus, name, "seed-" + what), "wb") as file:
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
