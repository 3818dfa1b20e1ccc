"""A version of the program, new or old: running it, and what it calls a key that has been renamed since."""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def old_names():
    """New name -> old one, of keys."""
    with open(os.path.join(ROOT, "src", "config", "renamed.c")) as lines:
        return {new: old for old, new in re.findall(r'{"([^" ]+)", "([^" ]+)"}', lines.read())}


class Version:
    def __init__(self, path, cache):
        self.path = os.path.abspath(path)
        # What a version prepares may be wrong for another, so each has a cache of its own.
        self.environment = dict(os.environ, XDG_CACHE_HOME=cache, OMPI_ALLOW_RUN_AS_ROOT="1",
                                OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        self.old_names, self.schema = old_names(), json.loads(self.call("config", "schema").stdout)

    def row(self, key):
        """The schema of a key; None if this version does not know it by that name."""
        row = self.schema
        for name in key.split("."):
            row = row.get("properties", {}).get(name)
            if row is None:
                return None
        return row

    def key(self, name):
        return name if self.row(name) else self.old_names.get(name, name)

    def call(self, *words, before=()):
        done = subprocess.run([*before, self.path, *words], env=self.environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            sys.exit(f"{self.path} {' '.join(words)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
        return done
