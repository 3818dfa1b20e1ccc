#!/usr/bin/env bash
# once
# If this failed, run.precision=auto would not say what it took and why, a resumed run or the runs of
# one command would measure anew and train other bits, or what reads a run's weights would not know
# its precision.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny

auto="--set run.precision=auto --set train.epochs=8 --set run.checkpoint_every=2 --set run.keep_checkpoints=100"
train() { "$FRINGE" train tiny.json $auto "$@"; }
taken() { # RUN: what it says in all places
    python3 - "$1" <<'PY'
import json, sys
run = json.load(open(f"{sys.argv[1]}/run.json"))
words = {run["precision_choice"]["taken"], run["backend"]["precision"], run["config"]["run"]["precision"]}
print(*words)
PY
}

for ranks in 1 2; do
    expect "a run on $ranks" 0 '^precision +auto took (fp32|bf16|bf16x3), as measured on products of this model:$' \
        train --ranks $ranks --set run.dir=whole-$ranks
    grep -qE '^ +fp32 [0-9.]+ [a-zµ]+, error [0-9.e-]+; bf16 [0-9.]+ [a-zµ]+, error 0[.]00[0-9]+(;| \(allowed: 0[.]01\))$' out ||
        fail "and why: $(cat out)"
    [ "$(awk 'length > 80' out | grep -c precision)" -eq 0 ] || fail "in 80 columns: $(cat out)"
    [[ $(taken whole-$ranks) =~ ^(fp32|bf16|bf16x3)$ ]] || fail "everywhere the same: $(taken whole-$ranks)"
done
python3 - <<'PY' || fail "run.json has what was measured"
import json
choice = json.load(open("whole-2/run.json"))["precision_choice"]
assert choice["error_allowed"] == 0.01 and choice["reproducible_without_record"] is False
assert f"run.precision={choice['taken']}" in choice["reproduce"]
measured = {name: value["seconds"] for name, value in choice.items() if isinstance(value, dict)}
assert {"fp32", "bf16"} <= set(measured) and choice["taken"] == min(measured, key=measured.get)
PY

word=$(taken whole-2)
expect "fringe inspect" 0 "^precision +measured; run.precision=auto took $word$" "$FRINGE" inspect whole-2
expect "the same by name" 0 result "$FRINGE" train tiny.json $auto --set run.precision=$word --ranks 2 --set run.dir=named
same "has the same metrics" <(timeless whole-2) <(timeless named)
same "and the same model" whole-2/checkpoints/epoch-8/model.safetensors named/checkpoints/epoch-8/model.safetensors

# As if killed after epoch 4. The bound would be refused if anything was measured anew.
mkdir -p cut/checkpoints
cp whole-2/.fringe cut/
cp -r whole-2/checkpoints/epoch-4 cut/checkpoints/
cp whole-2/metrics.jsonl whole-2/run.json cut/
expect "a resume" 0 "^precision +auto took $word when the run began$" train --ranks 2 --set run.dir=cut \
    --resume auto --set run.precision_error=1e-9
same "goes on as it was" <(timeless whole-2) <(timeless cut)
same "to the same model" whole-2/checkpoints/epoch-8/model.safetensors cut/checkpoints/epoch-8/model.safetensors
python3 - <<'PY' || fail "run.json of a resumed run has what was measured"
import json
a, b = (json.load(open(f"{run}/run.json"))["precision_choice"] for run in ("whole-2", "cut"))
assert a == b
PY
rm -r cut/checkpoints
expect "a resume before the first checkpoint" 0 "^precision +auto took $word when the run began$" train --ranks 2 \
    --set run.dir=cut --resume auto --set run.precision_error=1e-9
same "begins as it was" <(timeless whole-2) <(timeless cut)

tight="--set run.precision_error=1e-6"
expect "a bound below bf16's" 0 '^precision +auto took fp32' train $tight --set run.dir=tight
expect "the other precision by name" 78 'run.precision was "fp32", is "bf16"' train --set run.precision=bf16 \
    --set run.dir=tight --resume auto
expect "a bound below fp32's" 78 'run.precision_error 1e-09: no precision is that exact: .* in fp32, .* in bf16(, .* in bf16x3)?; allow more' \
    train --ranks 2 --set run.dir=no --set run.precision_error=1e-9
expect "not a share" 78 'run.precision_error' train --set run.dir=no --set run.precision_error=2
expect "a bound of nothing" 0 'run.precision_error has no effect, because run.precision is fp32' \
    "$FRINGE" train tiny.json --set run.precision_error=0.1 --set run.dir=idle

# The order of sums of bf16 products: by name on any CPU, then kept; threads have little stack.
bf16="--set run.precision=bf16 --set run.threads=2 --set train.epochs=6 --set run.checkpoint_every=3 --set run.keep_checkpoints=9"
sums() { python3 -c "import json, sys; print(json.load(open(f'{sys.argv[1]}/run.json'))['backend']['bf16_sums'])" "$1"; }
for order in pairs tiles; do
    expect "sums by $order" 0 result env OMP_STACKSIZE=256K "$FRINGE" train tiny.json $bf16 --set run.bf16_sums=$order --set run.dir=$order
    [ "$(sums $order)" = $order ] || fail "in run.json: $(sums $order)"
    cp -r $order half-$order
    rm -r half-$order/checkpoints/epoch-6
    expect "on a resume" 0 result "$FRINGE" train tiny.json $bf16 --set run.dir=half-$order --resume auto
    same "with their bits" $order/checkpoints/epoch-6/model.safetensors half-$order/checkpoints/epoch-6/model.safetensors
    "$FRINGE" predict $order -o want-$order >/dev/null 2>&1
    expect "and in what reads the weights" 0 scores.npy \
        "$FRINGE" predict tiny.json --set run.precision=bf16 --set run.dir=$order -o is-$order
    same "the same scores" want-$order/scores.npy is-$order/scores.npy
done
cmp -s pairs/checkpoints/epoch-6/model.safetensors tiles/checkpoints/epoch-6/model.safetensors && fail "two orders, the same bits"
rm -r half-tiles/checkpoints/epoch-6
expect "another order" 0 "run.bf16_sums was 'tiles' until epoch 3 and is now 'pairs'" \
    "$FRINGE" train tiny.json $bf16 --set run.bf16_sums=pairs --set run.dir=half-tiles --resume auto
expect "bf16x3 by pairs" 78 'run.bf16_sums: products of bf16x3 are added up by tiles alone' \
    "$FRINGE" train tiny.json --set run.precision=bf16x3 --set run.bf16_sums=pairs --set run.dir=no
expect "auto by pairs" 0 '^precision +auto took (fp32|bf16), as' train --set run.bf16_sums=pairs --set run.dir=by-pairs
expect "auto with vectors by name" 0 '^precision +auto took (fp32|bf16), as' train --set run.simd=plain --set run.dir=plain
grep -q 'bf16x3' out && fail "which measures what is slower"
expect "bf16x3 with vectors by name" 0 '^precision +bf16x3: inputs of products are sums of two bf16' \
    "$FRINGE" train tiny.json --set run.precision=bf16x3 --set run.simd=plain --set train.epochs=2 --set run.dir=three
[ "$(sums three)" = tiles ] || fail "its sums: $(sums three)"

# One command measures once, and a sweep for each of its points.
expect "several runs" 0 result train --runs 3 --set run.dir=several
measured() { # RUN...: how many measurements they have between them
    python3 - "$@" <<'PY'
import json, sys
print(len({json.dumps(json.load(open(f"{run}/run.json"))["precision_choice"]) for run in sys.argv[1:]}))
PY
}
[ "$(measured several/run-*)" -eq 1 ] || fail "measure once"
expect "a sweep" 78 '1e-09: no precision is that exact' train --sweep run.precision_error=1e-6,1e-9 --set run.dir=sweep
[ "$(taken sweep/*1e-6/run-1)" = fp32 ] || fail "its first point: $(ls -R sweep)"
expect "a sweep of two runs" 0 result train --sweep train.lr=0.01 --runs 2 --set run.dir=point
word=$(taken point/*/run-1)
rm -r point/*/run-2
expect "the rest of a point" 0 "^precision +auto took $word when the run began$" train --sweep train.lr=0.01 --runs 2 \
    --set run.dir=point --resume auto --set run.precision_error=1e-9

# What reads the weights takes the run's own.
"$FRINGE" evaluate tight >want 2>/dev/null
expect "evaluate" 0 '^test' "$FRINGE" evaluate tiny.json $auto --set run.dir=tight
grep -v '^[a-z]* *.*\(found in the cache\|safetensors\)' out | cmp - <(cat want) || fail "gives its scores: $(cat out want)"
expect "predict" 0 'scores.npy' "$FRINGE" predict tiny.json $auto --set run.dir=tight -o answers
mkdir -p empty
expect "no run" 78 'run.precision=auto is measured when a training begins, and there is none in empty' \
    "$FRINGE" evaluate tiny.json $auto --set run.dir=empty --weights tight/checkpoints/epoch-8/model.safetensors
expect "plan" 0 '^fits' "$FRINGE" plan tiny.json $auto --compute 50,10
expect "compare" 0 'vanilla' "$FRINGE" compare tiny.json $auto --ranks 2 --modes vanilla,alone --set run.dir=compared
[ "$(measured compared/{vanilla,alone-1-thread,alone-all-cores})" -eq 1 ] || fail "compares one precision"

finish
