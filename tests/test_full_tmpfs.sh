#!/usr/bin/env bash
# long
# If this failed, a real disk that becomes full (a small tmpfs, by sizes in steps) would end a training
# without a sentence that names the file, with another code than 73 or 74, or would harm the run or
# the cache that was there before. Needs root, to mount it. FRINGE_FULL_STEP, where it is set, is the
# step in pages of 4 KiB (bench/run.sh full).
. "$(dirname "${BASH_SOURCE[0]}")/cli/lib.sh"
mkdir disk
if ! mount -t tmpfs -o size=64k fringe-test disk 2>/dev/null; then
    echo "skipped: a tmpfs cannot be mounted here (it needs root)"
    exit 77
fi
trap 'umount -l "$work/disk"; rm -rf "$work"' EXIT
tiny
export OMP_NUM_THREADS=1
export OMPI_MCA_odls_base_sigkill_timeout=0 # the other rank does not wait 2 s for one that failed
settings="--set run.checkpoint_every=2 --set run.keep_checkpoints=9 --set train.eval_every=2
    --set train.epochs=8 --ranks 2"
train() { "$FRINGE" train tiny.json $settings "$@"; }
size() { mount -o remount,size="$1"k disk 2>/dev/null; }

next_size() { echo $(($1 + (${FRINGE_FULL_STEP:-0} ? 4 * FRINGE_FULL_STEP : $1 < 160 ? 40 : $1 / 2))); }
newest() { ls "$1/checkpoints" 2>/dev/null | sed -n 's/^epoch-//p' | sort -n | tail -n 1; }

# steps NAME FOLDER FILE RENEW COMMAND...: on a disk that grows until the command ends well. RENEW fills
# it with what was there before; each time the command is done again with room, which must end well.
steps() {
    local name=$1 folder=$2 renew=$3 kib status stops=0 saved
    shift 3
    for ((kib = 16; kib < 4096; kib = $(next_size $kib))); do
        size 4096
        rm -rf disk/*
        $renew || fail "$name: cannot fill the disk"
        size "$kib" || continue # what was there does not fit
        status=0
        "$@" >out 2>&1 </dev/null || status=$?
        [ $status -ne 0 ] || break
        stops=$((stops + 1))
        if { [ $status -ne 73 ] && [ $status -ne 74 ]; } || ! grep -qE "^fringe: (.*[ /])?disk/[^ ]+: " out; then
            fail "$name: with $kib KiB: exit $status, says: $(cat out)"
        fi
        size 4096
        saved=$(newest "$folder")
        "$@" >out 2>&1 </dev/null || fail "$name: with room again, after $kib KiB: $(cat out)"
        [ -z "$saved" ] || grep -q "^resume  *after epoch $saved$" out ||
            fail "$name: does not go on after epoch $saved, stopped with $kib KiB: $(cat out)"
        same "$name, stopped with $kib KiB and gone on" whole/checkpoints/epoch-8/model.safetensors \
            "$folder/checkpoints/epoch-8/model.safetensors"
        same "its metrics" <(timeless whole) <(timeless "$folder")
    done
    [ $stops -gt 1 ] || fail "$name: the disk was never full"
    [ "$status" -eq 0 ] || fail "$name: it never fits"
}

train --set run.dir=whole >/dev/null 2>&1 || fail "a training"
train --set run.dir=early --set train.epochs=2 >/dev/null 2>&1 || fail "its beginning"
early() { cp -r early disk/run; }
nothing() { :; }
steps "a run" disk/run nothing train --set run.dir=disk/run --resume auto
steps "a resumed run" disk/run early train --set run.dir=disk/run --resume auto
with_cache() { rm -rf cached && train --set run.dir=cached --set data.cache="$work/disk/cache"; }
steps "a cache" cached nothing with_cache

# What is printed, to a file on it; the sentence has no place, the code is 74.
rm -rf disk/*
size 64
head -c 61440 /dev/zero >disk/filler
full() { # NAME STDOUT STDERR
    local status=0
    "$FRINGE" train tiny.json --set run.log_every=1 --set train.epochs=200 --set run.dir=loud \
        >"$2" 2>"$3" || status=$?
    [ $status -eq 74 ] && echo "ok: $1 on a full disk" ||
        fail "$1 on a full disk: exit $status, expected 74: $(tail -n 2 out)"
}
full stderr out disk/log
head -c 8192 /dev/zero >>disk/filler 2>/dev/null
full stdout disk/out out
finish
