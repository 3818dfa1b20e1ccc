#!/bin/sh
# Makes the environment that reference.py runs in: torch, numpy, scipy, safetensors.
#
# usage: setup.sh
#
# It lies under ${FRINGE_ENVS:-$HOME/.cache/fringe-envs}/reference, never in the repository, and
# takes about 5 GB: the torch wheel links CUDA libraries and does not load without them, even
# where no GPU is. Running it again only checks what is there.
#
# SPDX-License-Identifier: Apache-2.0
set -eu

home=${FRINGE_ENVS:-$HOME/.cache/fringe-envs}/reference
python=${PYTHON:-python3}

loads() {
    "$home/bin/python" -c 'import torch, numpy, scipy, safetensors' >/dev/null 2>&1
}

mkdir -p "$(dirname "$home")"
[ -x "$home/bin/pip" ] || "$python" -m venv "$home"
loads || "$home/bin/pip" install -q torch numpy scipy safetensors
loads || { echo "setup.sh: torch does not load in $home" >&2; exit 1; }
echo "reference: ready in $home"
