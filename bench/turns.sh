#!/bin/sh
# Is NEW as fast as OLD? See trainings/turns.py.
exec python3 "$(dirname "$0")/trainings/turns.py" "$@"
