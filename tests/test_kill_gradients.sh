#!/usr/bin/env bash
# long
# If this failed, a training with coded gradients, killed at a write, sync or
# rename of a save, or while it reads a checkpoint, would not resume to the very bytes of an
# uninterrupted one: memories of gradients would not be what they were. 2 kills of each kind of memory
# (bench/run.sh kill makes hundreds).
. "$(dirname "${BASH_SOURCE[0]}")/kills.sh"
RANDOM=6
kills_begin
for memory in feedback difference anchor lowrank topk sketch; do
    declare -n words=$memory
    kills_of "$memory on 2 ranks" 2 2 100 "${words[@]}" --set train.epochs=40
done
kills_tally
