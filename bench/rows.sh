#!/bin/sh
# Is a new row of a table tested by the suite, though no test names it? bench/rows.sh [--only FAMILY] [--work FOLDER] [--strict]
# See rows.py.
exec python3 "$(dirname "$0")/rows.py" "$@"
