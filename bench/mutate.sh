#!/bin/sh
# Mutations of the program that no test notices: bench/mutate.sh [--count N] [--seed S] [--only FILE | --named] [--log FILE] [--strict]
# See breaking/mutate.py.
exec python3 "$(dirname "$0")/breaking/mutate.py" "$@"
