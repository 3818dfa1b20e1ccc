"""Starts a test again in a Python that has the modules it needs: the one that FRINGE_PYG names or tests/python/setup.sh
makes, the one that runs now, or Debian's."""
import os
import subprocess
import sys

ENVS = os.environ.get("FRINGE_ENVS", os.path.expanduser("~/.cache/fringe-envs"))
PYG = os.environ.get("FRINGE_PYG", os.path.join(ENVS, "pyg-debian/bin/python"))


def has(python, modules):
    return os.path.exists(python) and subprocess.run([python, "-c", "import " + modules],
                                                     capture_output=True).returncode == 0


def start_over(modules, package):
    """In the first Python that imports `modules`; without one the test ends as skipped and names Debian's package."""
    if "--here" in sys.argv:
        return
    for python in (PYG, sys.executable, "/usr/bin/python3"):
        if has(python, modules):
            os.execv(python, [python, "-B", os.path.abspath(sys.argv[0]), "--here"])
    print(f"skipped: {os.path.basename(sys.argv[0])} (no Python here has {modules}; Debian: {package})")
    sys.exit(77)
