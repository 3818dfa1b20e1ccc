# long, once
"""If this failed, a command, config or piece of Python on a page would not run as it stands there.

All blocks of a page run one after the other in one folder: a copy of the source tree with `build/fringe`, the files that
own.py makes, and a cache. What a mark excludes (blocks.py) does not run, and is counted. `fringe` is a script that starts
the program with less to do, by three rules: EPOCHS epochs, RUNS repeats where the command asks for several, and a smaller
graph in the place of the look-alike reddit-small. Each block of the shell has a shell of its own; Python goes on in one
interpreter per page, the one that FRINGE_PYG names, or that of tests/python/setup.sh, where there is one; configs are
checked with their files. Afterwards docs/ of the source tree has to be what it was, byte for byte.

    FRINGE=build/fringe FRINGE_SOURCE=. python3 tests/docs/test_blocks.py    or ctest -R test_blocks
"""
import collections
import glob
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT, FRINGE = os.path.abspath(os.environ["FRINGE_SOURCE"]), os.path.abspath(os.environ["FRINGE"])
from interpreter import start_over

start_over("numpy", "python3-numpy")
sys.path.insert(0, os.path.join(ROOT, "python"))

import blocks
import own

EPOCHS = 3
RUNS = 2
SMALLER = "planted:nodes=2300,edges=60000,features=100"
WRAPPER = f"""#!/bin/bash
words=("$@")
for i in "${{!words[@]}}"; do [ "${{words[i]}}" != --runs ] || words[i + 1]={RUNS}; done
case $1 in train | compare) words+=(--set train.epochs={EPOCHS}) ;; esac
[ "$*" != "generate reddit-small" ] || words=(generate {SMALLER} -o "$XDG_CACHE_HOME/fringe/generated/reddit-small")
exec '{FRINGE}' "${{words[@]}}"
"""


def pages():
    return ["README.md", "CONTRIBUTING.md"] + sorted(os.path.relpath(p, ROOT) for p in glob.glob(os.path.join(ROOT, "docs", "*.md")))


def fingerprint():
    """Of all files of docs/."""
    found = {}
    for folder, _, names in os.walk(os.path.join(ROOT, "docs")):
        for name in names:
            with open(os.path.join(folder, name), "rb") as f:
                found[os.path.join(folder, name)] = hashlib.sha256(f.read()).hexdigest()
    return found


def prepare(folder):
    """What all pages share: the program, found by its name, too."""
    os.makedirs(os.path.join(folder, "bin"))
    program = os.path.join(folder, "bin", "fringe")
    with open(program, "w") as f:
        f.write(WRAPPER)
    os.chmod(program, 0o755)
    os.environ["FRINGE_PROGRAM"] = program  # what fringe.train starts
    os.environ["PATH"] = os.path.dirname(program) + os.pathsep + os.environ["PATH"]
    os.environ.pop("FRINGE_DATA", None)


def lay_out(folder):
    """The folder of a page, in which the test then works."""
    os.makedirs(os.path.join(folder, "build"))
    os.chdir(folder)
    for name in ("configs", "data", "docs", "python"):
        shutil.copytree(os.path.join(ROOT, name), name)
    os.symlink("../../bin/fringe", "build/fringe")
    os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
    own.write_files()


def run_shell(text):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"


def run_block(block, names):
    if block.language == "json" and not block.file:
        block.file = "block.json"
    if block.file:
        with open(block.file, "w") as f:
            f.write(block.text)
    if block.language == "sh":
        run_shell(block.text)
    elif block.language == "python":
        exec(compile(block.text, f"line {block.line}", "exec"), names)
    elif block.language == "json":
        run_shell(f"build/fringe config check {block.file} --files")
    else:
        assert block.file, "a block without a language needs a mark (tests/docs/blocks.py)"


def lacks(block):
    """The module that the first line of a block says it needs, if there is none."""
    needed = re.match(r"# needs (\w+)", block.text)
    return needed and importlib.util.find_spec(needed[1]) is None and f"needs {needed[1]}"


def words_of(block, page, names):
    """What happened to a block: why it was not run, "run" or "failed"."""
    if block.marks or lacks(block):
        return block.marks or (lacks(block),)
    try:
        run_block(block, names)
        return ("run",)
    except Exception as error:
        print(f"FAILED: {page}:{block.line}: {type(error).__name__}: {error}\n{block.text}")
        return ("failed",)


def run_page(page, folder):
    """Counts what happened to its blocks, by word."""
    with open(os.path.join(ROOT, page), encoding="utf-8") as f:
        found = blocks.blocks_of(f.read())
    if not all(block.marks for block in found):
        lay_out(os.path.join(folder, page.replace("/", "-")))
    names = own.arrays()
    return collections.Counter(word for block in found for word in words_of(block, page, names))


def told(counts):
    return ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))


def check_itself():
    """A reason that is none, a mark that no block follows, and each kind of block that fails are noticed."""
    def noticed(call, *arguments):
        try:
            call(*arguments)
        except (AssertionError, NameError):
            return
        raise SystemExit(f"FAILED: not noticed: {arguments}")

    for page in ("<!-- not run: lazy -->\n    true", "<!-- not a command -->\n\ntext", "text\n\n<!-- file: x -->\n"):
        noticed(blocks.blocks_of, page)
    for language, text in (("sh", "false | true"), ("python", "no_name"), ("json", '{"modell": 1}'), ("", "output")):
        noticed(run_block, blocks.Block(1, language, text), {})


before, total = fingerprint(), collections.Counter()
with tempfile.TemporaryDirectory() as folder:
    prepare(folder)
    lay_out(os.path.join(folder, "itself"))
    check_itself()
    for page in pages():
        counts = run_page(page, folder)
        total += counts
        print(f"{page}: {told(counts) or 'no block'}")
        for word in (word for word in counts if word.startswith("needs ")):
            print(f"skipped: the part of {page} that {word}; see tests/python/setup.sh")
    os.chdir("/")
print("all pages:", told(total))
assert total["run"] > 40, "blocks are not found"
assert fingerprint() == before, "the pages have changed files of docs/"
sys.exit(int(total["failed"] > 0))
