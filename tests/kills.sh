# What test_kill.sh, test_kill_adaqp.sh, test_kill_gradients.sh and bench/run.sh kill share: trainings that are killed (kill -9)
# and resumed again and again until they end. Each resume must go on from the newest checkpoint that
# was there, and each training must end with the bytes of one that was left alone.
# Source it; call kills_begin once, then kills_of for each kind of training.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/ranks.sh"
fringe=${FRINGE:?names the program}
limit=${FRINGE_KILL_LIMIT:-120} # seconds that one attempt may take on a crowded machine

die() {
    echo "$(basename "$0"): $*" >&3
    exit 1
}

kills_begin() {
    exec 3>&2 # bash tells of every killed job on 2
    work=$(mktemp -d -p /var/tmp) # a disk: in memory a training would end before it is killed
    trap 'kill -9 $(alive "$work/killed") 2>/dev/null; rm -rf "$work"' EXIT
    trap 'exit 130' INT TERM HUP
    export XDG_CACHE_HOME=$work/cache OMP_NUM_THREADS=1
    unset FRINGE_DATA
    declare -gA killed=() # how often, by what
    slowest=0 dying=''
    "$fringe" generate tiny -o "$work/tiny" >/dev/null || die "cannot generate"
    cat >"$work/config.json" <<JSON
{"data": {"path": "$work/tiny"}, "model": {"layers": 2, "hidden": 16},
 "train": {"eval_every": 50}, "run": {"checkpoint_every": 5, "log_every": 100000, "threads": 1}}
JSON
}

newest() { # the epoch of the newest checkpoint; 0: there is none
    local epochs
    epochs=$(ls "$work/killed/checkpoints" 2>/dev/null | sed -n 's/^epoch-\([0-9]*\)$/\1/p')
    sort -n <<<"${epochs:-0}" | tail -n 1
}

# resumed_from LEAST: did what the log tells of go on after that epoch or a later one? A training that
# starts over would end with the same bytes. True where it was killed before it told.
resumed_from() {
    local told
    told=$(sed -n 's/^resume  *after epoch //p' "$work/log" | head -n 1)
    [ "${told:-0}" -ge "$1" ] || { [ -z "$told" ] && ! grep -q '^epoch' "$work/log"; }
}

epochs() { cat "$work/killed/metrics.jsonl" 2>/dev/null | wc -l; }

# One of those alive: a rank (6 of 9), mpirun (2 of 9) or the supervisor; none of an attempt before, which
# may be dying still.
victim() { # KEEPER
    local pid wanted=$((RANDOM % 9)) list=()
    for pid in $(alive "$work/killed"); do
        [[ " $dying " != *" $pid "* ]] || continue
        case $wanted in
        0) [ "$pid" = "$1" ] && list+=("$pid") ;;
        1 | 2) is_mpirun "$pid" && list+=("$pid") ;;
        *) [ -n "$(rank_of "$pid")" ] && list+=("$pid") ;;
        esac
    done
    [ ${#list[@]} -eq 0 ] || echo "${list[RANDOM % ${#list[@]}]}"
}

name_of() { # PID KEEPER
    local rank
    if [ "$1" = "$2" ]; then
        echo supervisor
    elif is_mpirun "$1"; then
        echo mpirun
    else
        rank=$(rank_of "$1")
        [ -n "$rank" ] && echo "rank $rank"
    fi
}

# When to kill: a while after the start; a while after the facts are told, which is when a checkpoint
# is read and epochs begin; or, aimed, while one of its files is read, which then takes a second
# (slow_read). A fourth way, at a write, sync or rename, is the program's own: FRINGE_TEST_STOP_STEP.
# Only rank 0 makes such steps once the parts are cached.
moment() { # WAY KEEPER
    local from=0 span=0.6
    if [ "$1" = start ]; then
        from=0.2 span=0.8
    else # one process looks again and again; it ends with the supervisor
        timeout "$limit" grep -qm1 '^baseline' \
            < <(exec tail -n +1 -s 0.01 --pid="$2" -F "$work/log" 2>/dev/null)
    fi
    [ "$1" != restore ] || from=0.05 span=0.8
    sleep "$(random_seconds $from $span)"
}

slow_read=$(dirname "$fringe")/tests/slow_read.so
read_files=(checkpoint.json model.safetensors best.safetensors optimizer.safetensors)

# Starts or resumes, kills, and every other time waits until nobody is left; *what: who was killed and when, empty where the training ended before.
attempt() { # WAY
    local way=$1 began=$EPOCHREALTIME supervisor pid who step=0 left least slow=()
    what= least=$(newest)
    rm -f "$work/log" # what is looked for must not be found in the log before
    [ "$way" != step ] || step=$((1 + RANDOM % 120))
    [ "$way" != restore ] ||
        slow=(LD_PRELOAD="$slow_read" SLOW_SECONDS=1 SLOW_READ="${read_files[RANDOM % 4]}")
    # after a rank's death mpirun takes 2 s to end the others; mostly it is told to do that at once
    env "${slow[@]}" FRINGE_TEST_STOP_STEP=$step \
        OMPI_MCA_odls_base_sigkill_timeout=$((RANDOM % 4 == 0)) \
        "$fringe" train "$work/config.json" --ranks "$ranks" "${settings[@]}" \
        --set run.dir="$work/killed" --resume auto >"$work/log" 2>&1 </dev/null &
    supervisor=$!
    if [ "$way" != step ]; then
        moment "$way" $supervisor
        pid=$(victim $supervisor)
        who=${pid:+$(name_of "$pid" $supervisor)}
        [ -n "$who" ] && kill -9 "$pid" 2>/dev/null && what=$who
    fi
    timeout "$limit" tail -s 0.05 --pid=$supervisor -f /dev/null ||
        die "$name: an attempt ($way${what:+, $what killed}) hangs: $(cat "$work/log")"
    wait $supervisor
    status=$?
    if [ $((RANDOM % 2)) -eq 0 ] && [ $status -ne 0 ]; then
        dying=$(alive "$work/killed" | xargs) # the next attempt starts at once, as a requeue does
    else
        left=$(wait_for_none "$work/killed" 30) ||
            die "$name: kill of ${what:-rank 0 at step $step} left processes behind: $left"
        dying=
    fi
    if [ "$way" = step ] && [ $status -ne 0 ]; then
        [ $status -eq 137 ] || die "$name: at step $step: exit $status: $(cat "$work/log")"
        what="rank 0 at step $step"
    fi
    [ $status -ne 0 ] || what= # it had come to its end
    [ -n "$what" ] || [ $status -eq 0 ] || die "$name: exit $status: $(cat "$work/log")"
    resumed_from "$least" || die "$name: not resumed after epoch $least: $(cat "$work/log")"
    slowest=$(larger "$slowest" "$(seconds_since "$began")")
}

timeless() { sed 's/, "time": {[^}]*}//' "$1/metrics.jsonl"; }
compare() {
    local file last
    last=$(cat "$work/straight/checkpoints/LATEST")
    for file in "$work/straight/checkpoints/$last"/*.safetensors; do
        cmp "$file" "$work/killed/checkpoints/$last/$(basename "$file")" ||
            die "$name: $(basename "$file") is not that of the uninterrupted training"
    done
    cmp <(timeless "$work/straight") <(timeless "$work/killed") ||
        die "$name: the metrics differ in more than times"
}

# kills_of NAME RANKS COUNT AIMED SETTINGS...: COUNT kills of a training with these settings, AIMED
# percent of them at a save or a restore; one line for each training that came to its end.
kills_of() {
    name=$1 ranks=$2 settings=("${@:5}")
    local count=$3 aimed=$4 done=0 story='' here=0 way
    rm -rf "$work/straight" "$work/killed"
    "$fringe" train "$work/config.json" --ranks "$ranks" "${settings[@]}" \
        --set run.dir="$work/straight" >"$work/log" 2>&1 || die "$name: $(cat "$work/log")"
    while [ $done -lt "$count" ] || [ $status -ne 0 ]; do
        [ $((RANDOM % 2)) -eq 0 ] && way=start || way=epochs
        if [ $((RANDOM % 100)) -lt "$aimed" ]; then
            [ $((RANDOM % 3)) -eq 0 ] && way=restore || way=step
        fi
        [ $done -lt "$count" ] || way=none
        if [ $way = none ]; then
            finish_training
        else
            attempt $way 2>/dev/null
        fi
        if [ -n "$what" ]; then
            done=$((done + 1)) here=$((here + 1))
            story+="${story:+, }$what ($(epochs))"
            killed[${what%% *} $way]=$((${killed[${what%% *} $way]:-0} + 1))
        elif [ $status -eq 0 ]; then
            compare
            echo "$name: $here kills: $story; ended identical"
            story='' here=0
            rm -rf "$work/killed"
        fi
    done
}

finish_training() {
    local left least
    what= dying= least=$(newest)
    "$fringe" train "$work/config.json" --ranks "$ranks" "${settings[@]}" \
        --set run.dir="$work/killed" --resume auto >"$work/log" 2>&1 </dev/null
    status=$?
    [ $status -eq 0 ] || die "$name: the last resume: exit $status: $(cat "$work/log")"
    resumed_from "$least" || die "$name: not resumed after epoch $least: $(cat "$work/log")"
    left=$(wait_for_none "$work/killed" 30) || die "$name: these stay: $left"
}

kills_tally() {
    local key
    for key in "${!killed[@]}"; do echo "$key: ${killed[$key]}"; done | sort
    echo "the slowest attempt took $slowest s, until its last process was gone"
}

# The messages of adaqp are the same each time only with pinned links and the exact solution.
adaqp=(--set mode=adaqp --set quantization.link=[1e-9,1e-5] --set quantization.solver=exact
    --set quantization.period=20)
# What flies between epochs, and the means of what did, or what both ends remember of it.
stale=("${adaqp[@]}" --set mode=pipeadaqp --set comm.smooth=both)
stale_differences=("${adaqp[@]}" --set mode=pipeadaqp --set quantization.memory=difference)
sancus=(--set mode=sancus --set model.dropout=0 --set comm.skip=hybrid:0.05,3)

# Coded gradients, one set of words for each kind of memory; factors, the largest values and
# sketches have feedback of their own. Checkpoints lie between two refreshes.
feedback=(--set gradients.method=signsgd)
difference=(--set gradients.method=diana-both)
anchor=(--set gradients.codec=max --set gradients.memory=anchor --set gradients.refresh=7)
lowrank=(--set gradients.method=powersgd:4)
topk=(--set gradients.method=topk:0.05)
sketch=(--set gradients.method=sketchml --set gradients.top=0.05)
