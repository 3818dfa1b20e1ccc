#!/usr/bin/env bash
# once
# If this failed, the repository would hold what a build makes, or data: every clone would carry it for ever.
cd "${FRINGE_SOURCE:?}" || exit 1
tracked=$(git ls-files -s 2>/dev/null) && [ -n "$tracked" ] || { echo "skipped: this is no checkout of git"; exit 77; }
made=$(git ls-files | grep -E '(^|/)(CMakeCache\.txt|build\.ninja|\.ninja_(log|deps))$|\.(o|a|so|pyc)$')
large=$(git ls-files -z | xargs -0 du -b 2>/dev/null | awk '$1 > 262144 {print $2}')
[ -z "$made$large" ] || { echo "FAILED: tracked, but made by a build or larger than 256 KiB:" $made $large; exit 1; }
