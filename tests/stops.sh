# What test_stop.sh and bench/stop.sh share: trainings on 3 ranks of which one is stopped (SIGSTOP) at
# a random moment between the line that names the ranks and the result. The others must name it
# within comm.timeout and end the job with 81, and nobody may stay.
# Source it; call stops COUNT.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/ranks.sh"
fringe=${FRINGE:?names the program}
timeout=2 # comm.timeout
ranks=3
epochs=120

die() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

stops_begin() {
    work=$(mktemp -d)
    run=$work/run
    trap 'kill -9 $(alive "$run") 2>/dev/null; rm -rf "$work"' EXIT
    trap 'exit 130' INT TERM HUP
    export XDG_CACHE_HOME=$work/cache OMP_NUM_THREADS=1
    unset FRINGE_DATA
    "$fringe" generate planted:nodes=6000,edges=60000,communities=10,features=64 -o "$work/graph" \
        >/dev/null || die "cannot generate"
    cat >"$work/config.json" <<JSON
{"data": {"path": "$work/graph"}, "model": {"layers": 2, "hidden": 32}, "mode": "adaqp",
 "messages": {"period": 10}, "train": {"epochs": $epochs, "eval_every": 5},
 "run": {"checkpoint_every": 5, "log_every": 1, "threads": 1}, "comm": {"timeout": $timeout}}
JSON
}

begin() {
    rm -rf "$run" "$work/log" # what is looked for must not be found in the log before
    "$fringe" train "$work/config.json" --ranks $ranks --set run.dir="$run" >"$work/log" 2>&1 \
        </dev/null &
    keeper=$!
    while ! grep -qs '^parts ' "$work/log" && kill -0 $keeper 2>/dev/null; do sleep 0.005; done
    named=$EPOCHREALTIME
}

# How long it takes from that line to the result.
measure() {
    begin
    wait $keeper || die "the training fails by itself: $(cat "$work/log")"
    seconds_since "$named"
}

silent() { grep -oE "ranks? [0-9, ]+ of $ranks gives? no sign of life" "$work/log" | head -n 1; }

# stop RANK SPAN: true if it was stopped in time; *took: until it was named
stop() {
    local moment pid stopped status=0 left
    begin
    moment=$(random_seconds 0 "$2")
    sleep "$moment"
    pid=$(rank_process "$run" "$1")
    if [ -z "$pid" ] || grep -q '^result' "$work/log" || ! kill -STOP "$pid" 2>/dev/null; then
        wait $keeper
        return 1
    fi
    stopped=$EPOCHREALTIME
    epoch=$(grep -c '^epoch' "$work/log")
    while [ -z "$(silent)" ] && kill -0 $keeper 2>/dev/null; do
        [ "${EPOCHREALTIME%.*}" -le $((${stopped%.*} + 60)) ] ||
            die "rank $1, stopped after epoch $epoch, is not named: $(tail -n 5 "$work/log")"
        sleep 0.01
    done
    took=$(seconds_since "$stopped")
    wait $keeper || status=$?
    left=$(wait_for_none "$run" 10) || die "rank $1 stopped after epoch $epoch left behind: $left"
    if [ $status -ne 81 ] || [ "$(silent)" != "rank $1 of $ranks gives no sign of life" ]; then
        die "rank $1 stopped after epoch $epoch: exit $status: $(tail -n 8 "$work/log")"
    fi
}

# Two of five are rank 0. Fails where one is named later than MOST seconds after it was stopped: time
# in which the others did not get a core does not count for them, but for this clock it does.
stops() { # COUNT MOST
    local span slowest=0 done=0 rank first=0 late=0
    stops_begin
    span=$(measure)
    echo "comm.timeout=$timeout, $ranks ranks; the training takes $span s from the line on"
    while [ $done -lt "$1" ]; do
        rank=$((done % 5 < 2 ? 0 : 1 + RANDOM % (ranks - 1)))
        stop $rank "$span" || continue
        echo "rank $rank, stopped after epoch $epoch, was named after $took s"
        done=$((done + 1)) first=$((first + (rank == 0)))
        slowest=$(larger "$slowest" "$took")
        late=$((late + $(awk -v t="$took" -v l=$timeout 'BEGIN {print (t > l)}')))
        awk -v t="$took" -v most="$2" 'BEGIN {exit !(t > most)}' && die "later than $2 s"
    done
    echo "$done ranks stopped, $first times rank 0: each was named, after $slowest s at most" \
        "($late later than $timeout s), exit 81, and no process stayed"
}
