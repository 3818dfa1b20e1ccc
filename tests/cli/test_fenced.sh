#!/usr/bin/env bash
# once
# If this failed, the program would touch the memory of a device, or would miss a wait for one of its
# streams: on the backend "fenced" it would not make the bytes that it makes on the CPU.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
FRINGE=$FRINGE_BUILD/fringe-fenced # fringe itself does not know that backend
tiny

# Widths are asked for before epochs 5 and 9; the run that is stopped is stopped between.
settings="--set train.epochs=10 --set quantization.period=4 --set quantization.delay=1
    --set quantization.link=[1e-9,1e-5] --set quantization.solver=exact --set run.checkpoint_every=1
    --set run.keep_checkpoints=100"

# train FOLDER RANKS MODE ORDER [SETTINGS]: ORDER cpu, or the order of the fenced backend
train() {
    local dir=$1 ranks=$2 mode=$3 order=$4 backend=fenced
    shift 4
    if [ "$order" = cpu ]; then backend=cpu order=oldest; fi
    expect "$dir" 0 'result' env FRINGE_FENCED_ORDER=$order "$FRINGE" train tiny.json \
        --ranks "$ranks" --set mode="$mode" --set run.backend=$backend --set run.dir="$dir" $settings "$@"
}

same_training() { # FOLDER FOLDER
    local file
    timeless "$1" >a
    timeless "$2" >b
    same "$2: metrics" a b
    for file in "$1"/checkpoints/epoch-10/*.safetensors; do
        same "$2: $(basename "$file")" "$file" "$2/checkpoints/epoch-10/$(basename "$file")"
    done
}

# uses FOLDER RANKS ORDER: predictions and scores, by the backend that the folder's config names
uses() {
    expect "$1 predicts" 0 '' env FRINGE_FENCED_ORDER="$3" "$FRINGE" predict "$1" --ranks "$2" -o "$1/predicted"
    FRINGE_FENCED_ORDER="$3" "$FRINGE" evaluate "$1" --ranks "$2" --json >"$1/evaluated" ||
        fail "$1 is not evaluated: $(cat "$1/evaluated")"
}

same_uses() { # FOLDER FOLDER
    local file
    for file in "$1"/predicted/*.npy; do
        same "$2: $(basename "$file")" "$file" "$2/predicted/$(basename "$file")"
    done
    same "$2: scores" "$1/evaluated" "$2/evaluated"
}

for ranks in 1 3; do
    for mode in vanilla lossless adaqp; do
        cpu=cpu-$mode-$ranks
        train $cpu $ranks $mode cpu
        for order in oldest newest; do
            dir=$order-$mode-$ranks
            train $dir $ranks $mode $order
            same_training $cpu $dir
        done
        if [ $mode = vanilla ]; then # no mode is known to predictions
            uses $cpu $ranks oldest
            uses $dir $ranks $order
            same_uses $cpu $dir
        fi
        rm -r $dir/checkpoints/epoch-{8,9,10}
        echo epoch-7 >$dir/checkpoints/LATEST
        train $dir $ranks $mode oldest --resume auto
        same_training $cpu $dir
    done
done
finish
