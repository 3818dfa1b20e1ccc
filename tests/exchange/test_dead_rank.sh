#!/bin/bash
# alone, once
# If this failed, the others would wait for a rank that died in an exchange.
set -u
program=$FRINGE_BUILD/tests/test_faults
[ -x "$program" ] || { echo "skipped: $program is not built"; exit 77; }
failed=0

# A dead rank ends the job within two seconds, with mpirun's report; on a crowded machine in one of
# three tries. As users run it: mpirun waits as long as it does by default.
for ranks in 2 4; do
    for try in 1 2 3; do
        said=$(OMP_NUM_THREADS=1 timeout 60 mpirun --oversubscribe --bind-to none -n $ranks \
            "$program" die 2>&1)
        status=$? now=$EPOCHREALTIME
        died=$(sed -n 's/^died at //p' <<<"$said")
        quick=$(awk "BEGIN {print (\"$died\" != \"\" && $now - ${died:-0} < 2)}")
        [ "$quick" = 1 ] && break
    done
    if [ "$quick" != 1 ] || [ $status -eq 0 ] || ! grep -q 'signal 9 (Killed)' <<<"$said"; then
        echo "die on $ranks ranks: status $status, died at '$died', over at $now:"
        echo "$said"
        failed=1
    fi
done
exit $failed
