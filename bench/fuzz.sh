#!/bin/sh
# The fuzzers of the readers: bench/fuzz.sh [READER...] [--runs N] [--seconds S] [--strict]
# See fuzz.py.
exec python3 "$(dirname "$0")/fuzz.py" "$@"
