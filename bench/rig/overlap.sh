#!/usr/bin/env bash
# bench_overlap on the network rig: 2 hosts with 1 rank each, pinned to cores of their own. Searches
# the link rate at which the exchanges of the blocking schedule take as long as what can hide them,
# then measures there.
#
#   overlap.sh [--strict] [--graph=NAME] [--epochs=N] [--build=FOLDER]
#
# smoke: --graph=planted:nodes=240,edges=2400,features=16,classes=4,communities=8 --epochs=2
#
# The graph has twice the nodes of reddit-small and the degree of Reddit itself (491). The balance is
# then near 500 Mbit/s, where the rig's own work (timers of tbf, bridge, TCP: all on the cores that
# compute) is small beside what is hidden. With --graph=reddit-small (degree 48) it is at 3 Gbit/s,
# and that work alone takes a fifth of what could hide the exchange.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/bench/common/options.sh"
build=${FRINGE_BUILD:-$root/build}
graph=planted:nodes=46000,edges=22600000,communities=41
options=
for word in "$@"; do
    case $word in
    --build=*) build=${word#--build=} ;;
    --graph=*) graph=${word#--graph=} ;;
    *) options="$options $word" ;;
    esac
done
needs_rig
[ "$(nproc)" -ge 2 ] || skip "two hosts need two cores of their own; this machine has $(nproc)"
data=$(mktemp -d "${TMPDIR:-/tmp}/fringe-overlap-XXXXXX")
trap 'rm -rf "$data"' EXIT
trap 'exit 130' INT TERM HUP

# Ranks go before whatever else runs here, in their session's group and in the machine's queue.
first='echo -20 >/proc/self/autogroup; exec nice -n -19 "$@"' place=--pin
[ -z "${FRINGE_SMOKE:-}" ] || first='exec "$@"' place="--yield 1"
on_rig() { # RATE_IN_MBIT OPTIONS...
    rate_name=$1mbit
    shift
    bash "$root/bench/common/netrig.sh" run --name overlap --hosts 2 --ppn 1 $place --rate "$rate_name" -- \
        -x OMP_NUM_THREADS=1 sh -c "$first" sh \
        "$build/bench_overlap" --data="$data" --graph="$graph" --rate="$rate_name" "$@"
}

# Exchange time goes with 1 / rate: a few steps of proportion reach the balance.
rate=500
tries="1 2 3 4 5"
[ -z "${FRINGE_SMOKE:-}" ] || tries=1
for try in $tries; do
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
