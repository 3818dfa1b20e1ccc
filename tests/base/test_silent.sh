#!/usr/bin/env bash
# If this failed, one stopped or hung rank would hold a whole cluster job for ever, unnamed.
set -u
helper=$FRINGE_BUILD/tests/helper_silent
failed=0

since() { awk "BEGIN {print $(date +%s.%N) - $1}"; }

# expect NAME RANKS CODE SECONDS 'text' helper-arguments...
expect() {
    local name=$1 ranks=$2 code=$3 seconds=$4 text=$5
    shift 5
    local begin took output status
    begin=$(date +%s.%N)
    output=$(timeout -k 5 60 mpirun --oversubscribe --bind-to none -n "$ranks" "$helper" "$@" 2>&1)
    status=$?
    took=$(since "$begin")
    if [ $status -ne "$code" ] || ! grep -qE "$text" <<<"$output" ||
        ! awk "BEGIN {exit $took > $seconds}"; then
        echo "FAILED $name: exit $status (expected $code), $took s (at most $seconds s)," \
            "expected /$text/ in:"
        echo "$output"
        failed=1
    else
        echo "ok $name ($took s)"
    fi
}

# Starting mpirun and its ranks takes up to $start seconds here.
begin=$(date +%s.%N)
mpirun --oversubscribe --bind-to none -n 3 "$helper" none 0 5 || failed=1
start=$(since "$begin")
plus() { awk "BEGIN {print $1 + $start + 1}"; }

expect "a stopped rank is named within the timeout" 3 81 "$(plus 2)" \
    'rank [02]: waited .* rank 1 of 3 gives no sign of life' stop 1 2
expect "so is rank 0" 2 81 "$(plus 2)" 'rank 0 of 2 gives no sign of life' stop 0 2
expect "a rank that computes without answering is named" 4 81 "$(plus 2)" \
    'rank 3 of 4 gives no sign of life' sleep 3 2
expect "ranks at different steps do not wait for ever" 2 81 "$(plus 5)" \
    'every rank waits and none gets a message' apart 0 0.4
expect "a rank that stops at the very end holds nobody" 3 81 "$(plus 3)" \
    'the ranks did not end together' end 1 1
expect "a failed check says rank, file and line" 3 70 "$(plus 2)" \
    'rank 1: .*helper_silent.c:[0-9]+: the numbers 1 and 2 differ' check 1 5
expect "also from work on the side" 3 74 "$(plus 2)" \
    'rank 1: .*helper_silent.c:[0-9]+: the work on the side failed' aside 1 5
exit $failed
