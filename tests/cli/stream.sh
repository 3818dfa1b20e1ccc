# What the tests of `fringe stream` share. Source it after lib.sh.

export FRINGE_SOURCE PYTHONDONTWRITEBYTECODE=1
python=
for candidate in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! "$candidate" -c 'import numpy' 2>/dev/null || python=$candidate
done
if [ -z "$python" ]; then
    echo "skipped: no Python here has numpy"
    exit 77
fi
tests=$FRINGE_SOURCE/tests/cli

streams() { "$python" "$tests/streams.py" "$1" || exit 1; }

stream() { "$FRINGE" stream "$@"; }

# Lines of a JSON file without those of the given keys.
without() { # FILE KEY...
    local file=$1
    shift
    grep -vE "^ *\"($(IFS='|' && echo "$*"))\":" "$file"
}

# same_but NAME FOLDER FOLDER KEY...: the same files with the same bytes, but for these keys of their
# stream.json and checkpoint.json
same_but() {
    local name=$1 one=$2 other=$3 file
    shift 3
    if ! diff -rq -x '*.json' "$one" "$other"; then
        fail "$name"
        return
    fi
    while read -r file; do
        cmp -s <(without "$one/$file" none "$@") <(without "$other/$file" none "$@") && continue
        fail "$name: $file"
        diff <(without "$one/$file" none "$@") <(without "$other/$file" none "$@") | head -20
        return
    done < <(cd "$one" && find . -name '*.json')
    echo "ok: $name"
}

# same_folder NAME FOLDER FOLDER
same_folder() { same_but "$@"; }

# Waits until the file is there, or the process has ended.
appears() { while [ ! -e "$1" ] && kill -0 "$2" 2>/dev/null; do sleep 0.02; done; }
