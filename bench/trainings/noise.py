"""What quantized messages add to the gradient, against their bytes: uniform, random and adaptive bit widths.

usage: bench/run.sh noise [--strict] [--sets=reddit-small,products-small,amazon-computers] [--samples=12]
smoke: --sets=reddit-small --samples=2

bench/trainings/noise.c measures each variant at one set of trained weights on 4 ranks: noise is the distance of the gradient from
that of fp32 messages, root mean square over epochs, over its length. Curves are compared at equal bytes, between
neighbouring points of the other curve, on logarithmic scales. Adaptive widths have a point for each lambda; below
LEAST_LAMBDA nearly every row gets the smallest width, so that nothing is left to choose. Writes bench/results/tables/noise.json and
docs/pictures/noise.svg.
"""
import math
import os
import tempfile

from figures import SMOKE, Bench, markdown, on_ranks, option, write_tables
from plots import Panel, Picture, legend, save

SETS = {
    "reddit-small": ["--graph=reddit-small", "--train=40"],
    "products-small": ["--graph=products-small", "--train=60"],
    "amazon-computers": ["--train=60", "data.path=amazon_computers/amazon_electronics_computers.npz",
                         "data.splits=amazon_computers/splits.npz", 'data.transforms=["drop-loops","symmetrize"]'],
}
EIGHT, THREE = "[1,2,3,4,5,6,7,8]", "[2,4,8]"
LEAST_LAMBDA, DEFAULT, PUBLISHED = 0.25, 0.9, 0.5
OF_UNIFORM, OF_THREE = 0.7, 0.9  # bars: the noise of 1 to 8 bits at equal bytes


def measure(name, samples, folder):
    """{(rule, widths): [(bytes, noise, lambda, seconds)]}"""
    variants = {}
    for line in on_ranks(2 if SMOKE else 4, "bench_noise", f"--data={folder}", f"--samples={samples}", *SETS[name]):
        if not line.startswith("variant "):
            continue
        rule, widths, *numbers = line.split()[1:]
        weight, size, noise, seconds = map(float, numbers)
        variants.setdefault((rule, "" if rule == "uniform" else widths), []).append((size, noise, weight, seconds))
    return {variant: sorted(points) for variant, points in variants.items()}


def noise_at(curve, size):
    """The noise of a curve at these bytes; None outside it."""
    for (a, low, *_), (b, high, *_) in zip(curve, curve[1:]):
        if a <= size <= b and a < b:
            return low * (high / low) ** (math.log(size / a) / math.log(b / a))
    return None


def ratios(curve, other):
    """Noise over that of the other curve at the same bytes: {lambda: ratio} where both have points."""
    there = {weight: (noise, noise_at(other, size)) for size, noise, weight, _ in curve}
    return {weight: noise / against for weight, (noise, against) in there.items() if against}


def point(curve, weight):
    return next(p for p in curve if p[2] == weight)


def draw(results):
    p = Picture("noise", "Noise of the gradient against the bytes of an epoch", 40 + 430 * len(results), 400)
    for i, (name, variants) in enumerate(results.items()):
        scale = 1e6
        curves = [("grey", variants["uniform", ""]), ("orange", variants["adaptive", THREE]), ("blue", variants["adaptive", EIGHT])]
        most = max(point[0] for _, curve in curves for point in curve) / scale
        decades = [(1e-4, "0.0001"), (1e-3, "0.001"), (1e-2, "0.01"), (1e-1, "0.1"), (1, "1")]
        panel = Panel(p, 90 + 430 * i, name, ("megabytes of all ranks in an epoch",
                      [(most * f, f"{most * f:.1f}") for f in (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)]),
                      ("noise / gradient", decades), log_x=True, log_y=True, width=320)
        for colour, curve in curves:
            panel.curve([(size / scale, noise) for size, noise, *_ in curve if size / scale >= most / 16], colour)
        for widths in (THREE, EIGHT):
            (size, noise, *_), = variants["random", widths]
            panel.ring(size / scale, noise, "purple")
    legend(p, 362, [("grey", False, "uniform, 1 to 8 bits"), ("orange", False, "adaptive, 2, 4, 8 bits"),
                    ("blue", False, "adaptive, 1 to 8 bits"), ("purple", False, "random (rings)")])
    save(p)


def table(results):
    rows = []

    def row(name, words, weight, variant, others):
        size, noise, _, seconds = variant
        against = [noise_at(other, size) if other else None for other in others]
        cells = [f"{noise / a:.2f}" if a else "–" for a in against]
        rows.append([name, words, weight, f"{size / 1e6:.2f}", f"{noise:.4f}", *cells, f"{seconds:.3f}"])

    for name, variants in results.items():
        uniform, three, eight = variants["uniform", ""], variants["adaptive", THREE], variants["adaptive", EIGHT]
        for bits in (2, 4, 8):
            row(name, f"uniform, {bits}", "–", uniform[bits - 1], (None, None))
        for widths in (THREE, EIGHT):
            row(name, f"random, {widths[1:-1].replace(',', ', ')}", "–", variants["random", widths][0], (uniform, None))
        row(name, "2, 4, 8", PUBLISHED, point(three, PUBLISHED), (uniform, None))
        for weight in (PUBLISHED, DEFAULT):
            row(name, "1 to 8", weight, point(eight, weight), (uniform, three))
    return markdown("| set | widths | λ | MB an epoch | noise | of uniform's at equal bytes | of 2, 4, 8's | epoch, s |", rows)


def judge(bench, name, variants):
    uniform, three, eight = variants["uniform", ""], variants["adaptive", THREE], variants["adaptive", EIGHT]
    of_uniform = {w: r for w, r in ratios(eight, uniform).items() if w >= LEAST_LAMBDA}
    of_three = ratios(eight, three)
    bench.at_most(f"{name}: 1 to 8 bits, worst lambda", max(of_uniform.values()), "noise", OF_UNIFORM, "uniform", 1)
    bench.at_most(f"{name}: 1 to 8 bits, worst lambda", max(of_three.values()), "noise", OF_THREE, "2, 4, 8", 1)
    new, old = point(eight, DEFAULT), point(three, PUBLISHED)
    for what, place, unit in (("bytes", 0, "MB"), ("noise", 1, "")):
        scale = 1e6 if place == 0 else 1
        bench.at_most(f"{name}: {what} of the default", new[place] / scale, unit, 1, "of adaqp-published",
                      old[place] / scale)
    bench.figure(f"{name}: epoch of the default", new[3], "s", "of adaqp-published", old[3], new[3] / old[3])


def main():
    bench = Bench("noise")
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in option("sets", ",".join(SETS)).split(","):
            os.mkdir(os.path.join(folder, name))
            results[name] = measure(name, option("samples", 12), os.path.join(folder, name))
            judge(bench, name, results[name])
    if list(results) == list(SETS):
        draw(results)
        write_tables("Noise against bytes", f"""\
`bench/run.sh noise`: {option("samples", 12)} epochs of 3 × 256 GCN with LayerNorm on 4 ranks at one set of trained
weights, mode `adaqp-published`, a fixed link of 1 Gbit/s and 50 µs. Noise is the distance of the gradient from that of
fp32 messages, root mean square, over its length. All epochs of a variant do the same work, so the last column shows what
the widths cost in packing.""", table(results))
    bench.end()


if __name__ == "__main__":
    main()
