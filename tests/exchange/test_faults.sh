#!/bin/bash
# If this failed, a damaged message would be used, a row that is not finite would be sent, or a
# stopped rank would hang the job for good.
# What the job must say and how it must end, for each kind of trouble of test_faults.c.
. "$(dirname "${BASH_SOURCE[0]}")/../wire/trouble.sh"

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
