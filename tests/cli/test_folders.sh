#!/usr/bin/env bash
# long
# If this failed, a start would write into a folder in which a run or files of other people lie, two runs
# would write into one folder, or a resume, a table or evaluate would take another run than the newest.
# What is a free folder, and which run is the newest, is tested in tests/runfolder/test_claim.c.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny
sed -i 's/"epochs": 20/"epochs": 4/; s/"run": {/"run": {"threads": 1, /' tiny.json # spinning threads would wait
ended() { [ -s "$1/checkpoints/epoch-4/model.safetensors" ] && grep -q '"result"' "$1/run.json"; }
endless="--set train.epochs=100000000 --set run.checkpoint_every=0"

# --- a run that starts takes the next free folder, and nothing there changes
expect "the first run" 0 'result' train --set run.dir=runs/x
find runs/x -type f -exec cksum {} + | sort >first
expect "the second one" 0 '^run +works in runs/x-2: runs/x holds an earlier run$' train --set run.dir=runs/x --set run.seed=7
expect "--runs" 0 '^run +works in runs/x-3: ' train --runs 2 --set run.dir=runs/x
expect "a comparison" 0 '^run +works in runs/x-4: ' \
    "$FRINGE" compare tiny.json --modes vanilla,lossless --set run.dir=runs/x
find runs/x -type f -exec cksum {} + | sort | cmp - first || fail "the first one changed"
ended runs/x-2 && ended runs/x-3/run-2 && ended runs/x-4/lossless || fail "each has its own folder"
[ "$(ls runs)" = "$(printf 'x\nx-2\nx-3\nx-4')" ] || fail "nothing else was made: $(ls runs)"
"$FRINGE" runs | awk 'NR > 1 && NF > 5 { print $1 }' >out
[ "$(echo $(head -6 out))" = "x-4/lossless x-4/vanilla x-3/run-1 x-3/run-2 x-2 x" ] || fail "the newest first: $(cat out)"
mkdir home && echo thesis >home/assignments
expect "where other people's files lie" 0 "works in home-2: home holds assignments, which is not fringe's" \
    train --set run.dir=home
[ "$(ls -A home)" = assignments ] || fail "nothing is made there"
expect "predictions there" 73 "not fringe's \(assignments\)" \
    "$FRINGE" predict tiny.json --set run.dir=home --weights runs/x/checkpoints/epoch-4
mkdir -p disk linked && ln -s ../disk linked/checkpoints && echo hello >linked/slurm-1.out
expect "with a log, and checkpoints on another disk" 0 'result' train --set run.dir=linked
[ -d disk/epoch-4 ] && [ ! -e linked-2 ] || fail "they leave the folder free"
mkdir here && cp -r tiny tiny.json here
for at in . "$work/here-2"; do
    expect "in $at" 0 'result' bash -c "cd here && '$FRINGE' train tiny.json --set run.dir=."
    ended "$work/here/$at" || ended "$at" || fail "in $at"
done

# --- a resume goes on with the newest of its training
expect "a run is stopped" 75 'the checkpoint is in runs/x-5; continue with --resume auto' \
    train --set run.dir=runs/x --set train.epochs=90 --set run.stop_after=1e-9
expect "it goes on there" 0 '^run +goes on in runs/x-5$' train --set run.dir=runs/x --resume auto
grep -q '^resume  *after epoch 1$' out && same "as it would have" <(timeless runs/x) <(timeless runs/x-5)
expect "one that has ended is shown" 0 '^resume +after epoch 4$' train --set run.dir=runs/x --set run.seed=7 --resume auto
grep -q 'goes on in runs/x-2$' out || fail "the run of that seed: $(cat out)"
expect "a comparison" 0 'goes on in runs/x-4$' \
    "$FRINGE" compare tiny.json --modes vanilla,lossless --set run.dir=runs/x --resume auto
expect "another training is refused" 78 'runs/x/checkpoints/epoch-4 belongs to another training' \
    train --set run.dir=runs/x --set train.lr=0.5 --resume auto
expect "evaluate takes the newest" 0 'runs/x-5/checkpoints/epoch-4/model' "$FRINGE" evaluate tiny.json --set run.dir=runs/x
expect "and one that is named" 0 'runs/x/checkpoints/epoch-4/model' "$FRINGE" evaluate runs/x
expect "a resume, too" 0 "^resume +after epoch 4\$" "$FRINGE" train runs/x --set train.epochs=5 --resume auto
[ -e runs/x/checkpoints/epoch-5 ] || fail "a resume of a named run is not in its folder: $(cat out)"
[ ! -e runs/x-6 ] || fail "a resume takes no other folder"

# --- killed, or refused by a full disk, while it starts: the next start, or resume, does it all
for step in 1 5 9 14; do
    rm -rf killed killed-2 && cp -r runs/x killed
    { FRINGE_TEST_STOP_STEP=$step train --set run.dir=killed >out 2>&1; } 2>/dev/null
    [ $? -eq 137 ] || fail "a start lives beyond step $step"
    expect "killed at step $step" 0 'result +epoch 4: ' train --set run.dir=killed --set run.seed=7
    diff -r runs/x killed || fail "killed at step $step: the run before changed"
done

# --- one run, one folder
"$FRINGE" train tiny.json $endless --set run.dir=busy >holder 2>&1 &
holder=$!
begun busy $holder
expect "a folder in which a run works" 0 '^run +works in busy-2: another run works in busy$' train --set run.dir=busy
expect "a resume waits for it" 73 "busy: another run works there \(pid $holder on .* since " \
    train $endless --set run.dir=busy --set run.lock_wait=0.1 --resume auto
grep -q '^waiting ' out || fail "it says that it waits"
kill -9 $holder && wait $holder 2>/dev/null
expect "a killed one leaves it" 0 'result' train --set run.dir=busy --resume auto
for seed in 1 2 3; do
    train --set run.seed=$seed >out-$seed 2>&1 &
done
wait
[ "$(ls -d runs/tiny*)" = "$(printf 'runs/tiny\nruns/tiny-2\nruns/tiny-3')" ] ||
    fail "three starts at once have a folder each: $(ls runs)"
for folder in runs/tiny runs/tiny-2 runs/tiny-3; do
    ended $folder && [ "$(wc -l <$folder/metrics.jsonl)" -eq 4 ] || fail "$folder has its own metrics alone"
done

# --- a file system without locks
no_locks=$FRINGE_BUILD/tests/no_locks.so
unlocked() { LD_PRELOAD=$no_locks exec "$FRINGE" train tiny.json --set run.dir=unlocked "$@"; } # a run there
(unlocked $endless) >holder 2>&1 &
holder=$!
begun unlocked $holder
export FRINGE no_locks && export -f unlocked
try="unlocked --resume auto --set run.lock_wait=0.1"
expect "without locks" 73 "another run works there \(pid $holder on" bash -c "$try"
kill -9 $holder && wait $holder 2>/dev/null
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
    grep -qF "$name" "$FRINGE_SOURCE/docs/files.md" || fail "docs/files.md does not know $name"
done
finish
