# long, once
"""If this failed, a bench would not start: bench/run.sh could not find it, one of its imports, programs or data would not
be there, it would have no smoke form, or that would write into the tree; --help would not say what it measures, or it
would start although an option is none of its own."""
import glob
import hashlib
import os
import re
import subprocess
import sys

ROOT = os.environ["FRINGE_SOURCE"]
RUN = os.path.join(ROOT, "bench", "run.sh")

from interpreter import PYG, has

PYTHON = next((p for p in (PYG, sys.executable, "/usr/bin/python3") if has(p, "numpy")), sys.executable)


def tree():
    """What is in docs and bench: {path: hash}."""
    found = {}
    for top in ("docs", "bench"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names if "__pycache__" not in folder else ():
                with open(os.path.join(folder, name), "rb") as file:
                    found[os.path.join(folder, name)] = hashlib.sha256(file.read()).digest()
    return found


def benches():
    """Every name that run.sh lists."""
    listed = subprocess.run(["sh", RUN], capture_output=True, text=True).stderr
    return [name for line in re.findall(r"^  \w+: (.*)$", listed, re.M) for name in line.split()]


def told():
    """{name of a bench that a page tells to run: page}"""
    pages = [os.path.join(ROOT, "README.md"), *glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True)]
    return {name: os.path.relpath(page, ROOT) for page in pages
            for words in re.findall(r"bench/run\.sh((?: [a-z][a-z_-]*)+)", open(page, encoding="utf-8").read())
            for name in words.split()}


def asked(*words):
    return subprocess.run(["sh", RUN, *names, *words], capture_output=True, text=True)


names, before = benches(), tree()
assert len(names) > 40, names
helped, refused = asked("--help"), asked("--smoke", "--no-such-option=1")
assert helped.returncode == 0 and len(re.findall(r"^ *smoke:", helped.stdout, re.M)) == len(names), helped
assert refused.returncode == 64 and refused.stdout == "", refused
assert re.findall(r"^bench/run.sh: (\S+) has no option --no-such-option; ", refused.stderr, re.M) == names, refused
done = subprocess.run(["sh", RUN, "--smoke", *names], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                      env=dict(os.environ, PYTHON=PYTHON))
failures = re.findall(r"^bench/run.sh: (.*)$", done.stdout, re.M)
begun = re.findall(r"^== (\S+)$", done.stdout, re.M)
if not failures and (done.returncode != 0 or begun != names):
    failures = [f"run.sh ended with {done.returncode} after {begun}"]
failures += [f"{page}: there is no bench {name}" for name, page in told().items() if name not in names]
failures += [f"{os.path.relpath(path, ROOT)} was written" for path in sorted({p for p, _ in before.items() ^ tree().items()})]

skipped = re.findall(r"^skipped: .*$", done.stdout, re.M)
print("\n".join(skipped))
print(f"{len(names)} benches, of which {len(skipped)} were skipped or did not run whole")
if failures:
    print(done.stdout)
    print("\n".join(f"FAILED: {failure}" for failure in failures))
sys.exit(1 if failures else 0)
