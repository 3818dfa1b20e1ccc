#!/usr/bin/env bash
# once
# If this failed, a CUDA source would use what the emulated device does not have, so that a kernel
# would never run in the tests; or the compiler would fuse a multiply and an add that nobody wrote as
# one, so that a device would send other bytes than a CPU.
set -u
cd "$FRINGE_SOURCE" || exit 1
failed=0

# refuse REGULAR_EXPRESSION WHY: in no source, comments apart
refuse() {
    local found
    found=$(sed -E 's|//.*||' kernels/cuda/*.cu kernels/cuda/*.h | grep -nE "$1") || return 0
    echo "FAILED: $2: $found"
    failed=1
}
refuse '<<<' 'kernels are launched with LAUNCH'
refuse '\basm\b' 'inline PTX is not emulated'
refuse 'cooperative_groups|cudaLaunchCooperative' 'cooperative groups are not emulated'
refuse 'tex1D|tex2D|texture<|cudaTextureObject' 'textures are not emulated'
refuse 'atomic[A-Z][a-zA-Z]*\((float|double)|atomicAdd\(&?[a-z_.>-]*(sum|loss)' 'atomics on floats have no order'
refuse '__(expf|logf|fdividef|fsqrt|frcp|fmaf|sinf|cosf|powf)' 'fast intrinsics are not IEEE'
refuse 'cudaLaunchHostFunc|cudaStreamAddCallback' 'MPI may not be called in host functions'

# Of the program: nothing but the C library, the CUDA libraries and the compiler's.
plugin=$FRINGE_BUILD/libfringe-cuda.so
if [ -e "$plugin" ]; then
    foreign=$(nm -D --undefined-only "$plugin" | awk '{print $2}' |
        grep -E '^(fringe_|backend_|memory_|error_|comm_|check_|clock_seconds|poll_|rows_|csr_)') &&
        { echo "FAILED: the plug-in resolves of the program: $foreign"; failed=1; }
    exported=$(nm -D --defined-only "$plugin" | awk '{print $3}' | grep -v '^fringe_plugin$') &&
        { echo "FAILED: the plug-in exports more than fringe_plugin: $exported"; failed=1; }
    bytes=$(stat -c %s "$plugin")
    [ "$bytes" -le $((20 << 20)) ] || { echo "FAILED: the plug-in has $bytes bytes"; failed=1; }
fi

nvcc=$(sed -n 's/^CMAKE_CUDA_COMPILER:[A-Z]*=//p' "$FRINGE_BUILD/CMakeCache.txt")
objects=$FRINGE_BUILD/CMakeFiles/fringe-cuda.dir/cuda
if [ ! -x "${nvcc:-}" ] || [ ! -e "$objects/columns.cu.o" ]; then
    [ $failed -eq 0 ] && echo "skipped: the search for fused multiply-adds needs the objects of a CUDA compiler"
    exit $((failed ? 1 : 77))
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# An object of the plug-in holds its PTX as text (cmake/cuda.cmake).
fused() { grep -m 1 -aoE '(fma|mad)(\.rn|\.rz)?(\.ftz)?\.f(32|64)' "$1"; }
for source in message quantize pointwise post_backward sums aggregate_rows aggregate_long; do
    cat "$FRINGE_BUILD"/cuda/{rows,columns}.cu | grep -q "/$source.cu\"" ||
        { echo "FAILED: $source.cu is in neither of the two objects that are searched"; failed=1; }
done
for object in rows columns; do
    grep -aq '^\.entry ' "$objects/$object.cu.o" || { echo "FAILED: $object.cu.o holds no PTX"; failed=1; }
    fused "$objects/$object.cu.o" && { echo "FAILED: a source of $FRINGE_BUILD/cuda/$object.cu has a fused multiply-add"; failed=1; }
done
# The search finds what it looks for.
echo '__global__ void axpy(float *y, float a, float x) { *y += a * x; }' >"$folder/fused.cu"
"$nvcc" -c --no-compress -arch=compute_80 "$folder/fused.cu" -o "$folder/fused.o"
fused "$folder/fused.o" >/dev/null || { echo "FAILED: the search finds no fused multiply-add"; failed=1; }
[ $failed -eq 0 ] && echo "the sources keep to the emulated device, and no multiply-add is fused"
exit $failed
