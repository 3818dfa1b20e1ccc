#!/usr/bin/env bash
# long
# If this failed, a training killed at a random moment (kill -9 of a rank, of mpirun or of the process
# that started it) would not resume to the very bytes of an uninterrupted one, or would leave orphans
# behind. FRINGE_KILLS kills (default 10; bench/run.sh kill makes a thousand) of a training on 2 ranks,
# which starts anew whenever it reached its end between two kills.
. "$(dirname "${BASH_SOURCE[0]}")/kills.sh"
RANDOM=7
kills_begin
kills_of "vanilla on 2 ranks" 2 "${FRINGE_KILLS:-10}" 0 --set train.epochs=1000
kills_tally
