#!/bin/sh
# Do OLD and NEW train to the same bytes? See trainings/same.py.
here=$(dirname "$0")
PYTHONPATH="$here/common${PYTHONPATH:+:$PYTHONPATH}" exec python3 "$here/trainings/same.py" "$@"
