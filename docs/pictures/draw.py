"""Draws nine pictures of the docs beside itself, as SVG that follows the reader's light or dark theme.

    python3 docs/pictures/draw.py            writes them
    python3 docs/pictures/draw.py --check    says which of them are not what it would write, and leaves with 1

What can be computed is computed: the numbering of rows and the vertex cover from a graph of a few nodes, the replicas
and homes of hyperedges from their pins, the parts of a small stream from its events, the time bars from durations and
the order of the steps, the floats of an exchange from the widths of a model, the floors from cmake/modules.txt and the
#include lines of the sources, accuracies from bench/results/tables. bench/run.sh stream_pictures and noise measure and draw more.
"""
import glob
import html
import itertools
import json
import os
import re
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# name: colours in light and in dark
COLOURS = {
    "page": ("#ffffff", "#0d1117"), "ink": ("#1f2328", "#e6edf3"), "grey": ("#59636e", "#9da7b1"),
    "line": ("#8c959f", "#6e7681"), "box": ("#f6f8fa", "#161b22"),
    "blue": ("#0969da", "#58a6ff"), "bluebox": ("#ddf4ff", "#10263f"),
    "green": ("#1a7f37", "#3fb950"), "greenbox": ("#dafbe1", "#11301a"),
    "orange": ("#bc4c00", "#f0883e"), "orangebox": ("#fff1e5", "#3a2212"),
    "purple": ("#8250df", "#bc8cff"), "purplebox": ("#f5edff", "#2a1d45"),
}


def style():
    rules = ["text{font-family:'DejaVu Sans',Verdana,sans-serif}",
             "text.mono{font-family:'DejaVu Sans Mono',monospace}"]
    for theme in range(2):
        of_theme = "".join(f".f-{name}{{fill:{colour[theme]}}}.s-{name}{{stroke:{colour[theme]}}}"
                           for name, colour in COLOURS.items())
        rules.append(of_theme if theme == 0 else f"@media (prefers-color-scheme:dark){{{of_theme}}}")
    return "<style>" + "\n".join(rules) + "</style>"


class Picture:
    def __init__(self, name, title, width, height):
        self.name, self.title, self.width, self.height, self.parts = name, title, width, height, []

    def put(self, text):
        self.parts.append(text)

    def text(self, x, y, words, size=13, colour="ink", anchor="middle", bold=False, mono=False):
        extra = (' font-weight="bold"' if bold else "") + (' class="mono ' if mono else ' class="') + f'f-{colour}"'
        self.put(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"{extra}>'
                 f"{html.escape(words, quote=False)}</text>")

    def lines(self, x, y, several, size=13, step=None, **how):
        for i, words in enumerate(several):
            self.text(x, y + i * (step or size * 1.35), words, size, **how)

    def box(self, x, y, width, height, fill="box", stroke="line", radius=6, dashed=False, weight=1.2):
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.put(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{radius}" '
                 f'class="f-{fill} s-{stroke}" stroke-width="{weight}"{dash}/>')

    def circle(self, x, y, radius, fill="box", stroke="line", dashed=False, weight=1.4):
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self.put(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="f-{fill} s-{stroke}" '
                 f'stroke-width="{weight}"{dash}/>')

    def path(self, points, colour="line", weight=1.4, dashed=False, head=False):
        """A line through the points; with an arrow head at the last one."""
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        way = "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self.put(f'<path d="{way}" fill="none" class="s-{colour}" stroke-width="{weight}"{dash}/>')
        if head:
            (x0, y0), (x, y) = points[-2:]
            length = ((x - x0) ** 2 + (y - y0) ** 2) ** 0.5 or 1
            dx, dy = (x - x0) / length, (y - y0) / length
            corners = [(x, y), (x - 9 * dx - 4 * dy, y - 9 * dy + 4 * dx), (x - 9 * dx + 4 * dy, y - 9 * dy - 4 * dx)]
            self.put('<path d="M' + " L".join(f"{a:.1f} {b:.1f}" for a, b in corners) + f' Z" class="f-{colour}"/>')

    def arrow(self, *points, **how):
        self.path(points, head=True, **how)

    def svg(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
                f'width="{self.width}" height="{self.height}" role="img">\n<title>{html.escape(self.title)}</title>\n'
                f'{style()}\n<rect width="{self.width}" height="{self.height}" rx="8" class="f-page"/>\n'
                + "\n".join(self.parts) + "\n</svg>\n")


# ---- 1: from a dataset to a report

def pipeline():
    p = Picture("pipeline", "From a dataset file to a report", 940, 420)
    step = {  # name: x, y, what happens there, module
        "dataset": (150, 70, ["read and", "check"], "dataset"),
        "prepare": (350, 70, ["data.transforms:", "symmetrize, …"], "dataset"),
        "parts": (550, 70, ["cut: METIS,", "random, file"], "partition"),
        "shard": (750, 70, ["order rows,", "split"], "partition"),
        "Pattern": (150, 260, ["own | halo,", "send lists"], "halo"),
        "model": (350, 260, ["layers,", "channels"], "model"),
        "epoch": (550, 260, ["forward, back,", "optimizer"], "trainer"),
        "report": (750, 260, ["one line", "per epoch"], "report"),
    }
    width, height = 118, 76
    p.text(20, 30, "once, on rank 0; each result stays in data.cache", 13, "grey", "start")
    p.text(72, 236, "on every rank; the report on rank 0", 13, "grey", "start")
    for name, (x, y, words, module) in step.items():
        p.box(x, y, width, height, "bluebox" if y < 200 else "greenbox", "blue" if y < 200 else "green")
        p.text(x + width / 2, y + 20, name, 14, bold=True)
        p.lines(x + width / 2, y + 39, words, 11)
        p.text(x + width / 2, y + height + 14, f"src/{module}", 10, "grey", mono=True)

    def between(a, b, above, below=()):
        ax, ay, bx = step[a][0] + width, step[a][1] + height / 2, step[b][0]
        p.arrow((ax, ay), (bx - 2, ay))
        p.lines((ax + bx) / 2, ay - 8 - 13 * (len(above) - 1), above, 10, 13)
        p.lines((ax + bx) / 2, ay + 16, below, 10, 13, colour="grey")

    p.arrow((20, 108), (148, 108))
    p.lines(84, 60, [".npz", ".graph", ".tsv .csv", "dataset.json"], 10, 13, mono=True)
    p.lines(84, 124, ["+ .npy beside", "+ splits.npz"], 10, 13, colour="grey", mono=True)
    between("dataset", "prepare", ["Dataset"], ["in memory"])
    between("prepare", "parts", ["dataset-…/"], ["safetensors"])
    between("parts", "shard", ["part[node]"], [".part.K"])
    x, y = step["shard"][0] + width, 108
    p.arrow((x, y), (915, y), (915, 204), (60, 204), (60, 298), (148, 298))
    p.text(480, 198, "parts-…/part-R-of-K.safetensors, one file per rank, mapped; "
           "partition.json says what the cut costs", 10.5)
    between("Pattern", "model", ["Block"], ["L · A · R"])
    between("model", "epoch", ["loss,"], ["gradient"])
    between("epoch", "report", ["Epoch-"], ["Record"])
    x = step["report"][0] + width
    p.arrow((x, 298), (930, 298))
    p.lines(845, 366, ["run.json  metrics.jsonl", "checkpoints/  trace.json"], 10, 13, mono=True)
    # what crosses the network
    p.box(330, 374, 360, 36, "orangebox", "orange")
    p.text(510, 396, "other ranks: halo rows (codec), weight gradients", 11.5)
    for x in 470, 550:
        p.arrow((x, 340), (x, 373), colour="orange")
        p.arrow((x + 12, 373), (x + 12, 340), colour="orange")
    return p


# ---- 2: two ranks and their rows

NODES = {  # id: rank, x, y
    0: (0, 70, 95), 1: (0, 110, 205), 2: (0, 215, 90), 3: (0, 225, 200),
    4: (1, 400, 205), 5: (1, 395, 95), 6: (1, 490, 150), 7: (1, 585, 100), 8: (1, 580, 205),
}
EDGES = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 5), (3, 4), (3, 5), (4, 5), (4, 6), (5, 6), (6, 7), (6, 8), (7, 8)]


def readers(node):
    return sorted({b for a, b in EDGES if a == node} | {a for a, b in EDGES if b == node})


def numbering(rank):
    """Own rows, central ones first, and halo rows: invariant 1 where every node is a training node."""
    own = [v for v, at in NODES.items() if at[0] == rank]
    marginal = [v for v in own if any(NODES[u][0] != rank for u in readers(v))]
    halo = sorted({u for v in own for u in readers(v) if NODES[u][0] != rank})
    return [v for v in own if v not in marginal], marginal, halo


def two_ranks():
    p = Picture("ranks", "Two ranks: own rows, central and marginal, halo rows, and the columns own | halo", 940, 560)
    for rank, x, width in (0, 20, 280), (1, 340, 300):
        p.box(x, 40, width, 215, "box", "line")
        p.text(x + 12, 62, f"rank {rank}", 13, bold=True, anchor="start")
    for a, b in EDGES:
        cut = NODES[a][0] != NODES[b][0]
        p.path([NODES[a][1:], NODES[b][1:]], colour="orange" if cut else "line", weight=2 if cut else 1.3)
    numbered = [numbering(0), numbering(1)]
    for rank, (central, marginal, _) in enumerate(numbered):
        for v in central + marginal:
            fill = "green" if v in central else "orange"
            p.circle(*NODES[v][1:], 15, fill + "box", fill)
            p.text(NODES[v][1], NODES[v][2] + 5, str(v), 13, bold=True)
    legend = [("green", False, "central: reads own rows only"), ("orange", False, "marginal: reads a halo row"),
              ("blue", True, "halo: a copy of a row that"), (None, False, "another rank owns")]
    for i, (colour, dashed, words) in enumerate(legend):
        if colour:
            p.circle(670, 66 + 30 * i, 10, colour + "box", colour, dashed)
        p.text(688, 71 + (30 * i if colour else 30 * i - 12), words, 12, anchor="start")
    p.path([(660, 172), (680, 172)], colour="orange", weight=2)
    p.text(688, 177, "cut edge: makes a row travel", 12, anchor="start")
    p.lines(660, 205, ["own = central + marginal; on an undirected", "graph the marginal rows are also the",
                       "boundary rows, which others read"], 11.5, colour="grey", anchor="start")
    for rank, left in (0, 60), (1, 500):
        central, marginal, halo = numbered[rank]
        rows, columns = central + marginal, central + marginal + halo
        top, cell = 330, 30
        p.text(left, 288, f"what rank {rank} keeps: {len(rows)} own rows, {len(halo)} halo rows", 13, bold=True,
               anchor="start")
        p.text(left + cell * len(rows) / 2, 308, "own · X needs no message", 11, "green")
        p.text(left + cell * (len(rows) + len(halo) / 2) + 16, 308, "halo · X", 11, "blue")
        for j, c in enumerate(columns):
            x = left + j * cell + (14 if c in halo else 0)
            p.text(x + cell / 2, top - 4, str(c), 11, "blue" if c in halo else "ink")
            for i, r in enumerate(rows):
                filled = c in readers(r)
                kind = "blue" if c in halo else "green" if r in central else "orange"
                p.box(x, top + i * cell, cell, cell, kind + "box" if filled else "page", "line", 0, weight=0.8)
                if filled:
                    p.circle(x + cell / 2, top + i * cell + cell / 2, 4.5, kind, kind)
        for i, r in enumerate(rows):
            p.text(left - 14, top + i * cell + 20, str(r), 12, "green" if r in central else "orange", bold=True)
        bottom = top + cell * len(rows) + 20
        other = numbered[1 - rank]
        sent = sorted(v for v in other[2])
        p.text(left, bottom, f"receives rows {halo} and sends {sent}, in this order", 11.5, "grey", "start")
    p.text(20, 548, "Central rows come first (invariant 1), so work that needs no message is a range of rows; "
           "messages carry no ids (invariant 6).", 11.5, "grey", "start")
    return p


# ---- 3: schedules in time

SENDERS = 2  # senders that a rank waits for
TAKES = {"pack": 1.2, "transfer": 3.6, "receive": 0.5, "central": 3.4, "marginal": 2.6, "halo": 0.9}


class Clock:
    """The steps of one exchange on one rank: `compute` is what its cores do, `network` what flies meanwhile."""

    def __init__(self):
        self.now, self.compute, self.network, self.landed = 0.0, [], [], []

    def do(self, name, seconds, label=None):
        self.compute.append((label or name, name, self.now, self.now + seconds))
        self.now += seconds

    def post(self, label="network: sender", arrive=range(SENDERS)):
        """Of senders that are not in `arrive` a header alone comes."""
        self.do("post", 0.18, "")
        self.landed, at = [], self.now
        for g in range(SENDERS):
            takes = TAKES["transfer"] if g in arrive else 0.25
            self.network.append((f"{label} {g + 1}" if g in arrive else "", at, at + takes))
            at += takes
            self.landed.append(at)

    def receive(self, sender):
        if self.landed[sender] > self.now:
            self.do("wait", self.landed[sender] - self.now)
        self.do("receive", TAKES["receive"], "")


def blocking(c):
    c.do("pack", TAKES["pack"])
    c.post()
    for g in range(SENDERS):
        c.receive(g)
    c.do("own", TAKES["central"] + TAKES["marginal"], "own part, all rows")
    c.do("halo", SENDERS * TAKES["halo"])


def overlap(c):
    c.do("pack", TAKES["pack"])
    c.post()
    c.do("own", TAKES["central"] + TAKES["marginal"], "own part, all rows")
    for g in range(SENDERS):
        c.receive(g)
        c.do("halo", TAKES["halo"])


def central(c):
    c.do("pack", TAKES["pack"])
    c.post()
    c.do("own", TAKES["central"], "central rows")
    for g in range(SENDERS):
        c.receive(g)
    c.do("own", TAKES["marginal"], "marginal")
    c.do("halo", SENDERS * TAKES["halo"])


def stale(c):
    c.landed = [0.0] * SENDERS
    for g in range(SENDERS):
        c.receive(g)
    c.do("pack", TAKES["pack"])
    c.post("next epoch: sender")
    c.do("own", TAKES["central"] + TAKES["marginal"], "own part, all rows")
    c.do("halo", SENDERS * TAKES["halo"])


def skip(c):
    c.do("pack", TAKES["pack"])
    c.post(arrive=[1])
    for g in range(SENDERS):
        c.receive(g)
    c.do("own", TAKES["central"] + TAKES["marginal"], "own part, all rows")
    c.do("halo", SENDERS * TAKES["halo"])


STEPS = {"pack": "purple", "post": "ink", "own": "green", "receive": "blue", "halo": "orange", "wait": "line"}


def step_box(p, kind, x, y, width, height):
    fill = {"wait": "page", "post": "ink"}.get(kind, STEPS[kind] + "box")
    p.box(x, y, width, height, fill, STEPS[kind], 2, dashed=kind == "wait")


def schedules():
    p = Picture("schedules", "One exchange under each schedule", 940, 542)
    left, unit = 130, 43
    for i, (schedule, note) in enumerate([
            (blocking, "waits, then works"), (overlap, "works while messages fly"),
            (central, "AdaQP: hides behind central rows"), (stale, "PipeGCN: reads last epoch's rows"),
            (skip, "SANCUS: a header alone where rows hardly moved")]):
        clock, y = Clock(), 52 + 92 * i
        schedule(clock)
        p.text(20, y + 18, schedule.__name__, 14, bold=True, anchor="start")
        p.lines(20, y + 34, textwrap.wrap(note, 17), 10, 12, colour="grey", anchor="start")
        for label, kind, begin, end in clock.compute:
            x, width = left + begin * unit, (end - begin) * unit
            step_box(p, kind, x, y, width, 28)
            if width > 30:
                p.text(x + width / 2, y + 18, label, 11, "grey" if kind == "wait" else "ink")
        for label, begin, end in clock.network:
            p.box(left + begin * unit, y + 34, (end - begin) * unit, 18, "bluebox", "blue", 2)
            p.text(left + (begin + end) / 2 * unit, y + 47, label, 10)
        p.path([(left + clock.now * unit, y - 4), (left + clock.now * unit, y + 56)], colour="ink", weight=1.6)
    y = 514
    for i, kind in enumerate(STEPS):
        step_box(p, kind, 130 + 86 * i, y - 12, 15, 15)
        p.text(151 + 86 * i, y, kind, 11.5, anchor="start")
    p.text(920, y, "order of the steps: src/exchange/schedule*.c", 10.5, "grey", "end")
    p.text(20, 30, "One exchange with two senders; the durations are made up, the positions follow from the order "
           "of the steps.", 12, "grey", "start")
    return p


# ---- 4: one layer, both orders

MODEL = [602, 256, 256, 41]


def floats(first_saved):
    """Floats of a halo row and epoch: all layers aggregate first, or as lossless.* has it."""
    total = 0
    for layer, (wide, out) in enumerate(zip(MODEL, MODEL[1:])):
        if first_saved:
            total += 0 if layer == 0 else 2 * min(wide, out)
        else:
            total += wide if layer == 0 else 2 * wide
    return total


def layer():
    p = Picture("layer", "One layer forward and backward, aggregate first and transform first", 940, 492)
    columns = [
        ("aggregate first", "F floats a row travel", 20,
         [("H", "[N, F]", "box"), ("exchange", "rows of R·H, F wide", "orange"),
          ("A = L·M·R·H", "sparse aggregate", "green"),
          ("Z = A W + H Ws + b", "dense product", "blue"), ("next H = post(Z)", "norm, relu, dropout", "purple")],
         [("G = dZ", "[N, D]", "box"), ("dA = G Wᵀ", "dense product", "blue"),
          ("exchange", "rows of L·dA, F wide", "orange"),
          ("dH = R·Mᵀ·L·dA + G Wsᵀ", "sparse aggregate", "green"),
          ("G of the layer below", "post′(Z) ∘ dH", "purple")],
         "meanwhile: db, dWs = Hᵀ G, dW = Aᵀ G"),
        ("transform first", "D floats a row travel: taken where D < F", 490,
         [("H", "[N, F]", "box"), ("Y = H W", "dense product", "blue"), ("exchange", "rows of R·Y, D wide", "orange"),
          ("Z = L·M·R·Y + H Ws + b", "sparse aggregate", "green"),
          ("next H = post(Z)", "norm, relu, dropout", "purple")],
         [("G = dZ", "[N, D]", "box"), ("exchange", "rows of L·G, D wide", "orange"),
          ("dY = R·Mᵀ·L·G", "sparse aggregate", "green"), ("dH = dY Wᵀ + G Wsᵀ", "and dW = Hᵀ dY", "blue"),
          ("G of the layer below", "post′(Z) ∘ dH", "purple")],
         "meanwhile: db, dWs = Hᵀ G"),
    ]
    for title, note, left, forward, backward, meanwhile in columns:
        p.text(left, 30, title, 15, bold=True, anchor="start")
        p.text(left, 48, note, 11.5, "grey", "start")
        for k, (heading, chain) in enumerate([("forward", forward), ("backward", backward)]):
            x, width = left + 222 * k, 206
            p.text(x + width / 2, 76, heading, 12, "grey", bold=True)
            for i, (name, what, kind) in enumerate(chain):
                y = 88 + 62 * i
                p.box(x, y, width, 44, "box" if kind == "box" else kind + "box", "line" if kind == "box" else kind)
                p.text(x + width / 2, y + 19, name, 12.5, bold=True)
                p.text(x + width / 2, y + 35, what, 10.5, "grey")
                if i:
                    p.arrow((x + width / 2, y - 18), (x + width / 2, y - 1))
        p.text(left + 325, 88 + 62 * 5 + 4, meanwhile, 10.5, "green")
    p.path([(20, 412), (920, 412)], colour="line", weight=0.8)
    widths = " → ".join(map(str, MODEL))
    p.lines(20, 434, [
        "M: the graph; L, R: its diagonals (GCN: 1/√degree). Ws: the weight of a row's own features, sage only.",
        f"A GCN {widths}: {floats(False)} floats a halo row and epoch where every layer aggregates first,",
        f"{floats(True)} where the aggregate of layer 0 is made once and the last layer transforms first."],
            11.5, 19, colour="grey", anchor="start")
    return p


# ---- 5: the vertex cover of a boundary graph

BOUNDARY = [(0, 0), (1, 0), (2, 0), (1, 1), (2, 1), (3, 1)]  # (source at the sender, target at the reader)


def smallest_cover():
    """The fewest sources and targets that touch every edge, by trying."""
    ends = sorted({("source", s) for s, _ in BOUNDARY} | {("target", t) for _, t in BOUNDARY})
    for count in range(len(ends) + 1):
        for chosen in itertools.combinations(ends, count):
            if all(("source", s) in chosen or ("target", t) in chosen for s, t in BOUNDARY):
                return chosen


def cover():
    p = Picture("cover", "A boundary graph and its minimum vertex cover", 940, 360)
    chosen = smallest_cover()
    sources, targets = sorted({s for s, _ in BOUNDARY}), sorted({t for _, t in BOUNDARY})
    assert len(sources) == 4 and chosen == (("target", 0), ("target", 1))

    def panel(left, title, note):
        p.text(left + 215, 32, title, 14, bold=True)
        p.text(left + 215, 52, note, 11.5, "grey")
        p.box(left, 66, 150, 245)
        p.box(left + 280, 66, 150, 245)
        p.text(left + 75, 303, "rank a sends", 11.5, "grey")
        p.text(left + 355, 303, "rank b reads", 11.5, "grey")

    def dot(x, y, name, kind, dashed=False):
        p.circle(x, y, 17, kind + "box", kind, dashed)
        p.text(x, y + 4, name, 11, bold=True)

    def y_of(k, count):
        return 66 + 220 * (k + 0.5) / count

    panel(20, f"cover = sources: {len(sources)} rows travel", "each source row, and rank b adds")
    for s, t in BOUNDARY:
        p.arrow((20 + 350 - 40, y_of(s, 4)), (20 + 370, y_of(t, 2)), colour="line", weight=1)
    for s in sources:
        p.arrow((20 + 92, y_of(s, 4)), (20 + 294, y_of(s, 4)), colour="orange", weight=2)
        dot(20 + 75, y_of(s, 4), f"s{s}", "orange")
        dot(20 + 312, y_of(s, 4), f"s{s}", "blue", True)
    for t in targets:
        dot(20 + 390, y_of(t, 2), f"t{t}", "green")
    panel(490, f"cover = min: {len(chosen)} partial aggregates travel",
          "rank a adds first; a sum is a row like any other")
    for s, t in BOUNDARY:
        p.arrow((490 + 55, y_of(s, 4)), (490 + 100, y_of(t, 2)), colour="line", weight=1)
    for s in sources:
        dot(490 + 38, y_of(s, 4), f"s{s}", "green")
    for t in targets:
        p.arrow((490 + 136, y_of(t, 2)), (490 + 294, y_of(t, 2)), colour="orange", weight=2)
        dot(490 + 119, y_of(t, 2), f"Σ{t}", "orange")
        dot(490 + 312, y_of(t, 2), f"Σ{t}", "blue", True)
        p.arrow((490 + 330, y_of(t, 2)), (490 + 371, y_of(t, 2)), colour="line", weight=1)
        dot(490 + 390, y_of(t, 2), f"t{t}", "green")
    sums = ", ".join(f"Σ{t} = " + " + ".join(f"s{s}" for s, u in BOUNDARY if u == t) for t in targets)
    p.text(470, 338, f"Edges: {', '.join(f's{s}→t{t}' for s, t in BOUNDARY)}.  {sums}.  "
           "Exact, for aggregation is linear; weighted edges add weighted rows.", 11, "grey")
    return p


# ---- 6: two ranks that share hyperedges

HOME = {0: 0, 1: 0, 2: 0, 3: 1, 4: 1}  # of the nodes
PINS = {"A": (0, 1, 3), "B": (2, 3, 4)}


def home_of(hyperedge):
    """The rank that has most of its pins; of several the first one."""
    return max((0, 1), key=lambda rank: sum(HOME[v] == rank for v in PINS[hyperedge]))


def replicas():
    """(node, rank): the rank is not its home and has a hyperedge with that node."""
    return sorted({(v, home_of(h)) for h, pins in PINS.items() for v in pins if HOME[v] != home_of(h)})


def hyperedge():
    p = Picture("hyperedge", "Two ranks that share two hyperedges", 940, 400)
    copies = replicas()
    row = {0: 105, 1: 155, 2: 205, 3: 255, 4: 305}
    square = {"A": 130, "B": 290}

    def node(x, v, kind, dashed=False, name=None):
        p.circle(x, row[v], 16, kind + "box", kind, dashed)
        p.text(x, row[v] + 4, name or f"v{v}", 11, bold=True)

    def panel(left, title, note, back):
        p.text(left + 215, 30, title, 14, bold=True)
        p.text(left + 215, 50, note, 11.5, "grey")
        nodes_at, middle = {0: left + 36, 1: left + 394}, {0: left + 124, 1: left + 306}
        for rank in (0, 1):
            p.box(left + 280 * rank, 66, 150, 275)
            p.text(left + 75 + 280 * rank, 333, f"rank {rank}", 11.5, "grey")
        for h, pins in PINS.items():
            at = middle[home_of(h)]
            for v in pins:
                here = HOME[v] == home_of(h)
                x = nodes_at[home_of(h)] if here else (at - 45 if home_of(h) == 0 else at + 45)
                ends = ((x + (16 if x < at else -16), row[v]), (at + (-15 if x < at else 15), square[h]))
                p.arrow(*(ends[::-1] if back else ends), colour="line", weight=1)
        for v, rank in copies:
            x = middle[rank] - 45 if rank == 0 else middle[rank] + 45
            ends = ((nodes_at[HOME[v]] + (16 if HOME[v] == 0 else -16), row[v]), (x + (-16 if rank else 16), row[v]))
            p.arrow(*(ends[::-1] if back else ends), colour="orange", weight=2)
            node(x, v, "orange" if back else "blue", True, f"Σ{v}" if back else None)
        for v, rank in HOME.items():
            node(nodes_at[rank], v, "green")
        for h, at in square.items():
            x = middle[home_of(h)]
            p.box(x - 15, at - 15, 30, 30, "purplebox", "purple", 4)
            p.text(x, at + 4, h, 12, bold=True)

    panel(20, f"1. hyperedges read nodes: {len(copies)} rows travel", "the row of a node goes to each replica", False)
    panel(490, f"2. nodes read hyperedges: {len(copies)} rows travel", "a replica adds first and sends the sum", True)
    sets = ", ".join(f"{h} = {{{', '.join(f'v{v}' for v in pins)}}}" for h, pins in PINS.items())
    p.text(470, 366, f"Hyperedges {sets}; each has its home where most of its pins are. A node has a replica (dashed) on "
           "every other rank", 11, "grey")
    p.text(470, 383, f"that owns one of its hyperedges: R = {len(copies)}. A convolution sends 2 R = {2 * len(copies)} rows "
           "with lossless.cover=replicas, and never more with min.", 11, "grey")
    return p


# ---- 7: a stream of events

ARRIVALS = [(1, (11, 12, 13)), (2, (12, 13)), (3, (21, 22)), (4, (11, 13, 14))]  # hyperedge, pins
STREAM_PARTS = 2


def most_of(count, own):
    """The part that is counted most; the own one of several, then the lowest."""
    return max(range(STREAM_PARTS), key=lambda part: (count[part], part == own, -part))


class Homes:
    """Phase 1 with the score marginal, and the measures that follow from the homes."""

    def __init__(self):
        self.hyperedge, self.node, self.pins = {}, {}, {}

    def load(self):
        return [sum(len(self.pins[h]) for h, home in self.hyperedge.items() if home == part)
                for part in range(STREAM_PARTS)]

    def tally(self, node):
        """How many of its hyperedges are at home on each part."""
        return [sum(home == part and node in self.pins[h] for h, home in self.hyperedge.items())
                for part in range(STREAM_PARTS)]

    def tally_of_pins(self, hyperedge):
        return [sum(self.node[v] == part for v in self.pins[hyperedge]) for part in range(STREAM_PARTS)]

    def replicas(self, home):
        return sum(at == home and part != home and count > 0
                   for v, at in self.node.items() for part, count in enumerate(self.tally(v)))

    def place(self, hyperedge, pins):
        load = self.load()
        self.pins[hyperedge] = pins
        costs = [(sum(self.tally(v)[part] == 0 for v in pins) * sum(load) + STREAM_PARTS * load[part], load[part], part)
                 for part in range(STREAM_PARTS)]
        self.hyperedge[hyperedge] = min(costs)[-1]
        for v in pins:
            if v not in self.node:
                nodes = [sum(at == part for at in self.node.values()) for part in range(STREAM_PARTS)]
                self.node[v] = min((nodes[part], part) for part in range(STREAM_PARTS) if self.tally(v)[part])[-1]

    def cost(self):
        """C' of ALGORITHMS C.1."""
        away = [self.replicas(part) for part in range(STREAM_PARTS)]

        def deviation(values):
            return sum((value - sum(values) / len(values)) ** 2 for value in values) ** 0.5
        return 2 * sum(away) + deviation(self.load()) + deviation(away)


def stream():
    p = Picture("stream", "From events to parts, snapshots and checkpoints", 940, 560)
    homes = Homes()
    for hyperedge_id, pins in ARRIVALS:
        homes.place(hyperedge_id, pins)
    first, before = dict(homes.hyperedge), homes.cost()
    for h in homes.hyperedge:
        homes.hyperedge[h] = most_of(homes.tally_of_pins(h), homes.hyperedge[h])
    moved, after = [h for h in first if homes.hyperedge[h] != first[h]], homes.cost()
    assert after < before and moved

    steps = [("reader", ["one event at a time,", "text or binary"], "src/events", "blue"),
             ("live hypergraph", ["pins of each node", "and of each hyperedge"], "src/events", "blue"),
             ("phase 1", ["a score gives a home to", "what is new, at once"], "src/srp", "green"),
             ("phase 2", ["items in the window move", "to their neighbours"], "src/srp", "green")]
    width, height, top = 170, 70, 50
    left = {name: 130 + 205 * i for i, (name, *_) in enumerate(steps)}
    p.arrow((20, top + 35), (128, top + 35))
    p.lines(74, top, ["file, FIFO", "or -"], 11, 14)
    p.text(74, top + 53, "events", 11, "grey")
    for name, words, module, colour in steps:
        p.box(left[name], top, width, height, colour + "box", colour)
        p.text(left[name] + width / 2, top + 21, name, 14, bold=True)
        p.lines(left[name] + width / 2, top + 40, words, 11)
        p.text(left[name] + width / 2, top - 8, module, 10, "grey", mono=True)
    for a, b in zip(steps, steps[1:]):
        p.arrow((left[a[0]] + width, top + 35), (left[b[0]] - 2, top + 35))
    y = 160
    p.box(335, y, 580, 44)
    p.text(625, y + 19, "state: the hypergraph, a home and a tally for every node and hyperedge, the window", 12)
    p.text(625, y + 35, "a tally says how many neighbours have their home on each part", 10.5, "grey")
    for name in ("live hypergraph", "phase 1", "phase 2"):
        x = left[name] + width / 2
        p.arrow((x - 6, top + height), (x - 6, y - 1))
        p.arrow((x + 6, y), (x + 6, top + height + 1))
    y = 244
    p.box(335, y, 270, 62, "purplebox", "purple")
    p.text(470, y + 18, "checkpoint", 13, bold=True)
    p.lines(470, y + 35, ["the state as it is: --resume auto goes on", "as if the stream had never stopped"], 11, 15)
    p.box(645, y, 270, 62, "orangebox", "orange")
    p.text(780, y + 18, "snapshot", 13, bold=True)
    p.lines(780, y + 35, ["settled: everything is refined once more,", "written, and taken back"], 11, 15)
    for x in 470, 780:
        p.arrow((x, 204), (x, y - 1))
    p.arrow((645, y + 40), (625, y + 40), (625, y + 76), (130, y + 76), (130, y + 40), (150, y + 40), dashed=True)
    p.box(151, y + 18, 140, 40, "box")
    p.text(221, y + 43, "fringe train", 13, mono=True)

    y = 362
    p.path([(20, y - 22), (920, y - 22)], colour="line", weight=0.8)
    p.text(20, y, "Two parts:", 13, bold=True, anchor="start")
    p.lines(20, y + 28, [f"+h {h} {' '.join(map(str, pins))}" for h, pins in ARRIVALS], 12, 22, mono=True,
            anchor="start")

    def panel(x, title, of, notes):
        p.text(x, y, title, 12, bold=True, anchor="start")
        for part in range(STREAM_PARTS):
            row = y + 14 + 50 * part
            p.box(x, row, 330, 44, "box")
            p.text(x + 10, row + 27, f"part {part}", 11, "grey", "start")
            at = x + 66
            for h in sorted(h for h in of if of[h] == part):
                p.box(at, row + 9, 26, 26, "purplebox", "orange" if h in moved else "purple", 4,
                      weight=2.4 if h in moved else 1.2)
                p.text(at + 13, row + 27, str(h), 12, bold=True)
                at += 32
            for v in sorted(v for v in homes.node if homes.node[v] == part):
                p.circle(at + 13, row + 22, 14, "greenbox", "green")
                p.text(at + 13, row + 26, str(v), 11)
                at += 32
        p.lines(x, y + 130, notes, 11, 16, colour="grey", anchor="start")

    def notes(cost, first_line):
        return [first_line, f"pins {' and '.join(map(str, homes.load()))}, replicas "
                f"{sum(homes.replicas(part) for part in range(STREAM_PARTS))}, cost C′ = {cost:.2f}"]

    after_notes = notes(after, f"the pins of hyperedge {moved[0]} are at home on part {homes.hyperedge[moved[0]]}")
    final, homes.hyperedge = homes.hyperedge, first
    panel(200, "after phase 1", first, notes(before, "new replicas are weighed against load"))
    panel(570, "after phase 2", final, after_notes)
    p.text(20, 545, "Squares are hyperedges, circles are nodes. Phase 2 keeps the homes with the lowest cost C′ "
           "(ALGORITHMS C.1) that it has seen.", 11, "grey", "start")
    return p


# ---- 8: the modules

PROGRAMS = {"cli": "the program fringe: arguments in, exit status out",
            "solver": "fringe-solver, the only program that links GLPK"}


def module_of(path):
    part = path.split("/")
    if part[0] == "kernels":
        return "backend"
    if part[0] == "include":
        name = part[2].split(".")[0]
        smaller = {"npy": "dataset", "growing": "events", "dataset_events": "dataset", "metis_job": "solver",
                   "operations": "backend", "keys": "config"}
        return smaller.get(name, name)
    return part[1] if part[0] == "src" else part[0]


def opened():
    """Modules from the ground up, and ((module, module whose public header it includes))."""
    modules = [r for line in open(os.path.join(ROOT, "cmake/modules.txt")) if line[:1].islower() for r in line.split()]
    found = set()
    for folder in "src", "kernels", "solver", "include":
        for path in glob.glob(os.path.join(ROOT, folder, "**", "*.[ch]"), recursive=True):
            module = module_of(os.path.relpath(path, ROOT))
            for header in re.findall(r'^\s*#\s*include\s*"(fringe/[^"]+)"', open(path).read(), re.M):
                found.add((module, module_of("include/" + header)))
    return modules, {(a, b) for a, b in found if a != b}


def reduced(modules, edges):
    """Without the arrows that longer ways already say."""
    below = {}
    for module in modules:
        below[module] = set().union(*({b} | below[b] for a, b in edges if a == module))
    return {(a, b) for a, b in edges if not any((a, c) in edges and b in below[c] for c in modules if c != b)}


def heights(modules, edges):
    """As high as who opens a module allows; a program stands right above what it opens."""
    height, top = {}, {}
    for module in modules:
        top[module] = 1 + max([top[b] for a, b in edges if a == module], default=-1)
    most = max(top.values())
    for module in reversed(modules):
        above = [height[a] for a, b in edges if b == module and a not in PROGRAMS or (a, b) == (modules[-1], module)]
        height[module] = min(above) - 1 if above else most
    for module in modules:
        if module in PROGRAMS and module != modules[-1]:
            height[module] = 1 + max(height[b] for a, b in edges if a == module)
    return height


def sentence(module):
    if module in PROGRAMS:
        return PROGRAMS[module]
    head = " ".join(line[3:].strip() for line in itertools.takewhile(
        lambda line: line.startswith("// "), open(os.path.join(ROOT, f"include/fringe/{module}.h"))))
    first = re.split(r"[.;:]", re.sub(r" *\([^)]*\)", "", head.split(": ", 1)[1]) + ".")[0]
    return first.replace("->", "→").replace("<→", "↔").strip()


def placed(rows, links, widths):
    """x of every module and bend: again and again the middle of its neighbours, kept apart in each row."""
    x = {n: 470 + (i - (len(row) - 1) / 2) * 240 for row in rows for i, n in enumerate(row)}
    for turn in range(60):
        for row in rows if turn % 2 else rows[::-1]:
            for n in row:
                near = [x[b if a == n else a] for a, b in links if n in (a, b)]
                x[n] = sum(near) / len(near) if near else x[n]
            if turn < 50:
                row.sort(key=lambda n: (x[n], str(n)))
            apart = [(widths[a] + widths[b]) / 2 + 16 for a, b in zip(row, row[1:])]
            for _ in range(40):
                for (a, b), gap in zip(zip(row, row[1:]), apart):
                    if x[b] - x[a] < gap:
                        move = (gap - (x[b] - x[a])) / 2
                        x[a], x[b] = x[a] - move, x[b] + move
    return x


def floors():
    modules, edges = opened()
    ground = modules[0]
    arrows, height = reduced(modules, edges), heights(modules, reduced(modules, edges))
    arrows = {(a, b) for a, b in arrows if b != ground}
    most = max(height.values())
    rows = [[] for _ in range(most + 1)]
    widths, links, ways = {}, [], []
    for module in modules[1:]:
        rows[height[module]].append(module)
        widths[module] = 196
    for a, b in sorted(arrows):  # an arrow past other floors bends on each of them
        way = [a] + [(a, b, h) for h in range(height[a] - 1, height[b], -1)] + [b]
        for bend in way[1:-1]:
            rows[bend[2]].append(bend)
            widths[bend] = 10
        links += list(zip(way, way[1:]))
        ways.append(way)
    x = placed(rows, links, widths)
    left = min(x[r] - widths[r] / 2 for r in x) - 20
    width = max(x[r] + widths[r] / 2 for r in x) + 20 - left
    gap, tall = 96, 68
    p = Picture("modules", "The modules and the public headers they include", round(width), 76 + gap * (most + 1))

    def y_of(row):
        return 64 + gap * (most - row)

    def module_box(module, middle, wide):
        y = y_of(height[module])
        kind = "purple" if module in PROGRAMS else "blue"
        p.box(middle - wide / 2, y, wide, tall, kind + "box", kind)
        p.text(middle, y + 18, module, 14, bold=True)
        p.lines(middle, y + 34, textwrap.wrap(sentence(module), wide // 6)[:3], 10, 13, colour="grey")

    p.lines(20, 26, [f"An arrow says: includes the public header of. Arrows to {ground}, on which all modules stand, and "
                     "arrows that a longer way implies", "are not drawn."],
            11, 16, colour="grey", anchor="start")
    for way in ways:
        points = []
        for n in way:
            middle, top = x[n] - left, y_of(height[n] if n in height else n[2])
            if n == way[0]:
                points.append((middle, top + tall))
            elif n == way[-1]:
                came = points[-1][0]
                points.append((middle + max(-70, min(70, (came - middle) * 0.35)), top - 1))
            else:
                points += [(middle, top - 6), (middle, top + tall + 6)]
        leave = max(-70, min(70, (points[1][0] - points[0][0]) * 0.35))
        points[0] = (points[0][0] + leave, points[0][1])
        p.arrow(*points)
    for module in modules[1:]:
        module_box(module, x[module] - left, 196)
    module_box(ground, width / 2, round(width) - 40)
    return p


# ---- 9: accuracy of programs

def table_of(bench, title):
    """Its columns and rows."""
    with open(os.path.join(ROOT, "bench", "results", "tables", f"{bench}.json"), encoding="utf-8") as file:
        return next(part for part in json.load(file)[title] if isinstance(part, dict))


def measured(bench, title):
    """The table of that title: {first column: {head: (mean, deviation)}}."""
    table = table_of(bench, title)
    return {row[0]: {head: tuple(map(float, cell.split(" ± "))) for head, cell in zip(table["columns"][1:], row[1:]) if cell}
            for row in table["rows"]}


PROGRAM_BARS = [  # words, colour, its column of all nodes, and that of the nodes it can say something of
    ("harmonic", "blue", "harmonic", "harmonic, of those reached"),
    ("random-walk", "green", "random-walk", "random-walk, of those reached"),
    ("spectral and k-means", "purple", None, "spectral and k-means, of covered"),
    ("hgnn, which reads features", "orange", "hgnn", None),
]


def program_accuracy():
    p = Picture("program_accuracy", "Accuracy of programs beside HGNN, on three hypergraphs", 760, 372)
    bottom, scale, wide = 266, 2.9, 44
    for percent in range(0, 81, 20):
        y = bottom - scale * percent
        p.path([(60, y), (740, y)], weight=0.4)
        p.text(52, y + 4, f"{percent} %", 11, "grey", "end")
    for i, (name, columns) in enumerate(measured("program_accuracy", "Programs beside HGNN").items()):
        left = 84 + 224 * i
        p.text(left + 2 * wide, bottom + 20, name, 13, bold=True)
        for k, (_, colour, of_all, of_some) in enumerate(PROGRAM_BARS):
            x = left + wide * k
            for column, fill, dashed in (of_some, "page", True), (of_all, colour + "box", False):
                if column not in columns:
                    continue
                mean, deviation = columns[column]
                p.box(x + 4, bottom - scale * mean, wide - 8, scale * mean, fill, colour, 0, dashed)
                middle = x + wide * (0.64 if dashed else 0.36)
                p.path([(middle, bottom - scale * (mean + deviation)), (middle, bottom - scale * (mean - deviation))], colour)
            highest = max(columns[column][0] + columns[column][1] for column in (of_all, of_some) if column in columns)
            p.text(x + wide / 2, bottom - scale * highest - 6, f"{max(columns[c][0] for c in (of_all, of_some) if c in columns):.0f}", 11)
    for k, (words, colour, _, _) in enumerate(PROGRAM_BARS):
        p.box(62 + 168 * k, 304, 12, 12, colour + "box", colour, 0)
        p.text(80 + 168 * k, 314, words, 11.5, anchor="start")
    p.lines(60, 340, ["filled: of all nodes outside training; dashed: of those that the program reaches (spectral: of covered nodes)",
                      "upright lines: a standard deviation over splits each way"], 11, colour="grey", anchor="start")
    return p


# ---- 10: an epoch in fp32 and in bf16

WORK = [("products", "blue"), ("aggregates", "green"), ("pointwise", "orange"), ("rest", "purple")]


def precision_epoch():
    table = table_of("precision_epoch", "An epoch in fp32 and in bf16")
    rows = [dict(zip(table["columns"], row)) for row in table["rows"]]
    longest = max(float(row["epoch"]) for row in rows)
    p = Picture("precision_epoch", "What an epoch of reddit-small is made of in fp32 and in bf16", 760, 86 + 42 * len(rows))
    scale = 520 / longest
    for i, row in enumerate(rows):
        y, x = 20 + 42 * i, 110
        p.text(100, y + 18, row["model"], 12.5, anchor="end")
        for kind, colour in WORK:
            wide = scale * float(row[kind])
            if wide >= 1:
                p.box(x, y, wide, 28, colour + "box", colour, 0)
            if wide >= 34:
                p.text(x + wide / 2, y + 18, f"{float(row[kind]):.0f}", 11)
            x += wide
        p.text(x + 8, y + 18, f"{float(row['epoch']):.0f} ms", 12, anchor="start")
    bottom = 34 + 42 * len(rows)
    for k, (kind, colour) in enumerate(WORK):
        p.box(110 + 130 * k, bottom, 12, 12, colour + "box", colour, 0)
        p.text(128 + 130 * k, bottom + 10, kind, 11.5, anchor="start")
    p.lines(110, bottom + 34, ["one rank, two threads; bench/run.sh precision_epoch"], 11, colour="grey", anchor="start")
    return p


def main():
    check, stale_pictures = "--check" in sys.argv[1:], []
    for draw in pipeline, two_ranks, schedules, layer, cover, hyperedge, stream, floors, program_accuracy, precision_epoch:
        picture = draw()
        path = os.path.join(HERE, picture.name + ".svg")
        if check:
            if not os.path.exists(path) or open(path, encoding="utf-8").read() != picture.svg():
                stale_pictures.append(picture.name + ".svg")
        else:
            with open(path, "w", encoding="utf-8") as out:
                out.write(picture.svg())
    if stale_pictures:
        sys.exit(f"not what draw.py would write: {', '.join(stale_pictures)}; run python3 docs/pictures/draw.py")


if __name__ == "__main__":
    main()
