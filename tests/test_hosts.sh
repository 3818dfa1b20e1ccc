#!/usr/bin/env bash
# once
# If this failed, the ways of docs/cluster.md to train on several hosts (--hosts, or mpirun with a hostfile; one
# cache that all see, a config and a graph that only rank 0's host has) would not work, would train another model than one
# host does, or could not be stopped and gone on with. Two hosts are network namespaces of
# bench/common/netrig.sh; they need root.
. "$(dirname "${BASH_SOURCE[0]}")/cli/lib.sh"
rig=$FRINGE_SOURCE/bench/common/netrig.sh
net=t$$
export TMPDIR=$work
tiny
if ! bash "$rig" up --name $net --hosts 2 --rate none >rig.log 2>&1; then
    echo "skipped: no hosts to be had: $(tail -n 1 rig.log)"
    exit 77
fi
trap 'cd /; bash "$rig" down --name $net; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

# Own files are on the first host only: the second one's daemon sees an empty folder in their place.
mkdir own cache
mv tiny tiny.json own/
printf 'h1 slots=2\nh2 slots=2\n' >hosts
cat >agent <<AGENT
#!/bin/sh
host=\$1; shift
exec "$work/netrig-$net/enter" "\$host" sh -c "mount -t tmpfs none '$work/own' && \$*"
AGENT
chmod 755 agent

# on_hosts RUN OPTIONS...: becomes the page's line on the first host
settings="--set train.epochs=600 --set train.eval_every=100 --set run.checkpoint_every=100"
settings+=" --set comm.timeout=20 --set run.threads=1"
on_hosts() {
    exec bash "$rig" exec --name $net --host 1 -- mpirun \
        --mca plm rsh --mca plm_rsh_agent "$work/agent" --mca oob_tcp_if_include eth0 \
        --mca btl self,vader,tcp --mca btl_tcp_if_include eth0 --mca orte_tmpdir_base "$work" \
        --hostfile hosts -n 4 --bind-to none \
        "$FRINGE" train own/tiny.json $settings --set data.cache="$work/cache" \
        --set run.dir="$work/own/$1" "${@:2}"
}
# by_hosts HOSTS RUN OPTIONS...: fringe starts the ranks; what mpirun must know of the rig is said by
# the variables of Open MPI
by_hosts() {
    env OMPI_MCA_plm=rsh OMPI_MCA_plm_rsh_agent="$work/agent" OMPI_MCA_oob_tcp_if_include=eth0 \
        OMPI_MCA_btl=self,vader,tcp OMPI_MCA_btl_tcp_if_include=eth0 OMPI_MCA_orte_tmpdir_base="$work" \
        bash "$rig" exec --name $net --host 1 -- "$FRINGE" train own/tiny.json $settings --ranks 4 \
        --hosts "$1" --set data.cache="$work/cache" --set run.dir="$work/own/$2" "${@:3}"
}
ranks_on() { ip netns pids "$1" | xargs -r -I{} cat /proc/{}/comm 2>/dev/null | grep -c '^fringe$'; }
same_run() { # NAME FOLDER
    same "$1: metrics" <(timeless one) <(timeless "own/$2")
    for file in model best optimizer; do
        same "$1: $file" {one,"own/$2"}/checkpoints/epoch-600/$file.safetensors
    done
}

expect "4 ranks on one host" 0 'result +epoch 600: ' "$FRINGE" train own/tiny.json $settings \
    --ranks 4 --set run.dir=one
expect "2 on each of two" 0 'result +epoch 600: ' by_hosts h1,h2 whole
grep -q '"ranks_on_first_node": 2,' own/whole/run.json || fail "--hosts h1,h2 did not spread 4 ranks evenly"
same_run "as on one host" whole

# USR1 to mpirun reaches the ranks of both
(on_hosts cut) >out 2>&1 </dev/null &
pid=$!
begun own/cut $pid
[ "$(ranks_on $net-h2)" -eq 2 ] || fail "there are not two ranks on the second host"
kill -USR1 $pid
status=0
wait $pid || status=$?
[ $status -eq 75 ] && echo "ok: USR1 stops both hosts" || fail "USR1: exit $status: $(cat out)"
goes_on() { (on_hosts cut --resume auto); }
expect "it goes on" 0 'result +epoch 600: ' goes_on
grep -q '^resume  *after epoch [1-9]' out || fail "it starts over: $(cat out)"
same_run "as if never stopped" cut
[ -z "$(ip netns pids $net-h2)" ] || fail "these stay on the second host: $(ip netns pids $net-h2)"

# A host that is gone from the network: its ranks are named, and nobody trains on. mpirun itself waits
# for that host's daemon as long as TCP does, a quarter of an hour (LIMITS 11), so it is ended here.
(on_hosts lost --set comm.timeout=3 --set train.epochs=100000) >out 2>&1 </dev/null &
pid=$!
begun own/lost $pid
ip -n $net-h2 link set eth0 down
for ((i = 0; i < 300 && $(ranks_on $net-h1) > 0; i++)); do sleep 0.1; done
kill -9 $pid
{ wait $pid; } 2>/dev/null
if [ $i -lt 300 ] && grep -qE 'ranks 2, 3 of 4 do not answer' out; then
    echo "ok: a lost host's ranks are named, and the others end"
else
    fail "a lost host: $(ranks_on $net-h1) ranks go on: $(cat out)"
fi
finish
