#!/usr/bin/env bash
# once
# If this failed, the same command would not give the same bytes, an mpirun of the user's would not be
# joined, or ranks would outlive their mpirun.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny

expect "a run on one rank" 0 'result +epoch 20: ' train run.dir=one
expect "a run on two ranks" 0 'result +epoch 20: ' train --ranks 2 run.dir=two
expect "the same again" 0 'result' train --ranks 2 run.dir=again
timeless two >a
timeless again >b
same "two runs give the same metrics" a b
for file in model optimizer best; do
    same "two runs give the same $file" {two,again}/checkpoints/epoch-20/$file.safetensors
done
[ "$(wc -l <two/metrics.jsonl)" -eq 20 ] || fail "one line an epoch"
grep -q '"test_accuracy"' two/run.json || fail "run.json has the result"

expect "the time that is left is told" 75 'epoch +[1-9][0-9]*/100000000 .* [1-9][0-9]*:[0-9:]* left' train \
    train.epochs=100000000 run.log_every=3 run.stop_after=1 run.dir=endless

# --- several runs
expect "--runs" 0 'runs +2: test accuracy [0-9.]+ \+- [0-9.]+ %' train --runs 2 run.dir=many
same "the first of several is the single one" <(timeless many/run-1) <(timeless one)
cmp -s many/run-1/metrics.jsonl many/run-2/metrics.jsonl && fail "the second has another seed"
grep -q '"deviation"' many/runs.json || fail "runs.json has the deviation"

# --- MPI jobs
expect "an mpirun of the user's is joined" 0 'result' mpirun -q --oversubscribe --bind-to none \
    -n 2 "$FRINGE" train tiny.json --set run.dir=joined
same "and trains the same" <(timeless joined) <(timeless two)
expect "it must have as many ranks as --ranks" 64 'is 3, but this MPI job has 2' \
    mpirun -q --oversubscribe --bind-to none -n 2 "$FRINGE" train tiny.json --ranks 3
expect "a long command line reaches the ranks whole" 0 'result +epoch 3: ' train --ranks 2 \
    $(printf -- 'run.seed=%d ' $(seq 40)) train.epochs=3 run.dir=words
orphans() { # SIGNAL
    local pid
    "$FRINGE" train tiny.json --ranks 2 --set train.epochs=1000000 --set run.dir=orphans-$1 \
        --set run.checkpoint_every=0 >out 2>&1 </dev/null &
    pid=$!
    begun orphans-$1 $pid
    kill -"$1" $pid
    wait $pid 2>/dev/null
    for _ in $(seq 100); do
        grep -lsaz "run.dir=orphans-$1" /proc/[0-9]*/cmdline >left || return
        sleep 0.1
    done
    fail "ranks outlive a launcher ended by $1: $(cat left)"
}
orphans KILL
orphans TERM
echo "ok: no rank outlives its launcher"

# --- a look-alike of a real set is called so
cp -r tiny alike
sed -i '0,/{/s//{"origin": "generated as tiny; assumed: all of it",/' alike/dataset.json
expect "compare names a look-alike" 0 '^data: +tiny \(synthetic look-alike by fringe generate\)$' fringe compare \
    tiny.json --modes vanilla train.epochs=1 data.path=alike run.dir=alikes
grep -q '"origin": "generated as tiny' alikes/compare.json || fail "compare.json has the origin"
grep -q '"data": *"tiny (synthetic look-alike' alikes/report.html || fail "the page names it, too"
expect "runs names it" 0 '^data: tiny \(synthetic look-alike' fringe runs alikes
expect "and no other set" 0 'finished' fringe runs one
grep -q 'look-alike' out && fail "a set that is none is called a look-alike"

finish
