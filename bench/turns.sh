#!/bin/sh
# Is NEW as fast as OLD? See trainings/turns.py.
here=$(dirname "$0")
PYTHONPATH="$here/common${PYTHONPATH:+:$PYTHONPATH}" exec python3 "$here/trainings/turns.py" "$@"
