#!/bin/sh
# Makes the environments the peers run in, each its own: PyG, DGL and Mt-KaHyPar.
#
# usage: setup.sh [pyg|dgl|mtkahypar ...]          (all when none is named)
#
# They lie under ${FRINGE_ENVS:-$HOME/.cache/fringe-envs}/pyg, /dgl and /mtkahypar, never in the
# repository. Those of PyG and DGL take about 5 GB each: the torch wheels link CUDA libraries even
# where no GPU is. That of Mt-KaHyPar takes 100 MB.
# Running it again only checks what is there. torch_scatter and torch_sparse are compiled for the
# CPU with one job, ten to twenty minutes; without them pyg.py still runs, on sparse_csr alone.
#
# SPDX-License-Identifier: Apache-2.0
set -eu

envs=${FRINGE_ENVS:-$HOME/.cache/fringe-envs}
python=${PYTHON:-python3}

# Makes the environment $1 if it is not there.
environment() {
    [ -x "$envs/$1/bin/pip" ] || "$python" -m venv "$envs/$1"
}

# $1: environment, the rest: a Python statement. True when it runs there.
runs() {
    DGLBACKEND=pytorch "$envs/$1/bin/python" -c "$2" >/dev/null 2>&1
}

setup_pyg() {
    environment pyg
    runs pyg 'import torch_geometric, safetensors' ||
        "$envs/pyg/bin/pip" install -q torch torch_geometric numpy scipy safetensors
    runs pyg 'import torch_sparse' || {
        "$envs/pyg/bin/pip" install -q 'setuptools<81' wheel
        FORCE_ONLY_CPU=1 MAX_JOBS=1 nice -n 10 "$envs/pyg/bin/pip" install -q \
            --no-build-isolation torch_scatter torch_sparse ||
            echo "setup.sh: torch_sparse did not build; pyg.py will use sparse_csr" >&2
    }
    runs pyg 'import torch_geometric, safetensors' ||
        { echo "setup.sh: torch_geometric does not load" >&2; exit 1; }
}

# DGL's last wheels on PyPI load their libraries with torch 2.2.1 and no other.
setup_dgl() {
    environment dgl
    runs dgl 'import dgl, safetensors' ||
        "$envs/dgl/bin/pip" install -q torch==2.2.1 dgl==2.1.0 torchdata==0.7.1 'numpy<2' \
            pandas pyyaml pydantic scipy safetensors
    runs dgl 'import dgl, safetensors' || { echo "setup.sh: dgl does not load" >&2; exit 1; }
}

setup_mtkahypar() {
    environment mtkahypar
    runs mtkahypar 'import mtkahypar' ||
        "$envs/mtkahypar/bin/pip" install -q mtkahypar==1.7.post1
    runs mtkahypar 'import mtkahypar' || { echo "setup.sh: mtkahypar does not load" >&2; exit 1; }
}

mkdir -p "$envs"
[ $# -gt 0 ] || set -- pyg dgl mtkahypar
for peer; do
    case $peer in
    pyg) setup_pyg ;;
    dgl) setup_dgl ;;
    mtkahypar) setup_mtkahypar ;;
    *) echo "usage: setup.sh [pyg|dgl|mtkahypar ...]" >&2; exit 2 ;;
    esac
    echo "$peer: ready in $envs/$peer"
done
