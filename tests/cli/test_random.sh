#!/usr/bin/env bash
# once
# If this failed, run.random and run.random_bits would not reach the messages between ranks or the sums of weight
# gradients. (Dropout: test_gradients.)
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny

losses() { # NAME SETTING...: of two epochs
    local name=$1
    shift
    "$FRINGE" train tiny.json --ranks 2 --quiet --set run.dir="$name" --set train.epochs=2 --set model.dropout=0 \
        $(printf -- '--set %s ' "$@") || fail "$name: no training"
    sed 's/.*"loss": \([0-9.e-]*\).*/\1/' "$name/metrics.jsonl" >"$name.losses"
}
differ() { # NAME FILE FILE
    if cmp -s "$2" "$3"; then fail "$1: the same losses"; else echo "ok: $1"; fi
}

messages="quantization.codec=integer quantization.assign=uniform quantization.initial_bits=2"
sums="gradients.codec=max gradients.bits=4"
losses messages $messages gradients.codec=none
losses messages-7 $messages gradients.codec=none run.random=philox7
differ "messages are rounded by philox7" messages.losses messages-7.losses
losses sums $sums
losses sums-8 $sums run.random_bits=8
differ "sums are rounded by numbers of 8 bits" sums.losses sums-8.losses
expect "run.random_bits=12" 78 'run.random_bits: expected 8 or 16, found 12' \
    "$FRINGE" train tiny.json --set run.random_bits=12
finish
