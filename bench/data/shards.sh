#!/bin/sh
# The shards of a graph of Reddit's size (114 M edges, 602 features), made by 4 ranks (shards.c):
# METIS cuts it in one process, which also makes the shards; then the ranks make them from that cut,
# and both must be the same byte for byte. Takes 3 GB of disk.
#
#   shards.sh [--set=reddit] [--strict]
#
# smoke: --set=planted:nodes=240,edges=2400,features=16,classes=4,communities=8
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${FRINGE_BUILD:-$root/build}
set=reddit
for word in "$@"; do
    case $word in --set=*) set=${word#--set=} ;; esac
done
folder=$(mktemp -d "${TMPDIR:-/tmp}/fringe-shards-XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM HUP
"$build/fringe" generate "$set" -o "$folder/graph"
echo '{}' >"$folder/config.json"
"$build/fringe" partition "$folder/config.json" --set data.path="$folder/graph" --set data.cache="$folder/cache-one" \
    --set partition.method=metis --parts 4 >"$folder/report"
sed -n '/^[a-z]/p' "$folder/report"
cp "$folder"/cache-one/parts-*/*.part.4 "$folder/cut"
status=0
mpirun --oversubscribe --bind-to none -n 4 -x OMP_NUM_THREADS=1 "$build/bench_shards" "$folder" "$@" || status=$?
for shard in "$folder"/cache-one/parts-*/part-*-of-4.safetensors; do
    cmp "$shard" "$folder"/cache-ranks/parts-*/"$(basename "$shard")" || status=1
done
exit $status
