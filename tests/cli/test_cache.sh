#!/usr/bin/env bash
# once
# If this failed, the cache would not show what it holds, pruning would take a partition from a
# running training, or what killed commands left would stay for ever.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny
cache=$work/cache/fringe
expect "an empty cache" 0 '^total +0 entries, 0 B' "$FRINGE" cache
for parts in 2 3; do
    expect "$parts parts" 0 'edge cut' "$FRINGE" partition tiny.json --parts $parts --set data.transforms=drop-loops
done
expect "it lists parts" 0 '^parts +tiny +3 +[0-9.]+ kB +[0-9]+ s$' "$FRINGE" cache
grep -qE '^dataset +tiny +[0-9.]+ kB' out || fail "and the prepared dataset: $(cat out)"
grep -qE '^total +4 entries' out || fail "and the total: $(cat out)"
awk 'length > 80 { bad = 1 } END { exit bad }' out || fail "in 80 columns"
expect "as JSON" 0 '"kind": "parts"' "$FRINGE" cache list --json
python3 -c 'import json; c = json.load(open("out")); assert c["bytes"] == sum(e["bytes"] for e in c["entries"]) > 9e4, c
assert [e["parts"] for e in c["entries"] if e["kind"] == "parts"] == [3, 2]' || fail "its members"

# --- what is used by a running training stays, and so does what is young
"$FRINGE" train tiny.json --ranks 2 --set data.transforms=drop-loops --set train.epochs=100000000 \
    --set run.dir=long --set run.checkpoint_every=0 >/dev/null 2>&1 </dev/null &
training=$!
begun long $training
touch -d '40 days ago' "$cache"/parts-* "$cache"/dataset-*
expect "it is seen" 0 '^parts +tiny +2 .* 40 d  in use$' "$FRINGE" cache
touch "$cache/mine.txt" "$cache/parts-.fringe-tmp-mine"
host=$(hostname).$(stat -Lc %i /proc/self/ns/pid)
mkdir "$cache/parts-00000000000000000000000000000000.fringe-tmp-$host-"{999999999,$$}-0
expect "what a killed command left" 0 'left over$' "$FRINGE" cache
grep -q 'being written$' out || fail "and what a living one writes: $(cat out)"
expect "a wrong age" 64 "found '3 days'" "$FRINGE" cache prune --older '3 days'
expect "a wrong word" 64 "expected list or prune, found 'clean'" "$FRINGE" cache clean
expect "pruning" 0 '^removed +3 entries' "$FRINGE" cache prune
grep -qE '^kept +2 that a running command uses' out || fail "and says what stays: $(cat out)"
grep -qE '^kept +1 used more recently' out || fail "and what is young: $(cat out)"
[ "$(ls "$cache" | grep -cE '^parts-[0-9a-f]{32}$')" -eq 1 ] || fail "the parts in use stay: $(ls "$cache")"
ls "$cache" | grep -q -- "-$$-0" || fail "what is being written stays"
kill $training
wait $training
expect "pruning all" 0 '^removed +2 entries' "$FRINGE" cache prune --all
[ "$(ls "$cache" | tr '\n' ' ')" = "mine.txt parts-.fringe-tmp-mine parts-00000000000000000000000000000000.fringe-tmp-$host-$$-0 " ] ||
    fail "what is not fringe's stays: $(ls "$cache")"
expect "the run goes on" 75 'the checkpoint is in long' "$FRINGE" train tiny.json --ranks 2 --resume auto \
    --set data.transforms=drop-loops --set train.epochs=100000000 --set run.dir=long --set run.stop_after=0.2
finish
