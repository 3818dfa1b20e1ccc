# timed, once
"""If this failed, a report page would show other numbers than the files of its runs, complain in a browser, fetch
something, be unreadable in the dark, or grow too large."""
import csv
import json
import os
import re
import statistics
import sys
import xml.dom.minidom

import browser
from program import check, command as fringe, end, json_lines, own_folder, read_json, write, write_json

CONFIG = {"data": {"path": "tiny"}, "model": {"layers": 2, "hidden": [8]}, "run": {"log_every": 0},
          "train": {"epochs": 12, "eval_every": 2}, "quantization": {"period": 3, "delay": 0, "group_size": 100},
          "gradients": {"method": "dq-sgd", "bits_period": 3}}
ODD = "two</script><img src=x onerror=console.error(1)>"  # two folders whose path is HTML


def near(a, b):
    return abs(a - b) <= 1e-6 * max(abs(a), abs(b)) + 1e-12  # curves are written as floats of 32 bits


def metrics(run):
    return json_lines(os.path.join(run, "metrics.jsonl"))


def is_bytes(text, value):
    """Whether that text is the value in three digits, of which a browser rounds halves up and Python to even."""
    number, unit = text.split(" ")
    size = {"B": 1, "kB": 1000}[unit]
    halves = {float(f"{value / size * off:.3g}") for off in (1 - 1e-9, 1 + 1e-9)}
    return float(number) in halves and (size == 1) == (value < 1000)


def spread(values, form):
    return f"{form(statistics.mean(values))} ± {form(statistics.stdev(values))}"


def make_runs():
    fringe("generate", "tiny", "-o", "tiny")
    write_json("config.json", CONFIG)
    fringe("compare", "config.json", "--ranks", "2", "--modes", "adaqp,vanilla", "--runs", "2", "--set", "run.dir=" + ODD)


def lengthen(to, epochs):
    """Three variants of five seeds with so many epochs, from the runs that were trained."""
    for number, mode in enumerate(["vanilla", "vanilla", "adaqp"]):
        for seed in range(1, 6):
            source = os.path.join(ODD, mode, f"run-{1 + seed % 2}")
            target = os.path.join(to, f"variant-{number}", f"run-{seed}")
            os.makedirs(target)
            with open(os.path.join(source, "run.json"), encoding="utf-8") as file:
                text = file.read()
            write(os.path.join(target, "run.json"), re.sub(r'"lr": [0-9.]+', f'"lr": {0.01 / (1 + number)}', text))
            lines = [json.dumps(line) for line in metrics(source)]
            write(os.path.join(target, "metrics.jsonl"), "".join(
                re.sub(r'"epoch": \d+', f'"epoch": {epoch}', lines[epoch % len(lines)], count=1) + "\n"
                for epoch in range(1, epochs + 1)))


def cells(page, table):
    """{first cell of a row: {heading: cell}}"""
    rows = page.value(f"[...document.querySelectorAll('#{table} tr')].map(r => [...r.children].map(c => c.textContent.replace('\\u00a0', ' ').replace('\\u2011', '-')))")
    return {row[0] if table != "accuracy" else row[3]: dict(zip(rows[0], row)) for row in rows[1:]}


def check_table(page, runs):
    table = cells(page, "comparison")
    check("vanilla comes first, though adaqp was trained first", list(table) == ["vanilla", "adaqp"], list(table))
    medians = {}
    for mode, histories in runs.items():
        row = table[mode]
        last = [100 * h[-1]["test"]["micro_f1"] for h in histories]
        check(f"{mode}: test score", row["test accuracy %"] == spread(last, "{:.2f}".format), row, last)
        best = [max((e for e in h if "validation" in e), key=lambda e: e["validation"]["micro_f1"]) for h in histories]
        check(f"{mode}: test score at the best validation", row["at best validation %"] == spread(
            [100 * e["test"]["micro_f1"] for e in best], "{:.2f}".format), row)
        medians[mode] = statistics.mean(sorted(e["time"]["epoch"] for e in h)[len(h) // 2] for h in histories)
        check(f"{mode}: epochs per second", near(float(row["epochs/s"].replace(",", "")),
                                                 float(f"{1 / medians[mode]:.4g}")), row, medians)
        for name, key in [("sent per epoch", "bytes"), ("gradients per epoch", "reduce_bytes")]:
            sent = statistics.mean(statistics.mean(e[key] for e in h) for h in histories)
            check(f"{mode}: {key}", is_bytes(row[name], sent), row, sent)
    ratio = f"{medians['vanilla'] / medians['adaqp']:.2f}×"
    check("speed-up", table["adaqp"]["speed-up"] == ratio, table["adaqp"], ratio)
    check("AdaQP's table has it too", cells(page, "accuracy")["adaqp"]["Throughput (epoch/s)"].endswith(f"({ratio})"))


def check_curves(page, runs):
    data = json.loads(page.value("document.getElementById('data').textContent"))
    for variant in data["variants"]:
        for run, history in zip(variant["runs"], runs[variant["mode"]]):
            curve = run["curve"]
            same = curve["epoch"] == [e["epoch"] for e in history] and all(
                near(a, e["loss"]) and near(b, e["bytes"]) and near(c, e["time"]["epoch"]) and near(d, e["reduce_bytes"])
                and f == e["gradient_bits"] for a, b, c, d, f, e in zip(
                    curve["loss"], curve["bytes"], curve["seconds"], curve["reduce_bytes"], curve["gradient_bits"],
                    history))
            scores = [(v, e["validation"]["micro_f1"]) for v, e in zip(curve["validation"], history) if "validation" in e]
            check(f"{variant['mode']}: the curves are those of metrics.jsonl", same and all(near(*s) for s in scores) and
                  [v for v, e in zip(curve["validation"], history) if "validation" not in e] == [None] * 6, curve)


def check_bars(page, runs):
    parts = {"wait": ["wait"], "pack": ["pack", "unpack"], "reduce": ["reduce"],
             "compute": ["aggregate_own", "aggregate_halo", "dense", "pointwise"]}
    for variant, (mode, histories) in enumerate(runs.items()):
        for part, names in parts.items():
            shown = page.value(f"+document.querySelector('g.row[data-variant=\"{variant}\"] [data-part={part}]').dataset.value")
            mean = statistics.mean(sum(e["time"][n] for n in names) for h in histories for e in h)
            check(f"{mode}: {part}", near(shown, mean), shown, mean)


def check_messages(page, runs):
    for mode in ["vanilla", "adaqp"]:
        exchanges = read_json(os.path.join(ODD, mode, "run-1", "run.json"))["exchanges"]
        expected = sum(e["pairs"][0][1][0] * e["columns"] for e in exchanges)
        titles = page.value("[...document.querySelectorAll('svg[aria-label=\"messages between ranks, %s\"] title')]"
                            ".map(t => t.textContent)" % mode)
        values = sum(e["rows"] * e["columns"] for e in exchanges)
        mean = statistics.mean(e["bytes"] for h in runs[mode] for e in h)
        found = re.match(r"rank 0 to rank 1\n([\d.]+ k?B)\n([\d,]+) values\n", titles[0])
        check(f"{mode}: bytes and values from rank 0 to rank 1", len(titles) == 2 and found and
              found[2] == f"{expected:,}" and is_bytes(found[1], mean * expected / values),
              titles, expected, mean)
    taken = sorted(os.listdir(os.path.join(ODD, "adaqp", "run-1", "assignments")))
    epochs = [int(re.findall(r"\d+", name)[0]) for name in taken if name.endswith(".json")]
    rows = {}
    for run in ["run-1", "run-2"]:
        assigned = read_json(os.path.join(ODD, "adaqp", run, "assignments", f"epoch-{min(epochs)}.json"))
        for width, count in assigned["parts"][0]["rows"].items():
            rows[width] = rows.get(width, 0) + count
    titles = page.value("[...document.querySelectorAll('svg[aria-label^=\"widths of layer 1 forward\"] title')]"
                        ".map(t => t.textContent)")
    check("rows of each width at the first assignment", all(any(
        t.startswith(f"from epoch {min(epochs)}: {w} bit\n{count:,} rows") for t in titles) for w, count in rows.items()),
        titles, rows)


def check_head(page, runs):
    """The sentence at the head says what metrics.jsonl does, and only a sure difference is bold."""
    said = page.value("document.getElementById('verdict').textContent")
    mean = {mode: {key: statistics.mean(e[key] for h in histories for e in h) for key in ["bytes"]}
            for mode, histories in runs.items()}
    test = {mode: [h[-1]["test"]["micro_f1"] for h in histories] for mode, histories in runs.items()}
    fewer = re.search(r"sends ([\d.]+) times fewer bytes", said)
    points = re.search(r"is ([\d.]+) points (lower|higher)( \(within the deviation\))?\.$", said)
    gain = 100 * (statistics.mean(test["adaqp"]) - statistics.mean(test["vanilla"]))
    check("bytes at the head", said.startswith("Against vanilla, adaqp ") and fewer and
          float(fewer[1]) == float(f"{mean['vanilla']['bytes'] / mean['adaqp']['bytes']:.3g}"), said, mean)
    check("score at the head", said.endswith(" is the same.") if gain == 0 else
          points and points[1] == f"{abs(gain):.2f}" and (points[2] == "lower") == (gain < 0), said)
    sure = abs(gain) / 100 > sum(statistics.variance(of) for of in test.values()) ** 0.5
    check("a doubtful score is called so", gain == 0 or points and (points[3] is None) == sure, said, test)
    bold = page.value("document.querySelectorAll('#comparison td:nth-child(3).best').length")
    common = dict(page.value("[...document.querySelectorAll('#common tr')].map(r => [...r.children].map(c => c.textContent))"))
    check("common settings, once", common.get("train.epochs") == "12" and "quantization.codec" not in common, common)
    check("a score is bold only where it surely differs", bold == (1 if sure else 0), bold, test)


def check_files(page):
    """The buttons of pictures and tables make files of them, from a file:// page."""
    made = ("(() => { let made; const url = URL.createObjectURL; URL.createObjectURL = (b) => { made = b; return url.call(URL, b); };"
            "document.querySelector('%s').click(); URL.createObjectURL = url; return made.text(); })()")
    text = page.value(made % ".table:has(#comparison) + .save")
    rows = list(csv.reader(text.splitlines()))
    shown = page.value("[...document.querySelectorAll('#comparison tr')].map(r => [...r.children].map(c => c.textContent))")
    check("the CSV of a table is the table", rows == shown, rows, shown)
    picture = xml.dom.minidom.parseString(page.value(made % "figure .save"))
    check("the SVG of a picture stands alone", picture.documentElement.tagName == "svg" and
          "var(" not in picture.getElementsByTagName("circle")[0].getAttribute("style"), picture.toxml()[:500])


def check_width(page):
    """The page itself scrolls in one direction, on a telephone too; tables scroll in their own frames."""
    for width in [1280, 390]:
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        page.open("report.html")
        wide = page.value("document.documentElement.scrollWidth")
        check(f"nothing lies outside {width} pixels", wide == width, wide)
    page.call("Emulation.clearDeviceMetricsOverride")


def check_hover(page, runs):
    box = page.value("(() => { const r = document.querySelector('svg[aria-label^=\"Training loss\"] .catch');"
                     "r.scrollIntoView({block: 'center'}); const b = r.getBoundingClientRect();"
                     "return [b.right - 2, b.top + b.height / 2]; })()")
    page.point(*box)
    text = page.value("document.getElementById('tip').innerText")
    mean = {mode: statistics.mean(h[-1]["loss"] for h in histories) for mode, histories in runs.items()}
    found = dict(re.findall(r"(\w+): ([0-9.]+) ±", text))
    check("the values under the pointer", "epoch 12" in text and all(
        abs(float(found.get(mode, "nan")) - mean[mode]) < 6e-4 * mean[mode] for mode in mean), text, mean)


def check_legend(page):
    shown = "getComputedStyle(document.querySelector('svg[aria-label^=\"Training loss\"] g[data-variant=\"1\"]')).display"
    before = page.value(shown)
    page.value("document.querySelectorAll('.legend.variants button')[1].click()")
    check("the legend hides a variant", (before, page.value(shown)) == ("inline", "none"), before, page.value(shown))


def lightness(colour):
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / 765


def check_page(page):
    runs = {mode: [metrics(os.path.join(ODD, mode, f"run-{n}")) for n in (1, 2)] for mode in ("vanilla", "adaqp")}
    for scheme in ["light", "dark"]:
        page.scheme(scheme)
        page.open("report.html")
        back, ink = page.value("[getComputedStyle(document.body).backgroundColor, "
                               "getComputedStyle(document.querySelector('svg text')).fill]")
        light = lightness(back) > 0.9 and lightness(ink) < 0.3
        dark = lightness(back) < 0.2 and lightness(ink) > 0.8
        check(f"{scheme}: paper and ink", light if scheme == "light" else dark, back, ink)
        check(f"{scheme}: no complaint and no request", page.complaints() == [], page.complaints())
    for look in [check_table, check_curves, check_bars, check_hover]:
        look(page, runs)
    check_messages(page, runs)
    check_head(page, runs)
    check_legend(page)
    check("no complaint after the pointer moved", page.complaints() == [], page.complaints())
    check("names are text, not HTML", page.value("document.images.length") == 0 and
          ODD + "/vanilla/run-1" in page.value("document.getElementById('runs').textContent"))


def check_long(page):
    lengthen("long", 500)
    fringe("report", "long", "-o", "long.html")
    milliseconds = page.open("long.html")
    size = os.path.getsize("long.html")
    points = page.value("Math.max(...JSON.parse(document.getElementById('data').textContent).variants.flatMap("
                        "a => a.runs.map(r => r.curve.epoch.length)))")
    labels = list(cells(page, "comparison"))
    check("variants are named by what differs", labels == ["vanilla, lr=0.01", "vanilla, lr=0.005", "adaqp"],
          labels)
    check(f"3 variants of 5 seeds with 500 epochs: {size / 1e6:.2f} MB", size < 2e6 and 100 < points <= 250, points)
    check(f"it opens in {milliseconds:.0f} ms", milliseconds < 5000)  # 1 s where nothing else runs
    check("a long report complains of nothing", page.complaints() == [], page.complaints())


if browser.program() is None:
    print("skipped: there is no chromium, in which a report page could be opened")
    sys.exit(77)
own_folder()
os.environ.pop("FRINGE_DATA", None)
make_runs()
check("the last line of stdout is the path alone", fringe("report", ODD) == "report.html\n")
fringe("report", "nowhere", code=66)
with browser.Browser() as page:
    check_page(page)
    check_files(page)
    check_width(page)
    check_long(page)
end()
