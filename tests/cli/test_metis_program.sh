#!/usr/bin/env bash
# once
# If this failed, a METIS that crashes or is killed would end the job without a sentence, or leave a
# cut that is none in the cache; or a stop would wait for METIS, or leave it behind.
. "$FRINGE_SOURCE/tests/cli/lib.sh"

tiny
program() { # NAME LINE: a program that does that in the place of fringe-metis
    printf '#!/bin/sh\n%s\n' "$2" >"$1"
    chmod +x "$1"
}
cut() { env FRINGE_METIS="$PWD/$1" "$FRINGE" partition tiny.json --parts 3; }

program killed 'kill -9 $$'
expect 'killed' 71 'METIS was killed while it cut 600 nodes, probably by the kernel.*partition.method fennel' cut killed
program aborts 'kill -6 $$'
expect 'aborted' 69 'METIS failed on 600 nodes .Aborted.; use partition.method fennel' cut aborts
program crashes 'kill -11 $$'
expect 'crashed' 69 'METIS failed on 600 nodes .Segmentation fault.' cut crashes
program ends 'exit 3'
expect 'ended' 69 'ended with status 3 and cut nothing' cut ends
program nothing 'exit 0'
expect 'did nothing' 69 'ended with status 0 and cut nothing' cut nothing
expect 'is missing' 69 'no-such-program cannot be started: No such file.*FRINGE_METIS' cut no-such-program
expect 'killed beside other ranks' 71 'METIS was killed' env FRINGE_METIS="$PWD/killed" timeout 60 \
    "$FRINGE" train tiny.json --ranks 2 --set run.dir=killed-run
ls cache/fringe/parts-* >/dev/null 2>&1 && fail 'a cut that failed is in the cache'

# --- a stop while METIS runs: fringe ends at once, and METIS with it
endless=$FRINGE_BUILD/tests/endless_metis.so
if [ -e "$endless" ]; then
    program endless "echo \$\$ >$work/pid; LD_PRELOAD=$endless exec $FRINGE_BUILD/fringe-metis \"\$@\""
    set -m # job control, so that the shell does not make INT of what runs in the background ignored
    stop() { # SIGNAL CODE COMMAND...
        local signal=$1 code=$2 status=0 metis
        shift 2
        rm -f pid
        FRINGE_METIS=$work/endless "$@" >out 2>&1 </dev/null & local fringe=$!
        for _ in $(seq 200); do [ -s pid ] && break || sleep 0.05; done
        metis=$(cat pid)
        sleep 0.3
        kill -0 $metis || fail "METIS does not run: $(cat out)"
        kill -$signal $fringe
        local since=$SECONDS
        wait $fringe || status=$?
        [ $status -eq $code ] || fail "$signal: exit $status (expected $code): $(cat out)"
        [ $((SECONDS - since)) -le 5 ] || fail "$signal: it took $((SECONDS - since)) s"
        for _ in $(seq 40); do # a process that nobody waits for stays a zombie, Z
            kill -0 $metis 2>/dev/null && ! grep -q '^State:.*Z' /proc/$metis/status || break
            sleep 0.05
        done
        if kill -0 $metis 2>/dev/null && ! grep -q '^State:.*Z' /proc/$metis/status; then
            kill -KILL $metis
            fail "$signal: METIS is left behind by $*"
        fi
        echo "ok: $signal ends $2 and METIS"
    }
    for signal in INT TERM; do
        stop $signal 75 "$FRINGE" train tiny.json --ranks 2 --set run.dir=stopped
        stop $signal $((128 + $(kill -l $signal))) "$FRINGE" partition tiny.json --parts 3
    done
    ls cache/fringe/parts-* >/dev/null 2>&1 && fail 'a cut that was stopped is in the cache'
    set +m
else
    echo "skipped: $endless is not built"
fi

expect 'fennel needs no METIS to cut' 0 'halo' env FRINGE_METIS="$PWD/killed" "$FRINGE" partition tiny.json \
    --parts 3 --set partition.method=fennel --set partition.reorder=false
expect 'METIS itself' 0 'halo' "$FRINGE" partition tiny.json --parts 3
rm -r cache/fringe/parts-*
expect 'METIS has memory, which is told' 0 '"metis_memory": [1-9][0-9]{5,}' "$FRINGE" partition tiny.json --parts 3 --json
expect 'none if nothing was cut' 0 '"metis_memory": null' "$FRINGE" partition tiny.json --parts 3 --json
expect 'the program alone' 64 'is started by fringe' "$FRINGE_BUILD/fringe-metis"
expect 'the program with another file' 66 'is started by fringe' "$FRINGE_BUILD/fringe-metis" 0
finish
