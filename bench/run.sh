#!/bin/sh
# Builds and runs benches by name: bench/run.sh NAME... [--strict] [options of the bench]
# A bench is bench/NAME.c (built as bench_NAME) or a script bench/NAME.sh or bench/NAME.py; where
# there are both NAME.sh and NAME.c the script runs the program.
# --strict: the exit status says whether every bar of every bench was reached.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")

names= options=
for word in "$@"; do
    case $word in
    -*) options="$options $word" ;;
    *) names="$names $word" ;;
    esac
done
if [ -z "$names" ]; then
    echo "usage: bench/run.sh NAME... [--strict] [--option=value]; benches:" \
        $(ls "$here" | sed -n 's/\.\(c\|sh\|py\)$//p' | grep -v -x -e bench -e run -e netrig -e cut -e figures -e record -e options -e gpu -e gpu_peers -e plots | sort -u) >&2
    exit 64
fi

[ -f "$root/build/build.ninja" ] ||
    cmake -S "$root" -B "$root/build" -G Ninja -DCMAKE_BUILD_TYPE=Release >&2
ninja -C "$root/build" benches fringe >&2

status=0
for name in $names; do
    echo "== $name"
    if [ -f "$here/$name.sh" ]; then
        bash "$here/$name.sh" $options || status=$?
    elif [ -f "$here/$name.c" ]; then
        "$root/build/bench_$name" $options || status=$?
    elif [ -f "$here/$name.py" ]; then
        python3 "$here/$name.py" $options || status=$?
    else
        echo "bench/run.sh: there is no bench '$name'" >&2
        status=64
    fi
done
exit $status
