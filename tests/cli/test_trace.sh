#!/usr/bin/env bash
# once
# If this failed, trace.json would not show what happened when: arrows without an end, messages that
# land before they leave, spans of epochs that were not asked for.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny

expect "a traced run ends" 0 "result" train --ranks 3 run.dir=traced mode=adaqp lossless.input_features=exchange \
    run.trace=[4,6] train.epochs=8 train.eval_every=5
train --ranks 3 run.dir=plain mode=adaqp lossless.input_features=exchange train.epochs=8 train.eval_every=5 \
    >/dev/null 2>&1
timeless traced >traced.txt
timeless plain >plain.txt
same "tracing changes nothing" traced.txt plain.txt
[ ! -e plain/trace.json ] || fail "a run that was not asked has a trace"

check=$(
    cat <<'PYTHON'
import json, sys
events = json.load(open("traced/trace.json"))["traceEvents"]
slices = [e for e in events if e["ph"] == "X"]
starts = {e["id"]: e for e in events if e["ph"] == "s"}
ends = {e["id"]: e for e in events if e["ph"] == "f"}
wrong = []
if {e["args"]["epoch"] for e in slices} != {4, 5, 6}:
    wrong.append("epochs")
if {e["pid"] for e in slices} != {0, 1, 2}:
    wrong.append("ranks")
# two layers, both directions but the first layer's backward; three epochs, six ordered pairs; messages
# of evaluations are not traced
if set(starts) != set(ends) or len(starts) != 3 * 3 * 6:
    wrong.append(f"arrows: {len(starts)} starts, {len(ends)} ends")
if any(ends[i]["ts"] < starts[i]["ts"] for i in starts if i in ends):
    wrong.append("a message landed before it left")
names = {e["name"] for e in slices}
if not {"pack", "unpack", "aggregate_own", "aggregate_halo", "dense", "reduce", "evaluation"} <= names:
    wrong.append(f"spans: {sorted(names)}")
dense = [sum(e["name"] == "dense" and e["args"]["epoch"] == epoch for e in slices) for epoch in (4, 5)]
if dense[0] != dense[1]: # 5 is evaluated
    wrong.append(f"dense products of the evaluation are spans of its epoch: {dense}")
for rank in range(3): # one thing at a time on the working thread, the evaluation apart
    work = sorted((e["ts"], e["dur"]) for e in slices
                  if e["pid"] == rank and e["tid"] == 0 and e["name"] != "evaluation")
    if any(a + da > b + 1 for (a, da), (b, _) in zip(work, work[1:])):
        wrong.append(f"spans of rank {rank} overlap")
print("; ".join(wrong) or "fine")
PYTHON
)
expect "the trace is whole" 0 "^fine$" python3 -c "$check"

# --- what a resume may do to it: epochs that ran before cannot be traced again
again="train tiny.json --set train.eval_every=5 --set run.checkpoint_every=5"
cp traced/trace.json whole.json
expect "a resume beyond the traced epochs" 0 'trace.json is kept' train --ranks 3 run.dir=traced mode=adaqp \
    lossless.input_features=exchange run.trace=[4,6] train.epochs=12 train.eval_every=5 --resume auto
same "leaves the trace as it was" whole.json traced/trace.json
expect "a run that is not traced yet" 0 'result' fringe $again run.dir=late train.epochs=5
expect "a resume among the traced epochs" 0 'epochs 4 to 5 are not in trace.json' fringe $again run.dir=late \
    train.epochs=9 run.trace=[4,6] --resume auto
grep -q '"epoch": 6' late/trace.json || fail "what is left of the traced epochs is traced"
expect "a range of epochs backwards" 78 "run.trace: expected" train run.trace=[6,4]
finish
