# once
"""If this failed, files of a module would call each other in circles, so that none of them could be read, tested or
replaced without the others.

A circle: a file calls a function that another file of its module defines, and that one calls back, over any number of
files. The libraries of the build tell: what a file needs, and who defines it. Tables of data do not count, because a
family's table names its members; a function that such a table names does.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

MOST = 4  # circles of all modules together
LARGEST = 3  # files of a circle


def calls_of(listing):
    """{file: the files whose functions it calls}, from what nm says of a library."""
    needs, home = {}, {}
    for member in re.split(r"\n(?=\S+\.o:\n)", listing):
        name, _, symbols = member.strip().partition(":\n")
        if not name.endswith("_lanes.c.o"):  # one source, once for each vector width
            while name in needs:  # another file of that name, in another folder
                name += "'"
        for kind, symbol in re.findall(r"^[0-9a-f ]*([TU]) (\S+)$", symbols, re.M):
            if kind == "T":
                home[symbol] = name
            else:
                needs.setdefault(name, set()).add(symbol)
        needs.setdefault(name, set())
    return {file: {home[s] for s in symbols if s in home} - {file} for file, symbols in needs.items()}


def reached(calls, file):
    seen, ahead = set(), [file]
    while ahead:
        for other in calls[ahead.pop()] - seen:
            seen.add(other)
            ahead.append(other)
    return seen


def circles(calls):
    reach = {file: reached(calls, file) for file in calls}
    return sorted({tuple(sorted(other for other in reach[file] if file in reach[other]))
                   for file in calls if file in reach[file]})


def a_circle_is_seen():
    made_up = """
low.c.o:
                 U printf
                 U table
0000000000000000 T low
0000000000000010 R words

{0}.c.o:
                 U low
                 U there
0000000000000000 T here
0000000000000000 r words_of_its_own

b.c.o:
                 U {1}
                 U words
0000000000000040 T there
0000000000000080 D table

same.c.o:
                 U same_of_another
0000000000000000 T same

same.c.o:
                 U same
0000000000000000 T same_of_another
"""
    assert circles(calls_of(made_up.format("a", "here"))) == [("a.c.o", "b.c.o"), ("same.c.o", "same.c.o'")]
    assert circles(calls_of(made_up.format("a", "low"))) == [("same.c.o", "same.c.o'")]
    ring = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": set(), "f": {"a"}}
    assert circles(ring) == [("a", "b", "c")]


if shutil.which("nm") is None:
    print("There is no nm, which says what the files of a library need.")
    sys.exit(77)
a_circle_is_seen()
found = []
for library in sorted(glob.glob(os.path.join(os.environ["FRINGE_BUILD"], "libfringe_*.a"))):
    module = os.path.basename(library)[len("libfringe_"):-len(".a")]
    if module != "support":  # of the tests
        listing = subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout
        found += [(module, circle) for circle in circles(calls_of(listing))]
        assert module != "base" or "comm_wait" in listing, "nm shows no functions"
for module, circle in found:
    print(f"{module}: {len(circle)} files: {' '.join(name.replace('.c.o', '') for name in circle)}")
failed = len(found) > MOST
if failed:
    print(f"FAILED: {len(found)} circles; at most {MOST}")
for module, circle in found:
    if len(circle) > LARGEST:
        print(f"FAILED: {module} has a circle of {len(circle)} files; at most {LARGEST}")
        failed = True
sys.exit(failed)
