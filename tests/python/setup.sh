#!/usr/bin/env bash
# Makes the Python environment of the parts of test_python.py that need PyG, OGB or matplotlib: Debian's torch (no CUDA
# libraries, 600 MB), and PyG and OGB from the Python package index, under ${FRINGE_ENVS:-$HOME/.cache/fringe-envs}.
# Run again, it only checks what is there. Needs root if Debian's packages are missing.
set -euo pipefail
home=${FRINGE_ENVS:-$HOME/.cache/fringe-envs}/pyg-debian
loads() { "$home/bin/python" -c 'import torch_geometric, ogb, matplotlib' >/dev/null 2>&1; }
loads && exit 0
packages=(python3-torch python3-numpy python3-matplotlib python3-venv python3-pip)
dpkg-query -W "${packages[@]}" >/dev/null 2>&1 || {
    [ "$(id -u)" -eq 0 ] || { echo "setup: run as root: apt-get install ${packages[*]}" >&2; exit 69; }
    apt-get update -q
    apt-get install -y -q --no-install-recommends "${packages[@]}"
}
mkdir -p "$(dirname "$home")"
/usr/bin/python3 -m venv --system-site-packages "$home"
"$home/bin/pip" install -q torch_geometric ogb 'numpy<2' 'scipy<1.14' 'pandas<2.3' 'scikit-learn<1.6'
loads || { echo "setup: PyG does not load in $home" >&2; exit 1; }
echo "setup: PyG is ready in $home"
