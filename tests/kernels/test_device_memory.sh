#!/usr/bin/env bash
# If this failed, code outside kernels/ could read or write what lies in the memory of a device: it
# would run on a CPU and die on the first backend that has memory of its own.
set -u
failed=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Every public header: none of them may complete what is the device's.
for header in "$FRINGE_SOURCE"/include/fringe/*.h; do
    echo "#include \"fringe/${header##*/}\""
done >"$folder/all.h"

# compiles EXPRESSION: does the compiler take it, and if not, what does it say?
compiles() {
    cat >"$folder/a.c" <<C
#include "all.h"
int try(const Backend *backend, Rows rows, DeviceFloat *window);
int try(const Backend *backend, Rows rows, DeviceFloat *window) {
    DeviceEvent *event = backend->event_new();
    return rows.count > 0 && window != NULL && event != NULL && $1;
}
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
refuse '(event->count = 3)'
for type in DeviceFloat DeviceDouble DeviceByte DeviceInt32 DeviceInt64 DeviceEvent; do
    refuse "sizeof($type) > 0"
done
accept 'rows.at != window'
accept 'backend->event_reached(event)'
accept 'rows_columns(rows, (Range){1, 2}).at != flat_at(window, 1)'

# A trainer knows nothing of streams of events, whose Event is another one.
echo '#include "fringe/trainer.h"' >"$folder/a.c"
if "${CC:-cc}" -std=gnu11 -MM -I "$FRINGE_SOURCE/include" "$folder/a.c" | grep 'fringe/events\.h'; then
    echo "FAILED: fringe/trainer.h opens fringe/events.h"
    failed=1
fi

[ $failed -eq 0 ] && echo "the memory of a device stays closed"
exit $failed
