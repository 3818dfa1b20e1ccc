#!/bin/sh
# Runs benches by name: bench/run.sh NAME... [--strict] [options of the bench]
# A bench is a file NAME.sh, NAME.py or NAME.c (built as bench_NAME) in a folder of bench/ named for a purpose: kernels,
# data, trainings, peers, rig (a network of namespaces), breaking, building. Where there are both NAME.sh and NAME.c the
# script runs the program. What they share is in bench/common, and what they keep in bench/results/NAME.json.
# --strict: the exit status says whether every bar of every bench was reached. 77: a bench was skipped; it says why.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
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

names= options=
for word in "$@"; do
    case $word in
    -*) options="$options $word" ;;
    *) names="$names $word" ;;
    esac
done
if [ -z "$names" ]; then
    echo "usage: bench/run.sh NAME... [--strict] [--option=value]; benches:" >&2
    for purpose in $purposes; do echo "  $purpose:" $(list $purpose) >&2; done
    exit 64
fi

[ -f "$root/build/build.ninja" ] ||
    cmake -S "$root" -B "$root/build" -G Ninja -DCMAKE_BUILD_TYPE=Release >&2
ninja -C "$root/build" benches fringe >&2

export PYTHONPATH="$here/common${PYTHONPATH:+:$PYTHONPATH}"
status=0
for name in $names; do
    echo "== $name"
    file=$(find_bench "$name")
    case $file in
    *.sh) bash "$file" $options || status=$? ;;
    *.py) python3 "$file" $options || status=$? ;;
    *.c) "$root/build/bench_$name" $options || status=$? ;;
    *)
        echo "bench/run.sh: there is no bench '$name'" >&2
        status=64
        ;;
    esac
done
exit $status
