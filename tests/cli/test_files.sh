#!/usr/bin/env bash
# If this failed, run.json, metrics.jsonl, assignments or trace.json would lack a figure, or say one that
# is another's: what is compared, plotted and reported comes from them.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
if ! command -v python3 >/dev/null; then
    echo "skipped: there is no python3"
    exit 77
fi
tiny
settings="--ranks 3 --set mode=adaqp --set quantization.period=4 --set quantization.delay=2 --set quantization.group_size=7
    --set quantization.link=[1e-9,1e-5] --set quantization.solver=exact --set train.epochs=12 --set train.eval_every=4
    --set train.warmup=3 --set train.lr=0.04 --set run.trace=[10,11] --set run.log_every=3"
expect "a run" 0 'result +epoch 12: ' "$FRINGE" train tiny.json $settings --set run.dir=run
cp out said
expect "what it shows" 0 'convs.0' "$FRINGE" inspect run
cp out shown
"$FRINGE" evaluate run --ranks 3 --json >evaluated 2>/dev/null || fail "evaluate"
cat >check.py <<'PY'
import json, math, re
load = lambda path: json.load(open(path))
run, lines = load("run/run.json"), [json.loads(line) for line in open("run/metrics.jsonl")]
data, said, shown = load("tiny/dataset.json"), open("said").read(), open("shown").read()
near = lambda a, b, part: math.isclose(a, b, rel_tol=part, abs_tol=1e-12)

def keys(what, value, *names):
    assert list(value) == list(names), f"{what} has {list(value)}, not {list(names)}"

FIGURES = ["loss", "accuracy", "micro_f1", "macro_f1", "rows"]
SPLITS = {"train": "train", "validation": "val", "test": "test"}
def figures(what, of):
    for split, key in SPLITS.items():
        keys(f"{what}, {split}", of[split], *FIGURES)
        assert of[split]["rows"] == data["statistics"][key], (what, split)
        assert of[split]["accuracy"] == of[split]["micro_f1"] != of[split]["macro_f1"] and of[split]["loss"] > 0
    assert len({of[split]["loss"] for split in SPLITS}) == 3, what

# --- metrics.jsonl
SPANS = ["aggregate_own", "aggregate_halo", "dense", "pointwise", "pack", "unpack", "wait", "reduce"]
assert [line["epoch"] for line in lines] == list(range(1, 13))
best = 0
for line in lines:
    epoch = line["epoch"]
    evaluated = ["best", *SPLITS, "eval_bytes"] if epoch % 4 == 0 else []
    keys(f"epoch {epoch}", line, "epoch", "loss", "rate", "gradient_norm", "bytes", "reduce_bytes", *evaluated, "time")
    time = line["time"]
    keys(f"times of epoch {epoch}", time, "clock", "epoch", *(["evaluation"] if evaluated else []),
         *(["assignment"] if "assignment" in time else []), *SPANS)
    assert ("assignment" in time) or epoch not in (5, 7, 9, 11), epoch
    assert all(time[span] >= 0 for span in time) and sum(time[span] for span in SPANS) <= 1.5 * time["epoch"]
    assert time["wait"] > 0 and time["dense"] > 0 and time["pack"] > 0 and time["reduce"] > 0
    assert near(line["rate"], 0.04 * min(1, epoch / 3), 1e-9) and line["loss"] > 0 and line["gradient_norm"] > 0
    assert line["reduce_bytes"] == lines[0]["reduce_bytes"] > 0
    if evaluated:
        figures(f"epoch {epoch}", line)
        assert line["best"] == (line["validation"]["accuracy"] > best) and line["eval_bytes"] > 0
        best = max(best, line["validation"]["accuracy"])
loss = [line["loss"] for line in lines]
assert loss[11] < loss[0] and len(set(loss)) == 12
# 8 bits first; the assigned widths, from epochs 7 and 11 on, are narrower
bytes_of = [line["bytes"] for line in lines]
assert len(set(bytes_of[:6])) == 1 and len(set(bytes_of[6:10])) == 1 and bytes_of[6] < bytes_of[0] and bytes_of[10] < bytes_of[0]

# --- run.json
keys("run.json", run, "config_file", "resumed_at_epoch", "started", "ended", "sessions", "config", "versions", "machine", "backend", "data", "parts",
     "patterns_seconds", "exchanges", "memory_plan", "result", "rank_times")
assert run["config_file"].endswith("tiny.json") and run["resumed_at_epoch"] == 0 and run["patterns_seconds"] > 0
stamp = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
assert stamp.fullmatch(run["started"]) and stamp.fullmatch(run["ended"]) and run["started"] <= run["ended"]
[session] = run["sessions"]
keys("a session", session, "started", "ended", "resumed_at_epoch", "command", "hosts")
assert session["command"][1:3] == ["train", "tiny.json"] and len(session["hosts"]) == 3 and all(session["hosts"])
assert run["rank_times"]["epochs"] == 12 and len(run["rank_times"]["ranks"]) == 3
for key, parts in (("compute", ("aggregate_own", "aggregate_halo", "dense", "pointwise")), ("wait", ("wait",))):
    of_ranks = sum(rank[key] for rank in run["rank_times"]["ranks"]) / 3
    of_lines = sum(line["time"][part] for line in lines for part in parts) / 12
    assert near(of_ranks, of_lines, 1e-9), (key, of_ranks, of_lines)
keys("config", run["config"], "mode", "data", "partition", "stream", "model", "train", "quantization", "gradients", "lossless", "comm", "program", "run")
assert run["config"]["train"]["epochs"] == 12 and run["config"]["mode"] == "adaqp"
assert run["config"]["quantization"]["link"] == [1e-9, 1e-5] and run["config"]["run"]["trace"] == [10, 11]
assert run["config"]["train"]["betas"] == [0.9, 0.999] and isinstance(run["config"]["model"]["bias"], bool)
keys("versions", run["versions"], "fringe", "compiler", "libc", "MPI", "kernels", "METIS", "cJSON", "libzip", "libdeflate", "zlib", "xxHash")
assert all(run["versions"].values())
keys("machine", run["machine"], "host", "system", "cpu", "cores", "ranks", "ranks_on_first_node", "threads", "kernels")
assert run["machine"]["ranks"] == run["machine"]["ranks_on_first_node"] == 3 and run["machine"]["threads"] >= 1
assert "layer 1 forward" in run["machine"]["kernels"] and run["machine"]["cores"] >= 1 and run["machine"]["host"]
keys("backend", run["backend"], "name", "describe", "plugin", "spmm", "precision", "bf16_sums", "device_messages")
assert run["backend"] == {"name": "cpu", "describe": run["versions"]["kernels"], "plugin": None, "spmm": None, "precision": "fp32", "bf16_sums": None, "device_messages": False}
keys("data", run["data"], "name", "hash", "nodes", "edges", "symmetric", "size", "features", "classes", "multilabel", "train_nodes",
     "validation_nodes", "test_nodes", "baseline_validation", "baseline_test")
for key in ("name", "nodes", "edges", "features", "classes", "multilabel"):
    assert run["data"][key] == data[key], key
for split, key in SPLITS.items():
    assert run["data"][f"{split}_nodes"] == data["statistics"][key], split
assert run["data"]["symmetric"] == data["statistics"]["symmetric"] and len(run["data"]["hash"]) == 32
raw = open("tiny/dataset.safetensors", "rb").read()
head = int.from_bytes(raw[:8], "little")
header = json.loads(raw[8:8 + head])
place = lambda name: raw[8 + head + header[name]["data_offsets"][0]:8 + head + header[name]["data_offsets"][1]]
label, split = memoryview(place("labels")).cast("i"), place("split")
of = lambda which: [label[i] for i in range(len(split)) if split[i] == which]
common = max(set(of(1)), key=of(1).count)
for which, key in ((2, "baseline_validation"), (3, "baseline_test")):
    assert near(run["data"][key], of(which).count(common) / len(of(which)), 1e-12), key
keys("parts", run["parts"], "count", "hash", "own_least", "own_most", "central", "halo", "metis_memory")
assert 2**20 < run["parts"]["metis_memory"] < 2**30
own = [int(n) for n in re.search(r"(\d+) to (\d+) own rows", said).groups()]
assert [run["parts"]["own_least"], run["parts"]["own_most"]] == own and 3 * own[0] <= 600 <= 3 * own[1]
assert run["parts"]["count"] == 3 and 0 < run["parts"]["central"] < 600 and run["parts"]["halo"] > 0
assert [e["layer"] for e in run["exchanges"]] == [1, 1] and [e["direction"] for e in run["exchanges"]] == ["forward", "backward"]
for exchange in run["exchanges"]:
    keys("an exchange", exchange, "layer", "direction", "columns", "rows", "partial_sums", "rows_of_sources_alone", "pairs")
    pairs = exchange["pairs"]
    assert exchange["columns"] == 5 and 0 < exchange["partial_sums"] < exchange["rows"] < exchange["rows_of_sources_alone"]
    assert len(pairs) == 3 and all(len(row) == 3 and row[a] == [0, 0] for a, row in enumerate(pairs))
    for which, key in ((0, "rows"), (1, "rows_of_sources_alone")):
        assert sum(pair[which] for row in pairs for pair in row) == exchange[key], key
assert {"messages", "features", "trace", "sensitivities"} <= set(run["memory_plan"]) and all(run["memory_plan"].values())

result = run["result"]
keys("result", result, "epochs", "best_epoch", "stopped_early", "test_accuracy", "test_micro_f1", "seconds_per_epoch",
     "bytes_per_epoch", "memory_predicted", "memory_taken", "memory_resident", "seconds", "last", "best")
assert result["epochs"] == 12 and result["best_epoch"] in (4, 8, 12) and not result["stopped_early"]
figures("last", result["last"])
assert all(result["last"][split] == lines[11][split] for split in SPLITS)
assert all(result["best"][split] == lines[result["best_epoch"] - 1][split] for split in SPLITS)
assert lines[result["best_epoch"] - 1]["validation"]["accuracy"] == best
assert result["test_accuracy"] == result["test_micro_f1"] == lines[11]["test"]["accuracy"]
assert result["seconds_per_epoch"] == sorted(line["time"]["epoch"] for line in lines)[6]
assert result["bytes_per_epoch"] == bytes_of[11]
assert 0 < result["memory_predicted"] and 0 < result["memory_taken"] < result["memory_resident"]
assert result["seconds"] > sum(line["time"]["epoch"] for line in lines)
evaluated = load("evaluated")
for name in SPLITS:
    for key in FIGURES:
        assert near(evaluated[name][key], result["last"][name][key], 1e-6), (name, key)

# --- the lines: epochs 1, 3, 6, 9 and 12
logged = re.findall(r"epoch +(\d+)/12  loss ([\d.]+)", said)
assert [int(epoch) for epoch, _ in logged] == [1, 3, 6, 9, 12], logged
assert all(text == f"{loss[int(epoch) - 1]:.3f}" for epoch, text in logged)

# --- assignments
assert near(sum(e["rows"] for e in run["exchanges"]), 2 * 157, 1)
for asked, taken in ((5, 7), (9, 11)):
    assignment = load(f"run/assignments/epoch-{taken}.json")
    keys("an assignment", assignment, "asked", "taken", "seconds", "link", "parts")
    assert (assignment["asked"], assignment["taken"]) == (asked, taken) and assignment["seconds"] > 0
    assert assignment["link"] == {"seconds_per_byte": [1e-9] * 3, "seconds_per_message": [1e-5] * 3}
    for part, exchange in zip(assignment["parts"], run["exchanges"]):
        keys("a part", part, "layer", "direction", "by", "objective", "bound", "lp_bound", "search_seconds",
             "predicted_seconds", "hidden_seconds", "measured_seconds", "rows")
        assert (part["layer"], part["direction"]) == (exchange["layer"], exchange["direction"])
        assert part["by"] == "exact" and 0 < part["lp_bound"] <= part["bound"] <= part["objective"] < 1
        assert 2e-5 < part["predicted_seconds"] < 3e-5 and part["hidden_seconds"] == 0  # two rounds at 1e-5 and some bytes
        assert 0 < part["search_seconds"] < part["measured_seconds"] + 1 and part["measured_seconds"] > 0
        assert set(part["rows"]) <= set("12345678") and sum(part["rows"].values()) == exchange["rows"]
    assert f"assignment requested before epoch {asked}, applied before epoch {taken}" in shown
    widths = open(f"run/assignments/epoch-{taken}.safetensors", "rb").read()
    names = json.loads(widths[8:8 + int.from_bytes(widths[:8], "little")])
    for part in assignment["parts"]:
        begin, end = names[f"layer1.{part['direction']}"]["data_offsets"]
        bits = widths[8 + int.from_bytes(widths[:8], "little"):][begin:end]
        assert {str(b): bits.count(b) for b in set(bits)} == part["rows"], part["direction"]

# --- trace.json
trace = load("run/trace.json")
keys("the trace", trace, "displayTimeUnit", "traceEvents")
events = trace["traceEvents"]
assert {event["pid"] for event in events} == {0, 1, 2}
names = [(e["pid"], e["args"]["name"]) for e in events if e["ph"] == "M"]
assert names == [(rank, name) for rank in range(3) for name in (f"rank {rank}", "work", "messages")], names
spans = [e for e in events if e["ph"] == "X"]
assert {e["args"].get("epoch") for e in spans} == {10, 11}, {(e["name"], e["args"].get("epoch")) for e in spans}
assert all(e["dur"] >= 0 for e in spans) and min(e["ts"] for e in spans) > -1e6 and max(e["ts"] for e in spans) < 60e6
assert set(SPANS) <= {e["name"] for e in spans} | {"aggregate_halo"}
assert {e["args"]["direction"] for e in spans if "direction" in e["args"]} == {"forward", "backward"}
sent, got = ([(e["id"], e["cat"]) for e in events if e["ph"] == kind] for kind in "sf")
assert sorted(sent) == sorted(got) and len(set(sent)) == len(sent) == 2 * 2 * 6, (len(sent), len(got))
for kind, words in (("s", "post to"), ("f", "from")):
    assert all(e["tid"] == 1 for e in events if e["ph"] == kind and "tid" in e), kind
print("as it should be")
PY
expect "its files" 0 'as it should be' python3 check.py
finish
