"""Streams of events, which `fringe stream` follows and `fringe train` reads.

SPDX-License-Identifier: Apache-2.0
"""
import operator
import re
import struct
from typing import Any, Iterable, Tuple

import numpy as np

KINDS = {"+h": 1, "+v": 2, "+p": 3, "-p": 4, "-h": 5, "-v": 6, "=": 7}  # the numbers of the binary form
FORMS = {"+h": '("+h", H, [V, ...]) or ("+h", H, [V, ...], weight)', "+v": '("+v", V) or ("+v", V, [H, ...])',
         "+p": '("+p", H, V)', "-p": '("-p", H, V)', "-h": '("-h", H)', "-v": '("-v", V)', "=": '("=", NAME)'}
LONGEST_EVENT = 1 << 26  # bytes


def _id(value):
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{value!r} is not an id (a whole number)") from None
    if not 0 <= number < 1 << 64:
        raise ValueError(f"{number} is not an id (0 to 18446744073709551615)")
    return number


def _weight(value):
    with np.errstate(over="ignore"):
        weight = np.float32(value)
    if not (np.isfinite(weight) and weight >= 0):
        raise ValueError(f"the weight {value} is not a number from 0 to 3.4e38")
    return weight


def _event(event):
    """The kind of an event, its ids, and its weight or None; of a snapshot the name stands for the ids."""
    kind, *rest = event
    least, most = {"+h": (2, 3), "+v": (1, 2), "+p": (2, 2), "-p": (2, 2)}.get(kind, (1, 1))
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is none of the kinds {', '.join(KINDS)}")
    if not least <= len(rest) <= most:
        raise ValueError(f"the form is {FORMS[kind]}")
    if kind == "=":
        if not re.fullmatch(r"(?!\.)[A-Za-z0-9._-]{1,64}", str(rest[0])):
            raise ValueError(f"{rest[0]!r} cannot name a snapshot; a name has 1 to 64 of A-Z a-z 0-9 . _ - and does not "
                             "begin with a dot")
        return kind, str(rest[0]), None
    weight = _weight(rest.pop()) if len(rest) == 3 else None
    others = rest[1:] if kind[1] == "p" else [] if len(rest) == 1 else rest[1]
    ids = [_id(rest[0]), *map(_id, others)]
    if kind == "+h" and len(ids) == 1 and weight is None:
        raise ValueError("'+h' with neither pins nor a weight")
    return kind, ids, weight


def _line(kind, ids, weight):
    words = [ids] if kind == "=" else [str(id) for id in ids]
    return (" ".join([kind, *words[:1], *([] if weight is None else ["w=" + str(weight)]), *words[1:]]) + "\n").encode()


def _record(kind, ids, weight):
    """u8 kind, u8 1 if a weight follows, u16 0, u32 count, u64 first id, f32 weight, count u64 ids; little-endian."""
    if kind == "=":
        name = ids.encode() + b"\0" * (-len(ids) % 8)
        return struct.pack("<BBHIQ", 7, 0, 0, len(name) // 8, len(ids)) + name
    head = struct.pack("<BBHIQ", KINDS[kind], weight is not None, 0, len(ids) - 1, ids[0])
    return head + (b"" if weight is None else struct.pack("<f", weight)) + struct.pack(f"<{len(ids) - 1}Q", *ids[1:])


def write_events(path: str, events: Iterable[Tuple[Any, ...]], binary: bool = False) -> None:
    """Writes a stream that `fringe stream` follows and `fringe train` reads, as text or as its binary twin; path may be a
    FIFO. Ids are whole numbers from 0 to 2^64 - 1, of nodes and of hyperedges apart. events: any number of

    ("+h", H, [V, ...])     hyperedge with pins; a fourth entry is its weight   ("+v", V, [H, ...])  node with hyperedges
    ("+p", H, V)            one pin                                             ("-p", H, V)         one pin less
    ("-h", H)               hyperedge gone, its pins too                        ("-v", V)            node gone
    ("=", NAME)             write a snapshot
    """
    with open(path, "wb") as f:
        f.write(b"FRNGSTRM" + struct.pack("<I", 1) if binary else b"fringe-stream 1\n")
        for number, event in enumerate(events):
            try:
                record = (_record if binary else _line)(*_event(event))
                if len(record) > LONGEST_EVENT:
                    raise ValueError("more than 64 MiB; a large hyperedge can be sent in several +h events")
            except ValueError as error:
                raise ValueError(f"events[{number}]: {error}") from None
            f.write(record)
