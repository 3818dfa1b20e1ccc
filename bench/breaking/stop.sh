#!/usr/bin/env bash
# Ranks of trainings stopped (SIGSTOP) at random moments between their start and the result, every other
# time in the set-up with a cold cache, two of five times rank 0: each must be named within
# comm.timeout, exit 81, nobody left.
# With --strict one that is named later ends the bench; on a machine that is not idle it may be.
#
#   bench/run.sh stop [--count=100] [--epochs=120] [--strict] [--log=FILE] [--seed=1] [--program=build/fringe]
#
# smoke: --count=1 --epochs=30
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
count=100 epochs=120 seed=1 log=/dev/null program=${FRINGE:-$root/build/fringe}
. "$root/bench/common/options.sh"
options count epochs log seed program -- "$@"
FRINGE=$program
wanted=$epochs
. "$root/tests/stops.sh"
epochs=$wanted
RANDOM=$seed
exec > >(tee "$log")
stops "$count" $((strict ? 2 : 10))
