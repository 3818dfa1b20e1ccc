#!/usr/bin/env bash
# long, timed
# If this failed, a stop request would lose epochs, would not be answered, or would leave a broken
# cache or processes behind.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../sends.sh"
tiny
sed -i 's/"run": {/"run": {"threads": 1, /' tiny.json # spinning threads would wait for each other
# Job control, so that the shell does not make INT of what runs in the background ignored.
set -m
start() { "$FRINGE" train tiny.json $endless "$@" >out 2>&1 </dev/null & pid=$!; }
# ends NAME CODE 'regular expression'
ends() { ended "$1" $pid "${@:2}"; }
none_left() { # FOLDER, or how the names of several begin
    for _ in $(seq 100); do
        grep -lsaz "^run.dir=$1" /proc/[0-9]*/cmdline >left || return
        nap 0.1
    done
    fail "processes are left: $(cat left)"
}

# --- an mpirun that hangs when its ranks are gone (its end is checked last: it is given 10 s)
mkdir hangs
printf '#!/bin/sh\nsleep 0.5 &\nexec sleep 300\n' >hangs/mpirun && chmod +x hangs/mpirun
PATH=$work/hangs:$PATH "$FRINGE" train tiny.json --ranks 2 --set run.dir=hung >hung.out 2>&1 </dev/null & hung=$!

# --- one that goes on starting ranks, and prints so, after it was asked to stop (checked late, too)
mkdir slow
printf '#!/bin/sh\nsleep 300 &\nwhile :; do echo "mpirun starts a rank" >&2; sleep 0.5; done\n' >slow/mpirun && chmod +x slow/mpirun
PATH=$work/slow:$PATH "$FRINGE" train tiny.json --ranks 2 --set run.dir=slow >slow.out 2>&1 </dev/null & slow_start=$!
while [ ! -s slow.out ]; do nap 0.05; done
slow_since=$(date +%s)
kill -TERM $slow_start

# --- one process; each is sent twice, as by timeout(1): that is one request
for signal in INT TERM HUP USR1; do
    start --set run.dir=$signal
    begun $signal $pid
    kill -$signal $pid
    kill -$signal $pid 2>/dev/null
    ends "$signal to one process" 75 'stopped on request after epoch [1-9][0-9]*; the checkpoint'
    grep -q 'finish' out || fail "$signal: it says at once what it does"
    at=$(sed -n 's/.*after epoch \([0-9]*\);.*/\1/p' out)
    [ -s $signal/checkpoints/epoch-$at/model.safetensors ] || fail "the epoch is saved"
    [ "$(wc -l <$signal/metrics.jsonl)" -eq "$at" ] || fail "the epoch is the last one"
done

# --- three ranks: whoever gets it
for row in "all TERM" "mpirun TERM" "ranks TERM" "supervisor INT" "group HUP" "supervisor USR1"; do
    send $row "send-${row/ /-}" && echo "ok: $row" || failed=1
done
grep -q 'finish' out || fail "the supervisor says at once what it does"

# --- again ends at once: a rank that is stopped keeps the epoch from ending
ranks_of() { pgrep -f "^[^ ]*fringe train .*run.dir=$1( |$)" | grep -vx $pid; }
for signal in INT TERM; do
    start --ranks 2 --set run.dir=twice-$signal --set comm.timeout=100
    begun twice-$signal $pid
    kill -STOP $(ranks_of twice-$signal | head -n 1)
    kill -$signal $pid
    sleep 1.1 # what comes sooner is the same request
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

# --- a mode that rank 0 trains alone, while the other rank sleeps
fringe generate planted:nodes=5000,edges=50000,communities=10,features=256 -o planted >/dev/null
cat >slow.json <<'JSON'
{"data": {"path": "planted"}, "model": {"layers": 3, "hidden": [256]}, "run": {"threads": 1}}
JSON
"$FRINGE" compare slow.json $endless --modes alone,vanilla --ranks 2 --set run.dir=alone >out 2>&1 </dev/null & pid=$!
begun alone/alone-1-thread $pid
kill -TERM $pid
ends "TERM to a mode that is alone" 75 'stopped on request after epoch [1-9][0-9]*; the checkpoint'

# --- a request that is repeated until mpirun is gone changes nothing of what had come to its end
"$FRINGE" train tiny.json --ranks 2 --set run.dir=late --set train.epochs=1 >out 2>&1 </dev/null & pid=$!
begun late $pid
while kill -USR1 $pid 2>/dev/null; do nap 0.002; done
ends "USR1 until all is over" 0 '^result +epoch 1: '
! grep 'set-up' out || fail "what was trained was no set-up"

# --- a terminal that nobody reads delays no request
mkfifo terminal
exec 3<>terminal
while timeout 0.1 dd if=/dev/zero of=terminal bs=4096 count=1 conv=notrunc status=none; do :; done
for ranks in 1 2; do
    "$FRINGE" train tiny.json $endless --ranks $ranks --set run.dir=unread-$ranks >out 2>terminal </dev/null & pid=$!
    begun unread-$ranks $pid
    kill -TERM $pid
    for _ in $(seq 100); do
        [ ! -e unread-$ranks/checkpoints/LATEST ] || break
        nap 0.1
    done
    [ -e unread-$ranks/checkpoints/LATEST ] || fail "TERM to $ranks rank(s) does not reach them"
    kill -KILL $pid 2>/dev/null
    wait $pid 2>/dev/null
done

# --- during set-up: at once, also where nobody reads what is said
slow=partition.json # of the parts in the cache
slowly() { # COMMAND...: in the background; reading that file takes 10 s
    exec env LD_PRELOAD="$FRINGE_BUILD/tests/slow_read.so" SLOW_READ=$slow SLOW_SECONDS=10 "$@"
}
in_setup() { # FOLDER: waits until the run there has claimed it, and then for rank 1
    while [ ! -e "$1/.fringe" ]; do nap 0.02; done
    nap 0.3
}
for ranks in 1 2; do
    slowly "$FRINGE" train tiny.json --ranks $ranks --set run.dir=early-$ranks >out 2>&1 </dev/null & pid=$!
    in_setup early-$ranks
    since=$EPOCHREALTIME
    kill -TERM $pid
    ends "TERM to $ranks rank(s) in set-up" 75 '^fringe: stopped during set-up; there was nothing to save'
    awk "BEGIN {exit !($EPOCHREALTIME - $since < 5)}" || # reading takes 10 s
        fail "it leaves after $since to $EPOCHREALTIME s"
    [ ! -e early-$ranks/metrics.jsonl ] || fail "and does not train"
done
slowly "$FRINGE" train tiny.json --set run.dir=early-unread >out 2>terminal </dev/null & pid=$!
in_setup early-unread
kill -TERM $pid
status=0
wait $pid || status=$?
[ $status -eq 75 ] || fail "TERM in set-up where nobody reads: exit $status"
exec 3>&-

# --- in the set-up of a later mode: what has ended is told. The cache has the parts of one rank only, so
# that the names of their files are known.
export XDG_CACHE_HOME=$work/cache-of-one
expect "parts of one rank" 0 'result' train train.epochs=1 run.dir=one
slow=$(cd cache-of-one/fringe && echo parts-*/partition.json)
slowly "$FRINGE" compare tiny.json --modes vanilla,alone --ranks 2 --set train.epochs=1 --set run.dir=later \
    >out 2>&1 </dev/null & pid=$!
while ! grep -q 'compare .*alone-1-thread' out && kill -0 $pid; do nap 0.05; done
nap 0.3
kill -TERM $pid
ends "TERM in the set-up of a later mode" 75 'stopped on request; the runs that have ended are kept'
grep -q '^vanilla .* 1.00x' out || fail "the table is lost"
slow=partition.json
export XDG_CACHE_HOME=$work/cache

# --- mpirun sends TERM to the ranks that are left when one has died: that is no request
false_words='fringe: (stopped|finishing|stopping)'
first_rank() { grep -lsz '^OMPI_COMM_WORLD_RANK=0' $(printf '/proc/%s/environ ' "$@") | cut -d / -f 3; }
slowly "$FRINGE" train tiny.json --ranks 2 --set run.dir=dead-early >out 2>&1 </dev/null & pid=$!
in_setup dead-early
ranks=$(ranks_of dead-early)
kill -KILL $(grep -vx "$(first_rank $ranks)" <<<"$ranks")
ends "a rank that dies in set-up" 137 'killed by signal 9'
! grep -E "$false_words" out || fail "the rank that is left says what is not so"
mpirun -n 2 "$FRINGE" train tiny.json $endless --set run.dir=dead >out 2>&1 </dev/null & pid=$!
begun dead $pid
ranks=$(ranks_of dead)
kill -KILL $(grep -vx "$(first_rank $ranks)" <<<"$ranks")
ends "a rank that dies under an mpirun of the user's" 137 .
! grep -E "$false_words" out || fail "the rank that is left says what is not so"

# --- at random moments of the set-up: the cache is whole
listens() { # PID: until it is our program, and has taken TERM from the system
    until ! kill -0 "$1" 2>/dev/null || grep -qx fringe "/proc/$1/comm" && grep -qE '^Sig(Blk|Cgt):.*[4-7c-f]...$' "/proc/$1/status"; do
        nap 0.01
    done
}
for ((i = 0; i < ${FRINGE_STOPS:-20}; i++)); do
    ranks=$((1 + i % 2))
    [ $((i % 5)) -eq 0 ] && rm -rf cache
    start --ranks $ranks --set run.dir=setup-$i
    listens $pid
    sleep "$(printf '0.%03d' $((RANDOM % 250)))"
    kill -TERM $pid
    status=0
    wait $pid || status=$?
    [ $status -eq 75 ] || { fail "stop $i: exit $status" && cat out; }
done
none_left setup-
expect "the cache serves the next run" 0 'result +epoch 20: ' train --ranks 2 run.dir=after
! grep -q damaged out || fail "an entry of the cache was damaged"
for seed in 9 10 11 12; do # a process that has not quite ended keeps its files
    expect "and the one that is cut anew" 0 'result' train --ranks 2 run.dir=anew partition.seed=$seed
    [ -n "$(find cache -name '*.fringe-tmp-*')" ] || break
    nap 1
done
[ -z "$(find cache -name '*.fringe-tmp-*')" ] || fail "temporary files stay: $(find cache -name '*.fringe-tmp-*')"

# --- checkpoints by the clock change no bit, with widths pinned
adaqp="--set mode=adaqp --set quantization.period=5 --set quantization.link=[1e-9,1e-5] --set quantization.solver=exact"
for minutes in 0 0.000001 0.001; do
    expect "a checkpoint every $minutes minutes" 0 'result' train --ranks 2 $adaqp \
        run.checkpoint_minutes=$minutes run.dir=clock-$minutes run.keep_checkpoints=100
    for file in model optimizer best; do
        same "it has the same $file" {clock-0,clock-$minutes}/checkpoints/epoch-20/$file.safetensors
    done
done
[ "$(ls -d clock-0.000001/checkpoints/epoch-* | wc -l)" -eq 20 ] || fail "there is one an epoch"
[ "$(ls -d clock-0/checkpoints/epoch-* | wc -l)" -eq 1 ] || fail "0 means the last one only"

mv slow.out out && pid=$slow_start
ends "a stop while mpirun starts ranks" 75 '^fringe: stopped during set-up; there was nothing to save$'
[ "$(grep -vc '^mpirun\|^start' out)" -eq 1 ] || fail "with one sentence: $(cat out)"
[ $(($(stat -c %Y out) - slow_since)) -le 30 ] || fail "within 30 s"
none_left slow
mv hung.out out && pid=$hung
if [ -r /proc/$$/task/$$/children ]; then
    ends "an mpirun that hangs" 81 '^fringe: mpirun did not end after its ranks'
else
    echo "skipped: this kernel does not list the children of a process"
    kill -KILL $pid
fi
finish
