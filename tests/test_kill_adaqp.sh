#!/usr/bin/env bash
# long
# If this failed, a training with assigned widths on 3 ranks, killed at a random moment or right after
# a write, sync or rename of a save, or while it reads a checkpoint, would not resume to the very bytes
# of an uninterrupted one; nor would one whose messages fly between epochs and are smoothed, or whose
# ends remember rows, nor one that leaves messages out. 3 kills of each, half of them aimed
# (bench/run.sh kill makes hundreds).
. "$(dirname "${BASH_SOURCE[0]}")/kills.sh"
RANDOM=11
kills_begin
kills_of "adaqp on 3 ranks" 3 3 50 "${adaqp[@]}" --set train.epochs=400
kills_of "pipeadaqp, smoothed, on 2 ranks" 2 3 50 "${stale[@]}" --set train.epochs=150
kills_of "pipeadaqp, differences, on 2 ranks" 2 3 50 "${stale_differences[@]}" --set train.epochs=150
kills_of "sancus on 2 ranks" 2 3 50 "${sancus[@]}" --set train.epochs=200
kills_tally
