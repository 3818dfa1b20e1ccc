#!/usr/bin/env bash
# Installs what fringe is built from and runs on (Debian 12 packages). Does nothing, and needs no
# network, if all is there. Without root it prints the one command to run and stops with 69.
set -euo pipefail

# Not among them: chromium (300 MB), in which tests/page opens a report; without it that test is skipped and counted.
# package: what for
needed=(
    "gcc: the C compiler"
    "g++: the tests of the CUDA kernels, which need no device"
    "libc6-dev: the C library's headers"
    "cmake: the build"
    "ninja-build: the build"
    "pkg-config: finding libraries"
    "libopenmpi-dev: messages between ranks (MPI)"
    "openmpi-bin: mpirun"
    "libmetis-dev: cutting graphs"
    "libcjson-dev: reading JSON"
    "libglpk-dev: a second opinion on the widths of messages (fringe-solver)"
    "libzip-dev: reading npz archives"
    "zlib1g-dev: compressed files"
    "libdeflate-dev: reading npz archives fast"
    "libxxhash-dev: checksums"
    "libcmocka-dev: the tests"
    "node-d3: the plots of report pages"
    "python3: checks that need no compiler"
    "python3-numpy: checks that read what fringe writes"
    "python3-scipy: checks that fringe reads what scipy does"
    "python3-pyflakes: finding names that no Python file defines"
    "iproute2: the network rig of the benches"
)

installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q '^install ok installed'; }

missing=()
for line in "${needed[@]}"; do
    installed "${line%%:*}" || missing+=("$line")
done

# The dense product: oneDNN, or a BLAS where Debian has no oneDNN for this machine.
if ! installed libdnnl-dev && ! installed libopenblas-dev; then
    missing+=("libdnnl-dev: dense products")
fi

# Another python3 or compiler than Debian's serves as well.
have() {
    case $1 in
    gcc) command -v gcc ;;
    g++) command -v g++ ;;
    cmake) command -v cmake ;;
    ninja-build) command -v ninja ;;
    pkg-config) command -v pkg-config ;;
    python3) command -v python3 ;;
    python3-numpy) python3 -c 'import numpy' ;;
    python3-scipy) python3 -c 'import scipy' ;;
    python3-pyflakes) python3 -c 'import pyflakes' ;;
    node-d3) test -e /usr/share/nodejs/d3/dist/d3.min.js ;;
    iproute2) command -v ip ;;
    *) false ;;
    esac >/dev/null 2>&1
}
still=()
for line in "${missing[@]+"${missing[@]}"}"; do
    have "${line%%:*}" || still+=("$line")
done
[ ${#still[@]} -eq 0 ] && exit 0

echo "setup: these packages are missing:"
for line in "${still[@]}"; do
    printf '  %-16s %s\n' "${line%%:*}" "${line#*: }"
done
packages=("${still[@]%%:*}")

if [ "$(id -u)" -ne 0 ]; then
    echo "setup: run this, then start again:"
    echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${packages[*]}"
    exit 69
fi

export DEBIAN_FRONTEND=noninteractive
echo "setup: installing them with apt-get"
apt-get update -q
if [[ " ${packages[*]} " == *" libdnnl-dev "* ]] && ! apt-cache show libdnnl-dev >/dev/null 2>&1; then
    echo "setup: libdnnl-dev is not to be had here; taking libopenblas-dev instead"
    packages=("${packages[@]/libdnnl-dev/libopenblas-dev}")
fi
apt-get install -y -q --no-install-recommends "${packages[@]}"
