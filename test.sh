#!/usr/bin/env bash
# Sets up, builds and runs the whole test suite: unit and MPI tests from build/, and those that
# need no long run once more under AddressSanitizer and UBSan from build-asan/.
#   ./test.sh             everything
#   ./test.sh --quick     without the sanitizers
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here"

./setup.sh
quick=no
[ "${1:-}" = --quick ] && quick=yes

build() { # folder, options
    local folder=$1
    shift
    cmake -S . -B "$folder" -G Ninja "$@" >"$folder.log" 2>&1 ||
        { cat "$folder.log"; exit 1; }
    rm -f "$folder.log"
    cmake --build "$folder" || exit 1
}

status=0
run() { # folder, ctest options
    local folder=$1
    shift
    (cd "$folder" && ctest --output-on-failure -j2 --no-tests=error "$@") || status=1
    logs+=("$folder/Testing/Temporary/LastTest.log")
}

logs=()
echo "== build"
build build -DCMAKE_BUILD_TYPE=Release -DFRINGE_SANITIZE=OFF
if [ $quick = no ]; then
    echo "== build with AddressSanitizer and UBSan"
    build build-asan -DCMAKE_BUILD_TYPE=Release -DFRINGE_SANITIZE=ON
    echo "== tests under the sanitizers"
    run build-asan -LE "long"
fi
echo "== tests"
run build
# What was skipped, each sentence with how often, over all logs.
cat "${logs[@]}" | grep '^skipped: ' | sort | uniq -c || true
echo "$(cat "${logs[@]}" | grep -c '^skipped: ' || true) tests skipped"
exit $status
