#!/usr/bin/env python3
"""Adds a row to each table of a copy of the program, as EXTENDING describes it, and asks the tests of its family.

A twin does what an existing member does, under a name that no test knows: the tests must pass. A broken row is the twin
with one mistake: they must fail, and the test that noticed is named.

bench/run.sh rows            all families
bench/run.sh rows --only=codec
bench/run.sh rows --dry      can the rows be written? Builds nothing
smoke: --dry
--work=FOLDER: of the copy (build-rows). --strict: the exit status says whether every twin passed and every mistake was noticed.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
APPEND = object()  # the text goes to the end of the file


class Family:
    """tests: what is asked. row: [(file, what stands there, what follows it)], where @@ in what follows stands for what stands
    there. mistake: (right, wrong) in the row's own text."""

    def __init__(self, name, mistake_is, tests, row, mistake):
        self.name, self.mistake_is, self.tests, self.row, self.mistake = name, mistake_is, tests, row, mistake

    def written(self, texts, broken):
        """The files with the new row."""
        found = dict(texts)
        seen = False
        for path, place, text in self.row:
            if broken and self.mistake[0] in text:
                text, seen = text.replace(*self.mistake), True
            if place is APPEND:
                found[path] += text
            elif found[path].count(place) == 1:
                found[path] = found[path].replace(place, text.replace("@@", place) if "@@" in text else place + text)
            else:
                sys.exit(f"rows: {path} has changed: '{place}' stands there {found[path].count(place)} times")
        if broken and not seen:
            sys.exit(f"rows: no text of {self.name} contains '{self.mistake[0]}'")
        return found


CODEC = """
#include "internal.h"
#include <string.h>
static size_t twin_bytes(const MessageLayout *layout) {
    return memory_product(layout->rows, memory_product(layout->columns, sizeof(float)));
}
static void twin_encode(const Backend *backend, DeviceByte *out, const MessageLayout *layout,
                        const MessageSource *source, DeviceInt64 *bad, const Poll *poll) {
    size_t bytes = twin_bytes(layout), dropped = 0;
    (void)bad;
    backend->pack_fp32(out, source, layout->rows, poll);
    if (bytes > 0)
        memset((char *)(void *)out + bytes - dropped, 0, dropped);
}
static void twin_decode(const Backend *backend, Rows out, int64_t begin,
                        const MessageLayout *layout, const DeviceByte *in, const Poll *poll) {
    backend->unpack_fp32(out, begin, in, layout->rows, poll);
}
const Codec codec_twin = {.name = "twin",
                          .bytes = twin_bytes,
                          .bytes_most = twin_bytes,
                          .encode = twin_encode,
                          .decode = twin_decode};
"""

SCHEDULE = """
static void twin(Channel *channel, const RowSource *rows, ExchangeContext context,
                 const ExchangeWork *work) {
    channel_pack(channel, rows, context);
    channel_post(channel);
    for (int round = 0; round < rounds_of(channel); round++)
        channel_receive(channel, round);
    channel_finish(channel);
    channel_do_own(channel, work, OWN_ALL);
    channel_do_halo(channel, work, 0, rounds_of(channel));
}
const Schedule schedule_twin = {.name = "twin", .run = twin};
"""

METHOD = """
static bool cut_twin(int32_t *part, const CutInput *input, Warnings *warnings, Error *err) {
    (void)warnings, (void)err;
    int64_t nodes = input->dataset->nodes;
    for (int64_t v = 0; v < nodes; v++)
        part[v] = (int32_t)(v * input->parts / nodes);
    return true;
}
const Method method_twin = {.name = "twin", .reads = READS_NODES, .cut = cut_twin};
"""

LAYER = """
static void twin_parameter_gradient(const LayerRun *run, const Parameter *p, const Poll *poll) {
    if (true)
        linear_parameter_gradient(run, p, poll);
}
#pragma GCC diagnostic ignored "-Woverride-init"
const LayerKind layer_twin = {.name = "twin",
                              ON_GRAPHS,
                              .weights = every_layer,
                              .normalisation = "mean-self",
                              .parameters = gcn_parameters,
                              .keeps_input = linear_keeps_input,
                              LINEAR_RULE,
                              .parameter_gradient = twin_parameter_gradient};
"""

FAMILIES = [
    Family("codec", "drops the last value of a message", ["test_every_codec"],
           [("src/codec/twin.c", APPEND, CODEC),
            ("src/codec/internal.h", "extern const Codec codec_integer;\n", "extern const Codec codec_twin;\n"),
            ("src/codec/codec.c", "&codec_integer", ", &codec_twin")],
           ("dropped = 0", "dropped = 4")),
    Family("schedule", "skips the rows of the first round", ["test_exchange-3", "test_gradients-3"],
           [("src/exchange/schedule.c", APPEND, SCHEDULE),
            ("src/exchange/channel.h", "schedule_overlap, schedule_central", ", schedule_twin"),
            ("src/exchange/schedules.c", "&schedule_central", ", &schedule_twin")],
           ("work, 0, rounds", "work, rounds_of(channel) > 0, rounds")),
    Family("partitioner", "leaves the last part empty", ["test_cut"],
           [("src/partition/methods.c", APPEND, METHOD),
            ("src/partition/internal.h", "method_fennel, method_fennel_passes", ", method_twin"),
            ("src/partition/methods.c", "&method_file", ", &method_twin")],
           ("input->parts / nodes", "(input->parts - (input->parts > 1)) / nodes")),
    Family("layer", "has no gradient of its bias", ["test_every_layer-1", "test_every_layer-3"],
           [("src/model/layer_linear.c", APPEND, LAYER),
            ("src/model/shape.c", "layer_gin, layer_sgc", ", layer_twin"),
            ("src/model/shape.c", "&layer_gcn, &layer_sage_mean", ", &layer_twin")],
           ("if (true)", "if (p->role != ROLE_BIAS)")),
    Family("normalisation", "divides by one more than it adds up", ["test_block-1", "test_block-2"],
           [("src/halo/block.c", '{"sum", true, {[NODES] = {ONE, ONE}}},\n',
            '    {"twin", true, {[NODES] = {MEAN_WITH_SELF, ONE}}},\n')],
           ("true", "false")),
    Family("optimizer", "steps up the gradient", ["test_every_member-1"],
           [("src/trainer/optimizer.c", "static const Optimizer optimizers[] = {", """
static void twin_step(Trainer *t, double rate, int64_t epoch) { sgd_step(t, 1 * rate, epoch); }

@@"""),
            ("src/trainer/optimizer.c", '{"sgd", sgd_step}', ', {"twin", twin_step}')],
           ("1 * rate", "-rate")),
    Family("rate schedule", "grows with the epochs", ["test_every_member-1"],
           [("src/trainer/optimizer.c", "static const RateSchedule rate_schedules[] = {", """
static double twin_factor(const Config *config, int64_t epoch) {
    (void)config;
    return epoch > 0 ? 1 : 0;
}

@@"""),
            ("src/trainer/optimizer.c", '{"step", step_factor, false}', ', {"twin", twin_factor, false}')],
           ("epoch > 0 ? 1 : 0", "(double)epoch")),
    Family("metric", "prefers the worse weights", ["test_every_member-1"],
           [("src/model/scores.c", "static const Score scores[] = {", """
static double twin(const Evaluated *e) { return accuracy(e); }

@@"""),
            ("src/model/scores.c", '"micro-F1", CLASSES, micro_f1, .percent = true, .brief = true},\n',
             '    {"twin", "twin", "twin", "softmax", twin, .percent = true},\n')],
           ("return accuracy(e)", "return 1 - accuracy(e)")),
]


def copy_program(to):
    """Its files, but for those that git ignores."""
    shutil.rmtree(to, ignore_errors=True)
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in names.stdout.splitlines():
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


class Copy:
    """A copy of the program that is built again after each change, with the tests that are asked."""

    def __init__(self, work):
        self.source, self.build = work / "source", work / "build"
        copy_program(self.source)

    def text(self, name):
        path = self.source / name
        return path.read_text() if path.exists() else ""

    def write(self, texts):
        for name, text in texts.items():
            (self.source / name).write_text(text)

    def take_back(self, texts):
        for name, text in texts.items():
            if text:
                (self.source / name).write_text(text)
            else:
                (self.source / name).unlink()

    def ask(self, tests):
        """The first test that fails, "" if all pass, and what it said."""
        configure = ["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
        subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
        programs = sorted({re.sub(r"-\d+$", "", test) for test in tests})
        made = subprocess.run(["ninja", "-C", self.build, *programs], capture_output=True, text=True)
        if made.returncode != 0:
            sys.exit(f"rows: it does not build:\n{made.stdout[-3000:]}")
        for test in tests:
            done = subprocess.run(["ctest", "-R", f"^{re.escape(test)}$", "--no-tests=error", "--output-on-failure"], cwd=self.build,
                                  capture_output=True, text=True)
            if done.returncode != 0:
                said = re.search(r"^(?:ERROR: |.*?error: |FAILED: )?(.*\btwin\b.*)$", done.stdout, re.M)
                return test, said.group(0).strip() if said else ""
        return "", ""


def try_family(copy, family):
    """True if the twin passes and the mistake is noticed."""
    names = sorted({path for path, _, _ in family.row})
    texts = {name: copy.text(name) for name in names}
    good = True
    for broken in (False, True):
        copy.write(family.written(texts, broken))
        failed, said = copy.ask(family.tests)
        copy.take_back(texts)
        what = f"one that {family.mistake_is}" if broken else "a twin"
        verdict = f"noticed by {failed}" if failed and broken else f"FAILS {failed}" if failed else "NOT NOTICED" if broken else "passes"
        print(f"{family.name}: {what}: {verdict}{': ' + said if said else ''}", flush=True)
        good = good and broken == bool(failed)
    return good


def dry(families):
    for family in families:
        texts = {name: (ROOT / name).read_text() if (ROOT / name).exists() else "" for name, _, _ in family.row}
        for broken in (False, True):
            family.written(texts, broken)
        for test in family.tests:
            program = re.sub(r"-\d+$", "", test)
            if not list((ROOT / "tests").rglob(f"{program}.c")):
                sys.exit(f"rows: {family.name}: there is no test {program}")
    print(f"{len(families)} rows and mistakes can be written")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", help="one family, as codec")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build-rows")
    parser.add_argument("--strict", action="store_true", help="the exit status says whether all went as it must")
    parser.add_argument("--dry", action="store_true", help="write the rows into nothing, and build nothing")
    options = parser.parse_args()
    families = [family for family in FAMILIES if options.only in (None, family.name)]
    if not families:
        sys.exit(f"rows: --only: expected one of {', '.join(family.name for family in FAMILIES)}")
    if options.dry:
        return dry(families)
    copy = Copy(options.work)
    good = sum(try_family(copy, family) for family in families)
    print(f"{good} of {len(families)} tables: a right row passes and a wrong one is noticed, though no test names them")
    return 1 if options.strict and good < len(families) else 0


if __name__ == "__main__":
    sys.exit(main())
