#!/usr/bin/env bash
# once
# If this failed, fringe plan would print other figures than training has, call extrapolated what is a
# cut that exists, or meet mistakes of the command line with something else than a sentence; or a
# training would not say what remembers its halo rows.
. "$FRINGE_SOURCE/tests/cli/lib.sh"
tiny
plan() { "$FRINGE" plan tiny.json --compute 50,10 "$@"; }
field() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2], {"d": d}))' "$1" "$2"; }

expect 'the table' 0 '^vanilla +1 checked ' plan
grep -qE '^fits: [a-z-]+ on [1248] ranks? takes most, .* of the .*; its largest item is ' out || fail "the verdict: $(cat out)"
grep -q '^edges of the Patterns ' out && fail 'items stand behind --verbose'
expect 'what predictions take' 0 '^predict +writes 16.8 kB' plan
expect 'what does not fit' 0 '^does not fit: .*; take more ranks on more hosts' plan --set run.memory_limit=0.00003
expect 'what fits on more ranks' 0 '^does not fit: .*; every mode fits on [48] ranks' plan --set run.memory_limit=0.0005
expect 'every mode' 0 '^adaqp-published$' plan --verbose
expect 'items of memory' 0 '^edges of the Patterns ' plan --verbose
expect 'what was given is said' 0 '\(--compute\)$' plan
expect 'the assumed link is said' 0 'link 10 Gbit/s, .*\(assumed\)$' plan
expect 'a given link is said' 0 'link 25 Gbit/s, .*\(--link\)$' plan --link 25,1e-5
expect 'hosts' 0 '^hosts +3 cores, 5 ranks each' plan --cores 3 --ranks-per-host 5
expect 'measured' 0 '\(measured here\)$' "$FRINGE" plan tiny.json --ranks 1

plan --ranks 1,2,8,16,32 --svg plan.svg --json >plan.json || fail 'json'
[ "$(field plan.json '[p["checked"] for p in d["modes"]["vanilla"]]')" = '[True, True, True, False, False]' ] ||
    fail 'cuts into 16 and 32 parts do not exist'
[ "$(field plan.json 'all(p["memory"] == sum(p["items"].values()) for m in d["modes"].values() for p in m)')" = True ] ||
    fail 'the items add up to the memory'
[ "$(field plan.json 'all(p["hidden"] >= q["hidden"] >= 0 for p, q in zip(d["modes"]["pipegcn"][1:], d["modes"]["overlap"][1:]))')" = True ] ||
    fail 'a whole epoch hides more'
[ "$(field plan.json 'd["modes"]["overlap"][1]["hidden"] >= 0 == d["modes"]["vanilla"][1]["hidden"]')" = True ] ||
    fail 'only schedules that hide do so'
grep -q 'class="checked"' plan.svg && grep -q 'class="extrapolated"' plan.svg || fail 'solid and dashed lines'
python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("plan.svg")' || fail 'the picture is XML'
plan --ranks 1,2,8,16,32 --svg again.svg --json >again.json
same 'the same command, the same bytes' plan.json again.json
same 'and the same picture' plan.svg again.svg
plan --ranks 1,2,4 --svg solid.svg --quiet >out
grep -q 'class="extrapolated"' solid.svg && fail 'cuts that exist are solid'
"$FRINGE" partition tiny.json --parts 16 --quiet >out
plan --ranks 16 --json >checked.json
[ "$(field checked.json 'd["modes"]["vanilla"][0]["checked"]')" = True ] || fail 'a cut that was made since'

# what training says of itself
as_planned() { # PLAN, mode, settings of training; on $ranks of the plan's 1 and 2
    local file=$1 mode=$2 of=$((${ranks:-2} - 1)) predicted sent
    shift 2
    rm -rf trained
    "$FRINGE" train tiny.json --ranks ${ranks:-2} --set mode=$mode --set train.epochs=2 --set run.dir=trained "$@" >out 2>&1 ||
        { cat out; fail "training in mode $mode $*"; }
    predicted=$(grep -o '"memory_predicted": *[0-9]*' trained/run.json | grep -o '[0-9]*$')
    [ "$(field $file "d['modes']['$mode'][$of]['memory']")" "${memory:--eq}" "$predicted" ] || fail "memory in mode $mode $*"
    sent=$(tail -n 1 trained/metrics.jsonl | grep -o '"bytes": [0-9]*' | grep -o '[0-9]*$')
    [ "$(field $file "int(d['modes']['$mode'][$of]['bytes'])")" = "$sent" ] || fail "bytes in mode $mode $*"
}
for mode in vanilla lossless pipegcn pipegcn-published; do as_planned plan.json $mode; done
grep -q '^halo  *all rows; memory mean forward, mean backward$' out || fail 'what remembers halo rows is said'
plan --ranks 1,2 --set run.precision=bf16 --json >bf16.json
ranks=1
as_planned bf16.json lossless --set run.precision=bf16 # no row waits for a halo
ranks=2
memory=-ge # which rows wait for the halo is not known before the cut is read
for mode in vanilla lossless pipegcn pipegcn-published; do as_planned bf16.json $mode --set run.precision=bf16; done
plan --ranks 1,2 --set run.precision=bf16 --set quantization.before=conv --json >conv16.json
as_planned conv16.json lossless --set run.precision=bf16 --set quantization.before=conv
memory=
[ "$(field bf16.json "d['modes']['vanilla'][1]['bytes'] < 0.6 * $(field plan.json "d['modes']['vanilla'][1]['bytes']")")" = True ] ||
    fail 'rows of bf16 take half of the bytes'
plan --ranks 1,2 --set quantization.before=conv --json >conv.json
as_planned conv.json lossless --set quantization.before=conv
[ "$(field conv.json "d['modes']['lossless'][1]['bytes']")" = "$(field plan.json "d['modes']['lossless'][1]['bytes']")" ] &&
    fail 'rows before post are wider'

expect 'a mode that does not go with a key' 0 '^warning +mode pipeadaqp is left out: .*nothing waits' \
    plan --set quantization.exchanges=measured
expect 'the others are planned' 0 '^pipegcn-published ' plan --set quantization.exchanges=measured
expect 'ranks that descend' 64 "--ranks: expected ascending whole numbers .* found '4,2'" plan --ranks 4,2
expect 'ranks that are no numbers' 64 "found '1,x'" plan --ranks 1,x
expect 'no ranks' 64 "found ''" plan --ranks ''
expect 'a comma too many' 64 "found '1,2,'" plan --ranks 1,2,
expect 'too many ranks' 64 "1 to 65536" plan --ranks 100000
expect 'half a link' 64 "--link: expected two positive numbers, A,B, found '10'" plan --link 10
expect 'a link without bandwidth' 64 "--link" plan --link 0,1
expect 'compute that is none' 64 "--compute" "$FRINGE" plan tiny.json --compute 50,-1
expect 'compute that is not finite' 64 "--compute" "$FRINGE" plan tiny.json --compute inf,1
expect 'no cores' 64 "--cores: expected a number above 0" plan --cores 0
expect 'half a core' 0 '^hosts +0.5 cores, 1 rank each' plan --cores 0.5
expect 'more ranks than nodes' 78 '^fringe: --ranks: 60000 ranks, but there are [0-9]+ nodes$' plan --ranks 60000
printf '%s\n' '0 1' '1 2' '2 3' >four.edges
printf '%s\n' id,x,label,split 0,1,0,train 1,2,1,train 2,3,0,val 3,4,1,test >four.csv
echo '{"data": {"path": "four.edges", "nodes": "four.csv"}}' >four.json
expect 'no more ranks than nodes, unasked' 0 '^ +4 checked ' "$FRINGE" plan four.json --compute 50,10
grep -qE '^ +8 ' out && fail "8 ranks for 4 nodes: $(cat out)"
expect 'a picture that cannot be written' 73 'nowhere' plan --ranks 1 --svg nowhere/plan.svg
expect 'no config' 66 'missing.json' "$FRINGE" plan missing.json
expect 'a wrong option' 64 'no option --rank-per-host; did you mean --ranks-per-host' plan --rank-per-host 3
expect 'the help' 0 'ranks-per-host N' "$FRINGE" plan --help
expect 'completion' 0 'ranks-per-host' "$FRINGE" help bash
expect 'the manual' 0 'ranks.-per.-host' "$FRINGE" help man

# a cut from a file has no finer one
"$FRINGE" partition tiny.json --parts 2 --quiet >out
nodes=$("$FRINGE" inspect tiny | sed -n 's/^nodes *//p' | tr -dc 0-9)
for i in $(seq 0 $((nodes - 1))); do echo $((i % 2)); done >cut.part.2
expect 'a method that reads a file' 66 'neither .*/cut nor .*/cut.part.4 exists' plan --ranks 4 --set partition.method=file:cut
finish
