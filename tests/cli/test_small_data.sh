#!/usr/bin/env bash
# once
# If this failed, the smallest data sets that come with fringe would not be what their script makes, or
# could not be read, cut and trained.
. "$FRINGE_SOURCE/tests/cli/lib.sh"

small=$FRINGE_SOURCE/data/small
mkdir made
python3 "$small/make.py" made || fail 'make.py'
for name in club.txt seven.hgr seven.events; do same "$name is what make.py makes" "$small/$name" "made/$name"; done
expect 'the club' 0 '^nodes +34$' "$FRINGE" inspect "$small/club.txt"
echo '{"model": {"layers": 2, "hidden": [4]}, "train": {"epochs": 2}}' >c.json
expect 'the club is cut' 0 'halo' "$FRINGE" partition c.json --parts 2 --set "data.path=$small/club.txt" \
    --set data.undirected=true
expect 'the hypergraph' 0 '^hyperedges +4$' "$FRINGE" inspect "$small/seven.hgr"
expect 'the stream' 0 '^hyperedges +4$' "$FRINGE" inspect "$small/seven.events"
pins() { "$FRINGE" inspect "$1" | grep -E '^(nodes|hyperedges|pins|degrees|sizes)'; }
[ "$(pins "$small/seven.hgr")" = "$(pins "$small/seven.events")" ] || fail 'the stream ends in the hypergraph'
finish
