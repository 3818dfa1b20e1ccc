#!/usr/bin/env python3
# once
"""If this failed, a program that watches a training (--events) would miss an epoch or the end, would get another one than
metrics.jsonl has, or a training that nobody watches any more would go on."""
import json
import os
import subprocess
import time

from program import FRINGE, check, command, end, json_lines, own_folder, write_json

work = own_folder()


def train(events, *words, before=(), config="tiny.json", **how):
    return subprocess.Popen([*before, FRINGE, "train", config, "--events", str(events), *words], stderr=subprocess.PIPE,
                            stdout=subprocess.DEVNULL, text=True, **how)


def watched(*words, config="tiny.json"):
    """(exit code, stderr, events, seconds of the clock at which each came)"""
    reader, writer = os.pipe()
    process = train(writer, *words, config=config, pass_fds=(writer,))
    os.close(writer)
    with os.fdopen(reader) as lines:
        came = [(json.loads(line), time.time()) for line in lines]
    said = process.stderr.read()
    return process.wait(), said, [event for event, _ in came], [at for _, at in came]


def ended(process):
    """(exit code, stderr); one that does not end is killed."""
    try:
        said = process.communicate(timeout=60)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        said = process.communicate()[1]
    return process.returncode, said


def epochs_of(events):
    return [{key: value for key, value in event.items() if key not in ("event", "run")}
            for event in events if event["event"] == "epoch"]


def metrics_of(run):
    return json_lines(run + "/metrics.jsonl")


command("generate", "tiny", "-o", "tiny", "--quiet")
write_json("tiny.json", {"data": {"path": "tiny"}, "model": {"layers": 2, "hidden": [16]},
                         "train": {"epochs": 6, "eval_every": 5}})
for ranks in ("1", "2"):
    run = f"{work}/one{ranks}"
    code, said, events, came = watched("--ranks", ranks, "--set", f"run.dir={run}", "--set", "run.seed=3", "--set",
                                       "model.alpha=0.5")
    kinds = [event["event"] for event in events]
    check(f"{ranks} rank(s): the end is last and has the code", code == 0 and events[-1] == {"event": "end", "code": 0}, said)
    check(f"{ranks} rank(s): epochs are those of metrics.jsonl", epochs_of(events) == metrics_of(run), events)
    check(f"{ranks} rank(s): the run is named before its epochs",
          [e["run"] for e in events if e["event"] == "run"] == [run] and kinds.index("run") < kinds.index("epoch"), kinds)
    check(f"{ranks} rank(s): stages and warnings of stderr", {"stage", "warning"} <= set(kinds) and
          any("alpha" in e["text"] for e in events if e["event"] == "warning"), kinds)
    late = [at - event["time"]["clock"] for event, at in zip(events, came) if event["event"] == "epoch"]
    check(f"{ranks} rank(s): epochs have the clock's time", all(0 <= seconds < 10 for seconds in late), late)

# under the user's own mpirun: a file
for to, expected in (("events.jsonl", 0), ("7", 64)):
    process = train(to, "--quiet", "--set", f"run.dir={work}/own", before=("mpirun", "--oversubscribe", "-n", "1"))
    code, said = ended(process)
    check(f"mpirun, --events {to}", code == expected and ("passes no descriptors on" in said) == (to == "7"),
          said)
with open("events.jsonl") as lines:
    check("its file has the epochs", epochs_of(map(json.loads, lines)) == metrics_of("own"))

# a reader that goes away
for ranks in ("1", "2"):
    reader, writer = os.pipe()
    process = train(writer, "--ranks", ranks, "--set", f"run.dir={work}/left{ranks}", "--set", "train.epochs=1000000",
                    pass_fds=(writer,))
    os.close(writer)
    with os.fdopen(reader) as lines:
        next(line for line in lines if '"epoch": 2,' in line)
    code, said = ended(process)
    check(f"{ranks} rank(s): nobody reads: it stops with a checkpoint",
          code == 75 and os.path.exists(f"left{ranks}/checkpoints/LATEST"), said)

# what is found before a training begins; and a program that starts itself again keeps the log
for ranks in ("1", "2"):
    code, said, events, _ = watched("--ranks", ranks, "--set", "train.epoch=3", "--set", f"run.dir={work}/none")
    check(f"{ranks} rank(s): a wrong config is an event", code == 78 and
          [event["event"] for event in events] == ["error", "end"] and events[1]["code"] == 78 and
          events[0]["text"] in said and "train.epoch: unknown key" in events[0]["text"], (events, said))
code, said, events, _ = watched("--set", f"run.threads={os.cpu_count() + 1}", "--set", f"run.dir={work}/again")
check("started again: the log goes on", code == 0 and epochs_of(events) == metrics_of("again"), said)

for to, expected, sentence in (("99", 64, "a descriptor above 2"), ("none/events", 73, "cannot write")):
    code, said = ended(train(to))
    check(f"--events {to}", code == expected and sentence in said, said)
end()
