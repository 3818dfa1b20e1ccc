#!/usr/bin/env bash
# If this failed, code outside kernels/ could read or write what lies in the memory of a device: it
# would run on a CPU and die on the first backend that has memory of its own.
set -u
failed=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# compiles EXPRESSION: does the compiler take it, and if not, what does it say?
compiles() {
    cat >"$folder/a.c" <<C
#include "fringe/backend.h"
int try(Rows rows, DeviceFloat *window);
int try(Rows rows, DeviceFloat *window) { return rows.count > 0 && window != NULL && $1; }
C
    said=$("${CC:-cc}" -std=gnu11 -fsyntax-only -I "$FRINGE_SOURCE/include" "$folder/a.c" 2>&1)
}
refuse() {
    if compiles "$1" || ! grep -q 'incomplete\|undefined type' <<<"$said"; then
        echo "FAILED: '$1' outside kernels/ should be refused; said: $said"
        failed=1
    fi
}
accept() {
    if ! compiles "$1"; then
        echo "FAILED: '$1' should be fine; said: $said"
        failed=1
    fi
}

refuse 'rows.at[0] > 0'
refuse 'rows.at + 1 != NULL'
refuse '*window > 0'
accept 'rows.at != window'
accept 'rows_columns(rows, (Range){1, 2}).at != flat_window(window, 1)'

[ $failed -eq 0 ] && echo "the memory of a device stays closed"
exit $failed
