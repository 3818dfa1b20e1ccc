#!/usr/bin/env bash
# If this failed, a signal could run a handler in a rank that computes. oneDNN's products keep the
# stack pointer in a block of the heap, so the handler's frame would lie over whatever is beside that
# block, and the next free() would end the rank, or not (TRAPS 24).
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$FRINGE" generate planted:nodes=20000,edges=200000,communities=10,features=256 -o graph >/dev/null ||
    exit 1
cat >config.json <<'JSON'
{"data": {"path": "graph"}, "model": {"layers": 3, "hidden": [128]},
 "train": {"epochs": 100000}, "run": {"log_every": 0, "threads": 1, "checkpoint_every": 0}}
JSON
"$FRINGE" train config.json --ranks 2 --set run.dir=run >out 2>&1 </dev/null &
main=$!
begun run $main
ranks=$(pgrep -P "$(pgrep -P $main)") # of mpirun, which the supervisor started
[ "$(wc -w <<<"$ranks")" -eq 2 ] || fail "2 ranks, found: $ranks"

# Handlers of faults and of the alarm of MPI's start never return to what they interrupted; signals
# 32 and 33 belong to the C library.
number() { kill -l "$1"; }
harmless=$((3 << 31))
for name in ILL TRAP ABRT BUS FPE SEGV ALRM; do
    harmless=$((harmless | 1 << ($(number $name) - 1)))
done
mask() { echo $((16#$(awk -v field="$1:" '$1 == field {print $2}' "$2/status"))); }
threads=0
for task in $(printf '/proc/%s/task/* ' $ranks); do
    open=$(($(mask SigCgt $task) & ~$(mask SigBlk $task) & ~harmless))
    [ $open -eq 0 ] || fail "$task ($(cat $task/comm)) runs handlers of the signals $(printf %x $open)"
    threads=$((threads + 1))
done
[ $threads -ge 2 ] || fail "there are no threads to look at"
[ $failed -eq 1 ] || echo "ok: $threads threads of 2 ranks run no handler that returns"

for ((i = 0; i < 300; i++)); do
    kill -USR1 $ranks 2>/dev/null || break
    sleep 0.002
done
ended "many signals within an epoch stop it like one" $main 75 .
finish
