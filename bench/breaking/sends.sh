#!/usr/bin/env bash
# Stop requests that reach other processes than the one that was started: all of a training at once (systemd,
# tini -g, killall, Slurm), its session, its group, mpirun alone, the ranks alone, one rank. Each must end with
# exit 75 and the newest epoch saved, and nobody left.
#
#   bench/run.sh sends [--count=20] [--to="all session mpirun ranks one supervisor group"] [--program=build/fringe]
#
# smoke: --count=1 --to=all
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
count=20 to="all session mpirun ranks one supervisor group" program=${FRINGE:-$root/build/fringe}
. "$root/bench/common/options.sh"
options count to program -- "$@"
FRINGE=$program
. "$root/tests/cli/lib.sh"
. "$root/tests/sends.sh"
tiny
sed -i 's/"run": {/"run": {"threads": 1, /' tiny.json
for to in $to; do
    for signal in TERM INT; do
        well=0
        for ((i = 0; i < count; i++)); do
            send $to $signal "$to-$signal-$i" && well=$((well + 1)) || failed=1
            rm -rf "$to-$signal-$i"
        done
        echo "$signal to $to: $well of $count ended with 75 and the newest epoch saved"
    done
done
finish
