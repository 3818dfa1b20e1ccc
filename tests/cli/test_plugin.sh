#!/usr/bin/env bash
# once
# If this failed, a training that asks for a device would crash, hang or silently run elsewhere where
# the plug-in, its driver, its libraries or its device are missing.
. "$FRINGE_SOURCE/tests/cli/lib.sh"

tiny
mkdir -p bin
cp "$FRINGE" bin/fringe
train() { timeout 120 bin/fringe train tiny.json --set run.backend=cuda --set run.dir=run; }

# Why it is missing, as this build has it (tests/kernels/test_open.c has the others).
reason='no CUDA compiler was found|FRINGE_CUDA=OFF'
if grep -q '^CMAKE_CUDA_COMPILER:[A-Z]*=/' "$FRINGE_BUILD/CMakeCache.txt"; then
    reason="it was not built, though a CUDA compiler was found; .cmake --build $FRINGE_BUILD "
    [ ! -e "$FRINGE_BUILD/libfringe-cuda.so" ] ||
        reason="it was built, but not copied; copy $FRINGE_BUILD/libfringe-cuda.so beside the program"
fi
expect 'no plug-in' 69 "there is no libfringe-cuda.so in $PWD/bin or .*/lib/fringe: .*($reason)" train
[ -e run/checkpoints ] && fail 'a run without a device leaves a checkpoint'

echo 'not a library' >bin/libfringe-cuda.so
expect 'no library' 69 'cannot be loaded: .*libfringe-cuda.so' train

library() { # ABI NAME
    rm -f bin/libfringe-cuda.so # a library that is mapped is not written
    printf 'const struct {const char *abi, *name; void *open;} fringe_plugin = {"%s", "%s", 0};' \
        "$1" "$2" >plugin.c
    "${CC:-cc}" -shared -fPIC plugin.c -o bin/libfringe-cuda.so || exit 1
}
library 0123456789abcdef cuda
expect 'another ABI' 69 'another version of fringe .its ABI is 0123456789abcdef, that of this' train
echo 'int nothing;' >plugin.c
rm bin/libfringe-cuda.so
"${CC:-cc}" -shared -fPIC plugin.c -o bin/libfringe-cuda.so || exit 1
expect 'no plug-in of fringe' 69 'is no plug-in of fringe' train

# The emulated device of the tests is no backend of a user.
if [ -e "$FRINGE_BUILD/tests/libfringe-emulated.so" ]; then
    rm bin/libfringe-cuda.so
    cp "$FRINGE_BUILD/tests/libfringe-emulated.so" bin/libfringe-cuda.so
    expect 'the emulated device' 69 "is the backend 'emulated'" train
fi

plugin=$FRINGE_BUILD/libfringe-cuda.so
if [ ! -e "$plugin" ]; then
    echo "skipped: the messages of the plug-in itself need a CUDA compiler"
    [ $failed -eq 0 ] && exit 77
    finish
fi
rm -f bin/libfringe-cuda.so
ln -s "$plugin" bin/libfringe-cuda.so
unset CUDA_VISIBLE_DEVICES
if ! ldconfig -p | grep -q 'libcuda\.so\.1'; then
    expect 'no driver' 69 'install the NVIDIA driver' train
    stub=$(sed -n 's/^CUDA_cuda_driver_LIBRARY:[A-Z]*=//p' "$FRINGE_BUILD/CMakeCache.txt")
    if [ -e "${stub:-}" ]; then
        mkdir -p stub
        ln -sf "$stub" stub/libcuda.so.1
        LD_LIBRARY_PATH=$PWD/stub expect 'a stub of the driver' 69 'install the NVIDIA driver' train
    fi
else
    CUDA_VISIBLE_DEVICES= expect 'no device' 69 'shows no CUDA device' train
fi
finish
