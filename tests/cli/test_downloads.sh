#!/usr/bin/env bash
# once
# If this failed, a folder as OGB unpacks it could not be named in a config, or would be read anew by
# every run.
. "$FRINGE_SOURCE/tests/cli/lib.sh"

raw=ogbn_ring/raw split=ogbn_ring/split/sales_ranking
mkdir -p $raw $split
echo 60 | gzip >$raw/num-node-list.csv.gz
echo 60 | gzip >$raw/num-edge-list.csv.gz
for i in $(seq 0 59); do echo "$i,$(((i + 1) % 60))"; done | gzip >$raw/edge.csv.gz
for i in $(seq 0 59); do echo "$((i % 7)).5,$((i / 20)),1e-1"; done | gzip >$raw/node-feat.csv.gz
for i in $(seq 0 59); do echo $((i / 20)); done | gzip >$raw/node-label.csv.gz
seq 0 3 59 | gzip >$split/train.csv.gz
seq 1 3 59 | gzip >$split/valid.csv.gz
seq 2 3 59 | gzip >$split/test.csv.gz
cat >ring.json <<EOF
{"data": {"path": "ogbn_ring", "cache": "cache"}, "model": {"layer": "gcn", "layers": 2, "hidden": [8]},
 "train": {"epochs": 3}, "run": {"dir": "run"}}
EOF
expect 'inspect' 0 '^edges +120 stored' "$FRINGE" inspect ogbn_ring
expect 'a config is checked' 0 'ring.json: ok' "$FRINGE" config check ring.json --files
expect 'training' 0 'ogbn_ring' "$FRINGE" train ring.json --ranks 2
grep -q '"name": "ogbn_ring"' run/run.json || fail 'the run is called as the folder'
entry=$(ls -d cache/dataset-*)
touch -d '2001-01-01' "$entry/dataset.json"
expect 'training again' 0 'ogbn_ring' "$FRINGE" train ring.json --ranks 2 --set run.dir=again
[ "$(date -r "$entry/dataset.json" +%Y)" = 2001 ] || fail 'the second run takes the dataset from the cache'
echo '0,99' | gzip >$raw/edge.csv.gz
expect 'a damaged file' 65 'edge.csv.gz:1: node 99 is not one of 0 to 59' "$FRINGE" train ring.json
for i in $(seq 0 59); do echo "$i,$(((i + 1) % 60))"; done | gzip >whole.gz
head -c 100 whole.gz >$raw/edge.csv.gz
expect 'a file that is cut' 65 'edge.csv.gz.*cannot be read to its end: the gzip stream is cut' "$FRINGE" train ring.json
{ head -c -8 whole.gz; printf '\1\2\3\4\1\2\3\4'; } >$raw/edge.csv.gz # another checksum and length
expect 'a file of another checksum' 65 'edge.csv.gz.*its gzip stream is damaged' "$FRINGE" train ring.json
expect 'a look-alike says what it is' 0 'KEY|nodes' "$FRINGE" generate yelp-small:scale=0.5 -o yelp
expect 'and inspect, too' 0 'origin +generated as yelp-small:scale=0.5; assumed: ' "$FRINGE" inspect yelp
finish
