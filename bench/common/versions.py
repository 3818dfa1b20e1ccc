"""A version of the program, new or old: running it, and what it calls a key that has been renamed since."""
import json
import os
import subprocess
import sys

OLD_NAMES = {
    "data.transforms": "data.prepare", "train.lr": "train.rate", "train.eps": "train.epsilon",
    "train.clip_norm": "train.clip", "train.lr_schedule": "train.schedule",
    "train.lr_step_size": "train.step_epochs", "train.lr_gamma": "train.step_factor",
    "quantization.codec": "messages.codec", "quantization.assign": "messages.assign",
    "quantization.bits": "messages.widths", "quantization.initial_bits": "messages.first_width",
    "quantization.scale_dtype": "messages.parameters", "quantization.period": "messages.period",
    "quantization.delay": "messages.delay", "quantization.group_size": "messages.group_size",
    "quantization.lambda": "messages.lambda", "quantization.sensitivity": "messages.sensitivity",
    "quantization.time": "messages.time", "quantization.wait": "messages.wait", "quantization.link": "messages.link",
    "quantization.solver": "messages.solver", "quantization.solver_limit": "messages.solver_limit",
    "lossless.input_features": "lossless.layer0", "lossless.receptive_field": "lossless.train_rows",
    "comm.chunk": "comm.piece", "run.simd": "run.vectors",
}  # of keys that have been renamed


class Version:
    def __init__(self, path, cache):
        self.path = os.path.abspath(path)
        # What a version prepares may be wrong for another, so each has a cache of its own.
        self.environment = dict(os.environ, XDG_CACHE_HOME=cache, OMPI_ALLOW_RUN_AS_ROOT="1",
                                OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        self.schema = json.loads(self.call("config", "schema").stdout)

    def fenced(self, cache):
        """This version with the backend "fenced" of the tests: a program beside it, or itself; None where there is none."""
        if os.path.exists(self.path + "-fenced"):
            return Version(self.path + "-fenced", cache)
        return self if "fenced" in self.row("run.backend")["enum"] else None

    def row(self, key):
        """The schema of a key; None if this version does not know it by that name."""
        row = self.schema
        for name in key.split("."):
            row = row.get("properties", {}).get(name)
            if row is None:
                return None
        return row

    def key(self, name):
        return name if self.row(name) else OLD_NAMES.get(name, name)

    def call(self, *words, before=()):
        done = subprocess.run([*before, self.path, *words], env=self.environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            sys.exit(f"{self.path} {' '.join(words)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
        return done
