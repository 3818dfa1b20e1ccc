#!/usr/bin/env bash
# timed, once
# If this failed, a stream from another program would end too soon or never, would not say that it
# waits, would lose events when it is stopped, or could not be trained from while it goes on.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$FRINGE_SOURCE/tests/cli/stream.sh"
set -m # so that processes in the background do not ignore INT
trap 'for job in $(jobs -p); do kill -- -$job; done 2>/dev/null; rm -rf "$work"' EXIT
streams 6000
parts="--parts 2 --set run.threads=1"
mkfifo pipe
stream plain.events -o whole $parts >out 2>&1 || fail "a whole stream: $(cat out)"
end() { kill -- -"$1" 2>/dev/null && wait "$1" 2>/dev/null; } # a sender, with its sleep

# --- a sender that pauses
{ head -n 2001 plain.events && sleep 2.6 && tail -n +2002 plain.events; } >pipe &
expect "a sender that pauses" 0 '^stream +2.0 k events, waiting, .*s \.\.\.$' stream pipe -o paused $parts
same_folder "changes nothing" {whole,paused}/snapshots
for bytes in 7 5000; do
    { head -c $bytes marked.twin && sleep 0.3 && tail -c +$((bytes + 1)) marked.twin; } >pipe &
    expect "a pause behind byte $bytes" 0 '^snapshot' stream pipe -o broken-$bytes $parts
done
same_folder "within an event, too" broken-{7,5000}/snapshots
expect "standard input, from a pipe" 0 '^snapshot' bash -c "cat plain.events | '$FRINGE' stream - -o input $parts"
same_folder "has the same bytes" {whole,input}/snapshots
expect "standard input, a file" 0 '^snapshot' bash -c "'$FRINGE' stream - -o input $parts <plain.events"
same_folder "has them as well" {whole,input}/snapshots
expect "and goes on where it was" 0 '^resumed +after event 5[0-9]*$' \
    bash -c "'$FRINGE' stream - -o input $parts --resume auto <plain.events"
expect "a sender that sends nothing" 65 'pipe: is empty; a stream begins with' \
    bash -c ": >pipe & '$FRINGE' stream pipe -o nothing $parts"

# --- stopped while it waits
stopped() { # NAME CODE_TEXT FOLDER PID
    local since=${EPOCHREALTIME/./} took
    kill -INT $4
    ended "$1" $4 75 "$2"
    took=$((${EPOCHREALTIME/./} - since))
    [ $took -lt 2000000 ] || fail "$1: took $took us"
}
"$FRINGE" stream pipe -o cold $parts >out 2>&1 </dev/null &
appears cold/.lock $!
sleep 0.3
stopped "INT before there is a sender" '^fringe: stopped .*; there was nothing to save' cold $!

{ head -n 3001 plain.events && printf '+h 77 1' && exec sleep 60; } >pipe &
sender=$!
"$FRINGE" stream pipe -o held $parts --snapshot-every 3000 >out 2>&1 </dev/null &
reader=$!
appears held/snapshots/events-3000 $reader
stopped "INT while it waits" '^fringe: stopped after event 3000; --resume auto goes on with the next one$' held $reader
end $sender
cp -r held later && cp -r held wrong

{ cat plain.events; } >pipe &
expect "a sender that sends all again" 0 '^resumed +after event 3000$' \
    stream pipe -o held $parts --resume auto --skip 3000
same_folder "ends with the bytes of one that never stopped" {whole,held}/snapshots/final
same_folder "and its state" {whole,held}/checkpoints
{ head -n 1 plain.events && tail -n +3002 plain.events; } >pipe &
expect "a sender that begins with the next event" 0 '^resumed +after event 3000; pipe cannot be rewound, so the sender must begin with the next' \
    stream pipe -o later $parts --resume auto
same_but "ends with them, too" {whole,later}/snapshots/final offset
same_but "and the state" {whole,later}/checkpoints offset line
cp -r wrong file
expect "a file may go on for a FIFO" 0 'file/snapshots/final' stream plain.events -o file $parts --resume auto
same_folder "with the same bytes" {whole,file}/snapshots/final

# --- a wrong number
unharmed() { same_folder "$1: nothing is lost" held/before wrong/checkpoints; }
cp -r wrong/checkpoints held/before
for skip in 2999 3001; do
    { cat plain.events; } >pipe 2>/dev/null &
    expect "--skip $skip" 64 "--skip $skip: the checkpoint holds 3000 events; skip these, or none" \
        stream pipe -o wrong $parts --resume auto --skip $skip
    wait $! 2>/dev/null
done
{ head -n 2001 plain.events; } >pipe &
expect "fewer events than are passed over" 64 '--skip 3000: the stream ends after 2000 events' \
    stream pipe -o wrong $parts --resume auto --skip 3000
unharmed "fewer"
{ head -n 2001 plain.events && exec sleep 60; } >pipe &
sender=$!
"$FRINGE" stream pipe -o wrong $parts --resume auto --skip 3000 >out 2>&1 </dev/null &
sleep 0.5
stopped "INT while events are passed over" '^fringe: stopped .*; there was nothing to save' wrong $!
end $sender
unharmed "INT"
{ head -n 1 plain.events && tail -n +3002 plain.events; } >tail.events
expect "the first events of a file" 0 'tail/snapshots/final' stream tail.events -o tail $parts --set stream.strict=false
expect "are passed over" 0 'skip/snapshots/final' stream plain.events -o skip $parts --set stream.strict=false --skip 3000
same_but "and count" {tail,skip}/snapshots/final offset events
grep -q '"events": 59' skip/snapshots/final/stream.json || fail "an event is its place in the stream"

# --- training while it goes on
cat >hyper.json <<'JSON'
{"data": {"path": "nothing"}, "model": {"layer": "hgnn", "layers": 2, "hidden": [16]},
 "train": {"epochs": 5, "eval_every": 1}, "run": {"log_every": 0, "threads": 1}}
JSON
train() { # NAME FOLDER SNAPSHOT
    local at=$2/snapshots/$3
    expect "$1" 0 'result +epoch 5' "$FRINGE" train hyper.json --ranks 2 --set data.path=$at \
        --set partition.method=file:$at/$3 --set run.dir=runs/$2-$3
}
mark=$(grep -n '^= half' marked.events | head -n 1 | cut -d: -f1)
until_there() { for _ in $(seq 600); do [ ! -s "$1" ] || return; sleep 0.05; done; }
{
    head -n $mark marked.events
    until_there runs/live-half/metrics.jsonl
    for first in $(seq $((mark + 1)) 300 $((mark + 2000))); do
        tail -n +$first marked.events | head -n 300 && sleep 0.02
    done
    until_there trained
    tail -n +$((first + 300)) marked.events
} >pipe &
"$FRINGE" stream pipe -o live $parts --nodes nodes.npz >live.out 2>&1 </dev/null &
reader=$!
appears live/snapshots/half $reader
train "training while the stream goes on" live half
kill -0 $reader 2>/dev/null || fail "the stream had ended"
[ -e live/snapshots/final ] && fail "it was at its end"
echo yes >trained
wait $reader || fail "the stream: $(cat live.out)"
train "and from its end" live final
head -n $((mark - 1)) marked.events >prefix.events
for name in prefix marked; do
    stream $name.events -o $name $parts --nodes nodes.npz >out 2>&1 || fail "$name: $(cat out)"
    train "training from a file: $name" $name final
done
same "the first training is that of a file that ends there" <(timeless runs/live-half) <(timeless runs/prefix-final)
same "the second one that of the whole file" <(timeless runs/live-final) <(timeless runs/marked-final)
cmp -s <(timeless runs/live-half) <(timeless runs/live-final) && fail "the two differ"
finish
