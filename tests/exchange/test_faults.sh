#!/bin/bash
# If this failed, a damaged message would be used, a row that is not finite would be sent, or a
# stopped rank would hang the job for good.
# What the job must say and how it must end, for each kind of trouble of test_faults.c.
set -u
program=$FRINGE_BUILD/tests/test_faults
[ -x "$program" ] || { echo "skipped: $program is not built"; exit 77; }
failed=0
# After the death of a rank mpirun waits 2 s before it ends the others by force; here it does not wait.
export OMPI_MCA_odls_base_sigkill_timeout=0

# trouble WORD RANKS STATUS PATTERN [CODEC [skips]]: rank 1 gets into it; NODE is whose row it poisoned
trouble() {
    local said status node pattern
    said=$(OMP_NUM_THREADS=1 timeout 60 mpirun --oversubscribe --bind-to none -n "$2" \
        "$program" "$1" "${5:-fp32}" ${6:-} 2>&1)
    status=$?
    node=$(sed -n 's/^poisoned //p' <<<"$said")
    pattern=${4/NODE/${node:-nobody}}
    if [ "$status" -ne "$3" ] || ! grep -qE "$pattern" <<<"$said"; then
        echo "$1 on $2 ranks: expected status $3 and /$pattern/, found status $status and:"
        echo "$said"
        failed=1
    fi
}

where='layer 2, backward, epoch 7 from rank 1 to rank'
for ranks in 2 3; do
    for codec in fp32 integer; do
        trouble none $ranks 0 '' $codec
        trouble flip $ranks 83 "$where [02] .*wrong payload checksum" $codec
        trouble behind $ranks 83 "$where [02] .*wrong epoch" $codec
        trouble repeat $ranks 83 "$where [02] .*wrong sequence number" $codec
        trouble half $ranks 83 "$where [02] .*wrong bytes" $codec
    done
    trouble widths $ranks 83 "$where [02] .*wrong bytes" integer
    for codec in bf16 integer; do
        row='^fringe: rank 1: .*layer 2, backward, epoch 7: the row of'
        trouble nan $ranks 80 "$row node NODE holds a value that is not finite" $codec
        trouble sum $ranks 80 "$row the partial aggregate for node NODE holds a value" $codec
    done
done
trouble empty 2 83 "$where 0 .*wrong bytes" fp32
for word in none empty; do
    trouble $word 2 0 '' fp32 skips
done
for word in half longer; do
    trouble $word 2 83 "$where 0 .*wrong bytes" fp32 skips
done
trouble empty-behind 2 83 "$where 0 .*wrong epoch" fp32 skips
trouble stop 2 81 'layer 2, backward, epoch 7 from rank 1; rank 1 of 2'
trouble stop 4 81 'rank 1 of 4 does not answer'
exit $failed
