#!/usr/bin/env bash
# once
# If this failed, a sweep would leave out a combination, train it with other values than its folder
# says, call the wrong one the winner, or on --resume auto run again what has ended.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny
sweep="train tiny.json --runs 2 --sweep train.lr=0.0001,0.05 --sweep model.hidden=[8],[16] --set run.dir=grid"

expect "a sweep" 0 'run +2 of 8: train.lr=0.0001,model.hidden=\[8\], seed 1' "$FRINGE" $sweep
awk 'length($0) > 80 {print; bad = 1} END {exit bad}' out || fail "a line is too long"
"$FRINGE" $sweep --resume auto >table 2>messages </dev/null || fail "a finished sweep is resumed: $(cat messages)"
[ "$(grep -c 'is not run again' messages)" = 8 ] || fail "finished runs are run again: $(cat messages)"
grep -qE '^\* .*0.05' table || fail "the winner is marked: $(cat table)"

python3 - <<'PY' || fail "the tables are not those of the runs"
import csv, glob, json, statistics
table = json.load(open("grid/sweep.json"))
rows = {row["setting"]: row for row in csv.DictReader(open("grid/sweep.csv"))}
assert len(glob.glob("grid/*/run-[12]/run.json")) == 8 and len(table["points"]) == len(rows) == 4
means = {}
for point in table["points"]:
    scores = {"validation": [], "test": []}
    for number in (1, 2):
        folder = f"grid/{point['name']}/run-{number}"
        config = json.load(open(folder + "/run.json"))["config"]
        assert config["train"]["lr"] == float(point["settings"]["train.lr"]), folder
        assert config["model"]["hidden"] == json.loads(point["settings"]["model.hidden"]), folder
        assert config["run"]["seed"] == number - 1
        lines = [json.loads(line) for line in open(folder + "/metrics.jsonl")]
        best = max((l for l in lines if "validation" in l), key=lambda l: l["validation"]["micro_f1"])
        for split in scores:
            scores[split].append(best[split]["micro_f1"])
    row = rows[point["name"]]
    for split, of in scores.items():
        for where in (point[split]["mean"], float(row[f"best_{split}_mean"])):
            assert abs(where - statistics.mean(of)) < 1e-8, (point["name"], split)
        assert abs(point[split]["deviation"] - statistics.stdev(of)) < 1e-8
    means[point["name"]] = statistics.mean(scores["validation"])
assert means[table["winner"]] == max(means.values()) and rows[table["winner"]]["winner"] == "1"
assert sum(row["winner"] == "1" for row in rows.values()) == 1
tex = open("grid/sweep.tex").read()
assert tex.count(r"\\") == 5 and tex.count(r"\pm") == 8 and tex.count(r"\mathbf") == 2
PY

# --- interrupted: what has ended stays, the interrupted run goes on, the rest is trained
sha256sum grid/*/run-*/metrics.jsonl >before
point='grid/train.lr=0.05,model.hidden=[8]'
rm -r "$point/run-2" 'grid/train.lr=0.05,model.hidden=[16]'
expect "a part of the runs is missing" 0 'is not run again' "$FRINGE" $sweep --resume auto
[ "$(grep -c 'is not run again' out)" = 5 ] || fail "five of eight had ended"
sha256sum grid/*/run-*/metrics.jsonl >after
[ "$(join <(sort before) <(sort after) | wc -l)" -ge 5 ] || fail "finished runs changed"
expect "a stopped sweep" 75 'stopped on request' "$FRINGE" train tiny.json --sweep model.hidden=[8],[16] \
    --set run.dir=cut --set train.epochs=1000000 --set train.eval_every=0 --set run.stop_after=0.3
expect "no other kind of run goes on there" 0 'works in cut-2: cut holds an earlier run' \
    "$FRINGE" train tiny.json --set run.dir=cut --resume auto --set train.epochs=1
expect "a new sweep takes another folder" 0 'works in grid-2' "$FRINGE" train tiny.json --sweep model.hidden=[8] \
    --set run.dir=grid --set train.epochs=5
[ -s grid/sweep.csv ] && [ -s "grid-2/model.hidden=[8]/run-1/run.json" ] || fail "they lie side by side"

# --- on ranks, with a key of the graph
expect "a key of the graph" 0 '^  partition.seed +validation' "$FRINGE" train tiny.json --ranks 2 \
    --sweep partition.seed=1,2 --set run.dir=cuts --set train.epochs=5
[ "$(grep -cE '^[* ] [12]  ' out)" -eq 2 ] || fail "one key is said once, above its values: $(cat out)"
cmp -s cuts/*seed=1/run-1/metrics.jsonl cuts/*seed=2/run-1/metrics.jsonl && fail "the parts are the same"

# --- what has ended counts only for the same parts
expect "other parts are another training" 78 'it ran on 2 ranks, this run has 3' "$FRINGE" train tiny.json \
    --ranks 3 --resume auto --sweep partition.seed=1,2 --set run.dir=cuts --set train.epochs=5
grep -q 'has ended already' out && fail "a run on other parts was taken: $(cat out)"

# --- keys of streams change the parts
"$FRINGE" train tiny.json --ranks 2 --set train.epochs=0 --set partition.method=srp --quiet \
    --sweep stream.score=marginal,random --set run.dir=scores >out 2>&1 || fail "scores: $(cat out)"
[ "$(grep -h '"hash"' scores/*/run-1/run.json | sort -u | wc -l)" -eq 3 ] || fail "each score has its parts"

# --- a key that one of the points uses has its effect
idle="--set train.epochs=0 --set train.lr_gamma=0.1 --quiet"
expect "a sweep warns once" 0 'warning +train.lr_gamma has no effect' "$FRINGE" train tiny.json $idle \
    --sweep train.optimizer=adam,sgd --set train.momentum=0.5 --set run.dir=idle
[ "$(grep -c 'no effect' out)" -eq 1 ] || fail "of what no point uses: $(cat out)"
expect "a swept key that no point reads" 0 'warning +train.momentum has no effect' "$FRINGE" train tiny.json \
    --set train.epochs=0 --quiet --sweep train.momentum=0.1,0.2 --set run.dir=unread
expect "so does a comparison" 0 'warning +train.lr_gamma has no effect' "$FRINGE" compare tiny.json $idle \
    --modes vanilla,quantize --set quantization.bits=[2] --set run.dir=both
[ "$(grep -c 'no effect' out)" -eq 1 ] || fail "of what no mode uses: $(cat out)"

# --- refused
expect "an unknown key" 78 'train.lrr: unknown key' "$FRINGE" train tiny.json --sweep train.lrr=1,2
expect "a wrong value is found before anything runs" 78 "found 'abc'" "$FRINGE" train tiny.json \
    --sweep train.lr=0.1,abc --set run.dir=wrong
[ -e wrong ] && fail "a wrong sweep left a folder"
expect "no values" 64 'expected a key and its values' "$FRINGE" train tiny.json --sweep train.lr
expect "a value twice" 64 'two values have the same folder' "$FRINGE" train tiny.json --sweep data.path=a/b,a_b
expect "a key twice" 64 'given twice' "$FRINGE" train tiny.json --sweep train.lr=1 --sweep train.lr=2

# --- a folder of runs is no run
expect "evaluate names the runs" 66 'grid holds 8 runs \(train.lr=0.0001,model.hidden=\[8\]/run-1,' \
    "$FRINGE" evaluate grid
expect "predict, too" 66 'name one of them' "$FRINGE" predict 'grid/train.lr=0.05,model.hidden=[8]'

finish
