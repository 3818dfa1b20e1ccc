#!/usr/bin/env bash
# once
# If this failed, ranks whose machines compute differently would train different models for hours,
# and the checkpoints would hold one of them.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
other=$FRINGE_BUILD/tests/other_cos.so
tiny
cosine="train tiny.json --set train.lr_schedule=cosine --set run.dir=run"
expect "machines of one kind" 0 'result' env LD_PRELOAD="$other" "$FRINGE" $cosine --ranks 3
rm -r run
expect "another math library on rank 2" 84 \
    'after epoch 5 the weights or moments of rank 2 of 3 are not those of rank 0' \
    env LD_PRELOAD="$other" FRINGE_OTHER_COS=2 "$FRINGE" $cosine --ranks 3
[ ! -e run/checkpoints ] || fail "nothing is saved"
rm -r run
expect "and on all but rank 0" 84 'of rank 1, 2, 3, 4, 5, 6, 7, 8 and 1 more of 10 are not' \
    env LD_PRELOAD="$other" FRINGE_OTHER_COS=1- "$FRINGE" $cosine --ranks 10
[ ! -e run/checkpoints ] || fail "nothing is saved"
finish
