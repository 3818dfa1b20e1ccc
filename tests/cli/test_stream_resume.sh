#!/usr/bin/env bash
# timed
# If this failed, a stream that was stopped, killed or refused would not go on as if nothing had
# happened, or would go on with another stream, other options or a damaged state.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$FRINGE_SOURCE/tests/cli/stream.sh"
set -m # so that processes in the background do not ignore INT
trap 'for job in $(jobs -p); do kill -- -$job; done 2>/dev/null; rm -rf "$work"' EXIT
streams 16000
parts="--parts 4 --quiet --set run.threads=1"
bytes=$(stat -c %s marked.events)
[ "$bytes" -gt $((1 << 20)) ] || fail "the stream has more than one mebibyte, the size of a read: $bytes"
stream marked.events -o whole $parts --snapshot-every 5000 >out 2>&1 || fail "a whole stream: $(cat out)"

as_whole() { # NAME FOLDER
    same_folder "$1 ends with the snapshots of one that was never stopped" whole/snapshots "$2/snapshots"
    same_folder "$1: and its checkpoint" whole/checkpoints "$2/checkpoints"
}
goes_on() { # NAME FOLDER [OPTION...]
    expect "$1 goes on" 0 "^snapshot +$2/snapshots/final$" \
        stream marked.events -o "$2" $parts --snapshot-every 5000 --resume auto "${@:3}"
    as_whole "$1" "$2"
}

# --- a request, in the middle: the second read of the file takes a second. The first look at it is one more.
stopped() { # SIGNAL
    LD_PRELOAD=$FRINGE_BUILD/tests/slow_read.so SLOW_READ=marked.events SLOW_AFTER=2 SLOW_SECONDS=1 \
        "$FRINGE" stream marked.events -o stopped-$1 $parts --snapshot-every 5000 >out 2>&1 </dev/null &
    appears stopped-$1/snapshots/events-5000 $!
    kill -$1 $!
    ended "$1" $! 75 '^fringe: stopped after event [0-9]+; --resume auto goes on with the next one$'
    [ ! -e stopped-$1/snapshots/final ] || fail "$1 ends the stream"
}
stopped INT
stopped TERM
expect "inspect knows that it is not at its end" 0 '^stream +unfinished' "$FRINGE" inspect stopped-INT
grep -q '^checkpoint stopped-INT/checkpoints/events-[0-9]' out || fail "and its checkpoint"
cp -r stopped-INT first
goes_on "after INT it" stopped-INT
goes_on "after TERM it" stopped-TERM
goes_on "what has ended" stopped-TERM

# --- killed, right behind a step of writing
early=0
for step in 3 14 30 33 47 57 70 95; do
    rm -rf killed
    { FRINGE_TEST_STOP_STEP=$step stream marked.events -o killed $parts --snapshot-every 5000 \
        --checkpoint-every 3000 >out 2>&1; } 2>/dev/null
    [ $? -eq 137 ] || fail "it lives beyond step $step"
    ls killed/checkpoints/events-* >/dev/null 2>&1 || early=$((early + 1))
    stream marked.events -o killed $parts --snapshot-every 5000 --resume auto >out 2>&1 ||
        fail "killed at step $step: $(cat out)"
    diff -r whole/snapshots killed/snapshots >/dev/null && diff -r {whole,killed}/checkpoints >/dev/null ||
        fail "killed at step $step: other bytes"
done
[ $early -ge 1 ] && [ $early -le 4 ] || fail "$early of 8 kills came before the first checkpoint"
[ $failed -eq 1 ] || echo "ok: killed at 8 steps, it ends as one that was never killed"

# --- what is refused
refused() { # NAME CODE 'regular expression' COMMAND...: nothing has changed then
    expect "$@"
    same_folder "$1: nothing is lost" first/checkpoints stopped/checkpoints
}
cp -r first stopped
again="-o stopped --quiet --resume auto --snapshot-every 5000"
refused "other options" 78 'events-[0-9]* was written with other options: parts was 4, is 5; stream.score was "marginal", is "thesis"; go on' \
    stream marked.events $again --parts 5 --set stream.score=thesis
refused "another seed" 78 'options: partition.seed was 1, is 2; go' \
    stream marked.events $again --parts 4 --set partition.seed=2
refused "a file of other bytes" 65 '^fringe: nodes.npz: is .*not a stream' stream nodes.npz $again --parts 4
head -n 3000 marked.events >short.events
refused "a file that is shorter" 65 'short.events is not the stream that was read before: it has [0-9]+ bytes, and [0-9]+ were' \
    stream short.events $again --parts 4
place=$(sed -n 's/^ *"offset": \([0-9]*\),/\1/p' first/checkpoints/*/checkpoint.json)
cp marked.events changed.events
printf Z | dd of=changed.events bs=1 seek=$((place - 2)) conv=notrunc 2>/dev/null
refused "a file whose earlier bytes have changed" 65 'changed.events is not the stream that was read before: the bytes before byte [0-9]+ differ' \
    stream changed.events $again --parts 4
refused "--skip with a file" 64 '--skip is for a source that cannot be rewound' \
    stream marked.events $again --parts 4 --skip 3
mkdir -p theirs && echo mine >theirs/snapshots
expect "a folder with such a file of other people" 0 'works in theirs-2: theirs holds snapshots, which is not fringe.s' \
    stream marked.events -o theirs $parts --resume auto
grep -qx mine theirs/snapshots || fail "it stays"
goes_on "a stopped one" stopped
for file in homes hypergraph; do
    rm -rf damaged && cp -r first damaged
    printf x | dd of="$(echo damaged/checkpoints/*/$file.safetensors)" bs=1 seek=200 conv=notrunc 2>/dev/null
    expect "a damaged $file" 65 "damaged/checkpoints/events-[0-9]*/$file.safetensors is damaged: its bytes" \
        stream marked.events -o damaged $parts --resume auto
    expect "inspect sees it" 65 "$file.safetensors is damaged" "$FRINGE" inspect damaged/checkpoints
done
for wrong in '{}' '[]' 'x' ''; do
    printf '%s' "$wrong" >"$(echo damaged/checkpoints/*)/checkpoint.json"
    expect "a manifest '$wrong'" 65 'checkpoint.json' stream marked.events -o damaged $parts --resume auto
done
expect "no checkpoint: from the beginning" 0 'snapshots/final' stream plain.events -o new $parts --resume auto

# --- a file that grows, read at its end again and again
for lines in 2000 2001 9000; do
    head -n $lines plain.events >growing.events
    stream growing.events -o grown $parts --resume auto >out 2>&1 || fail "grown to $lines: $(cat out)"
done
cp plain.events growing.events
expect "a file that has grown" 0 'grown/snapshots/final-4$' stream growing.events -o grown $parts --resume auto
same_folder "ends with the state of the whole" new/checkpoints grown/checkpoints
same "and its parts" {new/snapshots/final/final,grown/snapshots/final-4/final-4}.part.4
[ "$(ls grown/snapshots)" = "$(printf 'final\nfinal-2\nfinal-3\nfinal-4')" ] || fail "$(ls grown/snapshots)"
printf 'fringe-stream 1\n+h 1 2 34' >open.events
expect "a last line without its end" 0 'warning .*open.events:2: the last line has no end' \
    stream open.events -o open
cp -r open open-again
printf '\n+h 2 34 5\n' >>open.events
expect "that ends later" 0 '^events +2: 3 nodes' stream open.events -o open --resume auto
printf 'fringe-stream 1\n+h 1 2 3456\n' >open.events
expect "that goes on later" 65 'open.events:2: the line had no end when it was read, and goes on now' \
    stream open.events -o open-again --resume auto
finish
