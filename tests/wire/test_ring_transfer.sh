#!/bin/bash
# once
# If this failed, a message of a length beyond its bound, or of another step, would be used.
# What the job must say and how it must end, for each kind of trouble of test_ring_transfer.c.
set -u
program=$FRINGE_BUILD/tests/test_ring_transfer
[ -x "$program" ] || { echo "skipped: $program is not built"; exit 77; }
failed=0
# After the death of a rank mpirun waits 2 s before it ends the others by force; here it does not wait.
export OMPI_MCA_odls_base_sigkill_timeout=0

# trouble WORD PATTERN: rank 1 of 3 gets into it
trouble() {
    local said status
    said=$(OMP_NUM_THREADS=1 timeout 60 mpirun --oversubscribe --bind-to none -n 3 \
        "$program" "$1" 2>&1)
    status=$?
    if [ $status -ne 83 ] || ! grep -qE "$2" <<<"$said"; then
        echo "$1: expected status 83 and /$2/, found status $status and:"
        echo "$said"
        failed=1
    fi
}

where='layer 0, forward, epoch 1 from rank 1 to rank 2 .*'
trouble long "$where wrong bytes"
trouble behind "$where wrong epoch"
trouble more 'rank 2: .* from rank 1 to rank 2 is longer than its 601 bytes'
trouble less 'rank 2: .* from rank 1 to rank 2 is shorter than its 601 bytes'
exit $failed
