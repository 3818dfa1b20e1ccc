#!/usr/bin/env bash
# long
# If this failed, a disk that becomes full at some write of a training would end it without a sentence
# that names the file, with another code than 73 or 74, or would harm what was there before.
# preload_full makes the disk full from the n-th call on that takes room: for n close together at first,
# then further and further apart; for every FRINGE_FULL_STEP-th n where that is set (bench/run.sh full).
. "$(dirname "${BASH_SOURCE[0]}")/cli/lib.sh"
full=$FRINGE_BUILD/tests/preload_full.so
[ -e "$full" ] || { echo "skipped: $full is not built (it cannot stand before a sanitizer)"; exit 77; }
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
tiny
export OMP_NUM_THREADS=1
export OMPI_MCA_ess_singleton_isolated=1    # one rank needs no daemon: it starts sooner
export OMPI_MCA_odls_base_sigkill_timeout=0 # nor do the others wait 2 s for one that failed
settings="--set run.checkpoint_every=2 --set train.eval_every=2 --set run.threads=1"
train() { "$FRINGE" train tiny.json $settings --set run.dir="$1" "${@:2}"; }

# on_full FOLDER N COMMAND...: *status, and what it said in the file `out`; *calls that took room
on_full() {
    local under=$1 n=$2
    shift 2
    status=0
    rm -f calls
    FRINGE_FULL_UNDER=$work/$under FRINGE_FULL_AT=$n FRINGE_FULL_CALLS=$full_calls \
        FRINGE_FULL_COUNT=$work/calls LD_PRELOAD=$full "$@" >out 2>&1 </dev/null || status=$?
    calls=$(cat calls 2>/dev/null || echo 0)
}
full_calls=0 # for good

# One sentence that names the folder, one beside it or a file in it.
says_which() { [ "$(grep -cE "^fringe: (.*[ /])?$1([./][^ ]*)?: " out)" -eq 1 ]; }

# every NAME FOLDER BEFORE AFTER STEP COMMAND...: with the disk that FOLDER is on full at the 1st,
# (1 + STEP)-th, ... call, up to the last. BEFORE makes the folder new, AFTER looks at what is left.
every() {
    local name=$1 folder=$2 before=$3 after=$4 step=$5 n bad=0 last points=0
    shift 5
    $before
    on_full "$folder" 0 "$@"
    last=$calls
    [ $status -eq 0 ] && [ $last -gt 0 ] || fail "$name: with room: exit $status, $last calls: $(cat out)"
    mkdir -p with-room && cp -r "$folder" with-room/
    for ((n = 1; n <= last; n += ${FRINGE_FULL_STEP:-2 * step + n / 4})); do
        points=$((points + 1))
        $before
        on_full "$folder" $n "$@"
        if { [ $status -ne 73 ] && [ $status -ne 74 ]; } || ! says_which "$folder"; then
            fail "$name: full at call $n: exit $status, says: $(cat out)"
            bad=1
        fi
        $after || { fail "$name: full at call $n: $after" && bad=1; }
    done
    [ $bad -eq 1 ] || echo "ok: $name, full at $points of $last calls"
}

remove() { rm -rf "$folder"; }

# --- a resumed run: the one before goes on, when there is room again, as if nothing had happened
train whole --set train.epochs=6 >/dev/null 2>&1 || fail "a training"
train early --set train.epochs=2 >/dev/null 2>&1 || fail "its beginning"
renew() { rm -rf "$folder" && cp -r early "$folder"; }
goes_on() { # FOLDER
    local file
    "$FRINGE" train tiny.json $settings --set train.epochs=6 --resume auto --set run.dir="$1" \
        ${ranks:+--ranks $ranks} >again 2>&1 || { cat again; return 1; }
    grep -q '^resume  *after epoch [1-9]' again || { cat again; return 1; }
    for file in model best optimizer; do
        cmp "${straight:-whole}/checkpoints/epoch-6/$file.safetensors" \
            "$1/checkpoints/epoch-6/$file.safetensors" || return 1
    done
    cmp <(timeless "${straight:-whole}") <(timeless "$1")
}
run_goes_on() { goes_on "$folder"; }
every "a resumed run" run renew run_goes_on 3 train run --set train.epochs=6 --resume auto
full_calls=1 # that one only, then there is room again
every "a resumed run, for a moment" run renew run_goes_on 2 \
    train run --set train.epochs=6 --resume auto
full_calls=0

# --- a resumed run on 2 ranks, of which rank 0 writes
ranks=2 straight=whole-2
"$FRINGE" train tiny.json $settings --set train.epochs=6 --ranks 2 --set run.dir=whole-2 \
    >/dev/null 2>&1 || fail "a training on 2 ranks"
"$FRINGE" train tiny.json $settings --set train.epochs=2 --ranks 2 --set run.dir=early-2 \
    >/dev/null 2>&1 || fail "its beginning"
renew_2() { rm -rf "$folder" && cp -r early-2 "$folder"; }
every "on 2 ranks" run-2 renew_2 run_goes_on 9 \
    train run-2 --set train.epochs=6 --resume auto --ranks 2
ranks= straight=

# --- the shards of 3 ranks, where only one of them finds the disk full: no part of the cut is left, and
# the next training makes it
empty_cache() { rm -rf "$folder" with-room/"$folder" run-3; }
cut_is_made() {
    ls -d "$folder"/parts-* >left 2>/dev/null && { cat left; return 1; }
    "$FRINGE" train tiny.json $settings --set train.epochs=1 --set data.cache=shards --ranks 3 \
        --set run.dir=run-3 >again 2>&1 || { cat again; return 1; }
    (cd "$folder" && cat parts-*/part-*) | cmp - shards-with-room
}
cut() { rm -rf run-3 && "$FRINGE" train tiny.json $settings --set train.epochs=1 --set data.cache=shards --ranks 3 \
    --set run.dir=run-3; }
cut >/dev/null 2>&1 && cat shards/parts-*/part-* >shards-with-room || fail "a cut"
for rank in 0 2; do
    FRINGE_FULL_RANK=$rank every "the shards of rank $rank" shards empty_cache cut_is_made 3 cut
done

# --- several runs, a comparison, predictions, a generated graph: what says that it is whole is whole
parse() { # FILE...: those that are there
    python3 -c 'import json, os, sys
for path in filter(os.path.exists, sys.argv[1:]):
    json.load(open(path))' "$@"
}
# again FILE COMMAND...: makes FILE of the folder what it is where there always was room
again() {
    "${@:2}" >again 2>&1 && cmp {"with-room/$folder","$folder"}/"$1" || { cat again; return 1; }
}
several=(train several --set train.epochs=2 --runs 2)
variants=("$FRINGE" compare tiny.json $settings --modes vanilla,lossless --set train.epochs=2
    --set run.dir=variants)
runs_go_on() {
    parse several/{,run-?/}*.json &&
        again run-2/checkpoints/epoch-2/model.safetensors "${several[@]}" --resume auto
}
variants_go_on() {
    parse variants/{,*/}*.json &&
        again lossless/checkpoints/epoch-2/model.safetensors "${variants[@]}" --resume auto
}
every "several runs" several remove runs_go_on 12 "${several[@]}"
every "a comparison" variants remove variants_go_on 12 "${variants[@]}"

whole_or_absent() { # FILE...: of the folder
    local file
    for file in "$@"; do
        [ ! -e "$folder/$file" ] || cmp {"with-room/$folder","$folder"}/"$file" || return 1
    done
}
predicted_again() {
    whole_or_absent scores.npy classes.npy && again scores.npy "$FRINGE" predict whole -o "$folder"
}
generated_again() {
    whole_or_absent dataset.json dataset.safetensors &&
        again dataset.safetensors "$FRINGE" generate tiny -o graph && "$FRINGE" inspect graph >/dev/null
}
every "predictions" predictions remove predicted_again 1 "$FRINGE" predict whole -o predictions
every "a generated graph" graph remove generated_again 1 "$FRINGE" generate tiny -o graph

# --- the cache: what was in it is of use still, and what was not is made when there is room
export XDG_CACHE_HOME=$work/cache
cut() { "$FRINGE" partition tiny.json --parts "$1"; }
cut 2 >/dev/null 2>&1 || fail "a cut"
cp -r cache cache-before
renew_cache() { rm -rf cache && cp -r cache-before cache; }
cache_works() {
    on_full cache 1 cut 2
    [ $status -eq 0 ] || { cat out; return 1; }
    cut 3 >again 2>&1 || { cat again; return 1; }
}
every "a cut" cache renew_cache cache_works 4 cut 3

# --- what is printed
printed() { # NAME COMMAND...
    local status=0
    "${@:2}" || status=$?
    [ $status -eq 74 ] && echo "ok: $1" || fail "$1: exit $status, expected 74"
}
to_full_stdout() { train loud --set train.epochs=6 >/dev/full 2>out; }
to_full_stderr() { train loud --set train.epochs=6 2>/dev/full >out; }
to_both() { train loud --set train.epochs=6 >/dev/full 2>&1; }
for where in to_full_stdout to_full_stderr to_both; do
    rm -rf loud
    printed "$where" $where
    same "and the run is whole" {whole,loud}/checkpoints/epoch-6/model.safetensors
done
finish
