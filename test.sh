#!/usr/bin/env bash
# Sets up, builds and runs the whole test suite through one CTest: unit, MPI and whole-program tests
# from build/, and most of them once more under AddressSanitizer and UBSan from build-asan/ (not those
# marked long or once; on one number of ranks, or two where ranks meet; each line once, but not each
# value: UNDER_SANITIZERS in tests/support.h). What is skipped (data that is not there) is listed and counted before CTest's closing
# lines. FRINGE_DATA names the folder of real data.
#   ./test.sh             everything
#   ./test.sh --quick     without the sanitizers
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
quick=no
case ${1:-} in
"") ;;
--quick) quick=yes ;;
*)
    echo "usage: ./test.sh [--quick]" >&2
    exit 64
    ;;
esac

./setup.sh

# Compilers and tests write small files, and trainings wait for each of theirs to lie on a disk: in
# memory, where there is enough of it, that takes no time of the kernel's.
closing=
files=
trap 'rm -rf "$files" "$closing"' EXIT
memory=$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1) || memory=0
if [ -z "${TMPDIR:-}" ] && [ "${memory:-0}" -gt $((8 << 20)) ]; then
    files=$(mktemp -d /dev/shm/fringe-tests-XXXXXX)
    chmod 755 "$files" # other users, as which some tests run the program, enter it
    export TMPDIR=$files
fi

build() { # folder, options
    local folder=$1
    shift
    echo "== build $folder"
    mkdir -p "$folder"
    # one architecture of CUDA and its PTX: bench/run.sh cuda-build builds all
    cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_ARCHITECTURES=90 "$@" >"$folder/configure.log" 2>&1 ||
        { cat "$folder/configure.log"; return 1; }
    cmake --build "$folder" --parallel
}

if [ $quick = yes ]; then
    build build -DFRINGE_ALSO_TEST=
else
    build build-asan -DFRINGE_SANITIZE=ON -DFRINGE_EMULATED=OFF
    build build "-DFRINGE_ALSO_TEST=$PWD/build-asan"
fi

echo "== tests"
closing=$(mktemp)
status=0
(cd build && ctest --output-on-failure --no-tests=error -j4) |
    awk -v closing="$closing" '/^[0-9]+% tests passed/ {held = 1}
        held && /^ *[0-9]+\/[0-9]+ Test +#/ {printf "%s", kept; kept = ""; held = 0} # a CTest inside of a test
        held {kept = kept $0 "\n"; next} {print; fflush()} END {printf "%s", kept >closing}' || status=$?

grep '^skipped: ' build/Testing/Temporary/LastTest.log | sort | uniq -c || true
echo "$(grep -c '^skipped: ' build/Testing/Temporary/LastTest.log || true) tests skipped"
cat "$closing"
exit $status
