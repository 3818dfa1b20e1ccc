#!/usr/bin/env bash
# Kills of trainings (kill -9 of a rank, of mpirun, of the process that started it), an equal part of
# them each for vanilla and adaqp (links pinned, exact widths) on 2 and 3 ranks, and on 3 ranks for
# pipeadaqp with smoothed rows and with differences, for sancus, and for coded gradients with each kind
# of memory, of low rank, and the largest; half of them aimed at the steps of a save (after a write, sync or rename) and at the
# reading of a checkpoint. Every training must end with the bytes of one that was left alone; nothing
# may hang or stay behind.
#
#   bench/run.sh kill [--count=1000] [--log=FILE] [--seed=1] [--program=build/fringe]
#                        [--epochs=600] [--only=WORD]
#
# --only: the kinds whose name has this word (pipeadaqp, sancus, ...), each with all `count` kills.
#
# Prints a line for each training: who was killed, and after how many epochs; --log writes that to a
# file, too.
#
# smoke: --count=1 --epochs=20
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
count=1000 epochs=600 seed=1 only='' log=/dev/null program=${FRINGE:-$root/build/fringe}
. "$root/bench/common/options.sh"
options count epochs log only seed program -- "$@"
FRINGE=$program
. "$root/tests/kills.sh"
RANDOM=$seed
kills_begin
exec > >(tee "$log")
part=$((count / 13)) rest=$((count - count / 13 * 12))
[ -z "$only" ] || part=$count rest=$count
kind() { [[ "$1" != *"$only"* ]] || kills_of "$@"; }
echo "$count kills${only:+ each}, seed $seed, $(nproc --all) cores; who was killed (epochs in its metrics)"
began=$SECONDS
kind "vanilla on 2 ranks" 2 $rest 50 --set mode=vanilla --set train.epochs=$epochs
if [ "$part" -gt 0 ]; then
    kind "vanilla on 3 ranks" 3 $part 50 --set mode=vanilla --set train.epochs=$((epochs * 2 / 3))
    kind "adaqp on 2 ranks" 2 $part 50 "${adaqp[@]}" --set train.epochs=$epochs
    kind "adaqp on 3 ranks" 3 $part 50 "${adaqp[@]}" --set train.epochs=$((epochs * 2 / 3))
    kind "pipeadaqp, smoothed, on 3 ranks" 3 $part 50 "${stale[@]}" --set train.epochs=$((epochs * 2 / 3))
    kind "sancus on 3 ranks" 3 $part 50 "${sancus[@]}" --set train.epochs=$((epochs * 2 / 3))
    kind "pipeadaqp, differences, on 3 ranks" 3 $part 50 "${stale_differences[@]}" --set train.epochs=$((epochs * 2 / 3))
    for memory in feedback difference anchor lowrank topk sketch; do
        declare -n words=$memory
        kind "$memory of gradients on 3 ranks" 3 $part 50 "${words[@]}" --set train.epochs=$((epochs * 2 / 3))
    done
fi
kills_tally
echo "$count kills${only:+ each of $only} in $((SECONDS - began)) s: every training ended with the bytes of one that was left alone"
