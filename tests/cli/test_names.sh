#!/usr/bin/env bash
# once
# If this failed, a run would go by the name of another dataset of the same contents, or a mistake would
# be looked for in a file that has none.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny

# --- the name is that of what the config names, whatever was cached first
cp -r tiny mine
sed -i 's/"name": "tiny"/"name": "mine"/' mine/dataset.json
sed 's/"tiny"/"mine"/' tiny.json >mine.json
expect "the first one" 0 '^data +tiny: 600 nodes' "$FRINGE" train tiny.json --ranks 2 --set run.dir=one
expect "another name for the same" 0 '^data +mine: 600 nodes' "$FRINGE" train mine.json --ranks 2 \
    --set run.dir=two
grep -q '"name": "mine"' two/run.json || fail "run.json says the name, too"
same "and nothing else is different" <(timeless one) <(timeless two)
expect "the report of its partition" 0 '^dataset +mine$' "$FRINGE" partition mine.json --parts 2
folder=$(sed -n 's/^folder *//p' out)
same "its part file has its name" "$folder/mine.part.2" "$folder/tiny.part.2"
"$FRINGE" inspect tiny >/dev/null || fail "inspect"

# --- the file that a mistake is in
awk 'BEGIN {for (i = 0; i < 40; i++) print i, (i * 7 + 1) % 40}' >both.txt
rows() { # FILE VALUE: 40 rows of one feature; row 7 has this value (four bytes, octal)
    local i
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (40, 1), }" >"$1"
    for i in $(seq 0 39); do
        if [ "$i" = 7 ]; then printf "$2"; else printf '\000\000\200\077'; fi
    done >>"$1"
}
rows fine.npy '\000\000\000\100'
rows broken.npy '\000\000\300\177'
printf '{"data": {"path": "both.txt", "features": "broken.npy"}}\n' >both.json
expect "what is no number" 65 '(^|[ /])broken.npy: feature 0 of node 7 is not a number' "$FRINGE" \
    partition both.json --parts 2
grep -q 'both.txt: feature' out && fail "in the file of edges: $(cat out)"
expect "and the name of a file" 0 '^dataset +both$' "$FRINGE" partition both.json --parts 2 \
    --set data.features=fine.npy
cp both.txt other.txt
expect "and of its copy" 0 '^dataset +other$' "$FRINGE" partition both.json --parts 2 \
    --set data.features=fine.npy --set data.path=other.txt

# --- two files that say different things
sed -i 's/"nodes": 600/"nodes": 601/' mine/dataset.json
expect "two files that do not fit" 65 \
    "dataset.safetensors: tensor 'edge_offset' is I64 \[601\]; expected I64 \[602\] \([^ ]*mine/dataset.json says 601 nodes" \
    "$FRINGE" train mine.json --set run.dir=no
[ "$(grep -o 'dataset.safetensors' out | wc -l)" = 1 ] || fail "the file is named once: $(cat out)"
# --- ids that are no features, and a class that is none
awk 'BEGIN {for (i = 0; i < 40; i++) print 1000 + 7 * i "," 1000 + 7 * ((i * 7 + 1) % 40)}' >gaps.csv
awk 'BEGIN {for (i = 0; i < 40; i++) print 1000 + 7 * i "," i / 8 "," i % 3}' >x.csv
awk 'BEGIN {for (i = 0; i < 40; i++) print i % 3 == 0 ? "unknown" : "class" i % 3}' >y.csv
printf '{"data": {"path": "gaps.csv", "features": "x.csv", "labels": "y.csv"}}\n' >gaps.json
expect "ids in the order of the nodes" 0 'x.csv: its first feature is the ids of the nodes, and one like the others' \
    "$FRINGE" partition gaps.json --parts 2
grep -q "warning .* 14 nodes are of the class 'unknown'" out || fail "a class that is none: $(cat out)"
tac x.csv >turned.csv
expect "and in another" 65 'turned.csv: its feature 1 is the ids of the nodes, and its rows are not in the ascending order' \
    "$FRINGE" partition gaps.json --parts 2 --set data.features=turned.csv
awk -F, '{print 1 + $1 "," $2 "," $3}' x.csv >others.csv
expect "whole numbers that are no ids" 0 '^dataset +gaps$' "$FRINGE" partition gaps.json --parts 2 --set data.features=others.csv
grep -q 'is the ids' out && fail "no ids: $(cat out)"
paste -d, x.csv y.csv >table.csv
expect "which columns to name" 65 'set data.columns=\{"id": 1, "label": 4\}$' "$FRINGE" partition gaps.json --parts 2 \
    --set data.features= --set data.labels= --set data.nodes=table.csv
# --- OpenMP's variable is told the key that is meant
for threads in 1:1 many:N; do
    OMP_NUM_THREADS=${threads%:*} expect "OMP_NUM_THREADS=${threads%:*}" 0 \
        "OMP_NUM_THREADS=${threads%:*} has no effect here; use --set run.threads=${threads#*:}\$" \
        "$FRINGE" train tiny.json --set train.epochs=1 --set run.dir=threads
done
finish
