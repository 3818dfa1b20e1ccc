"""Does it pay to remember halo rows? What coded rows add to the gradient of a training, by memory and bits.

usage: bench/run.sh differences [--strict] [--sets=reddit-small,coauthor-physics,cora] [--layers=2,3] [--dropouts=yes,no]
                                [--before=post,conv] [--memories=none,difference,ef21,anchor] [--widths=1,...,8]
                                [--train=50] [--samples=10] [--layer=0] [--ranks=4]
smoke: --sets=reddit-small --layers=2 --dropouts=yes --memories=none,difference --widths=2,4 --train=2 --samples=2 --ranks=2

A scene is a set, a depth (layers of 64, dropout last, receptive field of all rows), with dropout (0.5, of the input
too) or without, and the place at which rows travel (quantization.before). bench/trainings/differences.c trains it with
fp32 rows and lets each variant go the same way with coded ones: noise is |g - g_fp32| / |g_fp32| over the epochs behind
--train. On the way back rows are fp32; with --layer=1, so are those of all layers but that. Scenes are kept in
bench/results/differences.json and not measured again (remove one there to do so); what this program does not know is
left out. A memory pays at a width where it has less noise than the rows themselves at the same bytes. Bar, with 2
layers: differences of 2 bits, rows before post, have at most the noise of 4 bits of the rows after post.
"""
import os
import tempfile
from collections import namedtuple

from figures import ROOT, Bench, keep, kept, look_alike, markdown, on_ranks, option, read_kept, write_tables
from noise import noise_at
from versions import Version

SETS = {  # config, settings
    "reddit-small": ("reddit-small-gcn", ['model.post=["norm","activation","dropout"]']),
    "coauthor-physics": ("coauthor-physics-gcn", ['data.split_keys=["train60_idx","val20_idx","test20_idx"]']),
    "cora": ("cora-gcn", []),
}
DROPOUT = {"yes": ["model.dropout=0.5", "model.input_dropout=0.5"], "no": ["model.dropout=0", "model.input_dropout=0"]}
MEMORIES = {"none": "the rows", "difference": "difference", "ef21": "ef21", "anchor": "anchor"}
WIDTHS = range(1, 9)
KNOWN = kept("differences")
Scene = namedtuple("Scene", "data layers dropout before layer train")


def name_of(scene):
    """"cora, 2 layers, dropout, rows after post", and what is not as usual."""
    words = [scene.data, f"{scene.layers} layers", "dropout" if scene.dropout == "yes" else "no dropout",
             "rows before post" if scene.before == "conv" else "rows after post"]
    words += [f"layer {scene.layer} alone"] if scene.layer else []
    return ", ".join(words + ([f"after {scene.train} epochs"] if scene.train != 50 else []))


def chosen(name, every):
    return option(name, ",".join(map(str, every))).split(",")


def scenes():
    befores = [word for word in chosen("before", ("post", "conv")) if knows_before(word)]
    return [Scene(data, layers, dropout, before, option("layer", 0), option("train", 50))
            for data in chosen("sets", SETS) for layers in map(int, chosen("layers", (2, 3)))
            for dropout in chosen("dropouts", DROPOUT) for before in befores]


def knows_before(word):
    """Says what is left out."""
    with tempfile.TemporaryDirectory() as cache:
        row = Version(os.environ["FRINGE"], cache).row("quantization.before")
    known = word == "post" if row is None else word in row["enum"]
    if not known:
        print(f"left out, not known to {os.environ['FRINGE']}: quantization.before={word}", flush=True)
    return known


def measured(scene):
    """{"fp32 32": [bytes, noise], "difference 2": ...}"""
    config, words = SETS[scene.data]
    words = [f"--config={os.path.join(ROOT, 'configs', config + '.json')}", f"--train={scene.train}",
             f"--samples={option('samples', 10)}", f"--layer={scene.layer}",
             f"--memories={','.join(chosen('memories', MEMORIES))}", f"--widths={','.join(chosen('widths', WIDTHS))}",
             f"model.layers={scene.layers}", "model.hidden=[64]", "lossless.receptive_field=all", *words,
             *DROPOUT[scene.dropout], *(["quantization.before=conv"] if scene.before == "conv" else [])]
    printed = on_ranks(option("ranks", 4), "bench_differences", *words)
    lines = [line.split()[1:] for line in printed if line.startswith("variant ")]
    return {f"{memory} {bits}": [int(size), float(noise)] for memory, bits, size, noise in lines}


def measure(known, wanted):
    for scene in wanted:
        if name_of(scene) not in known:
            print(f"next: {name_of(scene)}", flush=True)
            if scene.data == "reddit-small":
                look_alike(scene.data)
            known[name_of(scene)] = measured(scene)
            keep(KNOWN, known)


# ---- what pays


def points(variants, memory):
    """{bits: (bytes, noise)}"""
    return {int(name.split()[1]): tuple(of) for name, of in variants.items() if name.split()[0] == memory}


def pays(variants, memory):
    """Widths at which a memory has less noise than the rows at its bytes."""
    direct = points(variants, "none")
    curve = sorted(direct.values())
    there = {bits: noise_at(curve, size) if size not in dict(curve) else dict(curve)[size]
             for bits, (size, _) in points(variants, memory).items()}
    return [bits for bits, (_, noise) in points(variants, memory).items() if there[bits] and noise < there[bits]]


def judge(bench, known, wanted):
    for scene in wanted:
        variants = known[name_of(scene)]
        for name, (_, noise) in variants.items():
            memory, bits = name.split()
            direct = variants.get(f"none {bits}")
            if memory in MEMORIES and memory != "none" and direct:
                bench.figure(f"{name_of(scene)}: {name}", noise, "noise", "the rows", direct[1], noise / direct[1])
        rival = known.get(name_of(scene._replace(before="post")), {}).get("none 4")
        few = variants.get("difference 2")
        if scene.before == "conv" and scene.layers == 2 and rival and few:
            bench.at_most(f"{name_of(scene)}: difference 2", few[1], "noise", 1, "4 bits of the rows", rival[1])


# ---- the page


def said(bits, all_bits):
    """"1 to 3", "all", "none"."""
    if not bits:
        return "none"
    if len(bits) == len(all_bits):
        return "all"
    ends = [[bits[0], bits[0]]]
    for one in bits[1:]:
        if one == ends[-1][1] + 1:
            ends[-1][1] = one
        else:
            ends.append([one, one])
    return ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in ends)


def table(known):
    widths = sorted({bits for variants in known.values() for bits in points(variants, "none")})
    rows = []
    for name, variants in known.items():
        for memory, words in MEMORIES.items():
            of = points(variants, memory)
            cells = [f"{of[bits][1]:.3g}" if bits in of else "" for bits in widths]
            size = f"{of[2][0] / 1e6:.3f}" if 2 in of else ""
            if of:
                rows.append([name, words, *cells, size, "" if memory == "none" else said(pays(variants, memory), list(of))])
    return markdown(["scene", "sent", *(f"noise, {bits} bit" for bits in widths), "MB at 2 bit", "pays at"], rows)


def not_run(known):
    every = [name_of(Scene(data, layers, dropout, before, 0, 50)) for data in SETS for layers in (2, 3)
             for dropout in DROPOUT for before in ("post", "conv")]
    left = [name for name in every if name not in known]
    return "Not run: " + "; ".join(left) + "." if left else ""


def write(known):
    write_tables("Memories of halo rows", CAPTION, table(known), not_run(known))


CAPTION = """\
`bench/run.sh differences`: noise of the gradient, ‖g - g_fp32‖ / ‖g_fp32‖ over the 10 epochs behind the 50th, of GCN
with layers of 64 on 4 ranks, by what both ends remember of a row (quantization.memory) and its bits, which all rows on
the way forward have; on the way back they are fp32, in the bytes too. All variants have the weights and the dropout of the
training with fp32 rows. Differences and ef21 take the bytes of the rows; anchor sends fp32 rows once in 10 epochs. A
memory pays at a width where its noise is below that of the rows at the same bytes; an anchor with 8 bits takes more
than they do at any width."""


def main():
    bench = Bench("differences")
    known = read_kept(KNOWN)
    wanted = scenes()
    measure(known, wanted)
    judge(bench, known, wanted)
    write(known)
    bench.end()


main()
