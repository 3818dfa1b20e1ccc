#!/usr/bin/env bash
# Does the CUDA plug-in build for all its architectures, without a warning, in at most 20 MiB? Builds it in a folder of
# its own and prints its size and the time. Needs nvcc (on the PATH, or in CUDACXX) but no device.
#   bench/run.sh cuda-build [--jobs=N] [--built=FOLDER]
# --built=FOLDER: judges the size of the plug-in that is there.
#
# smoke: --built=BUILD/
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
jobs=1 built=
. "$root/bench/common/options.sh"
options jobs built -- "$@"
most=$((20 << 20))
if [ -n "$built" ]; then
    [ -e "$built/libfringe-cuda.so" ] || skip "there is no plug-in in that build (it needs nvcc)"
    [ "$(stat -Lc %s "$built/libfringe-cuda.so")" -le $most ]
    exit
fi
command -v "${CUDACXX:-nvcc}" >/dev/null || skip "needs nvcc, on the PATH or in CUDACXX"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cmake -S "$root" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DFRINGE_CUDA=ON >"$folder/configure.log" 2>&1 ||
    { tail -20 "$folder/configure.log"; exit 69; }
grep 'CUDA plug-in:' "$folder/configure.log"
begun=$SECONDS
ninja -C "$folder" -j"$jobs" fringe-cuda >"$folder/build.log" 2>&1 || { tail -40 "$folder/build.log"; exit 1; }
bytes=$(stat -c %s "$folder/libfringe-cuda.so")
echo "libfringe-cuda.so: $bytes bytes, built in $((SECONDS - begun)) s with $jobs job(s)"
failed=0
if grep -iE '(^|[^-a-z])warning([^a-z-]|$)' "$folder/build.log"; then
    echo "the build warned"
    failed=1
fi
[ "$bytes" -le $most ] || { echo "the plug-in has $bytes bytes; at most $most"; failed=1; }
exit $failed
