#!/usr/bin/env bash
# once
# If this failed, a score would be told that was not measured, or that belongs to other weights; a
# training would stop early without a word, or count evaluations that judge nothing.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
if ! command -v python3 >/dev/null; then
    echo "skipped: there is no python3"
    exit 77
fi
tiny

# figure FILE PATH...: a member of a JSON file, "null" for none
figure() {
    python3 - "$@" <<'PY'
import json, sys
value = json.load(open(sys.argv[1]))
for key in sys.argv[2:]:
    value = value[key]
print(json.dumps(value))
PY
}

# told NAME RUN: run.json's last figures are those of the weights that lie there, and so is the line
told() {
    "$FRINGE" evaluate "$2" --json >evaluated 2>/dev/null || fail "$1: evaluate: $(cat evaluated)"
    python3 - evaluated "$2/run.json" <<'PY' || fail "$1: other figures"
import json, sys
said, told = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))["result"]["last"]
for of in ("train", "validation", "test"):
    for which in ("accuracy", "micro_f1", "macro_f1", "rows"):
        assert said[of][which] == told[of][which], (of, which, said[of][which], told[of][which])
PY
    python3 - evaluated out <<'PY' || fail "$1: another line"
import json, re, sys
said = json.load(open(sys.argv[1]))
line = re.search(r"result +epoch \d+: validation ([\w.]+).*?test ([\w.]+)", open(sys.argv[2]).read())
for shown, split in zip(line.groups(), ("validation", "test")):
    share = said[split]["micro_f1"]
    assert shown == ("none" if share is None else f"{100 * share:.2f}"), (shown, split, share)
PY
}

# --- no epoch at all: the first weights are evaluated, and no more is said
expect "no epochs" 0 'result +epoch 0: validation [1-9][0-9]*\.[0-9]+ %, test [0-9.]+ %' \
    "$FRINGE" train tiny.json --ranks 2 --set train.epochs=0 --set run.dir=none
told "no epochs" none
[ "$(figure none/run.json result best_epoch)" = null ] || fail "no epochs: no best one"
[ "$(figure none/run.json result seconds_per_epoch)" = null ] || fail "no epochs: no seconds of one"
[ "$(figure none/run.json result best test accuracy)" = null ] || fail "no epochs: no best figures"

# --- a resume that finds more epochs done than asked for, evaluated at another one
expect "a run" 0 'best +epoch [1-4]0: validation' "$FRINGE" train tiny.json \
    --set train.epochs=40 --set train.eval_every=10 --set run.checkpoint_every=37 \
    --set run.keep_checkpoints=9 --set run.dir=more
told "a run" more
cp -r more stopped
rm -r stopped/checkpoints/epoch-40
printf 'epoch-37\n' >stopped/checkpoints/LATEST
expect "fewer epochs than are done" 0 'result +epoch 37: ' "$FRINGE" train tiny.json --resume auto \
    --set train.epochs=30 --set train.eval_every=10 --set run.keep_checkpoints=9 --set run.dir=stopped
told "fewer epochs than are done" stopped
[ "$(figure stopped/run.json result last test loss)" != "$(figure more/run.json result last test loss)" ] ||
    fail "the test cannot tell epoch 37 from epoch 40"

# --- early stopping is told
expect "early stopping" 0 'stopped +early: no better validation in 3 evaluations' \
    "$FRINGE" train tiny.json --set train.optimizer=sgd --set train.lr=1e-30 --set train.eval_every=1 \
    --set train.patience=3 --set run.dir=early
[ "$(figure early/run.json result stopped_early)" = true ] || fail "run.json tells it"
[ "$(figure early/run.json result epochs)" = 4 ] || fail "after four epochs"
[ "$(figure more/run.json result stopped_early)" = false ] || fail "run.json tells that nothing stopped it"
expect "patience that nothing counts" 78 'train.patience: .* train.eval_every=0' "$FRINGE" train \
    tiny.json --set train.eval_every=0 --set train.patience=3 --set run.dir=refused

# --- a split without nodes has no score
python3 - <<'PY'
import struct
def npy(name, ids):
    head = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({len(ids)},), }}"
    head = head.ljust(117) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() +
                           struct.pack(f"<{len(ids)}q", *ids))
npy("train.npy", list(range(0, 600, 2)))
npy("some.npy", list(range(1, 600, 2)))
npy("nothing.npy", [])
PY
splits() { printf 'data.split_keys=["%s/train.npy","%s/%s.npy","%s/%s.npy"]' "$work" "$work" "$1" "$work" "$2"; }
expect "patience without validation" 78 'train.patience: .* has no validation nodes' "$FRINGE" train \
    tiny.json --ranks 2 --set "$(splits nothing some)" --set train.patience=5 --set run.dir=refused
expect "no validation nodes" 0 'result +epoch 20: validation none, test [0-9.]+ %' \
    "$FRINGE" train tiny.json --set "$(splits nothing some)" --set run.dir=blind --set run.log_every=5
grep -q 'baseline .*: validation none, test [0-9]' out || fail "nor a baseline: $(cat out)"
grep -qE 'epoch +20/20 .* val +none  test +[0-9.]+ ' out || fail "nor one on the way: $(cat out)"
told "no validation nodes" blind
[ "$(figure blind/run.json result best_epoch)" = null ] || fail "no best epoch"
[ "$(figure blind/run.json data baseline_validation)" = null ] || fail "no baseline"
tail -1 blind/metrics.jsonl >epoch-20
[ "$(figure epoch-20 validation micro_f1) $(figure epoch-20 validation rows)" = "null 0" ] ||
    fail "metrics.jsonl has no figure: $(cat epoch-20)"
expect "evaluate says so, too" 0 '^validation +0 +none +none +none +none$' "$FRINGE" evaluate blind
expect "no test nodes" 0 'result +epoch 20: validation [0-9.]+ %, test none' \
    "$FRINGE" train tiny.json --set "$(splits some nothing)" --set run.dir=untested
told "no test nodes" untested
[ "$(figure untested/run.json result test_accuracy)" = null ] || fail "no test accuracy"
expect "several runs" 0 'runs +2: test accuracy none; at the best validation none' "$FRINGE" train \
    tiny.json --set "$(splits some nothing)" --runs 2 --set run.dir=several
[ "$(figure several/runs.json last mean)" = null ] || fail "no mean of nothing"
expect "compare" 0 '^vanilla +none ' "$FRINGE" compare tiny.json --modes vanilla \
    --set "$(splits nothing nothing)" --set run.dir=compared
grep -qE ' never$' out || fail "and no target is reached: $(cat out)"
grep -q '^target: none, for no epoch of the first run has a validation score$' out || fail "there is none: $(cat out)"
finish
