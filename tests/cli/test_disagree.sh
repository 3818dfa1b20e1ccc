#!/usr/bin/env bash
# If this failed, ranks whose machines compute differently would train different models for hours,
# and the checkpoints would hold one of them.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
other=$FRINGE_BUILD/tests/other_cos.so
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0
tiny
cosine="train tiny.json --ranks 3 --set train.schedule=cosine --set run.dir=run"
expect "machines of one kind" 0 'result' env LD_PRELOAD="$other" "$FRINGE" $cosine
rm -r run
expect "another math library on rank 2" 84 \
    'after epoch 5 the weights or moments of rank 2 of 3 are not those of rank 0' \
    env LD_PRELOAD="$other" FRINGE_OTHER_COS=2 "$FRINGE" $cosine
[ ! -e run/checkpoints ] || fail "nothing is saved"
finish
