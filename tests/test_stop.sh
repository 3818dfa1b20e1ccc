#!/usr/bin/env bash
# long, timed
# If this failed, a rank that stops answering at some moment of a training would hold the job, or the
# others would end it without saying who.
. "$(dirname "${BASH_SOURCE[0]}")/stops.sh"
RANDOM=5 epochs=40
stops 6 10 # a crowded machine
