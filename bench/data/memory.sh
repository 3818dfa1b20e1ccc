#!/bin/sh
# Memory foreseen against memory taken (memory.c): loading and METIS in one process each, the
# Patterns on 4 ranks. Real graphs are taken from FRINGE_DATA, where it is set.
#
#   memory.sh [--strict]
#
# smoke:
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
program=${FRINGE_BUILD:-$root/build}/bench_memory
folder=$(mktemp -d "${TMPDIR:-/tmp}/fringe-memory-XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM HUP
status=0
"$program" "$folder" "$@" || status=$?
mpirun --oversubscribe --bind-to none -n 4 -x OMP_NUM_THREADS=1 "$program" "$folder" "$@" || status=$?
exit $status
