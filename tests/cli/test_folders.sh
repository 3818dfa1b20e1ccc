#!/usr/bin/env bash
# long
# If this failed, a run would destroy what it did not make or what a run before it made, or two runs
# would write into one folder.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny
sed -i 's/"run": {/"run": {"threads": 1, /' tiny.json # spinning threads would wait for each other
train() { "$FRINGE" train tiny.json "$@"; }
ended() { [ -s "$1/checkpoints/epoch-20/model.safetensors" ] && grep -q '"result"' "$1/run.json"; }
endless="--set train.epochs=100000000 --set run.checkpoint_every=0"

# --- what is not fringe's is neither moved nor removed
mkdir -p home/assignments/week1 && echo thesis >home/assignments/week1/thesis.txt
expect "a folder that holds a name fringe would write" 73 'not fringe.s \(assignments\)' \
    train --set run.dir=home
[ "$(cd home && find . -type f)" = ./assignments/week1/thesis.txt ] || fail "nothing is made there"
names=$(sed -n 's/^    {"\([^"]*\)", ".*/\1/p' "$FRINGE_SOURCE/src/runfolder/names.c" | tr '#*' 7x)
[ "$(wc -w <<<"$names")" -ge 15 ] || fail "the table has its names: $names"
theirs() { # NAME COMMAND OPTIONS: a folder that holds such a file of other people
    rm -rf other && mkdir -p "other/$(dirname "$1")" && echo mine >"other/$1"
    expect "a $1 of other people: $2" 73 "not fringe.s \(${1%%/*}\)" \
        "$FRINGE" "$2" tiny.json --set run.dir=other "${@:3}"
    [ "$(cd other && find . -type f)" = "./$1" ] && grep -qx mine "other/$1" || fail "$1 changed"
}
for name in .fringe .lock .moving $names checkpoints; do theirs $name train; done
for name in run.json checkpoints/LATEST run-1; do theirs $name compare --modes vanilla; done
theirs predictions/scores.npy train --runs 2
rm -r other
mkdir logs && echo hello >logs/slurm-1.out
expect "other files stay and are told" 0 'warning .*not fringe.s; they stay: slurm-1.out' \
    train --set run.dir=logs
expect "and stay when the run before moves" 0 'warning .*logs: the previous run is now in logs.1$' \
    train --set run.dir=logs
[ -s logs/slurm-1.out ] && [ ! -e logs.1/slurm-1.out ] || fail "a file of other people moved"
echo mine >logs/assignments
expect "a name that became other people's" 73 '\(assignments\)' train --set run.dir=logs
ended logs || fail "the run before is whole"
rm logs/assignments
cp -r logs/checkpoints/epoch-20 logs/checkpoints/best-so-far
expect "a file beside our own in a folder of ours" 0 'is now in logs.2$' train --set run.dir=logs
[ -d logs/checkpoints/best-so-far ] && ended logs.2 && ended logs || fail "it stays; the run moved"
rm -r logs/checkpoints/{epoch-20,LATEST} logs/{run.json,metrics.jsonl}
expect "where it is left alone, as after a kill" 0 'from the start' \
    train --set run.dir=logs --resume auto
mkdir disk linked && ln -s ../disk linked/checkpoints
for way in train "train --resume auto"; do
    expect "checkpoints in a linked folder: $way" 0 'result' $way --set run.dir=linked
done
expect "they move" 0 'is now in linked.1$' train --set run.dir=linked
[ -L linked/checkpoints ] && [ -d disk/epoch-20 ] && ended linked.1 || fail "the link stays"
if shm=$(mktemp -d /dev/shm/fringe.XXXXXX) && [ "$(stat -c %d $shm)" != "$(stat -c %d .)" ]; then
    mv disk/* $shm && ln -sfn $shm linked/checkpoints
    expect "on another disk they cannot" 73 'lies on another disk' train --set run.dir=linked
    ended linked && [ ! -e linked/.moving ] || fail "the run stays"
fi
rm -rf "$shm"

# --- predictions
cp -r logs/checkpoints/epoch-20 weights
mkdir -p theirs/predictions && echo mine >theirs/predictions/scores.npy
predict() { "$FRINGE" predict tiny.json --weights weights/model.safetensors "$@"; }
expect "predictions of other people" 73 'not fringe.s \(predictions\)' predict --set run.dir=theirs
grep -qx mine theirs/predictions/scores.npy || fail "they are as they were"
expect "ours before any run" 0 'scores.npy' predict --set run.dir=foreseen
expect "are known as ours" 0 'is now in foreseen.1$' train --set run.dir=foreseen
[ -s foreseen.1/predictions/scores.npy ] && ended foreseen || fail "they moved aside"

# --- a run that starts anew moves the one before as a whole
expect "a long run" 0 'result' train --set train.epochs=50 --set run.dir=runs/x
timeless runs/x >a
for n in 1 2; do
    expect "anew, $n" 0 "is now in runs/x.$n\$" train --set train.epochs=1 --set run.dir=runs/x
done
same "the first one is .1" a <(timeless runs/x.1)
[ "$(wc -l <runs/x.2/metrics.jsonl)" -eq 1 ] || fail "the second one is .2"
expect "it can still be evaluated" 0 'accuracy' "$FRINGE" evaluate runs/x.1
expect "and resumed where it lies now" 0 'resume +after epoch 50$' \
    train --set train.epochs=50 --set run.dir=runs/x.1 --resume auto
expect "--resume moves nothing" 0 'result' train --set run.dir=runs/x --resume auto
[ ! -e runs/x.3 ] || fail "--resume moved something"
expect "--runs where a run was" 0 'is now in runs/x.3$' train --runs 2 --set run.dir=runs/x
[ ! -e runs/x/metrics.jsonl ] && ended runs/x/run-2 || fail "only the runs are there"
expect "a comparison where runs were" 0 'is now in runs/x.4$' \
    "$FRINGE" compare tiny.json --modes vanilla,alone --set run.dir=runs/x
ended runs/x.4/run-1 && [ ! -e runs/x/run-1 ] || fail "the runs moved together"
expect "a second comparison" 0 'is now in runs/x.5$' \
    "$FRINGE" compare tiny.json --modes lossless --set run.dir=runs/x
[ ! -e runs/x/vanilla ] && ended runs/x.5/vanilla || fail "no mode of the first one is left"
expect "a comparison is not resumed as a run" 78 'holds a comparison' \
    train --set run.dir=runs/x --resume auto
mkdir -p here && cp -r tiny tiny.json here
expect "in ." 0 'result' bash -c "cd here && '$FRINGE' train tiny.json --set run.dir=."
expect "in . again" 0 "previous run is now in $work/here.1\$" \
    bash -c "cd here && '$FRINGE' train tiny.json --set run.dir=."
ln -s runs/x.1 link
expect "through a link" 0 "is now in $work/runs/x.1.1\$" train --set run.dir=link
[ -L link ] && ended runs/x.1 || fail "the link stays"
long=$(printf 'x%.0s' $(seq 254))
expect "a name that has no room for a number" 0 'result' train --set run.dir=$long
expect "its run moves inside" 0 "/before.1\$" train --set run.dir=$long
ended $long/before.1 && ended $long || fail "both are whole"

# --- a path of the config that would move
weights=runs/x.2/checkpoints/epoch-1/model.safetensors
expect "weights of the run before" 78 'would be moved with it; give another run.dir' \
    train --set run.dir=runs/x.2 --set model.weights=$weights
expect "in another folder" 0 'result' train --set run.dir=other --set model.weights=$weights
[ -s $weights ] || fail "the weights stay"

# --- folders of versions that marked none
cp -r runs/x.5 older && find older -name .fringe -delete
expect "a comparison without a marker is known" 0 'is now in older.1$' train --set run.dir=older
ended older.1/vanilla && ended older || fail "it moved as a whole"

# --- killed while it moves
is_whole() { # FOLDER: the run of the other seed lies there, with every byte
    cmp -s {before,"$1"}/checkpoints/epoch-20/model.safetensors && cmp -s {before,"$1"}/metrics.jsonl &&
        cmp -s {before,"$1"}/run.json
}
ends_as() { # NAME FOLDER: after the kill the run before is whole, in its place or aside
    if is_whole $2; then
        expect "$1: what has not moved goes on" 0 'resume +after epoch 20' \
            train --set run.seed=7 --set run.dir=$2 --resume auto
        [ ! -e $2.1 ] || fail "$1: there is nothing to move"
        stayed=$((stayed + 1))
        return
    fi
    expect "$1" 0 'result +epoch 20: ' train --set run.dir=$2 --resume auto
    same "$1: all its metrics" b <(timeless $2)
    is_whole $2.1 || fail "$1: the run before is whole"
}
train --set run.dir=whole >/dev/null 2>&1 && timeless whole >b
train --set run.dir=before --set run.seed=7 >/dev/null 2>&1
stayed=0
for step in 1 3 6 11 23; do
    rm -rf moved moved.1 && cp -r before moved
    { FRINGE_TEST_STOP_STEP=$step train --set run.dir=moved >out 2>&1; } 2>/dev/null
    [ $? -eq 137 ] || fail "a run that starts anew lives beyond step $step"
    ends_as "killed at step $step of a new start" moved
done
[ $stayed -ge 1 ] && [ $stayed -le 3 ] || fail "$stayed of 5 kills came before the first rename"
mkdir marked && cp before/.fringe marked/ && : >marked/.fringe.fringe-tmp-host.1-1-0
expect "killed while the marker is written" 0 'result' train --set run.dir=marked
[ ! -e marked.1 ] || fail "there was nothing to move"

# --- refused while it moves, for the disk is full
full=$FRINGE_BUILD/tests/preload_full.so
on_full() { # FOLDER N: a start there is refused by the disk, which is full from its N-th call on
    local status=0
    FRINGE_FULL_UNDER=$work/$1 FRINGE_FULL_AT=$2 LD_PRELOAD=$full \
        train --set run.dir=$1 >out 2>&1 </dev/null || status=$?
    [[ $status == 7[34] ]] && grep -q 'No space left' out || fail "full at $2: $status, $(cat out)"
}
for n in 1 2 4 7; do
    [ -e "$full" ] || break # it cannot stand before a sanitizer
    rm -rf moved moved.1 fresh && cp -r before moved
    on_full moved $n
    ends_as "refused at call $n" moved
    [ $n -gt 4 ] || on_full fresh $n
done

# --- one run, one folder
"$FRINGE" train tiny.json $endless --set run.dir=busy >holder 2>&1 &
holder=$!
begun busy $holder
expect "a folder in which a run works" 73 "another run works there \(pid $holder on .* since " \
    train --set run.dir=busy --set run.lock_wait=0.1
grep -q '^waiting ' out || fail "it says that it waits"
expect "also to resume" 73 'another run works there' \
    train --set run.dir=busy --set run.lock_wait=0.1 --resume auto
(sleep 1 && kill -9 $holder) &
expect "a killed one leaves it" 0 'result' train --set run.dir=busy --set run.lock_wait=20
wait $holder 2>/dev/null
for seed in 1 2 3; do
    train --set train.epochs=2000 --set run.seed=$seed >out-$seed 2>&1 &
done
wait
[ "$(ls -d runs/tiny*)" = "$(printf 'runs/tiny\nruns/tiny-2\nruns/tiny-3')" ] ||
    fail "three seeds at once have a folder each: $(ls runs)"
for folder in runs/tiny runs/tiny-2 runs/tiny-3; do
    [ "$(wc -l <$folder/metrics.jsonl)" -eq 2000 ] || fail "$folder has its own metrics alone"
done
cp tiny.json tiny-4.json && "$FRINGE" train tiny-4.json >/dev/null 2>&1
rm -r runs/tiny
"$FRINGE" train tiny.json $endless >holder 2>&1 &
holder=$!
begun runs/tiny $holder
expect "a number that is the folder of another config" 0 'works in runs/tiny-5: ' train
ended runs/tiny-4 && [ ! -e runs/tiny-4.1 ] && [ ! -e runs/tiny-2.1 ] || fail "nothing moved for it"
kill -9 $holder
wait $holder 2>/dev/null
head -n 1 out-* | grep -q 'works in runs/tiny-3: another run works in runs/tiny$' ||
    fail "the first line says which folder"
"$FRINGE" compare tiny.json --modes vanilla $endless --set run.dir=arms >out-1 2>&1 &
holder=$!
begun arms/vanilla $holder
expect "the folder of a mode that is being compared" 73 'another run works there' \
    train --set run.dir=arms/vanilla --set run.lock_wait=0.1
kill -9 $holder
wait $holder 2>/dev/null

# --- a file system without locks
no_locks=$FRINGE_BUILD/tests/no_locks.so
unlocked() { # a run in `unlocked`
    ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 LD_PRELOAD=$no_locks \
        exec "$FRINGE" train tiny.json --set run.dir=unlocked "$@"
}
(unlocked $endless) >holder 2>&1 &
holder=$!
begun unlocked $holder
export FRINGE no_locks && export -f unlocked
try="unlocked --set run.lock_wait=0.1"
expect "without locks" 73 "another run works there \(pid $holder on" bash -c "$try"
kill -9 $holder
wait $holder 2>/dev/null
cp unlocked/.lock held
expect "a lock whose process is no more" 0 'was left by a run that has ended' bash -c "$try"
[ ! -e unlocked/.lock ] || fail "it is removed at the end"
sed '2s/^/other-/' held >unlocked/.lock
touch -d '50 seconds ago' unlocked/.lock
expect "a lock that may still be renewed" 73 'another run works there' bash -c "$try"
touch -d '70 seconds ago' unlocked/.lock
expect "one that nobody renews" 0 'was left by a run that has ended' bash -c "$try"
[ ! -e unlocked/.lock ] || fail "it is removed at the end"

# --- one list of names
for name in .fringe run.json metrics.jsonl checkpoints/epoch-N assignments/epoch-N.json trace.json \
    runs.json compare.json; do
    grep -qF "$name" "$FRINGE_SOURCE/docs/data.md" || fail "docs/data.md does not know $name"
done
finish
