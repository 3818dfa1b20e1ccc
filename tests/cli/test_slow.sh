#!/usr/bin/env bash
# long, timed
# If this failed, a training would die, or stand still, because a disk is slow or a terminal stopped for a while, or lines
# written meanwhile would be lost.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny
patience=2 # comm.timeout; what is slow here takes twice as long
run() { # FOLDER SETTING...
    printf '%s\n' train tiny.json --set "run.dir=$1" --set run.threads=1 --set comm.timeout=$patience "${@:2}"
}

# --- a terminal that nobody reads: of the ranks themselves, for mpirun would keep the lines for it
mkfifo terminal
exec 3<>terminal
mapfile -t command < <(run stopped --set train.epochs=2000 --set train.eval_every=1000 --set run.log_every=1)
(
    mpirun -n 2 bash -c 'exec "$@" 2>terminal >&2' - "$FRINGE" "${command[@]}" </dev/null >out 2>&1
    echo $? >status
) 3>&- &
begun stopped $!
sleep $((2 * patience))
for _ in $(seq 600); do # on a crowded machine
    epochs=$(wc -l <stopped/metrics.jsonl)
    [ "$epochs" -eq 2000 ] && break
    sleep 0.1
done
[ "$epochs" -eq 2000 ] || fail "while the terminal is stopped, training stands still after epoch $epochs"
cat <terminal >log 3>&- &
exec 3>&-
wait
[ "$(cat status)" -eq 0 ] || fail "exit $(cat status) after the terminal was stopped"
seq 2000 | cmp - <(sed -n 's/^epoch *\([0-9]*\)\/.*/\1/p' log) || fail "the terminal lacks epochs"
[ "$(tail -n 1 log | cut -c 1-6)" = "cost  " ] || fail "the last line is the result"

# --- a silent rank ends the job in time also where nobody reads the sentence that names it
exec 3<>terminal
mapfile -t command < <(run silent --set train.epochs=100000000 --set run.log_every=1)
(
    mpirun -n 2 bash -c 'exec "$@" 2>terminal >&2' - "$FRINGE" "${command[@]}" </dev/null >out 2>&1
    echo $? >status
) 3>&- &
begun silent $!
for _ in $(seq 100); do # until the terminal takes no more
    timeout 0.1 dd if=/dev/zero of=terminal bs=4096 count=1 conv=notrunc status=none || break
done
kill -STOP "$(pgrep -f "^$FRINGE train.*run.dir=silent" | tail -n 1)"
begin=$SECONDS
while [ $((SECONDS - begin)) -lt 20 ] && pgrep -f "^$FRINGE train.*run.dir=silent" >left; do sleep 0.2; done
[ $((SECONDS - begin)) -lt 15 ] || fail "a rank that cannot print stays: $(cat left)"
pkill -9 -f "^$FRINGE train.*run.dir=silent" # not mpirun, which hands the exit code on
exec 3>&-
wait
[ "$(cat status)" -eq 81 ] || fail "exit $(cat status) of a job with a silent rank, 81 is expected"

# --- a terminal that is gone, and one on a full disk
expect "a pipe that nobody holds any more" 74 '^$' \
    bash -c '"$@" > >(exec true) 2>&1; status=$?; echo; exit $status' - "$FRINGE" $(run gone --set run.log_every=1)
[ "$(cat gone/checkpoints/LATEST)" = epoch-20 ] || fail "it ends the training"
expect "stderr on a full disk" 74 '^result +epoch 20: ' \
    bash -c 'exec "$@" 2>/dev/full' - "$FRINGE" $(run full --set run.log_every=1)

for ranks in 1 2; do
    expect "stdout on a full disk, $ranks ranks" 74 'could not be written to stdout: No space' \
        bash -c 'exec "$@" >/dev/full' - "$FRINGE" $(run full-$ranks --ranks $ranks)
    expect "stderr on a full disk, $ranks ranks" 74 '^result' \
        bash -c 'exec "$@" 2>/dev/full' - "$FRINGE" $(run fuller-$ranks --ranks $ranks)
done
expect "a reader that leaves, 2 ranks" 74 'stdout' \
    bash -c '"$@" > >(exec true); exit $?' - "$FRINGE" $(run reader --ranks 2)
[ "$(cat reader/checkpoints/LATEST)" = epoch-20 ] || fail "it ends the training"

# --- a disk
disk() { # FILE SECONDS BYTES COMMAND...: of what lies there
    env LD_PRELOAD="$FRINGE_BUILD/tests/preload_disk.so" FRINGE_TEST_DISK_FILE="$1" FRINGE_TEST_DISK_SECONDS="$2" \
        FRINGE_TEST_DISK_BYTES="$3" "${@:4}"
}
expect "a disk that keeps pace" 0 'result' "$FRINGE" $(run fast --ranks 2)
for file in metrics.jsonl run.json; do
    expect "a disk that takes its time for $file" 0 'result' \
        disk $file $((2 * patience)) 1e9 "$FRINGE" $(run slow-$file --ranks 2)
    same "and all is as if it did not" <(timeless fast) <(timeless slow-$file)
    grep -q '"result"' slow-$file/run.json || fail "run.json ends with the result"
done
changed() { stat -c %Y slow-metrics.jsonl/"$1"; }
[ $(($(changed checkpoints/LATEST) - $(changed metrics.jsonl))) -ge $((2 * patience - 1)) ] ||
    fail "a checkpoint does not wait until the metrics are on the disk"
expect "several runs, and a slow disk for what they come to" 0 '^runs +2:' \
    disk runs.json $((2 * patience)) 1e9 "$FRINGE" $(run several --ranks 2) --runs 2
slow_read() { # FILE READS COMMAND...: reads before the one that takes its time; the supervisor reads once, too
    env LD_PRELOAD="$FRINGE_BUILD/tests/slow_read.so" SLOW_READ="$1" SLOW_AFTER="$2" SLOW_SECONDS=$((patience + 1)) "${@:3}"
}
for file in tiny.json metrics.jsonl; do # of the second mode, of the first
    mapfile -t command < <(run compared-$file --ranks 2)
    expect "a comparison and a slow disk for $file" 0 '^vanilla .*' slow_read $file 1 \
        "$FRINGE" compare "${command[@]:1}" --modes lossless,vanilla
done

for ranks in 1 2; do
    expect "no room for metrics.jsonl, $ranks ranks" 73 'fringe: .*full./metrics.jsonl: cannot write.*free disk space' \
        disk metrics.jsonl 0 4000 "$FRINGE" $(run full$ranks --ranks $ranks --set train.epochs=200000 --set run.checkpoint_every=1)
    [ ! -e full$ranks/checkpoints/epoch-200000 ] || fail "and training goes on to its end"
    last=$(sed 's/epoch-//' full$ranks/checkpoints/LATEST)
    [ "$last" -le "$(grep -c '}}$' full$ranks/metrics.jsonl)" ] || fail "a checkpoint knows epochs that the metrics lack"
done
expect "no room for run.json" 74 'fringe: .*nowhere/run.json: cannot write' \
    disk run.json 0 100 "$FRINGE" $(run nowhere --ranks 2)
expect "no room for trace.json" 74 'fringe: .*trace.json: cannot write' \
    disk trace.json 0 100 "$FRINGE" $(run untraced --ranks 2 --set run.trace=[2,3])
finish
