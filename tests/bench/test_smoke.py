# once
"""If this failed, a bench would not start: bench/run.sh could not find it, one of its imports, programs or data would not
be there, it would have no smoke form, or that would write into the tree."""
import hashlib
import os
import re
import subprocess
import sys

ROOT = os.environ["FRINGE_SOURCE"]
RUN = os.path.join(ROOT, "bench", "run.sh")


def tree():
    """What is in docs and bench: {path: hash}."""
    files = (os.path.join(folder, name) for top in ("docs", "bench") for folder, _, names in os.walk(os.path.join(ROOT, top))
             for name in names if "__pycache__" not in folder)
    return {path: hashlib.sha256(open(path, "rb").read()).hexdigest() for path in files}


def benches():
    """Every name that run.sh lists."""
    listed = subprocess.run(["sh", RUN], capture_output=True, text=True).stderr
    return [name for line in re.findall(r"^  \w+: (.*)$", listed, re.M) for name in line.split()]


def said(output):
    """{name: what it printed}"""
    parts = re.split(r"^== (\S+)\n", output, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


names, before = benches(), tree()
assert len(names) > 30, names
done = subprocess.run(["sh", RUN, "--smoke", *names], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
failures = re.findall(r"^bench/run.sh: (.*)$", done.stdout, re.M)
if not failures and (done.returncode != 0 or set(said(done.stdout)) != set(names)):
    failures = [f"run.sh ended with {done.returncode}, after {', '.join(said(done.stdout))}"]
changed = [path for path, value in (before.items() ^ tree().items())]
failures += [f"{os.path.relpath(path, ROOT)} was written" for path in sorted(set(changed))]

skipped = re.findall(r"^skipped: .*$", done.stdout, re.M)
print("\n".join(skipped))
print(f"{len(names)} benches, of which {len(skipped)} were skipped, not or not whole")
if failures:
    print(done.stdout)
    print("\n".join(f"FAILED: {failure}" for failure in failures))
sys.exit(1 if failures else 0)
