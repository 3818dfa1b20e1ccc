#!/bin/sh
# bench_overlap on the network rig: 2 hosts with 1 rank each, pinned to cores of their own. Searches
# the link rate at which the exchanges of the blocking schedule take as long as what can hide them,
# then measures there.   usage: overlap.sh [--strict] [--epochs=N] [--build=FOLDER]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(dirname "$here")/build
options=
for word in "$@"; do
    case $word in
    --build=*) build=${word#--build=} ;;
    *) options="$options $word" ;;
    esac
done
if [ "$(id -u)" -ne 0 ]; then
    echo "overlap: the network rig needs root (network namespaces, tc)" >&2
    exit 69
fi
if [ "$(nproc)" -lt 2 ]; then
    echo "overlap: two hosts need two cores of their own; this machine has $(nproc)" >&2
    exit 69
fi
data=$(mktemp -d "${TMPDIR:-/tmp}/fringe-overlap-XXXXXX")
trap 'rm -rf "$data"' EXIT
trap 'exit 130' INT TERM HUP

on_rig() { # RATE_IN_MBIT OPTIONS...
    rate=$1mbit
    shift
    bash "$here/netrig.sh" run --name overlap --hosts 2 --ppn 1 --pin --rate "$rate" -- \
        -x OMP_NUM_THREADS=1 "$build/bench_overlap" --data="$data" --rate="$rate" "$@"
}

# Exchange time goes with 1 / rate: a few steps of proportion reach the balance.
rate=1000
for try in 1 2 3 4 5; do
    line=$(on_rig "$rate" --probe=1 --epochs=6 | grep '^probe ')
    ratio=$(echo "$line" | awk '{ printf "%.3f", $2 / $3 }')
    echo "search $try: $rate Mbit/s: exchange / what can hide it = $ratio"
    if awk -v r="$ratio" 'BEGIN { exit !(r > 0.92 && r < 1.08) }'; then
        break
    fi
    rate=$(awk -v q="$rate" -v r="$ratio" 'BEGIN {
        q *= r; if (q > 20000) q = 20000; if (q < 10) q = 10; printf "%d", q + 0.5 }')
done
# shellcheck disable=SC2086 # options are words
on_rig "$rate" $options
