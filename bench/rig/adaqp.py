"""AdaQP against vanilla on the network rig, at the shares of communication that AdaQP was published at.

usage: bench/run.sh adaqp [--strict] [--graph=reddit-small] [--models=gcn,sage] [--layouts=2x1,2x2,4x1]
                          [--shares=66.8,75.2,78.2] [--epochs=9] [--repeats=3] [--precision=fp32] [--random=philox10,16]
smoke: --models=gcn --layouts=2x1 --shares=66.8 --epochs=1 --repeats=1 --precision=bf16 --random=philox7,8

For every model, layout (hosts x ranks of each) and share the link rate is searched at which vanilla (fp32, blocking)
spends that share of its epoch packing, sending and unpacking; there all modes run --repeats times, by turns; figures
are medians over these, the speed-up with its range. The ideal is vanilla's epoch over max(compute, quantized exchange),
its parts measured in the same run: compute is what vanilla does beside exchanges (summing weight gradients, too: only
the blocking schedule hides none of it, so the ideal may be passed), the exchange is what the same messages make it wait
under that schedule. What packing and unpacking must take is their bytes of floats at the rates of bench/run.sh message,
every core busy, measured anew for each cell. --precision: run.precision of vanilla and of all others; vanilla's
messages are as precise as its rows. --random: run.random and run.random_bits of all. Published speed-ups: 2.19 to 3.01.
"""
import json
import os
import statistics
import tempfile

from figures import (BUILD, ROOT, SMOKE, Bench, keep, kept, look_alike, markdown, needs_rig, option, ran, read_json,
                     read_kept, read_run, write_json, write_tables)
from rig import assigned, gains, in_turns, middle, ranged, search, vanilla

BARS = {66.8: 2.5, 75.2: 3.0, 78.2: 3.4}  # of gcn; times vanilla
OF_IDEAL, PACK_SHARE, PACK_OF_BYTES, ASSIGNMENT_SHARE = 0.85, 5, 1.15, 0.5
PUBLISHED_PERIOD = 100


def seconds_per_float():
    """Of quantizing a listed row and of dequantizing it, on a core while all are at it."""
    program, cores = os.path.join(BUILD, "bench_message"), len(os.sched_getaffinity(0))
    done = ran(program, *(["--rounds=1", "--rows=1000"] if SMOKE else ["--rounds=5"]), f"--threads={cores}")
    rate = {figure["name"]: figure["value"] for figure in json.loads(done.stdout.splitlines()[-1])["figures"]}
    return sum(4e-9 * cores / rate[f"{what} 4 bit, list of 30 %, {cores} threads"]
               for what in ("quantize", "dequantize"))


def packing_must_take(work, mode, layout):
    """Seconds of a rank and epoch, by the floats that run.json says; ranks share the cores."""
    hosts, ranks = map(int, layout.split("x"))
    exchanges = read_run(os.path.join(work, mode))[0]["exchanges"]
    floats = sum(exchange["rows"] * exchange["columns"] for exchange in exchanges)
    return seconds_per_float() * floats / min(hosts * ranks, len(os.sched_getaffinity(0)))


def measure(bench, work, config, model, layout, share, rate, epochs):
    rate, _ = search(work, config, layout, share, rate, epochs)

    def published(schedule):
        return lambda: assigned(work, config, layout, rate, "adaqp-published", epochs, f"comm.schedule={schedule}")

    turns = in_turns(option("repeats", 3), {
        "vanilla": lambda: vanilla(work, config, layout, rate, epochs), "blocking": published("blocking"),
        "overlap": published("overlap"), "central": published("central")})
    base, quantize, adaqp, central = (middle(turns[variant]) for variant in ("vanilla", "blocking", "overlap", "central"))
    least = packing_must_take(work, "adaqp-published", layout)
    compute = base["epoch"] - base["wait"] - base["pack"]
    ideal = base["epoch"] / max(compute, quantize["wait"])
    faster = gains(turns["vanilla"], turns["overlap"])
    gain = statistics.median(faster)
    name = f"{model} {layout} {share} %"
    bench.at_least(f"{name}: speed-up", gain, "x", OF_IDEAL, "ideal", ideal)
    if model == "gcn" and share in BARS:
        bench.at_least(f"{name}: speed-up", gain, "x", 1, "published bar", BARS[share])
    pack = 100 * adaqp["pack"] / adaqp["epoch"]
    bench.at_most(f"{name}: pack + unpack", pack, "%", 1, "of the epoch", PACK_SHARE)
    bench.at_most(f"{name}: pack + unpack", adaqp["pack"], "s", PACK_OF_BYTES, "bytes / rate", least)
    assignment = 100 * adaqp["assignment"] / (PUBLISHED_PERIOD * adaqp["epoch"])
    bench.at_most(f"{name}: assignment", assignment, "%", 1, "of the training", ASSIGNMENT_SHARE)
    return (f"| {model} | {layout} | {share} | {rate} | {base['epoch']:.3f} | {compute:.3f} | {quantize['wait']:.3f} "
            f"| {quantize['epoch']:.3f} | {central['epoch']:.3f} | {adaqp['epoch']:.3f} | {ranged(faster)} | {ideal:.2f} "
            f"| {gain / ideal:.2f} | {pack:.1f} | {adaqp['pack'] / least:.2f} "
            f"| {assignment:.2f} | {base['bytes'] / adaqp['bytes']:.1f} |"), rate


def missed(row):
    """Names of the bars that a row of the table misses."""
    model, _, share, *numbers = [cell.strip() for cell in row.strip("| ").split("|")]
    gain, _, of_ideal, pack, of_bytes, assignment = (float(number.split()[0]) for number in numbers[7:13])
    names = {"speed-up": model == "gcn" and gain < BARS.get(float(share), 0), "of the ideal": of_ideal < OF_IDEAL,
             "pack %": pack > PACK_SHARE, "pack of bytes / rate": of_bytes > PACK_OF_BYTES,
             "assignment": assignment > ASSIGNMENT_SHARE}
    return ", ".join(name for name, short in names.items() if short) or "none"


def write_table(what, words, rows):
    head = ("| model | hosts x ranks | communication % | Mbit/s | vanilla s | compute s | quantized exchange s "
            "| blocking s | central s | overlap s | speed-up | ideal | of the ideal | pack % "
            "| pack of bytes / rate | assignment % | fewer bytes | short of its bar |")
    caption = (f"`bench/run.sh adaqp {words}`: seconds per epoch on the network rig; compute: of vanilla, with "
               "the sum of the weight gradients (which other schedules hide, so the ideal may be passed); then mode "
               "adaqp-published; medians over repeats by turns with their range where there is one, else one measurement: `blocking` quantizes without overlap, `central` hides rows behind central rows only (as "
               "AdaQP does), `overlap` behind the whole own part; assignment: of a training with the published period of 100 epochs. "
               f"Bars: speed-up of gcn {', '.join(f'{bar} at {share} %' for share, bar in BARS.items())}; of the ideal "
               f"{OF_IDEAL}; pack {PACK_SHARE} % and {PACK_OF_BYTES} of bytes / rate; assignment {ASSIGNMENT_SHARE} %.")
    write_tables(f"AdaQP on the network rig, {what}", caption,
                 markdown(head, [f"{row} {missed(row)} |" for row in rows.values()]))


def changed(config, run, work):
    """A copy of a config with other keys of its section run."""
    sections = read_json(config)
    sections["run"] = {**sections.get("run", {}), **run}
    return write_json(os.path.join(work, os.path.basename(config)), sections)


def main():
    needs_rig()
    bench, graph, epochs = Bench("adaqp"), option("graph", "reddit-small"), option("epochs", 9)
    precision, random = option("precision", "fp32"), option("random", "philox10,16")
    shares = [float(share) for share in option("shares", "66.8,75.2,78.2").split(",")]
    table_path = kept("adaqp")  # rows of earlier calls stay
    table = read_kept(table_path)
    kind, bits = random.split(",")
    run = {"precision": precision, "random": kind, "random_bits": int(bits)}
    what, words = graph, f"--graph={graph}"
    if precision != "fp32":
        what, words = f"{what} in {precision}", f"{words} --precision={precision}"
    if random != "philox10,16":
        what, words = f"{what} with {kind} and {bits} bits", f"{words} --random={random}"
    rows = table.setdefault(what, {})
    look_alike(graph)
    with tempfile.TemporaryDirectory(prefix="fringe-adaqp-") as work:
        for model in option("models", "gcn,sage").split(","):
            config = changed(os.path.join(ROOT, "configs", f"{graph}-{model}.json"), run, work)
            for layout in option("layouts", "2x1,2x2,4x1").split(","):
                rate = 1000
                for share in shares:
                    row, rate = measure(bench, work, config, model, layout, share, rate, epochs)
                    rows[f"{model} {layout} {share}"] = row
                    keep(table_path, table)
                    write_table(what, words, rows)
    bench.end()


main()
