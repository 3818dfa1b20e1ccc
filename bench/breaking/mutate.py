"""Would the tests notice? Changes one place of the program at a time (an operator, a constant, a dropped statement, a split),
builds it, and runs the tests of that module until one fails. What no test notices has survived and is named in the log.

The places are those of the files below; which of them are tried follows from --seed and from their own lines alone, so that
a change elsewhere leaves the choice as it is. A mutation that does not build, or whose machine code is that of the program,
is none, and the next one takes its place. Statements that only give memory back, assertions and sizes of buffers are left
alone: the sanitizers judge those. The log says one mutation a line and is gone on with where it ends (the last line of a
mutation counts); why those that survived change nothing, or nothing that is told, is said in bench/breaking/mutate.md.

usage: bench/mutate.sh [--count=300] [--seed=1] [--jobs=N] [--only=src/trainer/trainer.c] [--named] [--retry] [--list]
                       [--work=build-mutate] [--log=FILE] [--strict]
--named: those that once survived; --retry: tries those that survived again; --list: names the mutations and tries none.
smoke: --list --count=20
"""
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

from rows import ROOT, copy_program

TRAIN = ["test_step-1", "test_select-1", "test_trainer-1"]
SAVE = ["test_checkpoint-1", "test_manifest-1", "test_identity-1", "test_degenerate-1", "test_crash", "test_inference-1", "test_step-2",
        "test_trainer-2", "test_checkpoint-2"]
RUNS = ["test_disagree.sh", "test_weights.sh", "test_usage.sh", "test_runs.sh", "test_trace.sh", "test_scores.sh"]
LONG = ["test_resume.sh", "test_adaqp.sh"]
ASSIGN = ["test_link-3", "test_assigner-3", "test_link-2", "test_assigner-1", "test_assigner-8", "test_rules",
          "test_state-3", "test_asked"]
# files, and their tests: those that most likely notice first, a list at a time
MODULES = [
    ("src/trainer/trainer.c", [TRAIN, SAVE, RUNS, LONG]),
    ("src/trainer/evaluate.c", [TRAIN, SAVE, RUNS]),
    ("src/trainer/optimizer.c", [TRAIN, SAVE, RUNS]),
    ("src/trainer/*.c", [SAVE[:6], TRAIN + SAVE[6:], RUNS, LONG]),
    ("src/checkpoint/*.c", [SAVE[:6], ["test_resume-1", "test_resume-2"] + SAVE[6:], RUNS, LONG]),
    ("src/model/metrics.c", [["test_metrics-1"], ["test_metrics-3"], TRAIN, RUNS]),
    ("src/assigner/link.c", [ASSIGN, ["test_adaqp.sh"]]),
    ("src/assigner/groups.c", [ASSIGN, ["test_trainer-2"], ["test_adaqp.sh"]]),
    ("src/report/*.c", [["test_report", "test_files.sh", "test_durable.sh"], RUNS, LONG]),
    ("src/cli/cmd_predict.c", [["test_weights.sh"]]),
]
OPERATIONS = "test_backend_ops"
# mutations that once survived: file, text, what it becomes, and the test that was written for it (--named tries these alone)
NAMED = [
    ("src/assigner/trials.c", "tie = 0.02", "tie = 0.2", "test_choice-2"),
    ("src/assigner/trials.c", "* spent->least_wait", "* spent->wait", "test_choice-2"),
    ("src/assigner/adaptive.c", "-comm_max_double(a->comm, -covered / (double)assigned->exchanges)",
     "comm_max_double(a->comm, covered / (double)assigned->exchanges)", "test_assigner-2"),
    ("src/assigner/link.c", "if (i == 0 || seconds < least)", "", "test_link-2"),
    ("kernels/cuda/checksum.cu", "step = (uint64_t)gridDim.x * CHECKSUM_THREADS", "step = (uint64_t)1 << 60", OPERATIONS),
    ("kernels/cuda/dense.cu", "y.stride, parts.rows * y.stride, x.at", "y.stride, 0 * parts.rows * y.stride, x.at", OPERATIONS),
    ("kernels/cuda/message.h", "return (int64_t)gridDim.x * (MESSAGE_THREADS >> lanes.shift)", "return (int64_t)1 << 60", OPERATIONS),
    ("kernels/cuda/pointwise.h", "return (int64_t)gridDim.x * ROW_GROUPS", "return (int64_t)1 << 60", OPERATIONS),
    ("kernels/cuda/post_backward.cu", "column_block(z.count)", "64", OPERATIONS),
    ("kernels/cuda/loss.cu", "begin < end; begin += PIECE", "begin < end; begin += end", OPERATIONS),
    ("kernels/cuda/device.h", "i += (int64_t)gridDim.x * blockDim.x", "i += (int64_t)1 << 60", OPERATIONS),
    ("kernels/cuda/sums.cu", "at + begin, first + BROUGHT, some", "at + begin, 0, some", OPERATIONS),
    ("kernels/cuda/sums.cu", "sum_block(count, LEAST_FLOATS)", "LEAST_FLOATS", OPERATIONS),
    ("kernels/cuda/count.cu", "atomicAdd(to.all + to.at + which, (Count)1)", "atomicAdd(to.all + which, (Count)1)", OPERATIONS),
    ("kernels/cuda/dense.cu", "part + parts.count * count, y.columns", "part + (parts.count - 1) * count, y.columns", OPERATIONS),
    ("kernels/cuda/aggregate_rows.cu", "4 * (item / places * lanes", "4 * (item % tiles * lanes", OPERATIONS),
    ("kernels/cuda/quantize.cu", "first += piece) {\n            const int count", "first += columns) {\n            const int count", OPERATIONS),
    ("kernels/cpu/dense.c", "end = least(r + PANEL_ROWS, range.end)", "end = least(r + PANEL_ROWS - 1, range.end)", OPERATIONS),
    ("kernels/cpu/pointwise.c", "call.block = column_block(z.count)", "call.block = 64", OPERATIONS),
]
TEXTS = {}  # of the files that are mutated, as they were when this began
WORD = r"[A-Za-z_]\w*"
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+=": "-=", "-=": "+=",
         "++": "--", "--": "++", "+": "-", "-": "+", "*": "/", "/": "*", "%": "*"}
NAMES = {"SPLIT_TRAIN": "SPLIT_VAL", "SPLIT_VAL": "SPLIT_TEST", "SPLIT_TEST": "SPLIT_VAL", "SPLIT_NONE": "SPLIT_TRAIN",
         "FORWARD": "BACKWARD", "BACKWARD": "FORWARD", "true": "false", "false": "true"}
FREES = re.compile(r"^\s*(memory_free|free|fclose|close|closedir|\w*(free|clear|give|close))\(")
TYPES = re.compile(r"^\s*(static|const|struct|enum|typedef|extern|unsigned|void|int|int32_t|int64_t|uint\w+|size_t|ssize_t|double|"
                   r"float|char|bool|[A-Z]\w*)\b\s+\**\s*" + WORD)
LEAVE = re.compile(r"^\s*(return|break|continue|case|default|else|do|goto|if|for|while|switch|assert|CHECK)\b")


def masked(text):
    """The text with comments, strings, characters and lines of the preprocessor blank, and as long."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*'
    return re.sub(pattern, blank, text, flags=re.S | re.M)


def inside_functions(code):
    """[begin, end) of the bodies: what stands in braces that open at the end of a line without indentation."""
    return [(m.start(), code.find("\n}", m.start())) for m in re.finditer(r"^[A-Za-z_][^;=\n]*(?:\n[^;={}\n]*)*\) \{$", code, re.M)]


def statements(code, begin, end):
    """Statements of one expression, whole."""
    for match in re.finditer(r"(?<=[;{})])\n(\s+[A-Za-z_*(][^;{}]*;)(?=\s*\n)", code[begin:end]):
        text = match.group(1)
        if LEAVE.match(text) or FREES.match(text) or TYPES.match(text):
            continue
        if "(" in text or "=" in text or "++" in text or "--" in text:
            lead = len(text) - len(text.lstrip())
            yield begin + match.start(1) + lead, begin + match.end(1)


def operators(code, begin, end):
    for match in re.finditer(r"<=|>=|==|!=|&&|\|\||\+=|-=|\+\+|--|->|<<|>>|[-+*/%<>]", code[begin:end]):
        at, what = begin + match.start(), match.group(0)
        before, after = code[at - 1], code[at + len(what)]
        binary = before == " " and after == " "
        if what in ("++", "--", "+=", "-=", "<=", ">=", "==", "!=", "&&", "||") or (what in SWAPS and binary):
            yield at, at + len(what), SWAPS[what]
    for match in re.finditer(r"!(?=[A-Za-z_(])", code[begin:end]):
        yield begin + match.start(), begin + match.end(), ""


def constants(code, begin, end):
    for match in re.finditer(r"(?<![\w.])(\d+\.\d+|\d+e-?\d+|\d+)(?![\w.])", code[begin:end]):
        at, text = begin + match.start(), match.group(1)
        line = code[code.rfind("\n", 0, at) + 1:at]
        if re.search(r"\bchar\b[^;=]*\[$", line) or re.search(r"\[$", line) and TYPES.match(line):
            continue
        value = f"(2 * {text})" if not text.isdigit() else "1" if text == "0" else "0" if text == "1" else str(int(text) + 1)
        yield at, at + len(text), value
    for match in re.finditer(r"\b(" + "|".join(NAMES) + r")\b", code[begin:end]):
        yield begin + match.start(), begin + match.end(), NAMES[match.group(1)]


def candidates(path):
    """(line, column, begin, end, replacement) of one file."""
    text = TEXTS[path] = (ROOT / path).read_text()
    code = masked(text)
    for begin, stop in inside_functions(code):
        places = [(b, e, ";") for b, e in statements(code, begin, stop)]
        places += list(operators(code, begin, stop)) + list(constants(code, begin, stop))
        for b, e, new in places:
            line = text.rfind("\n", 0, b)
            if re.match(r"\s*(assert|CHECK)\(", text[line + 1:b + 8]):
                continue
            yield {"file": path, "line": text.count("\n", 0, b) + 1, "begin": b, "end": e, "new": new,
                   "old": text[b:e], "text": text[line + 1:text.find("\n", b)].strip(), "column": b - line}


def named():
    """The mutations of NAMED, in the form of candidates()."""
    seen = {}
    for path, old, new, test in NAMED:
        text = TEXTS[path] = (ROOT / path).read_text()
        if text.count(old) != 1:
            sys.exit(f"mutate: {path} has '{old}' {text.count(old)} times, not once; mend NAMED")
        begin = text.index(old)
        line = text.rfind("\n", 0, begin)
        mutant = {"file": path, "line": text.count("\n", 0, begin) + 1, "begin": begin, "end": begin + len(old), "new": new, "old": old,
                  "text": text[line + 1:text.find("\n", begin)].strip(), "column": begin - line, "steps": [[test]]}
        rank_of(mutant, "named", seen)
        yield mutant


def rank_of(mutant, seed, seen):
    """A number that hangs on the seed and on the place's own line."""
    key = "|".join([str(seed), mutant["file"], mutant["text"], mutant["old"], mutant["new"], str(mutant["column"])])
    seen[key] = seen.get(key, 0) + 1
    mutant["key"] = hashlib.sha256(f"{key}|{seen[key]}".encode()).hexdigest()[:12]
    return mutant["key"]


def choose(seed, only):
    found, seen, done = [], {}, set()
    for pattern, steps in MODULES:
        for path in sorted(ROOT.glob(pattern)):
            name = str(path.relative_to(ROOT))
            if name in done or (only and name != only):
                continue
            done.add(name)
            found += [dict(m, steps=steps) for m in candidates(name)]
    for mutant in found:
        rank_of(mutant, seed, seen)
    return sorted(found, key=lambda m: m["key"])


def shown(mutant):
    old, new = (re.sub(r"\s+", " ", mutant[k]) for k in ("old", "new"))
    what = f"dropped: {old}" if new == ";" else f"{old} -> {new or 'nothing'} in: {mutant['text']}"
    return f"{mutant['file']}:{mutant['line']}\t{what}"


class Tree:
    """A copy of the program, built once and then a file at a time."""

    seconds = {}  # of the tests on the program as it is, for all copies
    measuring = threading.Lock()

    def __init__(self, work):
        self.source, self.build = work / "source", work / "build"
        copy_program(self.source)
        for name, text in TEXTS.items():
            (self.source / name).write_text(text)
        configure = ["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
        subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
        if not self.make([]):
            sys.exit("mutate: the program does not build")

    def make(self, targets):
        done = subprocess.run(["ninja", "-C", self.build, *targets], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return done.returncode == 0

    def code(self, name):
        """The machine code of a source file, without what only a debugger reads; of kernels, which are compiled several times, the text."""
        if not name.startswith("src/"):
            return (self.source / name).read_text()
        module = name.split("/")[1]
        target = "fringe" if module == "cli" else f"fringe_{module}"
        objects = self.build / "CMakeFiles" / f"{target}.dir" / f"{name}.o"
        if not self.make([str(objects.relative_to(self.build))]):
            return None
        bare = self.build / "bare.o"
        subprocess.run(["objcopy", "--strip-debug", objects, bare], check=True)
        return bare.read_bytes()

    def limit(self, name, seconds):
        """Gives a test this long; what the project's own limit is does not matter here."""
        path = self.build / "CTestTestfile.cmake"
        pattern = rf'(set_tests_properties\(\[=*\[{re.escape(name)}\]=*\].*? TIMEOUT )"[\d.]+"'
        path.write_text(re.sub(pattern, rf'\1"{seconds:.0f}"', path.read_text()))

    def test(self, names):
        """The first of these tests that fails, "" if all pass, None if there are none; two run at a time."""
        for name in names:
            self.limit(name, 10 + 8 * self.seconds[name] if name in self.seconds else 600)
        pattern = "^(" + "|".join(map(re.escape, names)) + ")$"
        done = subprocess.run(["ctest", "-R", pattern, "-j4", "--stop-on-failure"], cwd=self.build, capture_output=True, text=True)
        if "No tests were found" in done.stdout + done.stderr:
            return None
        failed = re.search(r"^\s*\d+ - (\S+) \(", done.stdout, re.M)
        return "" if done.returncode == 0 else failed.group(1) if failed else names[0]

    def measure(self, names):
        """Each once on the program as it is: how long it may take. 0: it is not there, or fails as it is and can tell nothing."""
        self.make(self.programs(names))
        for name in names:
            begin = time.monotonic()
            failed = self.test([name])
            if failed:
                print(f"mutate: {name} fails without any mutation and is left out", file=sys.stderr, flush=True)
            self.seconds[name] = time.monotonic() - begin if failed == "" else 0

    def programs(self, names):
        """What has to be built for these tests."""
        wanted = {"fringe" if n.endswith((".sh", ".py")) else re.sub(r"-\d+$", "", n) for n in names}
        return sorted(name for name in wanted if name == "fringe" or list(self.source.glob(f"tests/*/{name}.c")))


def noticed(tree, steps, begin, end):
    """The first test that fails on a mutation, which begin() makes and end() takes back; "" if none does, None: it does not build."""
    for step in steps:
        with tree.measuring:
            unknown = [name for name in step if name not in tree.seconds]
            if unknown:
                end()
                tree.measure(unknown)
                begin()
        if not tree.make(tree.programs(step)):
            return None
        able = [name for name in step if tree.seconds[name] > 0]
        failed = able and tree.test(able)
        if failed and tree.test([failed]):  # alone, too: one failure beside another test may be chance
            return failed
    return ""


def judge(tree, mutant):
    """Which test notices, "" if none does; None: it is no mutation."""
    path, text = tree.source / mutant["file"], TEXTS[mutant["file"]]
    plain = tree.code(mutant["file"])

    def begin():
        path.write_text(text[:mutant["begin"]] + mutant["new"] + text[mutant["end"]:])

    def end():
        path.write_text(text)

    begin()
    try:
        changed = tree.code(mutant["file"])
        return None if changed is None or changed == plain else noticed(tree, mutant["steps"], begin, end)
    finally:
        end()


def summary(lines):
    killed = [l for l in lines if l.startswith("noticed")]
    survived = [l for l in lines if l.startswith("SURVIVED")]
    tried = len(killed) + len(survived)
    share = 100 * len(survived) / tried if tried else 0
    return f"{tried} mutations, {len(killed)} noticed, {len(survived)} survived ({share:.1f} %; bar: at most 5 %)", share


class Trial:
    """Tries mutations, several at a time, until `count` were tried; each verdict goes into the log at once."""

    def __init__(self, mutants, log, before, count):
        self.mutants, self.log, self.verdicts, self.count = mutants, log, before, count
        self.taken, self.lock = set(), threading.Lock()

    def lines(self):
        """The verdicts on the first `count` mutations, as far as there are any."""
        found = []
        for mutant in self.mutants:
            if sum(not line.startswith("none") for line in found) >= self.count:
                break
            found += [self.verdicts[mutant["key"]]] if mutant["key"] in self.verdicts else []
        return found

    def next(self):
        """The first mutation that nobody has tried or tries; None: there are enough."""
        with self.lock:
            tried = 0
            for mutant in self.mutants:
                if tried >= self.count:
                    return None
                key = mutant["key"]
                if key not in self.verdicts and key not in self.taken:
                    self.taken.add(key)
                    return mutant
                tried += not self.verdicts.get(key, "").startswith("none")
            return None

    def put(self, mutant, verdict, seconds):
        key = mutant["key"]
        with self.lock:
            self.verdicts[key] = f"{verdict}\t{key}\t{seconds:.0f} s\t{shown(mutant)}"
            with self.log.open("a") as out:
                out.write(self.verdicts[key] + "\n")
            print(self.verdicts[key], flush=True)

    def work(self, folder):
        tree = None
        while (mutant := self.next()) is not None:
            tree = tree or Tree(folder)
            begin = time.monotonic()
            by = judge(tree, mutant)
            self.put(mutant, "none" if by is None else f"noticed by {by}" if by else "SURVIVED", time.monotonic() - begin)

    def run(self, folder, jobs):
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for done in [pool.submit(self.work, folder / str(job)) for job in range(jobs)]:
                done.result()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutations at a time")
    parser.add_argument("--only", help="one file, as src/trainer/trainer.c")
    parser.add_argument("--named", action="store_true", help="only those that once survived")
    parser.add_argument("--log", type=pathlib.Path, help="default: SEED.log, or named.log, in --work")
    parser.add_argument("--retry", action="store_true", help="try those again that had survived")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build-mutate")
    parser.add_argument("--list", action="store_true", help="name the mutations and try none")
    parser.add_argument("--strict", action="store_true", help="the exit status says whether the bar was reached")
    options = parser.parse_args()
    those_named = list(named())  # a text that is gone ends this, whatever is tried
    mutants = those_named if options.named else choose(options.seed, options.only)
    if options.list:
        print("\n".join(shown(m) for m in mutants[:options.count]))
        return 0
    options.work.mkdir(parents=True, exist_ok=True)
    log = options.log or options.work / f"{'named' if options.named else options.seed}.log"
    before = {l.split("\t")[1]: l for l in (log.read_text().splitlines() if log.exists() else []) if "\t" in l}
    if options.retry:
        before = {key: line for key, line in before.items() if not line.startswith("SURVIVED")}
    trial = Trial(mutants, log, before, options.count)
    trial.run(options.work, options.jobs)
    lines = trial.lines()
    said, share = summary(lines)
    print(said)
    for line in lines:
        if line.startswith("SURVIVED"):
            print(line)
    return 1 if options.strict and share > 5 else 0


if __name__ == "__main__":
    sys.exit(main())
