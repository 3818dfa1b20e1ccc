#!/usr/bin/env bash
# How long does `pip wheel .` take from nothing, how large is the wheel, and what of the machine does it need? Builds it in
# folders of its own; about three minutes of two cores, half of them for the CUDA plug-in where there is nvcc.
#   bench/run.sh wheel [--jobs=N] [--dry=yes]
# Needs pip and scikit-build-core in the Python that PYTHON names (python3). With auditwheel in that Python or on the PATH
# its answer is printed, too. --dry: asks for the package's name and version only. A wheel above 20 MiB, or with GLPK or
# MPI in it, fails.
#
# smoke: --dry=yes
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
jobs=$(nproc) dry=
. "$root/bench/common/options.sh"
options jobs dry -- "$@"
python=${PYTHON:-python3}
"$python" -c 'import pip, scikit_build_core' 2>/dev/null || skip "needs pip and scikit-build-core in $python"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if [ -n "$dry" ]; then
    cd "$root" && "$python" -B -c 'import sys
from scikit_build_core.build import prepare_metadata_for_build_wheel
print("wheel:", prepare_metadata_for_build_wheel(sys.argv[1]))' "$folder"
    exit
fi
cd "$folder"
begun=$SECONDS
CCACHE_DISABLE=1 CMAKE_BUILD_PARALLEL_LEVEL=$jobs "$python" -m pip wheel --no-build-isolation --no-deps -w . \
    --config-settings=build-dir="$folder/build" "$root" >build.log 2>&1 || { tail -40 build.log; exit 1; }
wheel=$(echo *.whl)
bytes=$(stat -c %s "$wheel")
echo "$wheel: $(awk -v b="$bytes" 'BEGIN { printf "%.1f MB", b / 1e6 }'), built in $((SECONDS - begun)) s with $jobs job(s)"
failed=0
"$python" -m zipfile -e "$wheel" inside
find inside -type f | grep -E 'fringe-solver|libmpi|libglpk' && { echo "this is not to be in the wheel"; failed=1; }
[ "$bytes" -le $((20 << 20)) ] || { echo "the wheel has $bytes bytes; at most 20 MiB"; failed=1; }
for program in fringe fringe-metis; do
    echo "$program needs: $(readelf -d inside/*.data/data/bin/$program | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | xargs)"
done
audit=$(command -v auditwheel || echo "$(dirname "$(command -v "$python")")/auditwheel")
[ ! -x "$audit" ] || "$audit" show "$wheel" || true
exit $failed
