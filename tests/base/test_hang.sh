#!/usr/bin/env bash
# alone, once
# If this failed, one stopped or hung rank would hold a whole cluster job for ever, unnamed.
set -u
helper=$FRINGE_BUILD/tests/helper_hang
failed=0
export OMPI_MCA_odls_base_sigkill_timeout=0 # mpirun does not wait 2 s for the others of a dead rank

timed_out() { [ "$1" -eq 124 ] || [ "$1" -eq 137 ]; } # what timeout leaves with
said() { grep -qE "Exit code: +$1\$" <<<"$2"; } # mpirun has said that a rank left with this code

# expect NAME RANKS CODE MOST 'text' helper-arguments...: this exit code, this text, and, if the
# output says "waited N s", an N of at most MOST.
expect() {
    local name=$1 ranks=$2 code=$3 most=$4 text=$5
    shift 5
    local output status waited
    # Open MPI 4.1's mpirun sometimes crashes in PMIx_server_finalize after all ranks have ended, or
    # hangs after it has said the exit code, which is then lost: such a run is made again, once.
    for _ in 1 2; do
        output=$(timeout -k 5 60 mpirun --oversubscribe --bind-to none -n "$ranks" "$helper" "$@" 2>&1)
        status=$?
        grep -q PMIx_server_finalize <<<"$output" || { said "$code" "$output" && timed_out $status; } ||
            break
    done
    waited=$(sed -nE 's/.*: waited ([0-9.]+) s for.*/\1/p' <<<"$output" | sort -n | tail -n 1)
    if [ $status -ne "$code" ] || ! grep -qE "$text" <<<"$output" ||
        ! awk "BEGIN {exit ${waited:-0} > $most}"; then
        echo "FAILED $name: exit $status (expected $code), waited '$waited' s (at most $most)," \
            "expected /$text/ in:"
        echo "$output"
        failed=1
    else
        echo "ok $name${waited:+ (after $waited s)}"
    fi
}

# A rank that shares its core may run up to a second later than it could.
expect "a stopped rank is named within the timeout" 3 81 4 \
    'rank [02]: waited .* rank 1 of 3 does not answer' stop 1 3
expect "so is rank 0" 2 81 4 'rank 0 of 2 does not answer' stop 0 3
expect "so is a rank that the question cannot reach" 2 81 4 \
    'rank 0: waited .* rank 1 of 2 does not answer' full 1 3
expect "a rank that computes without answering is named" 4 81 4 \
    'rank 3 of 4 does not answer' sleep 3 3
expect "ranks at different steps do not wait for ever" 2 81 15 \
    'every rank waits and none receives a message' apart 0 0.4
expect "a rank that stops at the very end holds nobody" 3 81 1 \
    'the ranks did not end together' end 1 2
expect "a failed check says rank, file and line" 3 70 0 \
    'rank 1: .*helper_hang.c:[0-9]+: the numbers 1 and 2 differ' check 1 30
expect "also from work on the side" 3 74 0 \
    'rank 1: .*helper_hang.c:[0-9]+: the work on the side failed' aside 1 30
exit $failed
