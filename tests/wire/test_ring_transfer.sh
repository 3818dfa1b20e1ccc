#!/bin/bash
# once
# If this failed, a message of a length beyond its bound, or of another step, would be used.
# What the job must say and how it must end, for each kind of trouble of test_ring_transfer.c.
. "$(dirname "${BASH_SOURCE[0]}")/trouble.sh"

where='layer 0, forward, epoch 1 from rank 1 to rank 2 .*'
trouble long 3 83 "$where wrong bytes"
trouble behind 3 83 "$where wrong epoch"
trouble more 3 83 'rank 2: .* from rank 1 to rank 2 is longer than its 601 bytes'
trouble less 3 83 'rank 2: .* from rank 1 to rank 2 is shorter than its 601 bytes'
exit $failed
