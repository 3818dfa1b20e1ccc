"""The command line of the peers' scripts; loads no torch, so that the thread count is set before it is.

Copyright fringe authors. SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import os
import subprocess
import sys


def options(doc, forms, others=(), **more):
    """The parsed command line, with further options: the choices of each, the first if it is not given, or its default.
    With --form best it runs each of `forms` and does not return."""
    ap = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("folder", help="fringe dataset directory")
    ap.add_argument("model", choices=("gcn", "sage", "hgnn"))
    ap.add_argument("--epochs", type=int, default=10, help="timed epochs")
    ap.add_argument("--warmup", type=int, default=2, help="epochs before the clock starts")
    ap.add_argument("--threads", type=int, default=1)
    ap.add_argument("--form", choices=("best", *forms, *others), default="best")
    for key, value in (("layers", 3), ("hidden", 256), ("dropout", 0.5), ("lr", 0.01), ("seed", 0)):
        ap.add_argument(f"--{key}", type=type(value), default=value)
    for key, value in more.items():
        choices = {"choices": value, "default": value[0]} if isinstance(value, tuple) else {"default": value}
        ap.add_argument(f"--{key}", **choices)
    opt = ap.parse_args()
    for key in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[key] = str(opt.threads)
    if opt.form == "best":
        print(json.dumps(best_of(forms)))
        sys.exit()
    return opt


def best_of(forms):
    """This script's report for the form with the lowest median; each runs in its own process."""
    reports = []
    for form in forms:
        run = subprocess.run([sys.executable, *sys.argv, "--form", form], stdout=subprocess.PIPE, text=True)
        if run.returncode == 0:
            reports.append(json.loads(run.stdout.splitlines()[-1]))
        else:
            print(f"{sys.argv[0]}: form {form} failed", file=sys.stderr)
    if not reports:
        sys.exit(f"{sys.argv[0]}: no form of the adjacency runs here")
    median = lambda report: report["epoch_seconds"]["median"]  # noqa: E731
    return {**min(reports, key=median), "forms": {r["form"]: median(r) for r in reports}}
