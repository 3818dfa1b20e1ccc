# once
"""If this failed, README or a page of docs would name a file, key, command or option that is not there, link to nothing,
be too wide for a terminal, or show a picture that its script would draw otherwise."""
import glob
import json
import os
import re
import subprocess
import sys

ROOT, FRINGE = os.environ["FRINGE_SOURCE"], os.environ["FRINGE"]
PAGES = ["README.md", "CONTRIBUTING.md", "bench/peers/README.md"] + sorted(
    os.path.relpath(p, ROOT) for p in glob.glob(os.path.join(ROOT, "docs/**/*.md"), recursive=True))
NOTEBOOKS = ("docs/lab/", "docs/PEERS.md", "bench/peers/")
WIDEST = 120
failures = []


def fail(page, number, text):
    failures.append(f"FAILED: {page}:{number}: {text}")


def fringe(*words):
    return subprocess.run([FRINGE, *words], capture_output=True, text=True).stdout


def anchors(path):
    """What GitHub calls the headings of a page."""
    text = re.sub(r"```.*?```", "", open(path, encoding="utf-8").read(), flags=re.S)
    return {re.sub(r"[^\w\- ]", "", h.strip().lower()).replace(" ", "-") for h in re.findall(r"^#+ (.*)$", text, re.M)}


def keys_of(schema, path=""):
    for name, what in schema.get("properties", {}).items():
        yield path + name
        yield from keys_of(what, path + name + ".")


KEYS = set(keys_of(json.loads(fringe("config", "schema"))))
SECTIONS = {k for k in KEYS if any(other.startswith(k + ".") for other in KEYS)}
COMMANDS = set(re.findall(r"^  (\w+)   *\S", fringe("--help").split("For a start")[0], re.M))
HELP = {command: fringe(command, "--help") for command in COMMANDS}


def check_width(page, number, line):
    if len(line) > WIDEST and not line.startswith("|") and page != "docs/config.md":  # a table's row cannot be broken
        fail(page, number, f"{len(line)} characters; at most {WIDEST} outside of tables")


def check_links(page, number, line):
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(ROOT, os.path.dirname(page), name)) if name else os.path.join(ROOT, page)
        if not os.path.exists(path):
            fail(page, number, f"a link to {target}, which is not there")
        elif anchor and anchor not in anchors(path):
            fail(page, number, f"a link to {target}; no heading has that name")


def check_files(page, number, line):
    """`src/x.c` and its like, unless the name stands for several or for one to be made."""
    for name in re.findall(r"`((?:src|include|kernels|solver|tests|bench|configs|cmake|docs)/[^`\s]*)", line):
        name = name.rstrip(".,:;)")
        if re.search(r"[<>*…{]|NAME", name) or "planned" in line:
            continue
        if not os.path.exists(os.path.join(ROOT, name)):
            fail(page, number, f"{name} is not there")


def check_keys(page, number, line):
    settings = re.findall(r"--set '?([a-z_]+\.[a-z_0-9]+)=", line)
    quoted = [k for k in re.findall(r"`([a-z]+\.[a-z_0-9]+)(?:=[^`]*)?`", line)
              if k.split(".")[0] in SECTIONS and k.split(".")[1] not in {"c", "h", "json", "safetensors"}]
    for key in settings + quoted:
        if key not in KEYS and key != "section.key":
            fail(page, number, f"there is no key {key}")


def check_command(page, number, line):
    if re.match(r"    --\w", line):
        fail(page, number, "an option begins a line, and the line before does not end in a backslash")
    found = re.match(r"    .*build/fringe (\S+)(.*)", line)
    if not found:
        return
    command, rest = found[1], found[2].split("#")[0].split(";")[0]
    if command not in COMMANDS:
        fail(page, number, f"fringe has no command {command}")
        return
    for option in re.findall(r"--[a-z]+", rest):
        if option not in HELP[command]:
            fail(page, number, f"fringe {command} has no option {option}")
    for config in re.findall(r"configs/\S+\.json", rest):
        if not os.path.exists(os.path.join(ROOT, config)):
            fail(page, number, f"{config} is not there")


def check_results(page):
    """The cells of each row of a table below a link to a file of results stand in a row of that file. The names of all
    such files that the page links, and the number of rows."""
    files, folder, checked, listed = [], os.path.join(ROOT, "bench", "results", "tables"), 0, set()
    lines = open(os.path.join(ROOT, page), encoding="utf-8").read().split("\n")
    for number, line in enumerate(lines, 1):
        found = re.findall(r"tables/(\w+)\.json\)", line)
        if line.startswith("| [") or not line.startswith("|"):
            files, listed = ([], listed) if line.startswith("#") else (files + found, listed | set(found))
            continue
        if not files or number < len(lines) and lines[number].startswith("|---") or line.startswith("|---"):
            continue
        rows = [row for name in files for parts in json.load(open(f"{folder}/{name}.json", encoding="utf-8")).values()
                for part in parts if isinstance(part, dict) for row in part["rows"]]
        cells, checked = {cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("| "))} - {""}, checked + 1
        if not any(cells <= set(row) for row in rows):
            fail(page, number, f"no row of {', '.join(files)} has these figures")
    return listed, checked


assert "train.epochs" in KEYS and "train" in COMMANDS, "neither keys nor commands could be read"
for page in PAGES:
    text = open(os.path.join(ROOT, page), encoding="utf-8").read()
    joined = text.replace("\\\n        ", " " * 10)  # commands over two lines; the next numbers are then lower
    for number, line in enumerate(text.split("\n"), 1):
        check_width(page, number, line)
        check_links(page, number, line)
        if not page.startswith(NOTEBOOKS):
            check_files(page, number, line)
            check_keys(page, number, line)
    for number, line in enumerate(joined.split("\n"), 1):
        check_command(page, number, line)

listed, checked = check_results("docs/results.md")
assert checked > 60 and check_results("docs/gpu.md")[1] > 9, "the tables of results could not be read"
for name in os.listdir(os.path.join(ROOT, "bench", "results", "tables")):
    if os.path.splitext(name)[0] not in listed:
        fail("docs/results.md", 1, f"does not name {name}")
drawn = subprocess.run([sys.executable, os.path.join(ROOT, "docs/pictures/draw.py"), "--check"], capture_output=True,
                       text=True)
if drawn.returncode != 0:
    failures.append("FAILED: " + drawn.stderr.strip())
print("\n".join(failures))
sys.exit(1 if failures else 0)
