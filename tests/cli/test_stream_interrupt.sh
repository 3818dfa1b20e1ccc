#!/usr/bin/env bash
# once
# If this failed, Ctrl-C in `producer | fringe stream - ...`, which reaches both, would be taken for the end of the
# stream, or for a broken one: a snapshot `final` of a part of the events, or an error, and nothing to go on from.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$FRINGE_SOURCE/tests/cli/stream.sh"
set -m # each pipeline in the background is a group, and INT is not ignored
trap 'for job in $(jobs -p); do kill -KILL -- -$job; done 2>/dev/null; rm -rf "$work"' EXIT
options="--parts 2 --quiet --snapshot-every 3"
said='^fringe: stopped after event [0-9]+; --resume auto goes on with the next one$'
first='fringe-stream 1\n+h 1 11 12\n+h 2 12 13\n+h 3 13 14\n'

# A sender for each of the ways in which it can end: what it sends at first, and its command.
slow() { printf "$first" && n=3 && while sleep 0.02; do printf '+h %d 11 %d\n' $((++n)) $n; done; }
fast() { printf "$first" && exec yes '+h 77 11 12 13'; }
half() { printf "$first+h 4 11 1" && exec sleep 60; }        # an event, if it were the end
broken() { printf "$first+h 4 11 1x" && exec sleep 60; }     # none
late() { trap 'sleep 0.05; exit' INT && printf "$first" && while :; do sleep 1; done; } # the request is there before
early() { # the end is there before
    printf "$first" && until [ -e "$1/snapshots/events-3" ]; do sleep 0.02; done
    exec >&- && kill -INT -- -$BASHPID
}
binary() { printf 'FRNGSTRM\1\0\0\0' && printf "$record$record$record$record" && printf '\1\0\0' && exec sleep 60; }
record='\1\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0'

interrupted() { # SENDER NUMBER
    local folder=$1-$2 status=0
    ($1 $folder) | "$FRINGE" stream - -o $folder $options >out 2>&1 &
    local reader=$!
    appears $folder/snapshots/events-3 $reader
    [ $1 = early ] || kill -INT -- -$(jobs -p %%)
    wait $reader || status=$?
    if [ $status -ne 75 ] || ! grep -qE "$said" out; then
        fail "$folder: exit $status (expected 75): $(cat out)"
    elif [ -e $folder/snapshots/final ] || [ ! -e $folder/checkpoints/events-*/checkpoint.json ]; then
        fail "$folder: $(ls $folder $folder/*)"
    fi
}
for sender in slow fast half broken late early binary; do
    for number in 1 2 3; do interrupted $sender $number; done
    [ $failed -ne 0 ] || echo "ok: stopped with a sender that is $sender"
done

# --- what goes on is what would have come
printf "$first+h 4 11 14\n" >whole.events
stream whole.events -o whole --parts 2 --quiet >out 2>&1 || fail "a whole stream: $(cat out)"
for folder in half-1 broken-1; do
    expect "the half line was not taken" 0 '^snapshot' \
        bash -c "printf 'fringe-stream 1\n+h 4 11 14\n' | '$FRINGE' stream - -o $folder --parts 2 --quiet --resume auto"
    same_but "and comes whole" {whole,$folder}/snapshots/final offset
done
finish
