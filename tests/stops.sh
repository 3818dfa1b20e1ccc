# What test_stop.sh and bench/run.sh stop share: trainings on 3 ranks of which one is stopped (SIGSTOP) at
# a random moment between the start of the ranks and the result: every other time while they set up
# with a cold cache, else anywhere with a warm one. The ranks have started, and watch each other, when
# rank 0 has made run.dir: it has agreed with the others before. They must name the stopped one within
# comm.timeout and end the job with 81, and nobody may stay.
# Source it; call stops COUNT MOST.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/ranks.sh"
fringe=${FRINGE:?names the program}
timeout=2 # comm.timeout
ranks=3
epochs=120
limit=60 # seconds that anything may take on a crowded machine

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
 "quantization": {"period": 10}, "train": {"epochs": $epochs, "eval_every": 5},
 "run": {"checkpoint_every": 5, "log_every": 1, "threads": 1}, "comm": {"timeout": $timeout}}
JSON
}

# until_true COMMAND...: it is true, or the training has ended; false after `limit` seconds
until_true() {
    local began=$EPOCHREALTIME
    until "$@" || ! kill -0 $supervisor 2>/dev/null; do
        [ "${EPOCHREALTIME%.*}" -le $((${began%.*} + limit)) ] || return 1
        sleep 0.005
    done
}

# begin cold|warm: starts a training and waits until its ranks have started
begin() {
    rm -rf "$run" "$work/log" # what is looked for must not be found in the log before
    [ "$1" = warm ] || rm -rf "$work/cache"
    "$fringe" train "$work/config.json" --ranks $ranks --set run.dir="$run" >"$work/log" 2>&1 \
        </dev/null &
    supervisor=$!
    until_true [ -e "$run/.fringe" ] || die "no rank starts: $(cat "$work/log")"
    started=$EPOCHREALTIME
}

# The training has ended by itself.
end_well() {
    wait $supervisor || die "the training fails by itself: $(cat "$work/log")"
}

# measure cold|warm: *setup, the time until the last line before the epochs, and *span, until the result
measure() {
    begin "$1"
    until_true grep -qs '^baseline' "$work/log" || die "the set-up does not end: $(cat "$work/log")"
    setup=$(seconds_since "$started")
    end_well
    span=$(seconds_since "$started")
}

silent() { grep -oE "ranks? [0-9, ]+ of $ranks (does|do) not answer" "$work/log" | head -n 1; }

is_named() { [ -n "$(silent)" ]; }

# stop RANK cold|warm SPAN: at a random moment within SPAN seconds; true if it was stopped in time; *took: until it was named
stop() {
    local pid stopped status=0 left when
    begin "$2"
    sleep "$(random_seconds 0 "$3")"
    pid=$(rank_process "$run" "$1")
    if [ -z "$pid" ] || grep -q '^result' "$work/log" || ! kill -STOP "$pid" 2>/dev/null; then
        end_well
        return 1
    fi
    stopped=$EPOCHREALTIME
    epoch=$(grep -c '^epoch' "$work/log")
    when="rank $1, stopped after epoch $epoch ($2 cache)"
    until_true is_named || die "$when, is not named: $(tail -n 5 "$work/log")"
    took=$(seconds_since "$stopped")
    left=$(wait_for_none "$run" 10) || die "$when, left behind: $left"
    wait $supervisor || status=$?
    if [ $status -ne 81 ] || [ "$(silent)" != "rank $1 of $ranks does not answer" ]; then
        die "$when: exit $status: $(tail -n 8 "$work/log")"
    fi
}

# Two of five are rank 0. Fails where one is named later than MOST seconds after it was stopped: time
# in which the others did not get a core does not count for them, but for this clock it does.
stops() { # COUNT MOST
    local cold=0 whole slowest=0 done=0 tries rank first=0 late=0 in_setup=0 cache
    stops_begin
    measure cold && cold=$setup
    measure warm && whole=$span
    echo "comm.timeout=$timeout, $ranks ranks; from their start the set-up takes $cold s with a cold" \
        "cache, the training $whole s with a warm one"
    for ((tries = 0; done < $1; tries++)); do
        [ $tries -lt $((3 * $1 + 5)) ] || die "most trainings end before a rank is stopped"
        rank=$((done % 5 < 2 ? 0 : 1 + RANDOM % (ranks - 1)))
        [ $((done % 2)) -eq 0 ] && cache=cold || cache=warm
        stop $rank $cache "$([ $cache = cold ] && echo "$cold" || echo "$whole")" || continue
        echo "rank $rank, stopped after epoch $epoch ($cache cache), was named after $took s"
        done=$((done + 1)) first=$((first + (rank == 0))) in_setup=$((in_setup + (epoch == 0)))
        slowest=$(larger "$slowest" "$took")
        late=$((late + $(awk -v t="$took" -v l=$timeout 'BEGIN {print (t > l)}')))
        awk -v t="$took" -v most="$2" 'BEGIN {exit !(t > most)}' && die "later than $2 s"
    done
    echo "$done ranks stopped, $first times rank 0, $in_setup before the first epoch was over: each was" \
        "named, after $slowest s at most ($late later than $timeout s), exit 81, and no process stayed"
}
