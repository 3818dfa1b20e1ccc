# What the tests of the command line share: a folder of their own, a tiny dataset, and expectations.
# Source it; end with `finish`.
set -u
# A shell cannot take back that whoever started it ignores INT (nohup, a job of a script): what it starts would, too.
[ -z "$(trap -p INT)" ] || exec env --default-signal=INT bash "$0" "$@"
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 # of a program with LD_PRELOAD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export XDG_CACHE_HOME=$work/cache
unset FRINGE_DATA
failed=0

fail() {
    echo "FAILED: $*"
    failed=1
}

# fringe COMMAND [WORD...]: the program, where a word `key.of.config=VALUE` or `mode=VALUE` is set.
fringe() {
    local word before= words=()
    for word; do
        [[ $before == --s@(et|weep) || ! $word =~ ^([a-z_]+\.[a-z_]+|mode)= ]] || words+=(--set)
        words+=("$word")
        before=$word
    done
    "$FRINGE" "${words[@]}"
}
train() { fringe train tiny.json "$@"; } # [WORD...]

# judge NAME STATUS CODE 'regular expression': the exit status, and what stands somewhere in the file out
judge() {
    if [ "$2" -ne "$3" ] || ! grep -qE -- "$4" out; then
        fail "$1: exit $2 (expected $3), expected /$4/ in:"
        cat out
    else
        echo "ok: $1"
    fi
}
# expect NAME CODE 'regular expression' COMMAND...
expect() {
    local status=0
    "${@:4}" >out 2>&1 </dev/null || status=$?
    judge "$1" $status "$2" "$3"
}
# ended NAME PID CODE 'regular expression'
ended() {
    local status=0
    wait "$2" || status=$?
    judge "$1" $status "$3" "$4"
}

# same NAME FILE FILE
same() { if cmp "$2" "$3"; then echo "ok: $1"; else fail "$1"; fi; }

# Everything of metrics.jsonl but the times.
timeless() { sed 's/, "time".*//' "$1/metrics.jsonl"; }

# nap SECONDS: sleeps without starting a process, as nothing is ever written to that pipe.
exec {never}<> <(:)
nap() { read -r -t "$1" -u $never || :; }

# Waits until the run in FOLDER, process PID, has written its first epoch.
begun() { while [ ! -s "$1/metrics.jsonl" ] && kill -0 "$2" 2>/dev/null; do nap 0.02; done; }

tiny() {
    export ONEDNN_MAX_CPU_ISA=AVX # making kernels of wider vectors would be a sixth of such trainings
    "$FRINGE" generate tiny -o tiny >/dev/null || exit 1
    cat >tiny.json <<'JSON'
{
    "data": {"path": "tiny"},
    "model": {"layers": 2, "hidden": [16]},
    "train": {"epochs": 20, "eval_every": 5},
    "run": {"log_every": 0}
}
JSON
}

finish() { exit $failed; }
