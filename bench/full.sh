#!/usr/bin/env bash
# A disk that becomes full at every single call of a training that takes room, and a tmpfs at every size
# of whole pages; the test suite takes larger steps. See tests/test_full_disk.sh and test_full_tmpfs.sh.
#
#   bench/full.sh [--step=1] [--program=build/fringe]
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export FRINGE_FULL_STEP=1 FRINGE=${FRINGE:-$(dirname "$here")/build/fringe}
for word in "$@"; do
    case $word in
    --step=*) FRINGE_FULL_STEP=${word#*=} ;;
    --program=*) FRINGE=${word#*=} ;;
    --strict) ;;
    *)
        sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2
        exit 64
        ;;
    esac
done
export FRINGE_BUILD=${FRINGE_BUILD:-$(dirname "$FRINGE")}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
status=0
for name in full_disk full_tmpfs; do bash "$(dirname "$here")/tests/test_$name.sh" || status=1; done
exit $status
