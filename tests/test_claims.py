# once
"""If this failed, a page for contributors or a comment of a header would name a function, type or file that the code does
not have, the list of fuzzers one that its source does not have, or a page would call something planned that is there."""
import glob
import json
import os
import re
import subprocess
import sys

ROOT, FRINGE = os.environ["FRINGE_SOURCE"], os.environ["FRINGE"]
FOLDERS = ("src", "include", "kernels", "solver", "tests", "bench", "python", "cmake", "configs")
C = (".c", ".h", ".cu", ".cpp")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
FOR_CONTRIBUTORS = [f"docs/{name}.md" for name in ("EXTENDING", "architecture", "exchange", "backends", "GLOSSARY")]
OF_OTHERS = {"btl_tcp_flags"}  # names of other programs that our comments mention
failures = []


def read(path):
    return open(path, encoding="utf-8", errors="replace").read()


def line_of(text, place):
    return text[:place].count("\n") + 1


sources = [p for folder in FOLDERS for p in glob.glob(f"{ROOT}/{folder}/**/*", recursive=True) if os.path.isfile(p)]
names, files = set(), {os.path.basename(p) for p in sources}
for path in sources:
    if path.endswith(C + (".py", ".sh", ".cmake", ".txt")) and os.path.basename(path) != "test_claims.py":
        text = read(path)
        names |= set(re.findall(r"[A-Za-z_]\w*", COMMENT.sub(" ", text) if path.endswith(C) else text))


def check_comment(path, number, comment):
    """Names of several words (a subscript such as `beta_g` is none), and names of files."""
    for name in re.findall(r"(?<![\w./-])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?![\w/*-]|\.[a-z])", comment):
        if len(name.split("_")[-1]) > 1 and name not in names | OF_OTHERS:
            failures.append(f"FAILED: {path}:{number}: a comment names {name}, which the code does not have")
    for name in re.findall(r"(?<![\w/])[a-z]\w*(?:/\w+)*\.(?:c|h|cu)\b", comment):
        if os.path.basename(name) not in files:
            failures.append(f"FAILED: {path}:{number}: a comment names {name}, which is not there")


headers = glob.glob(f"{ROOT}/include/**/*.h", recursive=True) + glob.glob(f"{ROOT}/src/*/internal.h")
for path in headers:
    text = read(path)
    for found in COMMENT.finditer(text):
        check_comment(os.path.relpath(path, ROOT), line_of(text, found.start()), found[0])


def check_recipe(page, number, quoted):
    """What a page for contributors quotes, unless the name stands for many or for one to be made."""
    if re.search(r"[{*…<> ]|NAME|[A-Z]+=", quoted.replace("->", ".")):
        return
    for name in re.findall(r"[A-Za-z_]\w*", re.sub(r"\S*/\S*|--\w+|FRINGE_\w+", "", quoted)):
        name_is_file = name in {os.path.splitext(f)[0] for f in files}
        if name not in names and not name_is_file and name not in ("md", "json", "cu"):
            failures.append(f"FAILED: {page}:{number}: the code has no {name}")


for page in FOR_CONTRIBUTORS:
    for number, line in enumerate(read(f"{ROOT}/{page}").split("\n"), 1):
        for quoted in re.findall(r"`([^`]+)`", line):
            check_recipe(page, number, quoted)

# The functions that a fuzzer's coverage leaves out, each in the source before it.
for line in read(f"{ROOT}/tests/fuzz/readers.txt").splitlines():
    for word in [] if line.startswith("#") else line.split()[3:]:
        if not word.startswith("-"):
            source = read(f"{ROOT}/{word}")
        elif word != "-" and not re.search(rf"^[^\n/;#]*\b{word[1:]}\(", source, re.M):
            failures.append(f"FAILED: tests/fuzz/readers.txt: the source has no function {word[1:]}")

schema = json.loads(subprocess.run([FRINGE, "config", "schema"], capture_output=True, text=True, check=True).stdout)
sections = schema["properties"]
schedules = sections["comm"]["properties"]["schedule"]["enum"]
modes = sections["mode"]["enum"]
# What pages call planned: how one sees that it is there.
PLANNED = {
    "stale": "stale" in schedules,
    "skip": "skip" in schedules,
    "pipegcn": "pipegcn" in modes,
    "sancus": "sancus" in modes,
    "more sets": "SHARD_SETS = 2" not in read(f"{ROOT}/include/fringe/partition.h"),
    "heterogeneous": "relations" in sections["data"]["properties"],
}
assert "blocking" in schedules and "vanilla" in modes, "the code could not be read"
marks = 0
for path in [f"{ROOT}/README.md"] + glob.glob(f"{ROOT}/docs/**/*.md", recursive=True):
    page, lines = os.path.relpath(path, ROOT), read(path).split("\n")
    for number, line in enumerate(lines, 1):
        if "*(planned)*" not in line and not line.startswith("- Planned:"):
            continue
        if line.startswith("What does not exist yet") or "is marked *(planned)*" in line or "What is marked" in line:
            continue
        marks += 1
        sentence = line if line.startswith("|") else " ".join(lines[max(number - 2, 0):number])
        about = [word for word in PLANNED if word in sentence]
        if not about:
            failures.append(f"FAILED: {page}:{number}: nothing in PLANNED says how one sees that this is there")
        failures += [f"FAILED: {page}:{number}: calls {word} planned, but it is there" for word in about if PLANNED[word]]
print(f"{len(headers)} headers, {marks} marks of what is planned")
print("\n".join(failures))
sys.exit(1 if failures else 0)
