#!/usr/bin/env bash
# long
# If this failed, a training killed at a random moment (kill -9 of a rank or of mpirun) would not resume to the very bytes of
# an uninterrupted one, or would leave orphans behind. FRINGE_KILLS kills (default 100) of a training on 2 ranks, which starts
# anew whenever it reached its end between two kills.
set -u
fringe=${FRINGE:?names the program}
kills=${FRINGE_KILLS:-100}
work=$(mktemp -d)
trap 'pkill -9 -f "$work" 2>/dev/null; rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache OMP_NUM_THREADS=1
RANDOM=7

fail() { echo "test_kill: $*" >&2; exit 1; }

"$fringe" generate tiny -o "$work/tiny" >/dev/null || fail "cannot generate"
cat >"$work/config.json" <<JSON
{"data": {"path": "$work/tiny"}, "model": {"layers": 2, "hidden": 16},
 "train": {"epochs": 1000, "eval_every": 50}, "run": {"checkpoint_every": 5, "log_every": 100000, "threads": 1}}
JSON
train() { "$fringe" train "$work/config.json" --ranks 2 --set run.dir="$work/$1" "${@:2}"; }

train straight >"$work/straight.log" 2>&1 || { cat "$work/straight.log"; fail "the uninterrupted training failed"; }

# Processes of the killed training, apart from this script and its helpers.
alive() { pgrep -f "run.dir=$work/killed" || true; }

victim() { # a rank, or mpirun
    case $((RANDOM % 3)) in
    0) pgrep -f "^(/[^ ]*/)?mpirun .*run.dir=$work/killed" ;;
    *) pgrep -f "^[^ ]*fringe .*run.dir=$work/killed" | shuf -n 1 --random-source=<(yes $RANDOM) ;;
    esac | head -n 1
}

strip() { sed 's/, "time": {[^}]*}//' "$1"; }
compare() {
    cmp "$work"/{straight,killed}/checkpoints/epoch-1000/model.safetensors ||
        fail "the resumed model is not the uninterrupted one"
    cmp <(strip "$work/straight/metrics.jsonl") <(strip "$work/killed/metrics.jsonl") ||
        fail "the metrics differ in more than times"
}

ends=0
for ((i = 1; i <= kills;)); do
    train killed --resume auto >"$work/killed.log" 2>&1 &
    main=$!
    sleep "$(awk -v r=$RANDOM 'BEGIN { printf "%.3f", 0.2 + r / 32768 * 0.8 }')"
    pid=$(victim)
    [ -n "$pid" ] && kill -9 "$pid" 2>/dev/null && i=$((i + 1))
    if wait $main; then # it was at its end
        compare
        ends=$((ends + 1))
        rm -rf "$work/killed"
        continue
    fi
    for _ in $(seq 50); do [ -z "$(alive)" ] && break; sleep 0.1; done
    [ -z "$(alive)" ] || fail "kill $i of process $pid left processes behind: $(ps -o pid,args -p $(alive | tr '\n' ' '))"
done
train killed --resume auto >"$work/killed.log" 2>&1 || { cat "$work/killed.log"; fail "the last resume failed"; }
compare
echo "$kills kills survived; the training reached its end $((ends + 1)) times"
