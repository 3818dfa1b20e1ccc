# What test_stopping.sh and bench/run.sh sends share: stop requests that are sent to a training on 3
# ranks, to any of its processes or to all of them. Whoever gets them, the ranks finish their epoch,
# save it and end with 75, and nobody stays.
# Source it in a folder with tiny.json, after lib.sh; call send TO SIGNAL FOLDER.
. "$(dirname "${BASH_SOURCE[0]}")/ranks.sh"
endless="--set train.epochs=100000000 --set run.checkpoint_every=0"

# start_alone FOLDER RANKS: as the leader of a session of its own, with no signal ignored
start_alone() {
    local flags=$-
    set +m # with job control it would lead a group already, and setsid would start another process
    env --default-signal=INT,TERM,HUP setsid "$FRINGE" train tiny.json $endless --ranks "$2" \
        --set run.dir="$1" >out 2>&1 </dev/null &
    pid=$!
    [[ $flags != *m* ]] || set -m
}

# reached TO FOLDER: the processes, "-N" for the group N
reached() {
    local process
    case $1 in
    supervisor) echo $pid ;;
    group) echo -$pid ;;
    all) alive "$2" ;;
    session) ps -o pid= -s $pid ;;
    mpirun) pgrep -P $pid ;;
    ranks) pgrep -P "$(pgrep -P $pid)" ;;
    one) pgrep -P "$(pgrep -P $pid)" | tail -n 1 ;;
    esac
}

# send TO SIGNAL FOLDER: a sentence on stdout, and false, if it does not end as it should
send() {
    local status=0 at left
    start_alone "$3" 3
    begun "$3" $pid
    kill -"$2" -- $(reached "$1" "$3")
    wait $pid || status=$?
    at=$(tail -n 1 "$3/metrics.jsonl" | sed 's/^{"epoch": *\([0-9]*\).*/\1/')
    left=$(wait_for_none "$3" 10) || echo "$2 to $1 leaves processes behind: $left"
    [ $status -eq 75 ] && [ -s "$3/checkpoints/epoch-$at/model.safetensors" ] &&
        [ "$(grep -c 'stopped on request' out)" -eq 1 ] && [ -z "$left" ] && return
    echo "$2 to $1: exit $status, epoch $at of the metrics, checkpoints:" "$3"/checkpoints/*
    cat out
    return 1
}
