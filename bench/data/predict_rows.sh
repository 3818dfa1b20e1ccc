#!/bin/sh
# What rank 0 holds while the rows of 2 million nodes, 256 floats each, are written in the order of
# the nodes by 3 ranks (predict_rows.c). Takes 2 GB of memory and 2 GB of disk.
#
#   predict_rows.sh [--nodes=2000000] [--columns=256] [--strict]
#
# smoke: --nodes=3000 --columns=8
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d "${TMPDIR:-/tmp}/fringe-rows-XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM HUP
mpirun --oversubscribe --bind-to none -n 3 -x OMP_NUM_THREADS=1 "${FRINGE_BUILD:-$root/build}/bench_predict_rows" \
    "$folder" "$@"
