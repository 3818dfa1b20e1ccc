#!/usr/bin/env bash
# A disk that becomes full at every single call of a training that takes room, and a tmpfs at every size
# of whole pages; the test suite takes larger steps. See tests/test_full_disk.sh and test_full_tmpfs.sh.
#
#   bench/run.sh full [--step=1] [--program=build/fringe] [--dry=yes]
#
# smoke: --dry=yes
#
# --dry: are the tests there, and do they take steps? The suite runs them.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
step=1 program=${FRINGE:-$root/build/fringe} dry=
. "$root/bench/common/options.sh"
options step program dry -- "$@"
export FRINGE=$program FRINGE_FULL_STEP=$step
export FRINGE_BUILD=${FRINGE_BUILD:-$(dirname "$FRINGE")}
status=0
for name in full_disk full_tmpfs; do
    if [ -n "$dry" ]; then
        grep -q FRINGE_FULL_STEP "$root/tests/test_$name.sh" || status=1
    else
        bash "$root/tests/test_$name.sh" || status=1
    fi
done
exit $status
