#!/usr/bin/env bash
# once
# If this failed, parts of real hypergraphs would have more pins than stream.epsilon or its warning allows, or would cut
# more than tests/data/srp.tsv says. The short form of bench/run.sh balance.
set -eu
bench=$FRINGE_SOURCE/bench
[ -f "${FRINGE_DATA:-/nowhere}/hg_ispd98/ibm01.hgr" ] || { echo "skipped: FRINGE_DATA does not name the hypergraphs" && exit 77; }
export PYTHONPATH=$bench/common PYTHONDONTWRITEBYTECODE=1
python3 "$bench/data/balance.py" --strict --sets=cora-coauthor --parts=2,28,128,512
python3 "$bench/data/balance.py" --strict --sets=ibm01 --parts=8,128
