# once
"""If this failed, docs/notebook.ipynb would stop at one of its cells, a notebook would show no progress, or Ctrl-C ("stop" in
a notebook) would leave no checkpoint to go on from, or a training that nobody sees."""
import os
import re
import tempfile

ROOT, FRINGE = os.environ["FRINGE_SOURCE"], os.path.abspath(os.environ["FRINGE"])
from interpreter import start_over

start_over("jupyter_client, nbclient, nbformat, ipykernel, matplotlib, numpy", "python3-nbclient, python3-ipykernel, python3-matplotlib")

import jupyter_client
import nbclient
import nbformat

os.environ.update(FRINGE_PROGRAM=FRINGE, PYTHONPATH=os.path.join(ROOT, "python"), MPLBACKEND="inline")
TRAINING = """
import fringe
config = {"data": {"path": "tiny"}, "model": {"hidden": [8]}, "train": {"epochs": 1_000_000}, "run": {"threads": 1}}
"""


def asked(client, code, on_output):
    """The reply to a cell; what it prints is handed on."""
    reply = client.execute_interactive(TRAINING + code, timeout=60, output_hook=lambda message: on_output(
        message["content"].get("text", "")))
    return reply["content"]


def test_interrupt(manager, client):
    """Ctrl-C raises KeyboardInterrupt when the checkpoint is written, and the training goes on from there."""
    before = []

    def interrupts(text):
        if "epoch" in text and not before:
            before.append(text)
            manager.interrupt_kernel()

    stopped = asked(client, "fringe.generate('tiny', 'tiny'); fringe.train(config, dir='stopped', ranks=2)", interrupts)
    assert before and stopped["ename"] == "KeyboardInterrupt", stopped
    said = []
    asked(client, "run = fringe.read_run('stopped'); at = run.epochs['epoch'][-1]; again = run.resume(epochs=at + 2); "
                  "print('from', again.record['resumed_at_epoch'] - at, 'to', len(again.epochs['loss']) - at)", said.append)
    assert "from 0 to 2\n" in said, said


notebook = nbformat.read(os.path.join(ROOT, "docs", "notebook.ipynb"), as_version=4)
assert all(not cell.get("outputs") for cell in notebook.cells), "the notebook is kept without outputs"
with tempfile.TemporaryDirectory() as work:
    os.environ["XDG_CACHE_HOME"] = os.path.join(work, "cache")
    client = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": work}})
    client.execute()
    manager = jupyter_client.KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=work)
    client = manager.blocking_client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    try:
        test_interrupt(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
said = "".join(output.get("text", "") for output in outputs)
assert re.search(r"epoch \d+ of 60: loss", said), said
assert sum("image/png" in output.get("data", {}) for output in outputs) == 2, outputs
print("ok: the notebook's cells, its progress and its plots, and Ctrl-C in a kernel")
