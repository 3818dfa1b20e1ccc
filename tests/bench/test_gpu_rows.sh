#!/usr/bin/env bash
# once
# If this failed, bench/gpu.sh check would call a device test passed whose case for the device skipped or never ran, or a
# ratio of bench/gpu.sh speed would not name the peer that it is about. Device, programs and peers are stubs here, which
# say what a machine would.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/tree/{bench,build/tests,bin}
cp "$FRINGE_SOURCE/bench/gpu.sh" "$work/tree/bench/"
failed=0
stub() { # PATH, and its text
    cat >"$work/tree/$1"
    chmod +x "$work/tree/$1"
}
stub bin/nvidia-smi <<'STUB'
#!/bin/sh
case $* in
-L) echo "GPU 0: a stub (UUID: none)" ;;
*compute_cap*) echo 9.0 ;;
*) echo 1.0 ;;
esac
STUB
stub bin/mpirun <<'STUB'
#!/bin/sh
shift 3 # --oversubscribe -n RANKS
exec "$@"
STUB
stub build/fringe <<'STUB'
#!/bin/sh
for word; do case $word in run.dir=*) mkdir -p "${word#run.dir=}" && echo '{"loss": 1.5, "time": 1}' >"${word#run.dir=}/metrics.jsonl" ;; esac; done
STUB
touch "$work/tree/build/plugin-90" "$work/tree/build/libfringe-cuda.so"

# check STATUS MET OPERATIONS EPOCHS: of a machine whose two tests print these lines of their cases for the device
check() {
    local wanted=$1 met=$2 status=0 name
    printf '#!/bin/sh\nprintf "%%s\\n" "skipped: no device is there" "%s on_cuda"\n' "$3" | stub build/tests/test_backend_ops
    printf '#!/bin/sh\nprintf "%%s\\n" "skipped: no device is there" "%s on_a_device"\n' "$4" | stub build/tests/test_device_epochs
    rm -f "$work/rows"
    PATH=$work/tree/bin:$PATH OUT=$work/rows bash "$work/tree/bench/gpu.sh" check >"$work/out" 2>&1 || status=$?
    bash "$work/tree/bench/gpu.sh" table "$work/rows" >"$work/table"
    for name in test_backend_ops test_device_epochs; do
        cut -f 2,6 "$work/rows" | grep "$name" | cut -f 2 | sort -u >"$work/met"
        grep "$name" "$work/table" | awk -F ' *[|] *' '{print $6}' | sort -u >"$work/cell"
        echo "$name: $(cat "$work/met"), in the table: $(cat "$work/cell")"
    done >"$work/said"
    if [ $status -ne "$wanted" ] || [ "$(cat "$work/said")" != "$met" ]; then
        echo "FAILED: exit status $status, expected $wanted; said:" && cat "$work/said" "$work/out" && failed=1
    fi
}
both() { printf 'test_backend_ops: %s, in the table: %s\ntest_device_epochs: %s, in the table: %s' "$@"; }
check 0 "$(both yes ok yes ok)" '[       OK ]' '[       OK ]'
check 77 "$(both yes ok skipped skipped)" '[       OK ]' '[  SKIPPED ]'
check 77 "$(both skipped skipped skipped skipped)" '[  SKIPPED ]' '[  SKIPPED ]'
check 1 "$(both no short skipped skipped)" '[  FAILED  ]' '[  SKIPPED ]'

# --- speed: the fastest fair peer takes 30 ms, fringe 20 and, with the savings, 10
mkdir -p "$work/tree/bench/peers"
stub build/bench_gpu <<'STUB'
#!/bin/sh
for word; do case $word in --rows=*) rows=${word#--rows=} ;; esac; done
[ "$1" = --stage=kernels ] || printf 'speed\tepoch of GCN 3 x 256%s\t%s\tms\t\t\n' ', one rank' 20 \
    ' with the savings, one rank' 10 >>"$rows"
STUB
stub bin/python3 <<'STUB'
#!/bin/sh
[ "$1" != -c ] || exit 0
printf 'speed\t%s\t%s\t\t\t\n' "A's form: epoch of GCN 3 x 256" 30 "B: epoch of GCN 3 x 256" 40 'fastest fair peer' "A's form" >>"$4"
STUB
rm -f "$work/rows"
PATH=$work/tree/bin:$PATH OUT=$work/rows bash "$work/tree/bench/gpu.sh" speed >"$work/out" 2>&1
for told in "epoch of GCN 3 x 256: × A's form"$'\t1.500' "epoch of GCN 3 x 256 with the savings: × A's form"$'\t3.000'; do
    grep -qF "$told" "$work/rows" || { echo "FAILED: no row '$told' in:" && cat "$work/rows" && failed=1; }
done
exit $failed
