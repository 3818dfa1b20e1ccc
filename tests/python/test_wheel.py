# alone, once
"""If this failed, `pip install .` would leave the README's Python lines without module or program, put GLPK or MPI into the
wheel, or change the build folder that it shares with the tests.

Alone, because pip configures that folder again."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT, BUILD = os.environ["FRINGE_SOURCE"], os.environ["FRINGE_BUILD"]
from interpreter import start_over

start_over("scikit_build_core, pip, venv, numpy", "python3-scikit-build-core, python3-pip, python3-venv, python3-numpy")

import numpy


def output(*words, folder=None, **more):
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, env={**os.environ, **more})
    assert done.returncode == 0, (words, done.stdout + done.stderr)
    return done.stdout


def tests_of_build():
    return re.findall(r"^ +Test +#\d+: (.*)$", output("ctest", "--test-dir", BUILD, "-N"), re.M)


def skip(why):
    print("skipped: test_wheel.py,", why)
    sys.exit(77)


with open(os.path.join(BUILD, "CMakeCache.txt")) as file:
    cache = file.read()
if "CMAKE_BUILD_TYPE:STRING=Release" not in cache or "CMAKE_GENERATOR:INTERNAL=Ninja" not in cache:
    skip("because the build folder is not one of Ninja and type Release, which pip would build again")
output("ninja", "-C", BUILD, "programs")  # nothing to do, where all is built

work = tempfile.mkdtemp()
os.environ["XDG_CACHE_HOME"] = os.path.join(work, "cache")
for name in ("PYTHONPATH", "FRINGE_PROGRAM"):
    os.environ.pop(name, None)
before = tests_of_build()

# A fresh environment, which sees pip, scikit-build-core and numpy of the one that runs this test.
env = os.path.join(work, "env")
output(sys.executable, "-m", "venv", "--without-pip", env)
python, (site,) = os.path.join(env, "bin", "python"), glob.glob(os.path.join(env, "lib", "python3*", "site-packages"))
with open(os.path.join(site, "lent.pth"), "w") as file:
    import pip
    import scikit_build_core
    file.writelines(os.path.dirname(os.path.dirname(one.__file__)) + "\n" for one in (numpy, pip, scikit_build_core))
try:
    output(python, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--ignore-installed",
           f"--config-settings=build-dir={BUILD}", ".", folder=ROOT)
    assert tests_of_build() == before and len(before) > 100, (len(before), len(tests_of_build()))
finally:
    with open(os.path.join(BUILD, "CMakeCache.txt"), "w") as file:
        file.write(cache)
    output("cmake", BUILD)
assert "no work to do" in output("ninja", "-C", BUILD, "programs"), "pip's settings stay in the build folder"

# --- what is in it
files = [path for path in output(python, "-c", "import importlib.metadata as m; print(*(f.locate() for f in "
                                 "m.distribution('fringe-gnn').files), sep='\\n')").split("\n") if path]
files = [os.path.normpath(path) for path in files]
for name in ("bin/fringe", "bin/fringe-metis", "share/fringe/configs/villages.json", "share/man/man1/fringe.1",
             "fringe/__init__.py", "fringe/py.typed"):
    assert any(path.endswith("/" + name) and os.path.exists(path) for path in files), f"{name} is not in the wheel"
assert not [path for path in files if re.search("fringe-solver|libmpi|libglpk", path)], files
programs = []
for path in files:
    with open(path, "rb") as file:
        if file.read(4) == b"\x7fELF":
            programs.append(path)
assert len(programs) >= 2, programs
if shutil.which("readelf"):
    needs = {path: re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", path)) for path in programs}
    assert any("libmpi" in name for name in needs[os.path.join(env, "bin/fringe")]), needs  # that of the machine
    assert not [name for names in needs.values() for name in names if "glpk" in name], needs
else:
    print("skipped: what the programs need, because readelf is missing")
(wheel,) = glob.glob(os.path.join(site, "fringe_gnn-*.dist-info/WHEEL"))
with open(wheel) as file:
    assert "Tag: py3-none-linux_" in file.read()

# --- the README's lines, from another folder
with open(os.path.join(ROOT, "README.md")) as file:
    (lines,) = [block for block in re.findall(r"```python\n(.*?)```", file.read(), re.S) if "fringe.train" in block]
names = f"import sys; sys.path.append({os.path.join(ROOT, 'tests/docs')!r}); import own; globals().update(own.arrays())\n"
lines = names + lines + "\nprint(fringe.__file__, run.record['sessions'][0]['command'][0], len(run.epochs['loss']))"
said = output(python, "-c", lines, folder=work).split("\n")[-2].split()
assert said[0] == os.path.join(site, "fringe/__init__.py") and said[1] == os.path.join(env, "bin/fringe"), said
for words in ([os.path.join(env, "bin", "fringe")], [python, "-m", "fringe"]):
    assert output(*words, "--version", folder=work).startswith("fringe "), words
shutil.rmtree(work)
print("ok: pip install ., its files, and the README's lines in a fresh environment")
