#!/usr/bin/env bash
# once
# If this failed, the solver could lose the solution that was already known, give a worse one, or
# hold up a training run beyond its limit, whatever GLPK does.
set -u
solver=$FRINGE_BUILD/fringe-solver
helper=$FRINGE_BUILD/tests/helper_problem
if [ ! -x "$solver" ]; then
    echo "skipped: no fringe-solver, as there is no GLPK"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() {
    echo "FAILED: $*"
    failed=1
}

# solve OPTIONS...: problem to solution; $status, $by, $seconds, and objectives $got $known $exact
solve() {
    local start=$EPOCHREALTIME
    "$solver" "$@" <problem >solution 2>said
    status=$?
    seconds=$(awk "BEGIN {print $EPOCHREALTIME - $start}")
    by='' got='' known='' exact='' gone=0
    [ $status -eq 0 ] && read -r by got known exact gone <<<"$("$helper" judge problem solution)"
    trouble 0
}
# trouble 'regular expression': how the solution says that GLPK's process ended, by a signal or with
# -code; 0: nothing
trouble() {
    [[ $gone =~ ^$1$ ]] || fail "trouble is '$gone', expected '$1'"
}
# holds 'condition of got, known, exact and seconds' NAME
holds() {
    if [ "$status" -eq 0 ] && [ -n "$exact" ] &&
        awk "BEGIN {got = $got; known = $known; exact = $exact; seconds = $seconds; exit !($1)}"; then
        echo "ok: $2 ($by $got, known $known, exact $exact, $seconds s)"
    else
        fail "$2: $1; exit $status, by '$by', got '$got', known '$known', exact '$exact', $seconds s," \
            "said: $(cat said)"
    fi
}

# Small problems from a poor start: GLPK ends in its limit, near the exact solution.
small() { # ring|senders BETAS SEED
    "$helper" "$1" 3 5 100 "$2" "$3" $(($3 % 3)) >problem
    solve --limit 20
    if awk "BEGIN {exit !($seconds < 14)}"; then
        holds 'got <= exact * 1.005 && got >= exact - 1e-9 && got <= known' "near exact $*"
    else
        holds 'got <= known' "not worse $*"
    fi
    [ "$by" = glpk ] || fail "by is '$by'"
}
for seed in 1 2 3 4 5 6; do
    for betas in plain decades; do
        small ring $betas $seed
    done
done
for seed in 1 2 3; do
    small senders plain $seed
done

# Large problems, which take GLPK hours: never worse, from any start, and the limit is kept. A
# crowded machine may wake the program seconds late.
for start in exact 1; do
    for betas in plain decades; do
        "$helper" ring 6 60 100 $betas 5 $start >problem
        solve --limit 1 --gap 0
        holds 'got <= known && got >= exact - 1e-9 && seconds < 9' "limit from $start"
    done
done

# Nothing to improve: the weights leave one term, or the rounds are tied.
"$helper" ring 3 5 100 plain 1 exact 0 >problem
solve --limit 5
holds 'got == known' "lambda 0"
"$helper" ring 3 5 100 plain 1 exact 1 >problem
solve --limit 5
holds 'got == known' "lambda 1"
"$helper" ring 3 5 100 plain 1 exact 0.5 0.001 >problem
solve --limit 5
holds 'got == known' "covered time"
"$helper" ring 3 0 100 plain 1 exact >problem
solve --limit 5
holds 'got == known' "no groups"
"$helper" ring 3 5 100 plain 1 1 >problem
solve --limit 0
holds 'got <= known' "no time"

# GLPK's process is killed or crashes, and the solution says so, or stops for good; that its time was
# over is nothing to tell. It is known by being the program's child; the process that looks for
# leaks at its end would be one, too.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
"$helper" ring 4 80 100 plain 3 exact >problem
for signal in KILL ABRT STOP; do
    hits=0
    for try in 1 2 3; do # until GLPK's process was there when we looked
        # in a process group of its own: what is stopped in a group can bring HUP on all of it
        set -m
        "$solver" --limit 3 --gap 0 <problem >solution 2>said &
        pid=$! start=$EPOCHREALTIME
        set +m
        while kill -0 $pid 2>/dev/null; do
            for child in $(cat /proc/$pid/task/$pid/children 2>/dev/null); do
                kill -$signal "$child" 2>/dev/null && hits=$((hits + 1))
            done
            sleep 0.02
        done
        wait $pid
        status=$?
        seconds=$(awk "BEGIN {print $EPOCHREALTIME - $start}")
        [ $hits -gt 0 ] && break
    done
    read -r by got known exact gone <<<"$("$helper" judge problem solution)"
    holds "got == known && seconds < 15 && $hits > 0" "SIG$signal"
    [ "$by" = incumbent ] || fail "SIG$signal: by is '$by'"
    case $signal in
    KILL) trouble 9 ;;
    ABRT) trouble 6 ;;
    STOP) trouble 0 ;;
    esac
done

# Held up until its alarm, it writes the best that it has, not what it was given.
"$helper" ring 4 100 100 plain 3 1 >problem
start=$EPOCHREALTIME
"$solver" --limit 9 --gap 0 <problem >solution 2>said &
pid=$!
sleep 5 # of which the first of three rounds takes three
kill -ALRM $pid || fail "the program ended before its alarm"
wait $pid
status=$? seconds=$(awk "BEGIN {print $EPOCHREALTIME - $start}")
read -r by got known exact gone <<<"$("$helper" judge problem solution)"
holds 'got < known && seconds < 8.5' "last words"

# GLPK runs out of memory: there is as much as the program itself needs, and a little more.
"$helper" ring 2 1500 100 plain 3 1 >problem
suffices() { # a limit that does not end it before it has asked for all that it needs
    (ulimit -v "$1" && "$solver" --limit 0.3 <problem 2>/dev/null >/dev/null)
}
solve_in() {
    (ulimit -v "$1" && exec "$solver" --limit 20 --gap 0.01 <problem >solution 2>said)
    status=$? seconds=0
    read -r by got known exact gone <<<"$("$helper" judge problem solution)"
}
low=1000 high=1000000
if suffices $high; then
    while [ $((high - low)) -gt 200 ]; do
        middle=$(((low + high) / 2))
        if suffices $middle; then high=$middle; else low=$middle; fi
    done
    solve_in $((high + 500))
    holds 'got == known' "memory exhausted beyond $high KiB"
    trouble '(6|-71)' # GLPK's abort(), or ours
    solve_in $((high + 400000))
    holds 'got < known' "memory in plenty"
    trouble 0
else
    echo "skipped: memory cannot be limited under the sanitizers"
fi

# What is no problem is refused with one sentence.
refuse() { # CODE 'text' COMMAND...
    local code=$1 text=$2
    shift 2
    "$@" >solution 2>said <problem
    status=$?
    if [ $status -ne "$code" ] || [ "$(wc -l <said)" -ne 1 ] || ! grep -q -- "$text" said ||
        [ -s solution ]; then
        fail "expected exit $code and /$text/; exit $status, said: $(cat said)"
    else
        echo "ok: $(cat said)"
    fi
}
echo hello >problem
refuse 65 "this is no fringe-problem" "$solver" --limit 1
: >problem
refuse 65 "this is no fringe-problem" "$solver" --limit 1
"$helper" ring 3 5 100 plain 1 exact | head -c 400 >problem
refuse 65 "the problem's counts do not fit" "$solver" --limit 1
"$helper" ring 3 5 100 plain 1 exact | head -c 60 >problem
refuse 65 'ends early' "$solver" --limit 1
mkfifo pipe
"$helper" ring 3 5 100 plain 1 exact >pipe &
"$solver" --limit 1 <pipe >solution 2>said
[ $? -eq 74 ] || fail "a pipe should end in 74"
"$helper" ring 3 5 100 plain 1 exact 5 >problem
refuse 65 'lambda is 5' "$solver" --limit 1
refuse 64 'usage' "$solver"
refuse 64 'usage' "$solver" --limit soon
refuse 64 'usage' "$solver" --limit nan
refuse 64 'usage' "$solver" --limit 1 --gap -1
refuse 64 'usage' "$solver" --limit 1 more
"$helper" ring 3 5 100 plain 1 exact >problem
"$solver" --limit 1 <problem >/dev/full 2>said
[ $? -eq 74 ] || fail "a full disk should end in 74"

# It starts in a moment on every machine: it is linked with what it uses.
! ldd "$solver" | grep -E 'mpi|open-rte|metis|dnnl|libzip|cjson' || fail "it is linked with more than GLPK"
exit $failed
