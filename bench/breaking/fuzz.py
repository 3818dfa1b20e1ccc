"""Runs the fuzzers of the readers (tests/fuzz/readers.txt; all, or those that are named), under AddressSanitizer and
UndefinedBehaviorSanitizer, in one process and one thread each, and counts the lines of the readers' sources that their
corpora reach: what tests/fuzz/seeds.py makes, what libFuzzer added in build-fuzz/corpus, which later runs go on from, and
the defect corpus of FRINGE_DATA. A fuzzer that finds something ends the bench with its file: mend the reader, and add the
file to tests/fuzz/corpus/READER (fuzz_READER -minimize_crash=1 makes it smaller). Then zip bombs are refused, and timed.

Each reader's row is kept in bench/results/fuzz.json until it is measured again, and the table is written into
bench/results/tables/fuzz.json. Bars: 20,000 executions a second, 90 % of the lines, 0.1 s for a bomb.

usage: bench/fuzz.sh [READER...] [--runs=10000000] [--seconds=S] [--table] [--strict]   --table: writes the table only
smoke: --table
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import time

from figures import ROOT, keep, kept, markdown, read_kept, write_tables

BUILD, KEPT = os.path.join(ROOT, "build-fuzz"), kept("fuzz")
SEEDS = os.path.join(BUILD, "seeds")
RATE, LINES, REFUSAL = 20000, 90, 0.1
ENVIRONMENT = dict(os.environ, OMP_NUM_THREADS="1", TZ="UTC")  # libzip asks for the time zone of every member


def readers():
    """name -> readers of the defect corpus, longest input, {source: functions that are left out}"""
    rows = {}
    for line in open(os.path.join(ROOT, "tests", "fuzz", "readers.txt")):
        if line[0] in "#\n":
            continue
        name, defects, longest, *rest = line.split()
        sources, left_out = {}, None
        for word in rest:
            if word[0] != "-":
                left_out = sources[os.path.join(ROOT, word)] = set()
            elif left_out is None:
                sys.exit(f"tests/fuzz/readers.txt: {name}: {word} stands before any source")
            else:
                left_out.add(word[1:])
        rows[name] = ([] if defects == "-" else defects.split(","), longest, sources)
    return rows


def build(folder, option, names):
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", f"-D{option}=ON", "-DFRINGE_CUDA=OFF"], check=True,
                       env=dict(os.environ, CC="clang"), stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", folder, *(f"fuzz_{name}" for name in names)], check=True, stdout=subprocess.DEVNULL)


def run(name, longest, runs, seconds):
    """Executions and seconds of one run of the fuzzer."""
    own, ours = os.path.join(BUILD, "corpus", name), os.path.join(SEEDS, name)
    os.makedirs(own, exist_ok=True)
    limits = [f"-runs={runs}"] + ([f"-max_total_time={seconds}"] if seconds else [])
    begin = time.monotonic()
    done = subprocess.run([os.path.join(BUILD, f"fuzz_{name}"), *limits, f"-max_len={longest}", "-timeout=10", "-print_final_stats=1",
                           f"-artifact_prefix={BUILD}/{name}-", own, ours], env=ENVIRONMENT, stderr=subprocess.PIPE)
    text = done.stderr.decode(errors="replace")
    if done.returncode != 0:
        sys.exit(f"{text[-4000:]}\nfuzz_{name} found something: {', '.join(glob.glob(f'{BUILD}/{name}-*'))}")
    return int(re.search(r"number_of_executed_units: *(\d+)", text).group(1)), time.monotonic() - begin


def covered(name, defects, sources):
    """Lines of the reader in the sources, and how many of them its corpora reach."""
    program, merged = os.path.join(BUILD, "cover", f"fuzz_{name}"), os.path.join(BUILD, "cover", f"{name}.profdata")
    profiles = []
    for folder, listed in ((os.path.join(BUILD, "corpus", name), []), (os.path.join(SEEDS, name), defects)):
        if os.listdir(folder):
            profiles.append(os.path.join(BUILD, "cover", f"{name}-{len(profiles)}.profraw"))
            subprocess.run([program, folder, *listed], check=True, stdout=subprocess.DEVNULL,
                           env=dict(ENVIRONMENT, LLVM_PROFILE_FILE=profiles[-1]))
    subprocess.run(["llvm-profdata-14", "merge", "-o", merged, *profiles], check=True)
    found = subprocess.run(["llvm-cov-14", "export", "-format=lcov", f"-instr-profile={merged}", program, *sources], check=True,
                           stdout=subprocess.PIPE, text=True).stdout
    return count_lines(found, sources)


def count_lines(lcov, sources):
    lines = reached = 0
    for record in lcov.split("end_of_record"):
        source = re.search(r"SF:(.*)", record)
        if source is None:
            continue
        starts = sorted((int(line), name.split(":")[-1]) for line, name in re.findall(r"^FN:(\d+),(.*)", record, re.M))
        unknown = sources[source.group(1)] - {name for _, name in starts}
        if unknown:
            sys.exit(f"{source.group(1)} has no function {', '.join(sorted(unknown))}; mend tests/fuzz/readers.txt")
        for line, count in re.findall(r"^DA:(\d+),(\d+)", record, re.M):
            function = [name for start, name in starts if start <= int(line)]
            if function and function[-1] not in sources[source.group(1)]:
                lines += 1
                reached += int(count) > 0
    return lines, reached


def refuse_bombs():
    """name -> bytes, seconds"""
    subprocess.run(["ninja", "-C", os.path.join(ROOT, "build"), "fringe"], check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run([sys.executable, os.path.join(ROOT, "tests", "dataset", "test_bombs.py"), "--time"], check=True,
                          stdout=subprocess.PIPE, text=True, env=dict(os.environ, FRINGE=os.path.join(ROOT, "build", "fringe")))
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return {name: {"bytes": int(size), "seconds": float(seconds), "mib": int(mib)} for name, size, seconds, mib, _ in rows}


def verdict(ok):
    return "ok" if ok else "short"


def write(kept):
    table, bombs = [], []
    for name, row in sorted(kept["readers"].items()):
        rate, share = row["executions"] / row["seconds"], 100 * row["reached"] / row["lines"]
        table.append(f"| {name} | {row['longest']} | {row['executions']:,} | {row['seconds']:.0f} | {rate:,.0f} | {row['lines']} | "
                     f"{share:.1f} % | {verdict(rate >= RATE and share >= LINES)} |")
    for name, row in kept["bombs"].items():
        bombs.append(f"| {name} | {row['bytes']:,} | {row['seconds']:.3f} | {row['mib']} | {verdict(row['seconds'] < REFUSAL)} |")
    write_tables("Fuzzing the readers",
                 f"`bench/fuzz.sh` (libFuzzer of {kept['clang']}, AddressSanitizer and UndefinedBehaviorSanitizer, one thread; the seconds "
                 "are those of the run with its corpus; bars: 20,000 executions/s, 90 % of the lines of the reader, 0.1 s for a bomb). "
                 "`lines`: of the sources that tests/fuzz/readers.txt names, without the functions that write or look for files.",
                 markdown("| reader | longest input | executions | seconds | executions/s | lines | covered | |", table),
                 markdown("| zip bomb | bytes | s to its sentence | peak MiB | |", bombs))


def main():
    known = readers()
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("reader", nargs="*", help=", ".join(known))
    options.add_argument("--runs", type=int, default=10_000_000, help="executions of each (10 million)")
    options.add_argument("--seconds", type=int, default=0, help="of each at most (no limit)")
    options.add_argument("--strict", action="store_true", help="the exit status says whether every bar was reached")
    options.add_argument("--table", action="store_true", help="only writes the table of what is kept")
    args = options.parse_args()
    names = args.reader or sorted(known)
    if set(names) - set(known):
        options.error(f"there is no fuzzer {', '.join(set(names) - set(known))}; there are {', '.join(known)}")
    if args.table:
        return write(read_kept(os.path.join(ROOT, "bench", "results", "fuzz.json")))
    build(BUILD, "FRINGE_FUZZ", names)
    build(os.path.join(BUILD, "cover"), "FRINGE_COVER", names)
    subprocess.run([sys.executable, os.path.join(ROOT, "tests", "fuzz", "seeds.py"), SEEDS], check=True)
    kept = {"readers": {}, **read_kept(KEPT)}
    kept["clang"] = subprocess.run(["clang", "--version"], stdout=subprocess.PIPE, text=True).stdout.splitlines()[0]
    kept["bombs"] = refuse_bombs()
    kept["readers"] = {name: row for name, row in kept["readers"].items() if name in known}
    short = any(row["seconds"] >= REFUSAL for row in kept["bombs"].values())
    for name in names:
        defects, longest, sources = known[name]
        executions, seconds = run(name, longest, args.runs, args.seconds)
        lines, reached = covered(name, defects, sources)
        print(f"{name:<12} {executions:>11,} executions {seconds:7.0f} s {executions / seconds:>9,.0f}/s  {100 * reached / lines:5.1f} % of {lines} lines",
              flush=True)
        short = short or executions / seconds < RATE or 100 * reached / lines < LINES
        kept["readers"][name] = {"longest": int(longest), "executions": executions, "seconds": round(seconds, 1), "lines": lines,
                                 "reached": reached}
        keep(KEPT, kept)
        write(kept)
    sys.exit(args.strict and short)


main()
