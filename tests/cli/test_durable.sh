#!/usr/bin/env bash
# once
# If this failed, a machine that loses its power could lose a checkpoint that was said to be
# written, or the one before it with it; or a temporary file could be another's.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
record=$FRINGE_BUILD/tests/record.so
laws=$FRINGE_SOURCE/tests/cli/order.awk
tiny
mkdir here

# recorded LOG 'regular expression' COMMAND...: what it does to what lies here, and prints
recorded() {
    local log=$PWD/$1 text=$2
    shift 2
    expect "$log" 0 "$text" env LD_PRELOAD="$record" FRINGE_RECORD="$log" \
        FRINGE_RECORD_UNDER="$PWD/here" "$@"
}

# lawful NAME LOG CHECKPOINTS EXCHANGES, and every flush in it is needed
lawful() {
    local check="awk -v at_least=$3 -v exchanges_at_least=$4 -f $laws" line
    $check "$2" >out && echo "ok: $1" || { fail "$1"; cat out; tail -n 30 "$2"; }
    for line in $(grep -n ^fsync "$2" | cut -d : -f 1); do
        sed "${line}d" "$2" | $check >/dev/null || continue
        fail "$1: the flush in line $line is not missed"
        sed -n "$((line - 3)),$((line + 2))p" "$2"
    done
}

recorded first result "$FRINGE" train tiny.json --set run.dir=here/deep/er --set run.checkpoint_every=5
lawful "the first run in a folder that is not there" first 4 0

sed -i 's/"epoch": 20/"epoch": 21/' here/deep/er/checkpoints/epoch-20/checkpoint.json
recorded second result "$FRINGE" train tiny.json --set run.dir=here/deep/er --resume auto \
    --set run.checkpoint_every=5
lawful "a checkpoint in the place of a damaged one" second 1 1

recorded third result "$FRINGE" train tiny.json --ranks 2 --set run.dir=here/widths \
    --set mode=adaqp --set quantization.period=5 --set quantization.delay=1 --set quantization.solver=exact \
    --set quantization.link='[1e-9, 1e-5]' --set run.checkpoint_every=5
grep -q "rename.*assignments/epoch-[0-9]*.safetensors$" third || fail "there were no assignments"
grep -q "fsync.*messages.safetensors$" third || fail "there were no widths"
lawful "with widths, on two ranks" third 4 0

recorded fourth tiny "$FRINGE" generate tiny -o here/tiny
lawful "a dataset" fourth 0 0
recorded fifth tiny "$FRINGE" generate tiny -o here/tiny
lawful "a dataset in the place of another" fifth 0 1
finish
