#!/usr/bin/env bash
# once
# If this failed, ranks beyond reason would start and take the machine for minutes, or nobody would
# learn what Open MPI wants on several hosts.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tiny
"$FRINGE" generate planted:nodes=12,edges=20,communities=2,classes=2,features=4 -o few >/dev/null || exit 1
mkdir none && printf '#!/bin/sh\ntouch "%s/started"\n' "$work" >none/mpirun && chmod +x none/mpirun

# no_start NAME CODE 'regular expression' COMMAND...: without mpirun, in one line
no_start() {
    PATH=$work/none:$PATH expect "$@"
    [ ! -e started ] || fail "$1: mpirun was started"
    [ "$(wc -l <out)" -eq 1 ] || fail "$1: more than one line: $(cat out)"
    rm -f started
}

# --- ranks and cores
core=$(taskset -pc $$ | sed 's/.*: \([0-9]*\).*/\1/')
for command in "train tiny.json" "compare tiny.json" "evaluate tiny.json" "predict tiny.json" "probe"; do
    no_start "9 ranks of $command on a core" 64 \
        '^fringe: --ranks 9 is more than 8 for each of the 1 core that .* --oversubscribe' \
        taskset -c "$core" "$FRINGE" $command --ranks 9
    expect "$command explains it" 0 '^ +--oversubscribe +allow more than 8 ranks' "$FRINGE" ${command% *} --help
done
no_start "9 ranks if they are meant, of no config" 66 'none.json does not exist' \
    taskset -c "$core" "$FRINGE" train none.json --ranks 9 --oversubscribe
no_start "8 ranks on a core, of no config" 66 'none.json does not exist' \
    taskset -c "$core" "$FRINGE" train none.json --ranks 8
expect "doctor says so, too" 69 'FAIL  cores  .*more than 8 for each' \
    taskset -c "$core" "$FRINGE" doctor tiny.json --ranks 9
expect "it is completed" 0 ' train\) echo .* --oversubscribe' "$FRINGE" help bash
expect "and in the manual" 0 'oversubscribe' "$FRINGE" help man

# --- more threads than cores: the process starts itself once more, so that they wait asleep, and has its config again
expect "two threads on a core" 0 'result' bash -c \
    "env -u GOMP_SPINCOUNT -u OMP_WAIT_POLICY taskset -c $core '$FRINGE' train - --set run.threads=2 --set train.epochs=2 <tiny.json"

# --- quotas of cgroups, for the process itself or above it
boxed() { LD_PRELOAD=$FRINGE_BUILD/tests/other_root.so OTHER_ROOT=$work/root "$FRINGE" "$@"; }
mkdir -p root/proc/self root/sys/fs/cgroup/outer/inner root/sys/fs/cgroup/cpu/box
echo '0::/outer/inner' >root/proc/self/cgroup
echo 'max 100000' >root/sys/fs/cgroup/outer/inner/cpu.max
echo '90000 100000' >root/sys/fs/cgroup/outer/cpu.max
no_start "a quota of version 2 above" 64 'of the 1 core' boxed train none.json --ranks 9
printf '3:cpuset:/\n2:cpu,cpuacct:/box\n0::/\n' >root/proc/self/cgroup
echo 40000 >root/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us
echo 50000 >root/sys/fs/cgroup/cpu/box/cpu.cfs_period_us
no_start "a quota of version 1" 64 'of the 1 core' boxed train none.json --ranks 9
echo -1 >root/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us
no_start "no quota" 66 'none.json' boxed train none.json --ranks 8

# --- ranks and nodes
sentence='12 nodes cannot be cut into 13 parts; use 1 to 12 ranks$'
no_start "more ranks than a folder has nodes" 78 "^fringe: tiny.json: planted.*: $sentence" \
    "$FRINGE" train tiny.json --set data.path=few --ranks 13
printf '%d %d\n' 0 1 1 2 2 3 3 0 >square.txt
square='train tiny.json --set data.path=square.txt --set data.transforms=["random:4"] --ranks 5'
square_says='square: 4 nodes cannot be cut into 5 parts; use 1 to 4 ranks$'
expect "rank 0 counts the nodes of another file" 78 "^fringe: $square_says" "$FRINGE" $square
[ "$(grep -c cut out)" -eq 1 ] || fail "in one line: $(cat out)"
no_start "and the cache knows them then" 78 "^fringe: tiny.json: $square_says" "$FRINGE" $square

# --- what Open MPI wants from those who start it themselves
unshare -rn true 2>/dev/null && command -v ip >/dev/null && bridge="unshare -rn"
expect "doctor runs" "${bridge:+0}" . $bridge sh -c "
    [ -z '$bridge' ] || { ip link set lo up && ip link add docker0 type veth; }
    '$FRINGE' doctor" || true
for flag in --oversubscribe --allow-run-as-root ${bridge:+btl_tcp_if_include}; do
    case $flag in --allow*) [ "$(id -u)" -eq 0 ] || continue ;; esac
    grep -q -e "$flag" out || fail "doctor does not name $flag: $(cat out)"
done
for flag in --oversubscribe --allow-run-as-root btl_tcp_if_include; do
    sed -n '/^## Several hosts/,/^## /p' "$FRINGE_SOURCE/docs/cluster.md" | grep -q -e "$flag" ||
        fail "docs/cluster.md does not name $flag where mpirun is called"
done
[ -n "${bridge-}" ] || echo "skipped: the row of bridges, because no network can be made here"
finish
