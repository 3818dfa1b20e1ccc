#!/usr/bin/env python3
# once
"""If this failed, a small archive that claims, or inflates to, gigabytes would cost a user memory and
minutes before it is refused, or be believed. Each bomb is refused with one sentence that names the
file, in little memory.

With --time it prints the seconds of each refusal, the start of the program included (bench/fuzz.sh).
"""
import io
import os
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib

MOST_MIB = 100  # far below what any of the bombs claims; the program itself takes about 20
GIB = 1 << 30


def npy(descr, shape, data=b""):
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (-(11 + len(text)) % 64) + "\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(text)) + text.encode() + data


def zeros(head, size):
    """A deflate stream of `head` and then zeros, `size` bytes in all, and the CRC of the first 16 MiB: to
    compute the rest would take seconds, and no reader should come that far."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = 1 << 24
    first = head + bytes(min(size, block) - len(head))
    packed = packer.compress(first) + packer.flush(zlib.Z_FULL_FLUSH)
    piece = packer.compress(bytes(block)) + packer.flush(zlib.Z_FULL_FLUSH)  # refers to nothing before it
    packed += piece * ((size - len(first)) // block)
    last = packer.compress(bytes((size - len(first)) % block)) + packer.flush()
    return packed + last, zlib.crc32(first)


def entry(name, packed, size, crc, offset=None):
    """Of the archive: a member, or with its offset the line of the directory."""
    numbers = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, crc, len(packed), size, len(name), 0)
    if offset is None:
        return b"PK\x03\x04" + numbers + name + packed
    return b"PK\x01\x02" + struct.pack("<H", 20) + numbers + struct.pack("<HHHII", 0, 0, 0, 0, offset) + name


def archive(members, directory):
    listed = b"".join(directory)
    count = min(len(directory), 65535)
    end = struct.pack("<HHHHIIH", 0, 0, count, count, len(listed), len(members), 0)
    return members + listed + b"PK\x05\x06" + end


def of_one(name, packed, size, crc):
    return archive(entry(name, packed, size, crc), [entry(name, packed, size, crc, 0)])


def claims():
    packed, crc = zeros(npy("<i8", (2, 1 << 28)), 4096)
    return of_one(b"edge_index.npy", packed, 4 * GIB - 2, crc)


def inflates():
    pairs = (4 * GIB - 4096) // 16
    head = npy("<i8", (2, pairs))
    packed, crc = zeros(head, len(head) + 16 * pairs)
    return of_one(b"edge_index.npy", packed, len(head) + 16 * pairs, crc)


def trailing():
    packed, crc = zeros(npy("<i8", (2, 1), bytes(16)), GIB)
    return of_one(b"edge_index.npy", packed, GIB, crc)


def longer():
    """Says 144 bytes, and inflates to a GiB."""
    head = npy("<i8", (2, 1), bytes(16))
    packed, _ = zeros(head, GIB)
    return of_one(b"edge_index.npy", packed, len(head), zlib.crc32(head))


def overlapping():
    """One member of a MiB, 5,000 times in the directory."""
    packed, crc = zeros(npy("<f4", ((1 << 18) - 32,)), 1 << 20)
    member = entry(b"a0000.npy", packed, 1 << 20, crc)
    return archive(member, [entry(b"a%04d.npy" % i, packed, 1 << 20, crc, 0) for i in range(5000)])


def nested():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as outer:
        outer.writestr("edge_index.npz", trailing())
        outer.writestr("adj.npz", claims())
    return file.getvalue()


def text():
    packed, crc = zeros(b"0 1\n", GIB)
    return b"\x1f\x8b\x08" + bytes(7) + packed + struct.pack("<II", crc, GIB)


BOMBS = (("claims 4 GiB", claims, "impossible"), ("inflates to 4 GiB", inflates, "zip bomb"),
         ("a GiB after its array", trailing, "bytes follow its data"),
         ("says little, inflates to a GiB", longer, "longer than the archive says"),
         ("5,000 times the same member", overlapping, "overlap"),
         ("archives in an archive", nested, "no graph in it"),
         ("a text of a GiB of zeros", text, "zero byte"))


def refuse(path):
    """Exit status, standard error, seconds and peak MiB of the program that reads it."""
    begin = time.monotonic()
    program = subprocess.Popen([os.environ["FRINGE"], "inspect", path], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    error = program.stderr.read()
    _, status, usage = os.wait4(program.pid, 0)
    program.returncode = os.waitstatus_to_exitcode(status)
    return program.returncode, error, time.monotonic() - begin, usage.ru_maxrss / 1024


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, make, word in BOMBS:
            path = os.path.join(folder, "bomb.txt.gz" if make is text else "bomb.npz")
            with open(path, "wb") as file:
                file.write(make())
            status, error, seconds, mib = refuse(path)
            if "--time" in sys.argv:
                print(f"{name}\t{os.path.getsize(path)}\t{seconds:.3f}\t{mib:.0f}\t{error.strip()}")
            if status != 65 or error.count("\n") != 1 or path not in error or word not in error or mib > MOST_MIB:
                print(f"{name}: status {status}, {mib:.0f} MiB, {error}", file=sys.stderr)
                wrong += 1
    sys.exit(wrong > 0)


main()
