"""`fringe train` by way of fringe.train, as a program for benches that compare the two: its words are those of the
command, FRINGE_PROGRAM is the program, and other commands are handed on to it. Where FRINGE_CALLED names a file, a line of
JSON is added to it: the CPU seconds of this Python, its seconds from start to end, and how late each epoch came."""
import json
import os
import sys
import time

BEGAN = time.time()
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def train(words):
    sys.path.insert(0, os.path.join(ROOT, "python"))
    import fringe

    config, named, settings, late = words[0], {}, {}, []
    for name, value in zip(words[1::2], words[2::2]):
        if name == "--set":
            key, text = value.split("=", 1)
            settings[key] = text
        else:
            named[name] = value
    fringe.train(config, ranks=int(named.get("--ranks", 1)), hosts=named.get("--hosts"), dir=settings.pop("run.dir"),
                 set=settings, on_epoch=lambda line: late.append(time.time() - line["time"]["clock"]))
    if "FRINGE_CALLED" in os.environ:
        with open(os.environ["FRINGE_CALLED"], "a") as file:
            print(json.dumps({"cpu": time.process_time(), "wall": time.time() - BEGAN, "late": late}), file=file)


if sys.argv[1] == "train":
    train(sys.argv[2:])
else:
    os.execv(os.environ["FRINGE_PROGRAM"], ["fringe", *sys.argv[1:]])
