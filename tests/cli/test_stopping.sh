#!/usr/bin/env bash
# long
# If this failed, a stop request would lose epochs, would not be answered, or would leave a broken
# cache or processes behind.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny
sed -i 's/"run": {/"run": {"threads": 1, /' tiny.json # spinning threads would wait for each other
endless="--set train.epochs=100000000 --set run.checkpoint_every=0"

# Job control, so that the shell does not make INT of what runs in the background ignored.
set -m
start() { "$FRINGE" train tiny.json $endless "$@" >out 2>&1 </dev/null & pid=$!; }
# ends NAME CODE 'regular expression'
ends() {
    local status=0
    wait $pid || status=$?
    if [ $status -ne "$2" ] || ! grep -qE -- "$3" out; then
        fail "$1: exit $status (expected $2), expected /$3/ in:"
        cat out
    else
        echo "ok: $1"
    fi
}
none_left() { # FOLDER
    for _ in $(seq 100); do
        grep -lsaz "run.dir=$1" /proc/[0-9]*/cmdline >left || return
        sleep 0.1
    done
    fail "processes are left: $(cat left)"
}

for ranks in 1 2; do
    for signal in INT TERM HUP USR1; do
        folder=$signal-$ranks
        start --ranks $ranks --set run.dir=$folder
        begun $folder $pid
        kill -$signal $pid
        ends "$signal to $ranks rank(s)" 75 'stopped on request after epoch [1-9][0-9]*; the checkpoint'
        grep -q 'finish' out || fail "$signal, $ranks: it says at once what it does"
        at=$(sed -n 's/.*after epoch \([0-9]*\);.*/\1/p' out)
        [ -s $folder/checkpoints/epoch-$at/model.safetensors ] || fail "the epoch is saved"
        [ "$(wc -l <$folder/metrics.jsonl)" -eq "$at" ] || fail "the epoch is the last one"
    done
done
none_left USR1-2

# --- again ends at once: a rank that is stopped keeps the epoch from ending
ranks_of() { pgrep -f "^[^ ]*fringe train .*run.dir=$1 " | grep -vx $pid; }
for signal in INT TERM; do
    start --ranks 2 --set run.dir=twice-$signal --set comm.timeout=100
    begun twice-$signal $pid
    kill -STOP $(ranks_of twice-$signal | head -n 1)
    kill -$signal $pid
    sleep 0.5
    kill -0 $pid 2>/dev/null || fail "$signal: it waits for the epoch to end"
    kill -$signal $pid
    ends "$signal twice" $((128 + $(kill -l $signal))) 'ended at once .* --resume auto'
    none_left twice-$signal
done

# --- nohup: what was ignored stays ignored
set +m # the shell then makes the background ignore INT
start --ranks 2 --set run.dir=ignored
begun ignored $pid
kill -INT $pid
sleep 0.5
kill -0 $pid 2>/dev/null || fail "INT was to be ignored"
kill -TERM $pid
ends "TERM where INT is ignored" 75 'stopped on request'
set -m

# --- during set-up: at once, and the cache is whole
for ((i = 0; i < ${FRINGE_STOPS:-50}; i++)); do
    ranks=$((1 + i % 2))
    [ $((i % 5)) -eq 0 ] && rm -rf cache
    start --ranks $ranks --set run.dir=setup
    sleep "$(printf '0.%03d' $((RANDOM % 400)))"
    kill -TERM $pid
    status=0
    wait $pid || status=$?
    # 143: the program had not begun yet
    [ $status -eq 75 ] || [ $status -eq 143 ] || { fail "stop $i: exit $status" && cat out; }
done
expect "the cache serves the next run" 0 'result .* epoch 20 ' \
    "$FRINGE" train tiny.json --ranks 2 --set run.dir=after
! grep -q damaged out || fail "an entry of the cache was damaged"
expect "and the one that is cut anew" 0 'result' \
    "$FRINGE" train tiny.json --ranks 2 --set run.dir=anew --set partition.seed=9
[ -z "$(find cache -name '*.fringe-tmp-*')" ] || fail "temporary files stay: $(find cache -name '*.fringe-tmp-*')"

# --- checkpoints by the clock change no bit, with widths pinned
adaqp="--set mode=adaqp --set messages.period=5 --set messages.link=[1e-9,1e-5] --set messages.solver=exact"
for minutes in 0 0.000001 0.001; do
    expect "a checkpoint every $minutes minutes" 0 'result' "$FRINGE" train tiny.json --ranks 2 \
        $adaqp --set run.checkpoint_minutes=$minutes --set run.dir=clock-$minutes \
        --set run.keep_checkpoints=100
    for file in model optimizer best; do
        same "it has the same $file" clock-0/checkpoints/epoch-20/$file.safetensors \
            clock-$minutes/checkpoints/epoch-20/$file.safetensors
    done
done
[ "$(ls -d clock-0.000001/checkpoints/epoch-* | wc -l)" -eq 20 ] || fail "there is one an epoch"
[ "$(ls -d clock-0/checkpoints/epoch-* | wc -l)" -eq 1 ] || fail "0 means the last one only"
finish
