# once
"""If this failed, docs/notebook.ipynb would stop at one of its cells, or a notebook would show no progress."""
import os
import re
import sys
import tempfile

ROOT, FRINGE = os.environ["FRINGE_SOURCE"], os.path.abspath(os.environ["FRINGE"])
sys.path.insert(0, os.path.join(ROOT, "tests"))
from interpreter import start_over

start_over("nbclient, nbformat, ipykernel, matplotlib, numpy", "python3-nbclient, python3-ipykernel, python3-matplotlib")

import nbclient
import nbformat

os.environ.update(FRINGE_PROGRAM=FRINGE, PYTHONPATH=os.path.join(ROOT, "python"), MPLBACKEND="inline")
notebook = nbformat.read(os.path.join(ROOT, "docs", "notebook.ipynb"), as_version=4)
assert all(not cell.get("outputs") for cell in notebook.cells), "the notebook is kept without outputs"
with tempfile.TemporaryDirectory() as work:
    os.environ["XDG_CACHE_HOME"] = os.path.join(work, "cache")
    client = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": work}})
    client.execute()
outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
said = "".join(output.get("text", "") for output in outputs)
assert re.search(r"epoch \d+ of 60: loss", said), said
assert sum("image/png" in output.get("data", {}) for output in outputs) == 2, outputs
print("ok: the notebook's cells, its progress and its plots")
