#!/usr/bin/env bash
# once
# If this failed, a run could not predict nodes that training has not seen, or would lose their ids; or
# train, config check and inspect would say other things of the same file.
. "$FRINGE_SOURCE/tests/cli/lib.sh"

# two groups of ten; the training sees nodes a0 to b7
graph() {
    for ((i = 0; i < $1; i++)); do
        for g in a b; do
            echo "$g$i,$g$(((i + 1) % $1))"
            echo "$g$(((i + 1) % $1)),$g$i"
        done
    done
}
nodes() {
    echo "$2"
    for ((i = 0; i < $1; i++)); do
        printf 'a%d,1,0.%d%s\n' $i $i "${3:+,left,train}"
        printf 'b%d,0,0.%d%s\n' $i $i "${3:+,right,train}"
    done
}
graph 8 >seen.csv
graph 10 >all.csv
nodes 8 id,x,z,label,split labels >seen_nodes.csv
nodes 10 id,x,z >all_nodes.csv
cat >c.json <<'JSON'
{"data": {"path": "seen.csv", "nodes": "seen_nodes.csv"}, "model": {"layer": "gcn", "hidden": [4]},
 "train": {"epochs": 20, "lr": 0.1}, "run": {"dir": "run"}}
JSON
expect 'the training' 0 'result' "$FRINGE" train c.json
expect 'new nodes' 0 'ids.txt \[20\]' "$FRINGE" predict run --data all.csv --set data.nodes=all_nodes.csv -o one \
    --csv out.csv
expect 'new nodes on two ranks' 0 '' "$FRINGE" predict run --data all.csv --set data.nodes=all_nodes.csv -o two \
    --ranks 2
same 'ids in the order of rows' one/ids.txt <(printf '%s\n' a{0..9} b{0..9})
same 'ids on one and two ranks' one/ids.txt two/ids.txt
same 'classes on one and two ranks' one/classes.npy two/classes.npy
[ "$(head -1 out.csv)" = id,class,left,right ] || fail "the first line of out.csv is $(head -1 out.csv)"
[ "$(grep -c '^a.,left,\|^b.,right,' out.csv)" = 20 ] || fail 'classes of groups'
expect 'other columns' 65 'has 1 features? of a node, but the run was trained with 2' "$FRINGE" predict run \
    --data all.csv --set data.nodes=all_nodes.csv --set 'data.columns={"features":"z"}' -o none
expect 'random features' 78 'say nothing of new nodes' "$FRINGE" predict run --data all.csv \
    --set 'data.transforms=["random:2"]' -o none

# one sentence for one file
printf 'graph [\n]\n' >g.gml
echo '{"data": {"path": "g.gml"}}' >g.json
for command in 'train g.json' 'config check --files g.json' 'inspect g.gml'; do
    expect "$command" 65 "g.gml is GML, which is not read; convert it: python3 .*python/fringe' convert" $FRINGE $command
done
expect 'data are read' 78 'source and target are the same column' "$FRINGE" config check --files c.json --set \
    'data.columns={"source": 1, "target": 1}'
finish
