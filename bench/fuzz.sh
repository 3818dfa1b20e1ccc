#!/bin/sh
# The fuzzers of the readers: bench/fuzz.sh [READER...] [--runs N] [--seconds S] [--strict]
# See breaking/fuzz.py.
PYTHONPATH=$(dirname "$0")/common exec python3 "$(dirname "$0")/breaking/fuzz.py" "$@"
