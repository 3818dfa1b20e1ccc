#!/bin/sh
# Runs benches by name: bench/run.sh NAME... [--strict] [--smoke] [--help] [options of the bench]
# A bench is a file NAME.sh, NAME.py or NAME.c (built as bench_NAME) in a folder of bench/ named for a purpose: kernels,
# data, trainings, peers, rig (a network of namespaces), breaking, building. Where there are both NAME.sh and NAME.c the
# script runs the program. What they share is in bench/common. Tables go to bench/results/tables/NAME.json; what a bench
# keeps in bench/results/NAME.json is not measured again: remove it there to do so.
#
# --hours=H: no cell is begun after so many hours. --results=FOLDER: keeps them there, --merge=FOLDER,...: takes in what
#   such folders have, so that cells can be measured on several machines.
# --strict: the exit status says whether every bar of every bench was reached. 77: all were skipped; they say why.
# --help: what the head of its file says: what is measured, and every option there is.
# --smoke: does each start and end? On tiny data of its own, with the options of the line "smoke: OPTIONS" of its file,
#   without bars, and writing nothing outside a temporary folder, which goes.
# FRINGE_BUILD names a build that is there; otherwise build/ is made. PYTHON: an interpreter that has numpy, torch, ...
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
build=${FRINGE_BUILD:-$root/build} python=${PYTHON:-python3}
purposes="kernels data trainings peers rig breaking building"

list() { # the names of all benches of a purpose
    ls "$here/$1" | sed -n 's/\.\(c\|sh\|py\)$//p' | sort -u
}
find_bench() { # its file, the one to start
    for kind in sh py c; do
        for purpose in $purposes; do
            [ ! -f "$here/$purpose/$1.$kind" ] || { echo "$here/$purpose/$1.$kind"; return; }
        done
    done
}
head_of() { # FILE
    case $1 in
    *.py) awk '{quotes += gsub(/"""/, "")} quotes {print} quotes > 1 {exit}' "$1" ;;
    *.sh) sed -n '/^#!/d; /^#/!q; s/^# \{0,1\}//p' "$1" ;;
    *.c) sed -n '/^\/\//!q; s/^\/\/ \{0,1\}//p' "$1" ;;
    esac
}
knows_options() { # FILE OPTIONS...: all are common ones, or stand at its head
    file=$1
    shift
    for word in "$@"; do
        case ${word%%=*} in --strict | --hours | --results | --merge) continue ;; esac
        head_of "$file" | grep -qE -e "(^|[^a-z-])${word%%=*}([^a-z_-]|$)" || {
            echo "bench/run.sh: ${name} has no option ${word%%=*}; bench/run.sh $name --help names those it has" >&2
            return 1
        }
    done
}
smoke_options() { # of the bench of that file; false where it says none
    grep -q '^[/# ]*smoke:' "$1" && sed -n "/^[/# ]*smoke:/{s///; s#BUILD/#$build/#g; s#DATA/#${FRINGE_DATA:-}/#g; p}" "$1"
}

# Everything that a smoke run reads and writes is in FRINGE_SMOKE.
begin_smoke() {
    FRINGE_SMOKE=$(mktemp -d "${TMPDIR:-/tmp}/fringe-smoke-XXXXXX")
    trap 'rm -rf "$FRINGE_SMOKE"' EXIT
    trap 'exit 130' INT TERM HUP
    # ranks and threads that wait give their core to whatever else runs
    export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none OMP_WAIT_POLICY=passive
    export FRINGE_SMOKE TMPDIR="$FRINGE_SMOKE" XDG_CACHE_HOME="$FRINGE_SMOKE/cache" FRINGE_DATA="$FRINGE_SMOKE/data"
    mkdir "$FRINGE_DATA"
    "$python" "$here/common/smoke_data.py" "$FRINGE_DATA"
}

start() { # FILE OPTIONS...
    file=$1
    shift
    case $file in
    *.sh) bash "$file" "$@" ;;
    *.py) "$python" "$file" "$@" ;;
    *.c) "$build/bench_$(basename "$file" .c)" "$@" ;;
    esac
}

names='' options='' smoke='' help=''
for word in "$@"; do
    case $word in
    --help) help=yes ;;
    --smoke) smoke=yes ;;
    -*) options="$options $word" ;;
    *) names="$names $word" ;;
    esac
done
if [ -z "$names" ]; then
    echo "usage: bench/run.sh NAME... [--strict] [--smoke] [--help] [--option=value]; benches:" >&2
    for purpose in $purposes; do echo "  $purpose:" $(list $purpose) >&2; done
    [ -n "$help" ] && exit 0 || exit 64
fi
worst=0 ran=0 skipped=0
for name in $names; do
    file=$(find_bench "$name")
    if [ -z "$file" ]; then
        echo "bench/run.sh: there is no bench '$name'" >&2 && worst=64
    elif [ -n "$help" ]; then
        head_of "$file"
    else
        knows_options "$file" $options || worst=64
    fi
done
[ -z "$help" ] && [ $worst -eq 0 ] || exit $worst

if [ -z "${FRINGE_BUILD:-}" ]; then
    [ -f "$build/build.ninja" ] || cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release >&2
    ninja -C "$build" benches fringe >&2
fi
export FRINGE_BUILD="$build" FRINGE="${FRINGE:-$build/fringe}" PYTHONPATH="$here/common${PYTHONPATH:+:$PYTHONPATH}"
export PYTHONDONTWRITEBYTECODE=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
[ -z "$smoke" ] || begin_smoke

for name in $names; do
    echo "== $name"
    file=$(find_bench "$name")
    if [ -n "$smoke" ] && ! options=$(smoke_options "$file"); then
        echo "bench/run.sh: $name has no smoke form: its file needs a line \"smoke: OPTIONS\"" >&2
        worst=70
        continue
    fi
    status=0
    start "$file" $options || status=$?
    case $status in
    0) ran=1 ;;
    77) skipped=1 ;;
    *) worst=$status && echo "bench/run.sh: $name ended with $status" >&2 ;;
    esac
done
[ $worst -ne 0 ] || [ $ran -eq 1 ] || [ $skipped -eq 0 ] || worst=77
exit $worst
