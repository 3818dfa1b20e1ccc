#!/usr/bin/env bash
# long
# If this failed, training with assigned widths could not be repeated, replayed, stopped and gone on
# with, or a solver would be asked for what is proven.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny

# Asked before epochs 9, 17, 25, taken before 14, 22.
settings="--ranks 3 --set mode=adaqp --set quantization.period=8 --set quantization.delay=5
    --set quantization.group_size=7 --set quantization.link=[1e-9,1e-5]"
short="$settings --set train.epochs=28 --set train.eval_every=7"
exact="$short --set quantization.solver=exact"

last() { cat "$1/checkpoints/LATEST"; }

same_run() { # NAME FOLDER FOLDER: metrics, weights, moments, and what the assigner knows
    local file
    timeless "$2" >a
    timeless "$3" >b
    same "$1: metrics" a b
    for file in model best optimizer messages; do
        same "$1: $file" "$2/checkpoints/$(last "$2")/$file.safetensors" \
            "$3/checkpoints/$(last "$3")/$file.safetensors"
    done
}

expect "a run" 0 'result +epoch 28: ' train $exact run.dir=whole run.checkpoint_every=1 run.keep_checkpoints=100
expect "the same again" 0 'result' train $exact run.dir=again
same_run "two runs are the same" whole again
for epoch in 14 22; do
    same "two runs assign the same before epoch $epoch" {whole,again}/assignments/epoch-$epoch.safetensors
done
[ "$(ls whole/assignments | wc -l)" -eq 4 ] || fail "two assignments: $(ls whole/assignments)"
bytes_of() { sed -n "$1s/.*\"bytes\": \([0-9]*\).*/\1/p" ${2:-whole}/metrics.jsonl; } # EPOCH [FOLDER]
[ "$(bytes_of 9)" -eq "$(bytes_of 13)" ] || fail "old widths stay until the new ones are taken"
[ "$(bytes_of 14)" -lt "$(bytes_of 13)" ] || fail "assigned widths are narrower than 8 bits"
expect "inspect shows when" 0 'assignment requested before epoch 17, applied before epoch 22' fringe inspect whole
grep -qE "layer 1 backward +exact +measured [0-9.e-]+ s; +2 bit [0-9]+  4 bit [0-9]+" out &&
    grep -qE '^    objective 0\.[0-9]+ bound 0\.[0-9]+ gap 0 %, LP bound 0\.[0-9]+ gap [0-9.e-]+ %$' out &&
    grep -qE '^    found in [0-9.e-]+ s; predicted [0-9.e-]+ s$' out ||
    fail "and what: $(cat out)"
tr -s '\n ' '  ' <out | grep -qF 'links (least, median, most): 1e-09 1e-09 1e-09 s per byte 1e-05 1e-05 1e-05 s per me' || fail "and of which links: $(cat out)"

cp -r whole shown
sed -i 's/"objective": [^,]*/"objective": 0.5/; s/"bound": [^,]*/"bound": 0.4/' shown/assignments/epoch-22.json
sed -i -z 's/"seconds_per_byte": \[[^]]*/"seconds_per_byte": [1e-9, 2e-9, 3e-9/; s/"seconds_per_message": \[[^]]*/"seconds_per_message": [1e-5, 2e-5, 3e-5/' \
    shown/assignments/epoch-22.json
sed -i 's/^\( *\)"taken": /\1"remark": "r",\n&/' shown/assignments/epoch-22.json
expect "inspect shows a gap" 0 'objective 0.50000 bound 0.40000 gap 20 %' fringe inspect shown
grep -q 'applied before epoch 22, .* s; r$' out || fail "and the warning: $(cat out)"
tr -s '\n ' '  ' <out | grep -qF 'links (least, median, most): 1e-09 2e-09 3e-09 s per byte 1e-05 2e-05 3e-05 s per me' ||
    fail "and three links: $(cat out)"

for form in fp32 bf16; do
    expect "minimum and step in $form" 0 'result' train --ranks 2 mode=quantize quantization.scale_dtype=$form \
        train.epochs=1 run.dir=$form
done
[ "$(bytes_of 1 bf16)" -lt "$(bytes_of 1 fp32)" ] || fail "bf16 is half as wide"

# --- stopping
# what was found, without the times that it took
found() { grep -vE '"(seconds|search_seconds|measured_seconds)"' "$1/assignments/epoch-$2.json"; }
resumed() { # EPOCH: as if killed after the checkpoint of that epoch
    local cut=cut-$1 epoch
    mkdir -p "$cut/checkpoints"
    cp whole/.fringe "$cut/"
    cp -r "whole/checkpoints/epoch-$1" "$cut/checkpoints/"
    cp whole/metrics.jsonl "$cut/"
    cp -r whole/assignments "$cut/" # what is younger than the checkpoint must go
    touch "$cut/assignments/epoch-99.json"
    expect "resume after epoch $1" 0 "resume +after epoch $1\$" train $exact run.dir="$cut" --resume auto
    same_run "resumed after epoch $1" whole "$cut"
    [ ! -e "$cut/assignments/epoch-99.json" ] || fail "resumed after epoch $1: a ghost is left"
    for epoch in 14 22; do # those before it stay, those after it are assigned again
        same "and has the assignment before epoch $epoch" {whole,"$cut"}/assignments/epoch-$epoch.safetensors
        [ "$(found whole $epoch)" = "$(found "$cut" $epoch)" ] ||
            fail "resumed after epoch $1: the report of epoch $epoch differs"
    done
}
resumed 8  # nothing was asked; asks next
resumed 11 # asked, not taken
resumed 14 # taken

long="$settings --set quantization.solver=exact --set train.epochs=100 --set train.eval_every=50
    --set run.checkpoint_every=9"
expect "a long run" 0 'result' train $long run.dir=long
# the brackets keep grep from finding itself
processes() { grep -lsaz "run[.]dir=$work/$1" /proc/[0-9]*/cmdline | cut -d/ -f3; }
interrupted() { # SIGNAL CODE EPOCHS: after so many epochs
    local status=0 pid
    "$FRINGE" train tiny.json $long --set run.dir="$work/by-$1" >out 2>&1 </dev/null &
    pid=$!
    begun "by-$1" $pid
    while [ "$(wc -l <"by-$1/metrics.jsonl")" -lt "$3" ] && kill -0 $pid 2>/dev/null; do :; done
    if [ "$1" = KILL ]; then # the ranks, too, at once
        kill -KILL $(processes "by-$1")
    else
        kill "-$1" $pid
    fi
    wait $pid 2>/dev/null || status=$?
    [ $status -eq "$2" ] || fail "$1: exit $status, expected $2: $(cat out)"
    for _ in $(seq 200); do
        [ -n "$(processes "by-$1")" ] || break
        sleep 0.05
    done
    expect "resume after $1" 0 'resume +after epoch [1-9][0-9]?$' train $long run.dir="$work/by-$1" --resume auto
    same_run "gone on after $1" long "by-$1"
}
interrupted USR1 75 20
interrupted KILL 137 40

# --- replay
expect "replay" 0 'result' train $exact run.dir=replayed quantization.assign=replay:whole quantization.link=[]
same "a replay has the same metrics" <(timeless whole) <(timeless replayed)
same "and the same model" {whole,replayed}/checkpoints/epoch-28/model.safetensors
for epoch in 14 22; do
    same "and assigns the same before epoch $epoch" {whole,replayed}/assignments/epoch-$epoch.safetensors
done
expect "a run without assignments is no replay" 66 'tiny/assignments does not exist' train $exact --ranks 1 \
    run.dir=no quantization.assign=replay:tiny
expect "no run replays itself" 78 'is the folder of this run itself' train $exact run.dir=whole \
    quantization.assign=replay:whole
[ "$(ls whole/assignments | wc -l)" -eq 4 ] || fail "and it loses nothing: $(ls whole/assignments)"
mkdir -p torn/assignments
head -c 100 whole/assignments/epoch-14.safetensors >torn/assignments/epoch-14.safetensors
expect "a torn assignment is told" 65 'torn/assignments/epoch-14.safetensors' train $exact --ranks 1 run.dir=no \
    quantization.assign=replay:torn
expect "so is one of other ranks" 65 'layer1.forward' train $exact --ranks 1 run.dir=no \
    quantization.assign=replay:whole

# --- the solver is asked for nothing that it cannot know better: what is proven best (here all), or
# time that is hidden; tests/assigner/test_asked.c shows when it is asked
printf '#!/bin/sh\necho >>%s/asked\nexit 1\n' "$work" >counted
chmod +x counted
glpk="$settings --set quantization.solver=glpk --set train.epochs=14 --set train.eval_every=7"
expect "what is proven" 0 'result' env FRINGE_SOLVER=./counted "$FRINGE" train tiny.json $glpk --set run.dir=glpk
grep '^warning' out | grep -v ' share ' && fail "it is in order: $(cat out)"
same "is what the exact solution is" glpk/assignments/epoch-14.safetensors whole/assignments/epoch-14.safetensors
expect "time that is hidden" 0 'result' env FRINGE_SOLVER=./counted "$FRINGE" train tiny.json \
    $glpk --set quantization.time=hidden --set quantization.link=[1e-9,1e-5,2e-4] --set run.dir=hidden
expect "inspect shows it" 0 '^    found in .* hidden 0\.0002 s$' fringe inspect hidden
[ ! -e asked ] || fail "GLPK was asked for what it does not know"

# --- what has nothing to assign
expect "one layer, links measured" 0 'result +epoch 9: ' train $exact quantization.link=[] quantization.delay=0 \
    train.epochs=9 model.layers=1 run.dir=flat

# --- mistakes
expect "mistakes are told" 78 'quantization.bits: .* found 2 at place 2' train $short quantization.bits=[4,2] \
    quantization.initial_bits=9 quantization.link=[1]
grep -q 'quantization.initial_bits: .* found 9' out || fail "the second one, too"
grep -q 'quantization.link: .* found 1' out || fail "and the third one"
expect "so is a rule that is not there" 78 'quantization.assign: expected one of .* did you mean .adaptive' train \
    $short quantization.assign=adaptiv
expect "who diverges is told where" 80 \
    'layer [01], (for|back)ward, epoch [0-9]+: the row of node [0-9]+|loss or its gradient is not' train $short \
    run.dir=diverges train.epochs=1000 train.optimizer=sgd train.lr=1000 model.norm=none

# --- compare
expect "compare" 0 '^adaqp +[0-9.]+ +[0-9.]+ +[0-9.]+x' fringe compare tiny.json $exact \
    --modes=vanilla,adaqp,alone run.dir=variants
for variant in vanilla adaqp alone-1-thread alone-all-cores; do
    grep -qE "^$variant +[0-9.]+ +[0-9.]+ " out || fail "compare: $variant has no line"
    grep -q "\"name\": \"$variant\"" variants/compare.json || fail "compare.json lacks $variant"
done
same_run "a variant is a plain run" whole variants/adaqp
# 0.00055 GiB: enough for a third of the graph, too little for all of it
expect "what one rank cannot hold is left out" 0 'alone-all-cores is left out: .*needs' fringe compare tiny.json \
    $exact --modes=vanilla,alone run.dir=narrow run.memory_limit=0.00055
grep -qE "^vanilla +[0-9.]+ +[0-9.]+ " out || fail "and the others are told"
# and this for vanilla's messages, too little for adaqp's
expect "a variant that fails costs no other variant" 71 '^vanilla +[0-9.]+ +[0-9.]+ ' fringe compare tiny.json \
    $exact --modes=vanilla,adaqp run.dir=cut run.memory_limit=0.00044
grep -q "a larger run.memory_limit" out || fail "the refusal names the limit"
grep -q '"name": "vanilla"' cut/compare.json || fail "compare.json keeps it"
expect "a run is no config of another mode" 78 'whole/run.json: this is the config of a run with mode=' fringe \
    compare whole --modes=vanilla --ranks 3
expect "overlap, but nothing saved" 0 'result' train $exact mode=overlap lossless.input_features=exchange \
    lossless.order=aggregate-first lossless.receptive_field=all lossless.cover=sources run.dir=overlapped
same "is the model of vanilla" {variants/vanilla,overlapped}/checkpoints/epoch-28/model.safetensors
expect "a run alone" 0 'result' train $exact --ranks 1 mode=vanilla run.dir=one
same "alone is a run on one rank" <(timeless variants/alone-1-thread) <(timeless one)
finish
