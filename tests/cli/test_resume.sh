#!/usr/bin/env bash
# timed, once
# If this failed, a stopped run would not go on as if nothing had happened, or would go on with
# another model than the one it was written for.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny

stopped() { # NAME FOLDER COMMAND...: USR1 after the first epoch
    "${@:3}" >out 2>&1 </dev/null &
    begun "$2" $!
    kill -USR1 $!
    ended "$1" $! 75 .
}
long="--set train.epochs=400 --set train.eval_every=100"
expect "a long run" 0 'result' train $long --ranks 2 run.dir=whole
stopped "USR1 leaves with 75" cut "$FRINGE" train tiny.json $long --ranks 2 --set run.dir=cut
at=$(wc -l <cut/metrics.jsonl)
grep -q "after epoch $at;" out || fail "it says after which epoch it stopped"
[ -s cut/run.json ] || fail "its run.json is there from the beginning"
echo '{"epoch": 399, "loss": 0' >>cut/metrics.jsonl # a line the crash of a writer tore
expect "--resume auto goes on" 0 'result' train $long --ranks 2 run.dir=cut --resume auto
grep -q 'is missing' out && fail "no epoch is missing: $(grep 'is missing' out)"
timeless whole >a
timeless cut >b
same "a resumed run has the metrics of one that was never stopped" a b
for file in model optimizer best; do
    same "and its $file" whole/checkpoints/epoch-400/$file.safetensors cut/checkpoints/epoch-400/$file.safetensors
done
python3 - <<'PY' || fail "run.json has the start of the first process and the end of the last"
import json
run = json.load(open("cut/run.json"))
first, second = run["sessions"]
assert run["started"] == first["started"] and run["ended"] == second["ended"] >= first["ended"]
assert second["resumed_at_epoch"] > 0 == first["resumed_at_epoch"] and "--resume" in second["command"]
PY

# --- what a resume says of the epochs before it
medians() { grep -E '"(seconds|bytes)_per_epoch"' "$1/run.json"; }
medians whole >a
expect "a finished run is finished" 0 'result +epoch 400: ' train $long --ranks 2 run.dir=whole --resume auto
medians whole >b
same "and keeps its result" a b
sed '5s/epoch/e och/; 7s/.*/{/; 9s/.*//' whole/metrics.jsonl >damaged && cp damaged whole/metrics.jsonl
expect "damaged lines are told" 0 'warning .*is missing 3 of the 400 epochs' train $long --ranks 2 run.dir=whole \
    --resume auto
same "and those behind them stay" damaged whole/metrics.jsonl
sed -i 1,5d whole/metrics.jsonl
expect "epochs that are not there are told" 0 'warning .*is missing 7 of the 400 epochs' train $long --ranks 2 \
    run.dir=whole --resume auto
ln -sf metrics.jsonl whole/metrics.jsonl
expect "metrics that cannot be read are not cut" 74 'metrics.jsonl: cannot open' train $long --ranks 2 \
    run.dir=whole --resume auto

for epochs in 1 2; do
    expect "epochs up to $epochs" 0 'result' train run.dir=first train.epochs=$epochs --resume auto
done
[ "$(wc -l <first/metrics.jsonl)" -eq 2 ] || fail "the line of epoch 1 is lost"

expect "run.stop_after leaves with 75" 75 'stopped on request after epoch' "$FRINGE" train \
    tiny.json --set run.dir=clock --set run.stop_after=0.001
expect "resume with nothing there starts" 0 'nothing to resume' train run.dir=new --resume auto
expect "another model is not resumed" 78 'model.hidden was \[16\], is \[8\]; to continue' train run.dir=new \
    --resume auto model.hidden=8
expect "all that differs is said" 78 \
    'new/checkpoints/epoch-20 belongs to .*: train.lr was 0.01, is 0.02; it ran on 1 rank, this run has 2; to' \
    train --ranks 2 run.dir=new --resume auto train.lr=0.02
expect "more epochs are" 0 'result +epoch 25: ' train run.dir=new --resume auto train.epochs=25
mkdir -p file && touch file/in-the-way
expect "a run.dir that cannot be" 73 'in-the-way' train --ranks 2 run.dir=file/in-the-way

# --- the weights that a run started from are needed once
cp new/checkpoints/epoch-25/model.safetensors first.safetensors
from="train tiny.json --set run.dir=from --set model.weights=first.safetensors"
expect "a run from weights" 0 'result' fringe $from
rm first.safetensors
expect "goes on without them" 0 'result +epoch 30: ' fringe $from --resume auto train.epochs=30
expect "and says where it cannot start without them" 66 'first.safetensors: cannot open' fringe $from --resume \
    auto run.dir=nowhere

# --- the backend of a run, by the program that has another one
fenced=$FRINGE_BUILD/fringe-fenced
backend_of() { grep -A1 '^ *"backend": {' "$1/run.json" | sed -n 's/.*"name": *"\(.*\)".*/\1/p'; }
sed 's/"run": {/&"backend": "fenced", /' tiny.json >fenced.json
expect "a resume keeps the backend" 0 "warning +the run goes on with its backend 'cpu'; add --set run.backend=fenced" \
    "$fenced" train fenced.json --set run.dir=new --resume auto --set train.epochs=26
[ "$(backend_of new)" = cpu ] || fail "it ran on $(backend_of new)"
expect "unless the command line names one" 0 "warning +the backend was 'cpu' until epoch 26 and is now 'fenced'; from here on" \
    "$fenced" train tiny.json --set run.dir=new --resume auto --set train.epochs=27 --set run.backend=fenced
[ "$(backend_of new)" = fenced ] || fail "it ran on $(backend_of new)"
expect "and keeps that" 0 "resume +after epoch 27" \
    "$fenced" train fenced.json --set run.dir=new --resume auto --set train.epochs=28
[ "$(backend_of new)" = fenced ] || fail "it ran on $(backend_of new)"
grep 'warning.*backend' out && fail "nothing of its backend changed"

# --- a comparison is several runs
compare="compare tiny.json --modes=vanilla,lossless,alone --set train.eval_every=50"
learned() { grep -E '"(name|runs|test_mean|bytes|modes)"' "$1/compare.json"; }
expect "a comparison" 0 '^alone-all-cores ' fringe $compare --ranks 2 train.epochs=400 run.dir=variants
stopped "USR1 in its second variant" halved/lossless "$FRINGE" $compare --ranks 2 \
    --set train.epochs=400 --set run.dir=halved
[ ! -e halved/alone-1-thread/metrics.jsonl ] || fail "it stops there"
expect "and resumed" 0 '^alone-all-cores ' fringe $compare --ranks 2 train.epochs=400 run.dir=halved --resume auto
same "it has the table of one that was never stopped" <(learned variants) <(learned halved)

# --- a slow disk: a file that takes longer to be read than a rank may be silent
slow_disk() { # FILE COMMAND...
    LD_PRELOAD=$FRINGE_BUILD/tests/slow_read.so SLOW_READ=$1 SLOW_SECONDS=4 "${@:2}"
}
since=$SECONDS
expect "reading a checkpoint is no silence" 0 'resume +after epoch 400$' \
    slow_disk epoch-400/best.safetensors \
    "$FRINGE" train tiny.json $long --ranks 2 --set run.dir=cut --resume auto --set comm.timeout=2
[ $((SECONDS - since)) -ge 4 ] || fail "the disk was not slow"
finish
