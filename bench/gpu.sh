#!/usr/bin/env bash
# The CUDA backend on a machine with a device, which may be bare, without a network and there for minutes only.
#   bench/gpu.sh pack [FILE] [--build=FOLDER]   here: one archive of at most 60 MiB (default: fringe-gpu.tar.xz)
#   bench/gpu.sh check [FILE]      there, at most 8 minutes: is it right? FILE: an archive, unpacked beside first
#   bench/gpu.sh speed [FILE]      at most 9 minutes: against the device's own memory, cuSPARSE, torch, PyG and DGL
#   bench/gpu.sh sanitize [FILE]   at most 9 minutes: compute-sanitizer on every operation
#   bench/gpu.sh table ROWS        turns the rows of those stages into a table, for bench/common/record.py TITLE gpu
# Every stage writes its rows (stage, row, value, unit, bar, met) at once to $OUT (a folder or a file), or else to
# ./gpu-rows.tsv. What did not run is a row that says so; met is yes, no, or skipped where a test's case for the device
# skipped. Exit status: 0, 1 if a bar was missed, 69 without a device, 77 if nothing was missed but a case skipped.
# FRINGE_GPU_GRAPH names the graph of `speed` for `fringe generate` (default: reddit, at full size), and
# FRINGE_GPU_CHECK_GRAPH that of `check` (default: reddit-small).
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
prefix=$root/prefix build=$root/build
graph=${FRINGE_GPU_GRAPH:-reddit}
check_graph=${FRINGE_GPU_CHECK_GRAPH:-reddit-small}
most=$((60 << 20)) # bytes of an archive
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 64; }

# ---- rows

stage='' missed=0 skipped=0
row() { # NAME VALUE UNIT BAR MET
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$stage" "$1" "$2" "${3:-}" "${4:-}" "${5:-}" >>"$rows"
    printf '%s: %s: %s %s %s %s\n' "$stage" "$1" "$2" "${3:-}" "${4:+(bar $4)}" "${5:-}"
    case ${5:-} in
    no) missed=1 ;;
    skipped) skipped=1 ;;
    esac
}
left() { echo $((budget - SECONDS)); } # seconds of this stage

# limited NAME SECONDS COMMAND...: its output goes to $work/log; a row says if it failed
limited() {
    local name=$1 limit=$2 begun=$SECONDS status=0
    shift 2
    [ "$limit" -le "$(left)" ] || limit=$(left)
    if [ "$limit" -lt 5 ]; then
        row "$name" "did not run: no time is left" "" "" no
        return 1
    fi
    timeout -k 5 "$limit" "$@" >"$work/log" 2>&1 </dev/null || status=$?
    if [ $status -eq 0 ]; then
        return
    elif [ $status -eq 124 ] || [ $status -eq 137 ]; then
        row "$name" "failed: not done after $((SECONDS - begun)) s" "" "" no
    else
        row "$name" "failed: exit status $status: $(grep -v '^$' "$work/log" | tail -1 | cut -c1-300 | tr '\t' ' ')" "" "" no
        tail -30 "$work/log" | sed 's/^/    /'
    fi
    return $status
}

# step NAME SECONDS COMMAND...: a row says whether it passed
step() {
    limited "$@" || return
    row "$1" passed "" "" yes
}

# case_of CASE: what the test whose output is in the log says of that case: passed, skipped, or failed
case_of() {
    if grep -qE "^\[ +OK +\] $1\$" "$work/log"; then
        echo passed
    elif grep -qE "^\[ +SKIPPED +\] $1\$" "$work/log"; then
        echo skipped
    else
        echo failed
    fi
}

# device_step CASE NAME SECONDS COMMAND...: a test ends well, too, where its case for the device skipped
device_step() {
    local case=$1 said
    shift
    limited "$@" || return
    said=$(case_of "$case")
    case $said in
    passed) row "$1" passed "" "" yes ;;
    skipped) row "$1" "its case $case skipped: $(sed -n 's/^skipped: //p' "$work/log" | tail -1 | cut -c1-200)" "" "" skipped ;;
    failed) row "$1" "failed: its case $case did not run" "" "" no ;;
    esac
}
all_not_run() { # WHY NAMES...
    local why=$1 name
    shift
    for name in "$@"; do row "$name" "did not run: $why" "" "" no; done
}

# ---- pack

# The libraries that files need, but for the C library's, and, apart, the compiler's: a machine mostly has newer ones.
libraries_of() {
    ldd "$@" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
        grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv|libutil|ld-linux-x86-64)\.so|/libcu|/libnv'
}

pack_prefix() { # FOLDER: OpenMPI with its parts, and every library that the programs need
    local to=$1 lib=/usr/lib/x86_64-linux-gnu file
    local parts=$lib/openmpi/lib/openmpi3 pmix=$lib/pmix2/lib/pmix
    mkdir -p "$to"/{bin,lib,fallback,openmpi/lib/openmpi3,pmix/lib/pmix,share,etc}
    cp -L "$(command -v mpirun)" "$to/bin/mpirun" && cp -L "$(command -v orted)" "$to/bin/orted" || return
    for file in "$parts"/mca_*.so; do
        case ${file##*/} in # of networks, resource managers and shapes of I/O that one machine does not have
        *ucx* | *ofi* | *psm* | *openib* | *verbs* | *flux* | *slurm* | *monitoring* | *memheap* | *scoll* | *spml* | \
            *sshmem* | *romio* | *_io_* | *_fs_* | *_fbtl_* | *_fcoll_* | *_sharedfp_*) ;;
        *) cp -L "$file" "$to/openmpi/lib/openmpi3/" ;;
        esac
    done
    cp -L "$pmix"/pmix_mca_p*zlib.so "$to/pmix/lib/pmix/" 2>/dev/null
    cp -r /usr/share/openmpi "$to/share/openmpi"
    cp -r $lib/pmix2/share/pmix "$to/pmix/share" 2>/dev/null
    cp -r /etc/openmpi "$to/etc/openmpi"
    for file in $(libraries_of "$2"/fringe* "$2"/bench_gpu "$2"/tests/test_* "$to"/bin/* "$to"/openmpi/lib/openmpi3/*.so \
        "$to"/pmix/lib/pmix/*.so); do
        case ${file##*/} in
        libstdc++* | libgcc_s* | libgomp*) cp -L "$file" "$to/fallback/" ;;
        *) cp -L "$file" "$to/lib/" ;;
        esac
    done
    # OpenMPI opens libpmix by this name
    find "$to" -type f \( -name '*.so*' -o -path '*/bin/*' \) -exec strip -s {} + 2>/dev/null
    return 0
}

pack() {
    local to=$PWD/fringe-gpu.tar.xz word abi built_for bytes test
    local tests=(test_backend_ops test_device_epochs)
    for word in "$@"; do
        case $word in
        --build=*) build=$(realpath "${word#--build=}") ;;
        -*) usage ;;
        *) to=$(realpath "$word") ;;
        esac
    done
    [ -f "$build/build.ninja" ] || { echo "gpu.sh: $build is no build; run cmake first" >&2; exit 66; }
    ninja -C "$build" fringe fringe-metis fringe-solver bench_gpu "${tests[@]}" >"$work/log" 2>&1 || { tail -20 "$work/log"; exit 70; }
    grep -q '^build libfringe-cuda.so:' "$build/build.ninja" && { ninja -C "$build" fringe-cuda >"$work/log" 2>&1 ||
        { tail -5 "$work/log"; echo "gpu.sh: the plug-in does not build here; the archive has its source only"; }; }

    local top=$work/fringe-gpu
    mkdir -p "$top/build/tests"
    (cd "$root" && git ls-files -z -co --exclude-standard | while IFS= read -r -d '' file; do
        [ ! -e "$file" ] || printf '%s\0' "$file"
    done | xargs -0 cp --parents -t "$top") || exit 70
    cp "$build/fringe" "$build/fringe-metis" "$build/fringe-solver" "$build/bench_gpu" "$top/build/"
    for test in "${tests[@]}"; do cp "$build/tests/$test" "$top/build/tests/"; done
    cp "$build"/libfringe-cuda.so "$top/build/" 2>/dev/null
    strip -s "$top"/build/fringe* "$top/build/bench_gpu" "$top"/build/tests/*
    pack_prefix "$top/prefix" "$build" || exit 70
    built_for=$(sed -n 's/^CMAKE_CUDA_ARCHITECTURES:[A-Z]*=//p' "$build/CMakeCache.txt")
    [[ ! $built_for =~ ^[0-9]+$ ]] || touch "$top/build/plugin-$built_for" # taken as it is where that is the device's
    abi=$(grep -o 'FRINGE_ABI=[^0-9a-f]*[0-9a-f]\{16\}' "$build/build.ninja" | head -1 | grep -o '[0-9a-f]\{16\}$')
    echo "$abi" >"$top/prefix/abi"
    (cd "$root" && git rev-parse HEAD) >"$top/prefix/commit" 2>/dev/null

    echo "gpu.sh: in the archive, before it is compressed:"
    (cd "$top" && du -sk build/tests build/fringe build/bench_gpu build/libfringe-cuda.so prefix/lib prefix/openmpi \
        prefix/fallback . 2>/dev/null | awk '{printf "  %7.1f MiB  %s\n", $1 / 1024, $2}')
    echo "  tests: ${tests[*]}"
    tar -C "$work" --owner=0 --group=0 --sort=name -cf - fringe-gpu | xz -6 -T0 >"$to" || exit 73
    bytes=$(stat -c %s "$to")
    echo "$to $bytes" | awk '{printf "gpu.sh: %s: %.1f MiB\n", $1, $2 / 1048576}'
    [ "$bytes" -le $most ] || { echo "gpu.sh: the archive has $bytes bytes; at most $most are carried" >&2; exit 1; }
}

# FILE beside itself; then the same stage from there.
unpack_and_go() { # STAGE FILE
    local file folder
    file=$(realpath "$2") && folder=$(dirname "$file")
    [ -f "$file" ] || { echo "gpu.sh: $2 is not there" >&2; exit 66; }
    [ -w "$folder" ] || folder=${TMPDIR:-/tmp}
    if [ ! -e "$folder/fringe-gpu/prefix/abi" ]; then
        tar -C "$folder" -xJf "$file" 2>/dev/null || python3 -c 'import sys, tarfile
tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$file" "$folder" || exit 66
    fi
    exec bash "$folder/fringe-gpu/bench/gpu.sh" "$1"
}

# ---- the machine

# Programs of ours, with the archive's libraries; nothing else is run with them.
ours() {
    local path=$cuda_path
    if [ -d "$prefix" ]; then
        path=$prefix/lib:$path
        [ -z "$fallback" ] || path=$path:$fallback
        env PATH="$prefix/bin:$PATH" OPAL_PREFIX="$prefix" OPAL_LIBDIR="$prefix/openmpi/lib" \
            OPAL_PKGLIBDIR="$prefix/openmpi/lib/openmpi3" OPAL_DATADIR="$prefix/share" \
            OPAL_PKGDATADIR="$prefix/share/openmpi" OPAL_SYSCONFDIR="$prefix/etc/openmpi" \
            PMIX_PREFIX="$prefix/pmix" PMIX_MCA_mca_base_component_path="$prefix/pmix/lib/pmix" \
            HWLOC_PLUGINS_PATH="$prefix/none" OMPI_MCA_plm=isolated LD_LIBRARY_PATH="$path" "$@"
    else
        env LD_LIBRARY_PATH="$path${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$@"
    fi
}

has_library() { /sbin/ldconfig -p 2>/dev/null | grep -q "$1"; }

# Folders in which CUDA's libraries may lie: a toolkit's, or those that come with PyTorch.
cuda_folders() {
    local folder
    for folder in ${CUDA_HOME:+"$CUDA_HOME/lib64"} /usr/local/cuda*/lib64 /usr/local/cuda*/targets/x86_64-linux/lib \
        /usr/local/nvidia/lib64 /usr/lib/x86_64-linux-gnu/nvidia/current; do
        [ -d "$folder" ] && echo "$folder"
    done
    for folder in $(python3 -c 'import sys; print(*sys.path)' 2>/dev/null); do
        ls -d "$folder"/nvidia/*/lib 2>/dev/null
    done
}

# Adds to cuda_path the folders of what the plug-in lacks.
find_cuda_libraries() {
    local missing name folder
    folder=/usr/local/nvidia/lib64 # where containers put the driver
    [ ! -e $folder/libcuda.so.1 ] || cuda_path=$folder
    missing=$(ours ldd "$build/libfringe-cuda.so" 2>/dev/null | awk '/not found/ {print $1}')
    for name in $missing libnvJitLink.so.13 libcublasLt.so.13; do
        for folder in $(cuda_folders); do
            [ -e "$folder/$name" ] && { cuda_path=$cuda_path:$folder; break; }
        done
    done
    missing=$(ours ldd "$build/libfringe-cuda.so" 2>/dev/null | awk '/not found/ {print $1}' | tr '\n' ' ')
    [ -z "$missing" ] || row "CUDA libraries" "not found: $missing" "" "" no
}

find_tool() { # NAME FILE...: of the toolkit, one of the files first
    local at
    for at in "${@:2}" "$(command -v "$1")" /usr/local/cuda/bin/"$1" /usr/local/cuda*/bin/"$1" /usr/local/cuda*/compute-sanitizer/"$1"; do
        [ -x "$at" ] && { echo "$at"; return; }
    done
    return 1
}

# The plug-in for one architecture, by nvcc alone: one process a source, then the linker.
compile_plugin() { # NVCC ARCHITECTURE
    local objects=$work/objects flags
    mkdir -p "$objects"
    flags="-std=c++20 -O3 --fmad=false -Xcompiler=-fPIC,-fvisibility=hidden -I include -I kernels -I kernels/cuda"
    cd "$root" || return
    printf '%s\n' kernels/cuda/*.cu | xargs -P "$(nproc)" -I{} sh -c \
        "'$1' $flags -gencode arch=compute_$2,code=sm_$2 -c {} -o '$objects/'\$(basename {}).o" || return
    gcc -std=gnu11 -O3 -fPIC -fvisibility=hidden -I include -I kernels -I kernels/cuda -DFRINGE_ABI="\"$(cat "$prefix/abi")\"" \
        -c kernels/cuda/table.c -o "$objects/table.o" || return
    "$1" -shared -cudart static "$objects"/*.o -o "$objects/libfringe-cuda.so" -lcublas -lcusparse \
        -Xlinker --no-undefined -Xlinker --exclude-libs=ALL || return
    mv "$objects/libfringe-cuda.so" "$build/libfringe-cuda.so"
}

build_plugin() {
    local nvcc architecture
    architecture=$("$smi" --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d '. ')
    if nvcc=$(find_tool nvcc ${CUDACXX:-}) && [ ! -e "$build/plugin-$architecture" ]; then
        export -f compile_plugin
        if [ -d "$prefix" ]; then
            step "plug-in built for architecture $architecture" 200 env work="$work" root="$root" prefix="$prefix" \
                build="$build" bash -c 'compile_plugin "$@"' - "$nvcc" "$architecture"
        else
            step "plug-in built" 300 cmake --build "$build" --target fringe-cuda
        fi && touch "$build/plugin-$architecture"
    fi
    if [ ! -e "$build/libfringe-cuda.so" ]; then
        row "plug-in" "did not run: it was neither built here nor packed" "" "" no
        return 1
    fi
    ln -sf ../libfringe-cuda.so "$build/tests/libfringe-cuda.so"
}

# What every stage begins with: 69 where there is no device. NAMES: the rows that then did not run.
begin() { # STAGE SECONDS NAMES...
    stage=$1 budget=$2
    shift 2
    SECONDS=0
    cuda_path='' fallback=''
    for name in libstdc++.so.6 libgcc_s.so.1 libgomp.so.1; do
        has_library "$name" || fallback=$prefix/fallback
    done
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,vader \
        OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_rmaps_base_oversubscribe=1 \
        OMPI_MCA_mpi_yield_when_idle=1 OMP_WAIT_POLICY=passive OMPI_MCA_hwloc_base_binding_policy=none \
        FRINGE_SOURCE="$root" FRINGE="$build/fringe" FRINGE_BUILD="$build" XDG_CACHE_HOME="$work/cache"
    smi=$(command -v nvidia-smi || ls /usr/local/nvidia/bin/nvidia-smi 2>/dev/null)
    row machine "$(uname -sr | cut -d- -f1), $(nproc) cores, glibc $(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d' ' -f2)"
    # the programs run with what the archive brings
    export -f ours # timeout runs programs, not functions
    export prefix cuda_path fallback
    step "the program starts" 30 bash -c 'ours "$@"' - "$build/fringe" --version || true
    if [ -z "$smi" ] || ! timeout 30 "$smi" -L >"$work/devices" 2>&1 || ! grep -q '^GPU' "$work/devices"; then
        [ "$stage" != check ] || train_on cpu 2 cpu-2 || true
        all_not_run "no CUDA device" "$@"
        exit 69
    fi
    row device "$(head -1 "$work/devices" | sed 's/ (UUID.*//'), driver $("$smi" --query-gpu=driver_version \
        --format=csv,noheader | head -1), $(wc -l <"$work/devices") device(s)"
    build_plugin || { all_not_run "there is no plug-in" "$@"; exit 1; }
    find_cuda_libraries
    export cuda_path
}

# ---- check

# train_on BACKEND RANKS FOLDER SETTINGS...
train_on() {
    local backend=$1 ranks=$2 dir=$3
    shift 3
    [ -d "$work/graph" ] || ours "$build/fringe" generate "$check_graph" -o "$work/graph" --quiet >"$work/log" 2>&1
    local words=() setting
    for setting in data.path="$work/graph" data.cache="$work/cache" run.backend="$backend" run.dir="$work/$dir" \
        train.epochs=10 train.eval_every=5 run.log_every=0 run.checkpoint_every=0 model.layers=3 model.hidden=256 "$@"; do
        words+=(--set "$setting")
    done
    step "training on $ranks rank(s), run.backend=$backend${*:+, $*}" 90 bash -c 'ours "$@"' - \
        "$build/fringe" train "$root/configs/reddit-small-gcn.json" --ranks "$ranks" "${words[@]}"
}

# The largest relative difference of the losses of two runs, over their epochs.
loss_distance() {
    paste <(grep -o '"loss": [-0-9.e+]*' "$work/$1/metrics.jsonl" | awk '{print $2}') \
        <(grep -o '"loss": [-0-9.e+]*' "$work/$2/metrics.jsonl" | awk '{print $2}') |
        awk 'NF != 2 {bad = 1} {d = ($1 - $2) / $1; if (d < 0) d = -d; if (d > most) most = d}
            END {if (bad || NR == 0) print "nan"; else printf "%.2g\n", most}'
}

same_metrics() { # NAME FOLDER FOLDER: every figure but the times
    if cmp -s <(sed 's/, "time".*//' "$work/$2/metrics.jsonl") <(sed 's/, "time".*//' "$work/$3/metrics.jsonl"); then
        row "$1" identical "" identical yes
    else
        row "$1" different "" identical no
    fi
}

# against_cpu NAME RANKS BAR SETTINGS...: the losses are the CPU's, and the same again are the same
against_cpu() {
    local name=$1 ranks=$2 bar=$3 away
    shift 3
    train_on cpu "$ranks" "cpu-$name" "$@" && train_on cuda "$ranks" "cuda-$name" "$@" || return
    away=$(loss_distance "cpu-$name" "cuda-$name")
    row "loss, $name: from the CPU's, relative, at most" "$away" "" "≤ $bar" \
        "$(awk -v a="$away" -v b="$bar" 'BEGIN {print (a != "nan" && a <= b) ? "yes" : "no"}')"
    train_on cuda "$ranks" "again-$name" "$@" && same_metrics "metrics of the same training again, $name" \
        "cuda-$name" "again-$name"
}

check_trainings() {
    local adaqp=(mode=adaqp quantization.period=4 quantization.delay=1 "quantization.link=[1e-9,1e-5]"
        quantization.solver=exact)
    # Adam divides by the root of a mean of squares, which makes much of the rounding of small gradients
    local sgd=(train.optimizer=sgd 'model.post=["norm","activation","dropout"]')
    local zoo=(model.norm=batch model.skip=residual model.jk=max model.activation=elu "${sgd[@]}")
    against_cpu "1 rank" 1 1e-4
    against_cpu "2 ranks" 2 1e-4
    against_cpu "4 ranks" 4 1e-4
    against_cpu "bf16 on 2 ranks" 2 1e-2 run.precision=bf16
    against_cpu "BatchNorm, residuals, maximum of levels, ELU on 2 ranks" 2 1e-4 "${zoo[@]}"
    against_cpu "gcn2 on 2 ranks" 2 1e-4 model.layer=gcn2 "${sgd[@]}"
    train_on cuda 2 adaqp-2 "${adaqp[@]}" && train_on cuda 2 adaqp-again-2 "${adaqp[@]}" &&
        same_metrics "metrics of mode adaqp again, 2 ranks" adaqp-2 adaqp-again-2
}

run_operations() {
    device_step on_cuda "every operation against the CPU's (test_backend_ops)" 150 bash -c 'ours "$@"' - "$build/tests/test_backend_ops"
}

run_epochs() {
    local ranks
    for ranks in 1 2 4; do
        device_step on_a_device "epochs against the CPU's (test_device_epochs), $ranks rank(s)" 60 env OMP_NUM_THREADS=1 bash -c 'ours "$@"' - mpirun \
            --oversubscribe -n $ranks "$build/tests/test_device_epochs"
    done
}

check() {
    begin check 480 "every operation against the CPU's (test_backend_ops)" "epochs against the CPU's (test_device_epochs)" \
        "trainings on 1, 2 and 4 ranks, run.backend=cuda" "loss against the CPU's" "metrics of the same training again"
    run_operations
    run_epochs
    check_trainings
}

# ---- speed

note_rows() { # LOG: rows that a helper wrote itself count, too
    ! grep -q "^speed.*no$" "$rows" || missed=1
}

figure_of() { # ROW: its value in the rows
    awk -F'\t' -v r="$1" '$1 == "speed" && $2 == r {v = $3} END {print v}' "$rows"
}

against_peer() { # NAME OURS PEERS BAR: times
    local ratio
    if awk -v a="$2" -v b="$3" 'BEGIN {exit !(a + 0 > 0 && b + 0 > 0)}'; then
        ratio=$(awk -v a="$2" -v b="$3" 'BEGIN {printf "%.3f", b / a}')
        row "$1" "$ratio" "" "≥ $4" "$(awk -v r="$ratio" -v b="$4" 'BEGIN {print (r >= b) ? "yes" : "no"}')"
    else
        row "$1" "did not run: one of the two has no time" "" "≥ $4" no
    fi
}

# run.backend and the peers keep their own libraries apart: Python is not run with ours.
peers() {
    local out=$work/peers limit=150 fastest
    if ! python3 -c 'import torch' 2>/dev/null; then
        all_not_run "no torch" "cuSPARSE, fastest of its algorithms, 256 wide" "fastest fair peer"
        return
    fi
    [ $limit -le "$(left)" ] || limit=$(left)
    PYTHONPATH=$root/bench/common timeout -k 5 "$limit" python3 "$root/bench/peers/gpu_peers.py" "$work/graph" --rows "$rows" >"$out" 2>&1 ||
        row "bench/peers/gpu_peers.py" "failed: $(tail -1 "$out" | cut -c1-300 | tr '\t' ' ')" "" "" no
    tail -20 "$out"
    against_peer "aggregate, 256 wide: × cuSPARSE, fastest" "$(figure_of "aggregate, 256 wide")" \
        "$(figure_of "cuSPARSE, fastest of its algorithms, 256 wide")" 1.3
    fastest=$(figure_of "fastest fair peer")
    against_peer "epoch of GCN 3 x 256: × ${fastest:-no peer}" "$(figure_of "epoch of GCN 3 x 256, one rank")" \
        "$(figure_of "$fastest: epoch of GCN 3 x 256")" 1.2
    against_peer "epoch of GCN 3 x 256 with the savings: × ${fastest:-no peer}" \
        "$(figure_of "epoch of GCN 3 x 256 with the savings, one rank")" "$(figure_of "$fastest: epoch of GCN 3 x 256")" 2
    against_peer "epoch of GCN 3 x 256, bf16: × torch in bf16 with both CSRs stored" \
        "$(figure_of "epoch of GCN 3 x 256, one rank, bf16")" "$(figure_of "torch in bf16 with both CSRs stored: epoch of GCN 3 x 256")" 1.2
    against_peer "epoch of GCN 3 x 256 with the savings, bf16: × torch in bf16 with both CSRs stored" \
        "$(figure_of "epoch of GCN 3 x 256 with the savings, one rank, bf16")" \
        "$(figure_of "torch in bf16 with both CSRs stored: epoch of GCN 3 x 256")" 2
}

speed() {
    begin speed 540 "copy from device to device" "aggregate, 256 wide" "cuSPARSE, 256 wide" "quantize and pack" \
        "unpack and dequantize" "dense products" "epoch of GCN 3 x 256" "fastest fair peer"
    row graph "$graph"
    step "graph generated" 150 bash -c 'ours "$@"' - "$build/fringe" generate "$graph" -o "$work/graph" --quiet || return
    step "kernels measured" 150 bash -c 'ours "$@"' - "$build/bench_gpu" --stage=kernels --data="$work/graph" --rows="$rows"
    cat "$work/log"
    step "epoch measured" 150 bash -c 'ours "$@"' - "$build/bench_gpu" --stage=epoch --data="$work/graph" --rows="$rows"
    cat "$work/log"
    peers
    note_rows
}

# ---- sanitize

sanitize() {
    local tool sanitizer
    begin sanitize 540 memcheck racecheck synccheck
    sanitizer=$(find_tool compute-sanitizer) || { all_not_run "no compute-sanitizer" memcheck racecheck synccheck; return; }
    for tool in memcheck racecheck synccheck; do
        FRINGE_TEST_SHORT=1 device_step on_cuda "$tool" 170 bash -c 'ours "$@"' - "$sanitizer" --tool $tool --error-exitcode 9 "$build/tests/test_backend_ops"
        grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$work/log" | tail -1
    done
}

# ---- table

table() {
    [ -f "${1:-}" ] || { echo "gpu.sh: table wants a file of rows" >&2; exit 66; }
    awk -F'\t' '
        $2 == "device" && $1 == "check" {device = $3}
        $2 == "device" && device == "" {device = $3}
        {line[NR] = "| " $1 " | " $2 " | " $3 ($4 == "" ? "" : " " $4) " | " $5 " | " \
            ($6 == "yes" ? "ok" : $6 == "skipped" ? "skipped" : $6 == "no" ? ($3 ~ /^did not run/ ? "not run" : "short") : "") " |"}
        END {
            print (device == "" ? "No device was at hand; nothing is claimed about speed." : "On " device ":")
            print ""
            print "| stage | row | value | bar | |"
            print "|---|---|---|---|---|"
            for (i = 1; i <= NR; i++) print line[i]
        }' "$1"
}

verb=${1:-}
[ $# -eq 0 ] || shift
if [ "$verb" = table ]; then
    table "$@"
    exit
fi
case $verb in
check | speed | sanitize) [ $# -eq 0 ] || unpack_and_go "$verb" "$1" ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rows=${OUT:-$PWD}
[ ! -d "$rows" ] || rows=$rows/gpu-rows.tsv
rows=$(realpath "$rows")
case $verb in
pack) pack "$@" ;;
check | speed | sanitize)
    $verb
    [ $missed -ne 0 ] || [ $skipped -eq 0 ] || exit 77
    exit $missed
    ;;
*) usage ;;
esac
