#!/usr/bin/env bash
# once
# If this failed, fringe convert would overwrite what nobody asked it to, leave half a file on a full disk
# or after a kill, write other bytes than it did before, or answer a wrong command without a sentence.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$FRINGE" generate planted:nodes=600,edges=6000,features=20,classes=3,communities=6 -o graph >/dev/null || exit 1
printf '3 5\n1 2 3\n3 4\n4 5\n' >pins.hgr
convert() { "$FRINGE" convert "$@"; }
# nothing_beside FOLDER NAME...: the folder holds these names and no others
nothing_beside() {
    local folder=$1 found
    shift
    found=$(ls -A "$folder" | sort | tr '\n' ' ')
    [ "$found" = "$(printf '%s\n' "$@" | sort | tr '\n' ' ')" ] || { fail "$folder holds $found"; return 1; }
}

# --- every format, told by the name or by --to, and back to the same arrays
expect "to npz" 0 '^g.npz: 600 nodes, [0-9]+ edges, 20 features, 3 classes' convert graph g.npz
expect "to npz, not compressed" 0 'g-stored.npz: 600' convert graph g-stored.npz --store
[ "$(stat -c %s g-stored.npz)" -gt "$(stat -c %s g.npz)" ] || fail "--store compresses"
expect "to a .graph" 0 'features, labels and splits are left out' convert g.npz g.graph
expect "to a .graph.gz" 0 'g.graph.gz: 600' convert g.npz g.graph.gz
same "both are the same text" g.graph <(gzip -dc g.graph.gz)
expect "to an .hgr" 0 '3 hyperedges, 7 pins' convert pins.hgr again.hgr
same "an .hgr" pins.hgr again.hgr
expect "to a folder of ogb" 0 'set: 600' convert g.npz set --to ogb
for source in g.npz g-stored.npz set; do
    expect "$source to our folder" 0 'own: 600' convert "$source" own --force --quiet
    same "$source is the graph" graph/dataset.safetensors own/dataset.safetensors
    rm -rf own
done
for made in set/raw/edge.csv.gz set/raw/node-feat.csv.gz g.npz; do cp "$made" "$(basename "$made").first"; done
mkdir elsewhere
(cd elsewhere && TZ=Asia/Tokyo convert ../graph g.npz && convert ../graph set --to ogb) >/dev/null 2>&1
same "the same npz at another time and place" g.npz elsewhere/g.npz
same "the same tables" set/raw/node-feat.csv.gz elsewhere/set/raw/node-feat.csv.gz

# --- a config says what is read and what is done with it
printf '0 1\n1 2\n2 2\n' >path.txt
echo '{"data": {"path": "path.txt", "transforms": ["drop-loops", "symmetrize"]}}' >path.json
expect "a directed graph" 65 'path.txt: there are self-loops \(1\), .*add "drop-loops" to data.transforms' \
    convert path.txt p.graph
expect "with steps" 0 'p.graph: 3 nodes, 4 edges' convert path.json p.graph
same "its lines" p.graph <(printf '3 2\n2\n1 3\n2\n')
expect "--set does the same" 0 'q.graph: 3 nodes, 4 edges' \
    convert path.txt q.graph --set 'data.transforms=["drop-loops","symmetrize"]'
same "its lines, too" p.graph q.graph
expect "a config of ours" 0 'v.npz: 480 nodes' convert villages v.npz
mkdir data && cp g.npz data/only.npz
expect "a file in FRINGE_DATA" 0 'o.npz: 600' env FRINGE_DATA="$work/data" "$FRINGE" convert only.npz o.npz
expect "a folder with a file" 66 'data is a folder without dataset.json, .*give the file of the graph' convert data d.npz

# --- what is there stays
expect "a file is there" 73 'g.npz exists; --force replaces it' convert graph g.npz
expect "a folder is there" 73 'graph exists; --force replaces it' convert g.npz graph
same "it is as it was" g.npz g.npz.first
expect "by force" 0 'g.npz: 3 nodes' convert path.txt g.npz --force
cp g.npz.first g.npz
expect "our folder by force" 0 'own: 600' convert g.npz own
expect "and again" 0 'own: 3 nodes' convert path.txt own --force
expect "ogb by force" 0 'set: 3 nodes' convert path.json set --to ogb --force
[ ! -e set/raw/node-feat.csv.gz ] || fail "a file of the replaced set is left"
touch set/mine
expect "a folder with another file" 73 'set: holds mine, which does not belong' convert g.npz set --to ogb --force
[ -e set/mine ] || fail "another's file is gone"
mkdir -p download/raw && echo 1 >download/raw/mine
expect "a folder that convert did not write" 73 'not a folder that fringe convert wrote' \
    convert g.npz download --to ogb --force
expect "a folder where a file should be" 73 'download is a folder, but the format npz is a file' \
    convert g.npz download --to npz --force
expect "a file where a folder should be" 73 'g.npz is a file, but the format fringe is a folder' \
    convert graph g.npz --to fringe --force
expect "the file that is read" 64 'g.npz is read, so it cannot be replaced' convert g.npz g.npz --force
expect "the same by another name" 64 'is read, so it cannot be replaced' convert g.npz ./elsewhere/../g.npz --force
expect "the folder that is read" 64 'is read, so it cannot be replaced' \
    convert graph/dataset.json graph --force --to fringe
echo '{"data": {"path": "g.graph", "nodes": "g.npz"}}' >both.json
expect "a file that the config reads" 64 'g.npz is read, so it cannot be replaced' convert both.json g.npz --force
echo '{"data": {"path": "g.graph", "weights": "w.npy"}}' >weighted.json && echo >w.npy
expect "its weights" 64 'w.npy is read, so it cannot be replaced' convert weighted.json w.npy --to npz --force
mkdir parts && echo 0,1 >parts/part-0.csv && echo 1,2 >parts/part-1.csv
expect "one of its parts" 64 'part-1.csv is read, so it cannot be replaced' \
    convert parts parts/part-1.csv --to npz --force
expect "the graph and what it leaves out" 0 'both: 600' convert both.json both
same "are the dataset" graph/dataset.safetensors both/dataset.safetensors

# --- wrong commands
expect "no such source" 66 'nothing: there is no such file or folder' convert nothing x.npz
expect "no such config" 66 'nothing.json' convert nothing.json x.npz
head -c 500 g.npz >bad.npz
expect "a cut source" 65 'bad.npz: ' convert bad.npz x.npz
expect "no such folder" 73 'no: there is no such folder, so x.npz cannot be written' convert graph no/x.npz
expect "an unknown ending" 64 'x.csv: its name does not say what format .*npz, metis, ogb, fringe' \
    convert graph x.csv
expect "an unknown format" 64 "there is no format 'csv'; there are npz, metis, ogb, fringe" \
    convert graph x.csv --to csv
expect "an unknown step" 78 'data.transforms: .*nonsense' convert graph x.npz --set 'data.transforms=["nonsense"]'
expect "a hypergraph as .graph" 65 'pins.hgr: it is a hypergraph, which is written as .hgr' convert pins.hgr x.graph
expect "too little memory" 71 'convert it on a larger machine' convert g.npz x.npz --set run.memory_limit=0.01
[ -z "$(ls -d x.* no 2>/dev/null)" ] || fail "something is left: $(ls -d x.* no)"
[ -z "$(ls -A | grep fringe-tmp)" ] || fail "a temporary file is left"

# --- a disk that is full at any call: a sentence, nothing new, and what was there is as it was
full=$FRINGE_BUILD/tests/preload_full.so
each_full() { # WORDS...: of convert, into the folder disk, which is as the folder before
    local n calls status points=0
    for ((n = 0; n <= ${calls:-1}; n += 1 + n / 6)); do
        rm -rf disk && cp -r before disk
        status=0 points=$((points + 1))
        FRINGE_FULL_UNDER=$work/disk FRINGE_FULL_AT=$n FRINGE_FULL_COUNT=$work/calls LD_PRELOAD=$full \
            "$FRINGE" convert "$@" >out 2>&1 </dev/null || status=$?
        if [ $n -eq 0 ]; then
            calls=$(cat calls)
            rm -rf with-room && cp -r disk with-room
            [ $status -eq 0 ] && [ "$calls" -gt 3 ] || fail "$*: with room: $status, $calls: $(cat out)"
            continue
        fi
        { [ $status -eq 73 ] || [ $status -eq 74 ]; } && [ "$(grep -c '^fringe: .*disk' out)" -eq 1 ] ||
            fail "$*: full at call $n of $calls: exit $status: $(cat out)"
        # at the last calls, which flush the folder, the new one is in its place
        diff -r before disk >differ || diff -r with-room disk >>differ ||
            fail "$*: full at call $n of $calls: $(cat differ)"
    done
    echo "ok: $*, full at $((points - 1)) of $calls calls"
}
if [ -e "$full" ]; then
    mkdir before && echo kept >before/kept
    for words in "g.npz disk/n.npz" "g.npz disk/n.graph" "g.npz disk/n --to ogb" "g.npz disk/n"; do
        each_full $words
    done
    cp path.txt before/n.npz
    each_full g.npz disk/n.npz --force
else
    echo "skipped: $full is not built"
fi

# --- killed after any step: what was there is whole, and the next command sweeps up
for words in "n.npz" "n.graph" "set --to ogb" "own"; do
    rm -rf kill && mkdir kill
    (cd kill && convert ../path.json $words) >/dev/null 2>&1 || fail "$words"
    target=kill/${words%% *}
    cp -r "$target" small
    rm -rf "$target"
    (cd kill && convert ../g.npz $words) >/dev/null 2>&1
    mv "$target" large
    cp -r small "$target"
    for ((n = 1; ; n++)); do
        status=0
        { (cd kill && FRINGE_TEST_STOP_STEP=$n "$FRINGE" convert ../g.npz $words --force) >out 2>&1; } 2>/dev/null ||
            status=$?
        diff -rq "$target" small >/dev/null || diff -rq "$target" large >/dev/null ||
            fail "$words: killed after step $n: neither the old nor the new one is there"
        [ $status -ne 0 ] || break
        rm -rf "$target" && cp -r small "$target"
    done
    [ $n -gt 3 ] || fail "$words: killed only $n times"
    nothing_beside kill "$(basename "$target")" && echo "ok: $words, killed after each of $((n - 1)) steps"
    rm -rf small large
done
finish
