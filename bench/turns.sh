#!/bin/sh
# Is NEW as fast as OLD? See turns.py.
exec python3 "$(dirname "$0")/turns.py" "$@"
