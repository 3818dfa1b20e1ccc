#!/usr/bin/env bash
# If this failed, a training would die, or stand still, because a terminal was stopped for a while, or lines printed meanwhile
# would be lost.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny
patience=2 # comm.timeout; what is slow here takes three times as long
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
sleep $((3 * patience))
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
[ "$(tail -n 1 log | cut -c 1-6)" = result ] || fail "the last line is the result"

# --- a terminal that is gone, and one on a full disk
expect "a pipe that nobody holds any more" 74 '^$' \
    bash -c '"$@" > >(exec true) 2>&1; status=$?; echo; exit $status' - "$FRINGE" $(run gone --set run.log_every=1)
[ "$(cat gone/checkpoints/LATEST)" = epoch-20 ] || fail "it ends the training"
expect "stderr on a full disk" 74 '^result .* epoch 20 ' \
    bash -c 'exec "$@" 2>/dev/full' - "$FRINGE" $(run full --set run.log_every=1)
finish
