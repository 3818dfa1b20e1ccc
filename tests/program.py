"""What tests in Python share: the program, checks behind which a test goes on, and a folder of its own."""
import atexit
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

ROOT, FRINGE = os.environ["FRINGE_SOURCE"], os.path.abspath(os.environ["FRINGE"])
sys.path.insert(0, os.path.join(ROOT, "python"))
failed = []


def call(*words, **how):
    """What subprocess.run returns of the program, or of `program`."""
    program = how.pop("program", FRINGE)
    return subprocess.run([program, *map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL, **how)


def command(*words, code=0):
    """What it prints; ends the test unless the exit status is `code`."""
    done = call(*words)
    assert done.returncode == code, f"{' '.join(map(str, words))}\nended with {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout


def check(name, good, *why):
    print("ok:" if good else "FAILED:", name, *([] if good else why), flush=True)
    if not good:
        failed.append(name)


def has(module, what=""):
    """Whether Python has it; else the part of the test that needs it counts as skipped."""
    if importlib.util.find_spec(module) is None:
        print(f"skipped: {what or 'what needs ' + module} ({module} is not installed here)")
        return False
    return True


def needs_data(name, what):
    """Skips the test, or fails, where FRINGE_DATA has no such file or folder."""
    if os.path.exists(os.path.join(os.environ.get("FRINGE_DATA", ""), name)):
        return
    sentence = f"{what} needs real data; set FRINGE_DATA to its folder"
    if os.environ.get("FRINGE_REQUIRE_DATA") == "1":
        sys.exit(sentence)
    print(f"skipped: {sentence}")
    sys.exit(77)


def read_json(path):
    with open(path) as file:
        return json.load(file)


def json_lines(path):
    with open(path) as lines:
        return [json.loads(line) for line in lines]


def write(path, content):
    """Text, or bytes."""
    with open(path, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)


def write_json(path, value):
    """Returns the path."""
    write(path, json.dumps(value))
    return path


def own_folder():
    """A new folder in which the test then works, with a cache of its own; it goes when the test ends."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(lambda: (os.chdir("/"), folder.cleanup()))
    os.chdir(folder.name)
    os.environ["XDG_CACHE_HOME"] = os.path.join(folder.name, "cache")
    return folder.name


def end():
    sys.exit(bool(failed))
