#!/usr/bin/env bash
# once
# If this failed, fringe cache would not show what lies in the cache, or prune would remove what a
# running process uses, leave what nobody needs, or break the next training.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny
in=cache/fringe
train() { "$FRINGE" train tiny.json --quiet --set train.epochs=5 "$@" >/dev/null 2>&1 </dev/null; }
train --set run.dir=one || fail "a run"
train --ranks 2 --set data.transforms='["row-normalize"]' --set run.dir=two || fail "a run on two ranks"
"$FRINGE" generate villages -o $in/generated/kept >/dev/null 2>&1 ||
    "$FRINGE" generate tiny -o $in/generated/kept >/dev/null 2>&1 || fail "a generated graph"

expect "the list" 0 '^tiny +cut +2 +[0-9.]+ kB' "$FRINGE" cache
awk 'length($0) > 80 && / / {exit 1}' out || fail "a line is too long: $(cat out)"
"$FRINGE" cache --json >list || fail "--json"
python3 - <<'PY' || fail "the list is not what lies there: $(cat list)"
import json, os
of = json.load(open("list"))
kinds = sorted((e["kind"], e["parts"]) for e in of["entries"])
assert kinds == [("cut", 1), ("cut", 2), ("dataset", 0), ("generated", 0)], kinds
for entry in of["entries"]:
    there = sum(os.lstat(os.path.join(folder, name)).st_size for folder, _, names in os.walk(entry["path"])
                for name in names if not os.path.islink(os.path.join(folder, name)))
    assert entry["bytes"] == there > 0 and 0 <= entry["unused_seconds"] <= entry["age_seconds"] + 1 < 600, entry
    assert not entry["in_use"]
assert of["bytes"] == sum(entry["bytes"] for entry in of["entries"])
PY

# --- the last use: a run that finds its cut uses it, an older one goes
touch -d '40 days ago' $in/parts-* $in/dataset-*
train --set run.dir=again || fail "a run with what is cached"
expect "what was not used for 30 days" 0 'removed +2 entries' "$FRINGE" cache prune
ls -d $in/parts-* >left
[ "$(wc -l <left)" = 1 ] || fail "the cut that was used stays: $(cat left)"
[ -d $in/generated/kept ] || fail "a generated graph stays"
expect "nothing more" 0 'removed +0 entries' "$FRINGE" cache prune --older 30d
expect "a wrong time" 64 "expected a time such as 30d" "$FRINGE" cache prune --older soon
expect "a wrong word" 64 "expected prune or nothing" "$FRINGE" cache purge
expect "--all without prune" 64 "belong to fringe cache prune" "$FRINGE" cache --all

# --- in use, and what a killed writer left
mkdir "$in/parts-1234.fringe-tmp-$(hostname).$(stat -L -c %i /proc/self/ns/pid)-999999999-0"
"$FRINGE" train tiny.json --ranks 2 --quiet --set train.epochs=100000000 --set run.dir=running >said 2>&1 </dev/null &
pid=$!
begun running $pid
expect "a cut in use is shown" 0 'tiny +cut +2 .* in use' "$FRINGE" cache
expect "and stays, unlike the rest" 0 '1 in use stays' "$FRINGE" cache prune --all
ls -d $in/parts-* >left
[ "$(wc -l <left)" = 1 ] && grep -vq tmp left || fail "what is left: $(cat left)"
kill -USR1 $pid
wait $pid
[ $? = 75 ] || fail "the run was harmed: $(cat said)"
expect "afterwards it goes" 0 'removed +1 entry' "$FRINGE" cache prune --all
[ "$(ls $in)" = generated ] || fail "the cache is not empty: $(ls $in)"
train --set run.dir=one || fail "training makes again what it needs"

finish
