#!/usr/bin/env bash
# once
# If this failed, a program would write other rows than those of its nodes, or others on more threads or
# ranks; it would leave something behind when it is stopped, or say nothing of keys that it does not
# read; or the nodes of a snapshot would lose their ids.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny
expect "components" 0 "^components +1$" "$FRINGE" program components tiny.json -o one
expect "keys of a training are named" 0 "ignored +keys of model, train, which programs do not read" \
    "$FRINGE" program lp tiny.json --ranks 2 -o two
expect "labels of one rank" 0 "communities" "$FRINGE" program label-propagation tiny.json -o one
same "labels on one rank and on two" one/labels.npy two/labels.npy
expect "a walk" 0 "accuracy" "$FRINGE" program rw tiny.json -o walk1 --set run.threads=1
expect "the same on two threads" 0 "accuracy" "$FRINGE" program rw tiny.json -o walk2 --set run.threads=2
same "a walk on one thread and on two" walk1/scores.npy walk2/scores.npy
expect "json" 0 '"program": "harmonic"' "$FRINGE" program harmonic tiny.json --json
[ -f runs/tiny/harmonic/scores.npy ] || fail "the default folder: $(ls runs/tiny 2>&1)"

# a stop in the middle leaves nothing; a crowded machine may need longer to come there
for seconds in 1 4 16; do
    "$FRINGE" program rw tiny.json --ranks 2 -o stopped --set program.iterations=1000000 >out 2>&1 &
    nap $seconds
    kill -TERM $!
    wait $!
    status=$?
    if grep -q "stopped after" out; then break; fi
done
[ $status -eq 75 ] && grep -q "stopped after .* iterations; nothing was written" out || fail "stop: $status $(cat out)"
[ ! -e stopped ] || fail "a stop left $(ls stopped)"

# ids of a snapshot, and a walk from one of them
printf 'fringe-stream 1\n+h 1 11 12 13\n+h 2 12 13\n+h 3 21 22\n' >papers.events
"$FRINGE" stream papers.events -o papers >out 2>&1 || fail "stream: $(cat out)"
echo '{"data": {"path": "papers/snapshots/final"}, "partition": {"method": "file:papers/snapshots/final/final"}}' >papers.json
expect "components of a snapshot" 0 "^components +2$" "$FRINGE" program components papers.json --ranks 2 -o parts
same "its ids" parts/ids.npy papers/snapshots/final/node_ids.npy
printf '3 5\n1 2 3\n2 3\n4 5\n' >papers.hgr # the same hypergraph, from a file
echo '{"data": {"path": "papers.hgr"}}' >file.json
expect "communities of the snapshot" 0 "^communities +2$" "$FRINGE" program lp papers.json --ranks 2 -o snapshot
expect "those of the file" 0 "^communities +2$" "$FRINGE" program lp file.json -o file
same "communities of a snapshot and of a file" snapshot/labels.npy file/labels.npy
expect "vectors of the snapshot" 0 "^zero space +2$" "$FRINGE" program spectral papers.json -o snapshot \
    --set program.pairs=3 --set partition.method=metis
expect "those of the file" 0 "^zero space +2$" "$FRINGE" program spectral file.json -o file --set program.pairs=3
same "vectors of a snapshot and of a file" snapshot/embeddings.npy file/embeddings.npy
expect "more pairs than the space has" 65 "3 eigenvalues that are not 0" "$FRINGE" program spectral file.json -o x --set program.pairs=4
if command -v python3 >/dev/null && python3 -c 'import numpy' 2>/dev/null; then
    python3 -c 'import numpy; numpy.save("from.npy", [21, 21])'
    expect "a walk from a node" 0 "nodes that read nothing" "$FRINGE" program rw papers.json --ranks 2 -o from --set program.start=from.npy
    python3 -c 'import numpy; s = numpy.load("from/scores.npy")[:, 0]; assert s[3:].sum() > .99 and s[:3].sum() == 0, s' || fail "a walk from 21"
    # the hub of a star adds up so many numbers that some of the mass is rounded away: it starts again
    awk 'BEGIN { print "%%MatrixMarket matrix coordinate pattern symmetric\n6000 6000 5999"; for (i = 2; i <= 6000; i++) print i, 1 }' >star.mtx
    echo '{"data": {"path": "star.mtx"}}' >star.json
    expect "a walk to a hub" 0 "mass put back +[0-9.]+e-05" "$FRINGE" program rw star.json -o star --set program.start=from.npy
    python3 -c 'import numpy; lost = abs(1 - numpy.load("star/scores.npy").sum(dtype="f8")); assert lost < 1e-5, lost' || fail "the mass of a walk to a hub"
    python3 -c 'import numpy; numpy.save("from.npy", [20])'
    expect "an unknown node" 65 "names node 20, which the data do not have" "$FRINGE" program rw papers.json --ranks 2 -o from --set program.start=from.npy
fi
expect "classes without labels" 65 "no labelled training nodes" "$FRINGE" program harmonic papers.json --ranks 2 -o x
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 -1\n2 3 1\n' >negative.mtx
echo '{"data": {"path": "negative.mtx"}}' >negative.json
expect "negative weights" 65 "weights must be finite and not negative" "$FRINGE" program lp negative.json -o x
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 0\n' >empty.mtx
echo '{"data": {"path": "empty.mtx"}}' >empty.json
expect "no edges" 65 "no edges" "$FRINGE" program components empty.json -o x
expect "a key that it does not read" 78 "program.pairs: random-walk does not read it" \
    "$FRINGE" program rw tiny.json -o x --set program.pairs=3
expect "no such program" 64 "did you mean harmonic" "$FRINGE" program harmonics tiny.json
expect "a wrong start" 78 "program.start" "$FRINGE" program lp tiny.json --set program.start=classes
finish
