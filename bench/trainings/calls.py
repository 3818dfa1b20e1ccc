"""What Python costs a training that fringe.train starts and follows with a callback every epoch: its epochs beside those of
the command, the CPU time of Python itself, and how late an epoch reaches the callback.

usage: bench/run.sh calls [--graph=reddit-small] [--epochs=30] [--pairs=10] [--strict]
smoke: --epochs=5 --pairs=1

Epochs: bench/turns.sh, four ranks, with common/called.py as NEW; time.epoch of metrics.jsonl. CPU: all of the Python
process, its start and imports too, of cores x seconds; the median over the trainings. Late: from the end of the epoch
(its time.clock) to the callback, on one rank, on four, and on two hosts of the network rig (hosts=), where it can be
had; the rig needs root.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

from figures import FRINGE, ROOT, SMOKE, Bench, json_lines, look_alike, markdown, option, ran, write_tables
from rig import FIRST, RIG

CALLED = os.path.join(ROOT, "bench", "common", "called.py")
SOON = 0.1  # seconds


def write_program(work, name, line):
    with open(os.open(os.path.join(work, name), os.O_CREAT | os.O_WRONLY, 0o755), "w") as file:
        file.write("#!/bin/sh\n" + line + "\n")
    return os.path.join(work, name)


def programs(work):
    """The command and fringe.train as programs. fringe.train gives its program a session of its own, for which the kernel
    shares out the cores, so the command gets one, too; both go before whatever else runs here."""
    first = write_program(work, "first", f'set -- "{os.path.abspath(FRINGE)}" "$@"\n{FIRST}')
    return (write_program(work, "command", f'exec setsid -w "{first}" "$@"'),
            write_program(work, "called", f'FRINGE_PROGRAM="{first}" exec "{sys.executable}" "{CALLED}" "$@"'))


def environment(report, **more):
    return dict(os.environ, FRINGE_CALLED=report, **more)


def epochs_by_turns(bench, work, command, called, pairs, epochs):
    """The ratio to the command's epochs, and what Python took in each training."""
    report, cell = os.path.join(work, "turns"), "tiny-2" if SMOKE else "reddit-small-4"
    said = ran("sh", os.path.join(ROOT, "bench", "turns.sh"), command, called, "--cells", cell, "--epochs", epochs,
               "--pairs", pairs, "--most", pairs, "--bar", "1.03", env=environment(report)).stdout
    print(said.splitlines()[0], flush=True)
    (turn,) = json.loads(said.splitlines()[-1])["figures"]
    bench.figure("an epoch with a callback over the command's", turn["value"], "x")
    cpu = statistics.median(one["cpu"] / (one["wall"] * os.cpu_count()) for one in json_lines(report))
    bench.figure("CPU of Python itself", 100 * cpu, "%", ratio=100 * cpu, bar=1.0, at_most=True)
    return turn, cpu


def on_the_rig(work, words, report):
    """The same words on two hosts, or False."""
    name = "calls"
    state = os.path.join(work, f"netrig-{name}")
    rig = {"env": dict(os.environ, TMPDIR=work), "capture_output": True, "text": True}
    up = subprocess.run(["bash", RIG, "up", "--name", name, "--hosts", "2", "--rate", "1gbit"], **rig)
    if up.returncode != 0:
        print("skipped: two hosts:", up.stderr.strip().split("\n")[-1], flush=True)
        return False
    mpi = {"plm": "rsh", "plm_rsh_agent": state + "/agent", "oob_tcp_if_include": "eth0", "btl_tcp_if_include": "eth0",
           "btl": "self,tcp", "pml": "ob1", "orte_tmpdir_base": state}
    try:
        ran("bash", RIG, "exec", "--name", name, "--host", "1", "--", *words,
            env=environment(report, TMPDIR=work, **{"OMPI_MCA_" + key: value for key, value in mpi.items()}))
    finally:
        subprocess.run(["bash", RIG, "down", "--name", name], **rig)
    return True


def late(bench, work, called, graph, epochs):
    """{where: seconds of each epoch}"""
    found = {}
    for where, ranks in (("1 rank", "1"), ("4 ranks", "4"), ("2 hosts", "2")):
        report = os.path.join(work, "late" + where[0] + where[-1])
        words = [called, "train", os.path.join(ROOT, "configs", f"{graph}-gcn.json"), "--ranks", ranks]
        for setting in (f"train.epochs={epochs}", "run.threads=1", f"run.dir={work}/run{ranks}-{where[-1]}"):
            words += ["--set", setting]
        if where != "2 hosts":
            ran(*words, env=environment(report))
        elif not on_the_rig(work, [*words, "--hosts", "h1,h2"], report):
            continue
        found[where] = json_lines(report)[0]["late"]
        share = sum(seconds <= SOON for seconds in found[where]) / epochs
        bench.figure(f"epochs within {SOON} s of their end, {where}", 100 * share, "%", ratio=share, bar=0.95)
    return found


def main():
    bench, graph = Bench("calls"), option("graph", "reddit-small")
    epochs, pairs = option("epochs", 30), option("pairs", 10)
    look_alike(graph)
    with tempfile.TemporaryDirectory(prefix="fringe-calls-") as work:
        command, called = programs(work)
        turn, cpu = epochs_by_turns(bench, work, command, called, pairs, epochs)
        found = late(bench, work, called, graph, epochs)
    rows = [[where, f"{1000 * statistics.median(seconds):.0f}", f"{1000 * max(seconds):.0f}",
             f"{sum(s <= SOON for s in seconds)} of {len(seconds)}"] for where, seconds in found.items()]
    write_tables("Trainings called from Python", f"""\
`bench/run.sh calls`: `fringe.train` with a callback every epoch beside the command, {turn["name"]}, {epochs} epochs,
{pairs} pairs by turns: an epoch takes {turn["value"]:.3f} times as long ({turn["unit"].split(", ")[1]}; the command
against itself {turn["limit"]:.3f}; bar 1.03: {turn["verdict"]}). Python itself, its start and imports included, takes
{100 * cpu:.2f} % of the CPU time of the cores (bar 1 %). How long after its end an epoch reaches the callback, {graph},
{epochs} epochs (bar: 95 % within {1000 * SOON:.0f} ms); the two hosts are those of the network rig at 1 Gbit/s.""",
                 markdown(["", "median ms", "largest ms", f"within {1000 * SOON:.0f} ms"], rows))
    bench.end()


main()
