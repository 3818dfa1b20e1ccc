#!/usr/bin/env bash
# once
# If this failed, a stream would not give the same bytes twice or in both of its forms, a snapshot
# would change what comes after it, would not hold what the events have left, or could not be trained
# from.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$FRINGE_SOURCE/tests/cli/stream.sh"
streams 6000
parts="--parts 4 --quiet"

# --- the same stream, the same bytes
expect "a stream" 0 '^snapshot +one/snapshots/final$' stream marked.events -o one $parts
grep -qE '^events +59[0-9][0-9]: 11[0-9]* nodes, 4[0-9]* hyperedges' out || fail "it says what it has read: $(cat out)"
for folder in again twin; do
    source=marked.events
    [ $folder = again ] || source=marked.twin
    stream $source -o $folder $parts --set run.threads=2 >out 2>&1 || fail "$folder: $(cat out)"
done
same_folder "two runs give the same snapshots" one/snapshots again/snapshots
same_folder "and the same checkpoint" one/checkpoints again/checkpoints
same_but "the binary twin gives the same snapshots" one/snapshots twin/snapshots offset
same_but "and the same checkpoint" one/checkpoints twin/checkpoints offset line before
[ "$(ls one/snapshots)" = "$(printf 'final\nhalf\nhalf-2\nlate')" ] || fail "names: $(ls one/snapshots)"

# --- what is in them
"$python" - >out 2>&1 <<'PY' && echo "ok: snapshots hold what is left" || fail "what is left: $(cat out)"
import json, os, sys
import numpy as np
sys.path.insert(0, os.path.join(os.environ["FRINGE_SOURCE"], "python"))
import fringe
for name, left in json.load(open("left.json")).items():
    folder = os.path.join("one/snapshots", name)
    nodes, hyperedges = (np.load(os.path.join(folder, f"{what}_ids.npy")) for what in ("node", "hyperedge"))
    assert nodes.dtype == hyperedges.dtype == np.uint64 and nodes.tolist() == left["nodes"], name
    pins = {int(h): [] for h in hyperedges}
    for node, hyperedge in zip(*fringe.read_dataset(folder).edges):
        pins[int(hyperedges[hyperedge])].append(int(nodes[node]))
    assert list(pins) == [int(h) for h in left["pins"]], name
    assert {h: sorted(v) for h, v in pins.items()} == {int(h): v for h, v in left["pins"].items()}, name
    said = json.load(open(os.path.join(folder, "stream.json")))
    assert (said["nodes"], said["hyperedges"]) == (len(nodes), len(hyperedges)), said
    assert said["pins"] == sum(map(len, pins.values())) and said["name"] == name, said
    cut, replicas = 0, 0
    node_part = np.loadtxt(os.path.join(folder, f"{name}.part.4"), int)
    hyperedge_part = np.loadtxt(os.path.join(folder, f"{name}.hpart.4"), int)
    present = {(node, part) for node, part in enumerate(node_part)}
    for number, hyperedge in enumerate(hyperedges):
        rows = np.searchsorted(nodes, np.array(pins[int(hyperedge)], np.uint64))
        cut += len(set(node_part[rows])) > 1
        present.update((row, hyperedge_part[number]) for row in rows)
    load = np.bincount(hyperedge_part, [len(pins[int(h)]) for h in hyperedges], 4)
    assert abs(load.max() / load.mean() - said["load_balance"]) < 1e-9, (load, said)
    assert said["load_balance"] <= said["load_bound"] <= 1.1, said
    assert said["cut_hyperedges"] == cut and said["replicas"] == len(present) - len(nodes), (said, cut, len(present))
PY

# --- a snapshot changes nothing behind it
stream plain.events -o plain $parts >out 2>&1 || fail "without snapshots: $(cat out)"
same_but "snapshots in the stream leave the final one as it is" plain/snapshots/final \
    one/snapshots/final events offset
same_but "and the state" plain/checkpoints/* one/checkpoints/* events offset line before
stream plain.events -o every $parts --snapshot-every 2500 >out 2>&1 || fail "every 2500: $(cat out)"
same_folder "so does --snapshot-every" plain/snapshots/final every/snapshots/final
same_folder "every byte of the state" plain/checkpoints every/checkpoints
[ "$(ls every/snapshots)" = "$(printf 'events-2500\nevents-5000\nfinal')" ] || fail "$(ls every/snapshots)"

# --- training from one
cat >hyper.json <<'JSON'
{"data": {"path": "nothing"}, "model": {"layer": "hgnn", "layers": 2, "hidden": [16]},
 "train": {"epochs": 5}, "run": {"log_every": 0, "threads": 1}}
JSON
stream marked.events -o joined $parts --nodes nodes.npz >out 2>&1 || fail "with nodes: $(cat out)"
same_folder "features do not change the parts" one/checkpoints joined/checkpoints
at=joined/snapshots/half-2
expect "training from a snapshot, on its parts" 0 'result +epoch 5' "$FRINGE" train hyper.json --ranks 4 \
    --set data.path=$at --set partition.method=file:$at/half-2 --set run.dir=runs/half
expect "its run names these parts wherever it lies" 0 '^test ' "$FRINGE" evaluate runs/half --ranks 4
expect "and one rank needs no parts" 0 '^test ' "$FRINGE" evaluate runs/half
expect "random features" 0 '^snapshot' stream plain.events -o random $parts --nodes random:5
expect "are told of" 0 '^features +5$' "$FRINGE" inspect random/snapshots/final

# --- for other programs, and for people
expect "as JSON" 0 '^{"events": [0-9]+, .*"snapshot": "json/snapshots/final"}$' \
    stream plain.events -o json $parts --json
expect "the events of a snapshot are told" 0 '^snapshot +late, after event [0-9]+ ' \
    stream marked.events -o told
expect "--quiet" 0 '^cut +[0-9]+ hyperedges' stream plain.events -o told $parts
expect "where a stream was" 0 'works in told-3: told holds an earlier run' stream plain.events -o told $parts
[ -d told/snapshots/half ] && [ -s told-2/stream.json ] && [ -s told-3/stream.json ] || fail "each has its folder"

while read -r kind path pattern; do
    expect "inspect $path" 0 "$pattern" "$FRINGE" inspect $path
    awk 'length > 80 && NF > 1 { exit 1 }' out || fail "$path: in 80 columns"
    expect "inspect $path --json" 0 "\"kind\": \"$kind\"" "$FRINGE" inspect $path --json
    "$python" -m json.tool out >/dev/null || fail "$path: JSON"
done <<KINDS
stream            one                            ^snapshots +final .after event [0-9]+., half .after event 300[0-9]
stream            one/stream.json                ^stream +finished: [0-9]+ events of marked.events, 4 parts by marginal
snapshot          one/snapshots/half             ^dataset +half
snapshot          one/snapshots/half/stream.json ^snapshot +half: after event 300[0-9], 4 parts by marginal
stream-checkpoint one/checkpoints                ^checkpoint of a stream, after event [0-9]+;
stream-checkpoint $(echo one/checkpoints/*)      ^options +parts=4, stream.score="marginal"
array             one/snapshots/half/node_ids.npy ^array +\[1[0-9]*\] uint64
part-file         one/snapshots/half/half.part.4 nodes in 4 parts
KINDS
expect "fringe runs passes over streams" 0 '^half +' "$FRINGE" runs runs
expect "all of them" 0 '^runs/half ' "$FRINGE" runs .
[ "$(grep -c ' finished ' out)" -eq 1 ] || fail "only the run is listed: $(cat out)"

# --- keys
check() { # KEY=VALUE 'what it says'
    expect "$1" 78 "--set: $2" stream plain.events -o none --set "$1"
    expect "config check knows $1" 78 "--set: $2" "$FRINGE" config check hyper.json --set data.path=one --set "$1"
}
check stream.score=metis "stream.score: expected one of marginal, thesis, fennel, .*found 'metis'"
check stream.refine=no "stream.refine: expected one of none, during, after, both, found 'no'"
check stream.window=-1 'stream.window: expected a whole number in \[0, 100000000\] \(nodes\), found -1'
check stream.iterations=0 'stream.iterations: expected a whole number in \[1, 1000\] \(passes\), found 0'
check stream.epsilon=-0.1 'stream.epsilon: expected a number in \[0, 1000\], found -0.1'
check stream.capacity=x "stream.capacity: expected a whole number .*found 'x'"
check stream.votes=most "stream.votes: expected one of all, window, found 'most'"
check stream.balance=none "stream.balance: expected one of global, window, found 'none'"
check stream.passes=0 'stream.passes: expected a whole number in \[1, 1000\]'
check stream.strict=2 'stream.strict: expected true or false'
check stream.snapshot_every=-1 'stream.snapshot_every: expected a whole number'
check stream.scores=thesis "stream.scores: unknown key; did you mean stream.score"
expect "what cannot be kept is said" 0 'snapshot final: stream.capacity=99 cannot be kept: .* a part gets at most [0-9]+, as with stream.epsilon=0.00[0-9]+$' \
    stream plain.events -o with-capacity=99 $parts --set stream.capacity=99
expect "--snapshot-every names its key" 78 'stream.snapshot_every: .*found -3' \
    stream plain.events -o none --snapshot-every -3
expect "a good one" 0 'ok' "$FRINGE" config check hyper.json --set data.path=one --set stream.score=fennel
[ ! -e none ] || fail "a mistake makes no folder"
like=plain
for key in score=thesis score=fennel score=random refine=none passes=2 capacity=4500 window=300 \
    votes=window balance=window; do
    settings="--set stream.$key"
    [ $like = plain ] || settings="$settings --set stream.window=300" # in which not everything is
    stream plain.events -o with-$key $parts $settings >out 2>&1 || fail "$key: $(cat out)"
    cmp -s {with-$key,$like}/snapshots/final/final.part.4 && fail "$key changes no part"
    [ $key != window=300 ] || like=with-$key
done
finish
