#!/usr/bin/env bash
# The Slurm script of docs/cluster.md on a Slurm of this machine's own: Debian's slurmctld with as many slurmd as
# the script wants nodes, in a folder that goes when it ends. The script runs as it stands, but for the
# config, the cores of a task and a time limit of one minute, so that --signal comes soon. It must be
# stopped by USR1 at least once, leave with 75, be requeued, go on and end with the bytes of a training
# that nobody stopped.
#
#   bench/run.sh slurm [--program=build/fringe] [--seconds=45]     seconds: how long the training is to take
#
# Needs root. Installs Debian's packages if they are missing. Exit status: 0 it did, 1 it did not,
# 77 it cannot be tried here.
#
# smoke:
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=$root/build/fringe seconds=45
. "$root/bench/common/options.sh"
options program seconds -- "$@"
program=$(realpath "$program")
[ -z "${FRINGE_SMOKE:-}" ] || skip "needs a Slurm of its own, which takes root, packages and minutes"

say() { echo "slurm: $*"; }
failed() {
    say "FAILED: $*"
    [ ! -e "${out:-}" ] || tail -n 20 "$out"
    exit 1
}

# --- Slurm

packages="slurmctld slurmd slurm-client slurm-wlm-plugins munge"
install_slurm() {
    local policy=/usr/sbin/policy-rc.d made=
    if dpkg-query -W $packages >/dev/null 2>&1 && command -v slurmctld munged >/dev/null; then
        return
    fi
    if [ ! -e $policy ]; then # Debian would start the daemons at once
        printf '#!/bin/sh\nexit 101\n' >$policy && chmod 755 $policy && made=yes
    fi
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        $packages; } >"$work/apt.log" 2>&1
    local status=$?
    [ -z "$made" ] || rm -f $policy
    [ $status -eq 0 ] || skip "$packages cannot be installed: $(tail -n 2 "$work/apt.log")"
}

# Nodes are names of this machine on ports of their own; each slurmd has its own folder for temporary
# files, where the pmix plugin keeps what it tells its tasks. A requeued job waits for cred_expire.
configure() { # NODES
    local host node
    host=$(hostname)
    mkdir -p "$work"/{state,munge}
    chmod 700 "$work/munge"
    (umask 077 && head -c 1024 /dev/urandom >"$work/munge/key")
    cat >"$work/slurm.conf" <<CONF
ClusterName=fringe
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=17817
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$work/munge/socket,cred_expire=5
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd-%n.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd-%n.log
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool/%n
TmpFS=$work/tmp/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=10
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
CONF
    for ((node = 1; node <= $1; node++)); do
        mkdir -p "$work"/{spool,tmp}/n$node
        echo "NodeName=n$node NodeHostname=$host NodeAddr=127.0.0.1 Port=$((17900 + node)) CPUs=1"
    done >>"$work/slurm.conf"
    echo "PartitionName=all Nodes=n[1-$1] Default=YES MaxTime=60 State=UP" >>"$work/slurm.conf"
    export SLURM_CONF=$work/slurm.conf
}

start_daemons() { # NODES
    local node
    munged --force --key-file="$work/munge/key" --socket="$work/munge/socket" \
        --pid-file="$work/munge.pid" --log-file="$work/munge/log" --seed-file="$work/munge/seed" ||
        skip "munged does not start: $(tail -n 2 "$work/munge/log")"
    slurmctld || skip "slurmctld does not start: $(tail -n 2 "$work/slurmctld.log")"
    for ((node = 1; node <= $1; node++)); do
        slurmd -N n$node || skip "slurmd does not start; was it built for several on a machine?"
    done
    for ((node = 0; node < 60; node++)); do
        [ "$(sinfo -h -t idle -o %D)" = "$1" ] && return
        sleep 0.5
    done
    skip "the nodes do not come up: $(sinfo -R)"
}

gone() { [ ! -e "/proc/$1" ] || grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null; }
end_daemons() {
    local file pid try
    cd /
    scancel -u root 2>/dev/null && sleep 2
    for file in "$work"/slurmd-*.pid "$work"/slurmctld.pid "$work"/munge.pid; do
        pid=$(cat "$file" 2>/dev/null) && kill "$pid" 2>/dev/null || continue
        for ((try = 0; try < 150; try++)); do
            gone "$pid" && break
            sleep 0.1
        done
        gone "$pid" || say "process $pid of $(basename "$file" .pid) stays"
    done
    rm -rf "$work"
}

# --- what is run

# The script of docs/cluster.md: the indented lines after "Under Slurm:".
readme_script() {
    awk '/^Under Slurm:/ {on = 1; next} on && /^    / {print substr($0, 5); next} on && NF && !/^<!--/ {exit}' \
        "$root/docs/cluster.md"
}
readme_number() { sed -n "s/.*--$1=\([0-9]*\).*/\1/p" "$work/readme.sh" | head -n 1; }

adapt() { # HOW: pmix, pmi2
    sed -e 's/--cpus-per-task=[0-9]*/--cpus-per-task=1 --time=1/' -e 's/USR1@[0-9]*/USR1@30/' \
        -e "s/--mpi=pmix/--mpi=$1/" -e 's|configs/[a-z-]*\.json|config.json|' "$work/readme.sh"
}

config() { # EPOCHS
    cat >"$work/config.json" <<JSON
{"data": {"path": "tiny"}, "model": {"layers": 2, "hidden": [16]},
 "train": {"epochs": $1, "eval_every": 50}, "run": {"dir": "run", "log_every": 100, "threads": 1}}
JSON
}

# Does srun start ranks that know of each other with this plugin?
starts() { # PLUGIN TASKS
    config 200
    srun --mpi="$1" -N "$2" -n "$2" build/fringe train config.json --set run.dir=try-"$1" \
        >"$work/try-$1.log" 2>&1 && grep -q "^parts  *$2 ranks" "$work/try-$1.log"
}

why() { { grep -E 'was not built|^fringe|error' "$1" || cat "$1"; } | head -n 1; }

median_epoch() { sed -n 's/.*"seconds_per_epoch": \([0-9.e-]*\).*/\1/p' "$1/run.json" | head -n 1; }
timeless() { sed 's/, "time".*//' "$1/metrics.jsonl"; }
job() { scontrol show job "$1" 2>/dev/null | tr ' ' '\n' | sed -n "s/^$2=//p" | head -n 1; }

wait_for_end() { # JOB
    local state
    for ((i = 0; i < 1200; i++)); do
        state=$(job "$1" JobState)
        case $state in
        COMPLETED | FAILED | CANCELLED | TIMEOUT | NODE_FAIL | "") break ;;
        esac
        sleep 0.5
    done
    say "job $1: $state, exit code $(job "$1" ExitCode), $(job "$1" Restarts) restarts"
}

[ "$(id -u)" -eq 0 ] || skip "installing and starting Slurm needs root"
[ -x "$program" ] || skip "$program is not there"
work=$(mktemp -d)
install_slurm
readme_script >"$work/readme.sh"
nodes=$(readme_number nodes)
[ -n "$nodes" ] || failed "docs/cluster.md has no script under \"Under Slurm:\""
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset FRINGE_DATA
export XDG_CACHE_HOME=$work/cache
trap end_daemons EXIT
trap 'exit 130' INT TERM HUP
configure "$nodes"
start_daemons "$nodes"
say "$(slurmd -V), $nodes slurmd on this machine; srun knows $(srun --mpi=list 2>&1 | tail -n +2 | xargs)"

cd "$work" || exit 1
mkdir build && ln -s "$program" build/fringe
[ ! -e "$(dirname "$program")/fringe-solver" ] || ln -s "$(dirname "$program")/fringe-solver" build/
build/fringe generate tiny -o tiny >/dev/null || failed "cannot generate"
how=
for plugin in pmix pmi2; do
    if starts $plugin "$nodes"; then
        say "srun --mpi=$plugin starts $nodes ranks"
        how=${how:-$plugin}
    else
        say "srun --mpi=$plugin does not: $(why "try-$plugin.log")"
    fi
done
if [ -n "$how" ]; then
    adapt $how >job.sh
else # the page's second way
    how="fringe --ranks in the batch script"
    adapt none | sed -e "s/srun --mpi=none//" -e "s/train config/train --ranks $nodes config/" >job.sh
fi
epochs=$(awk -v s="$seconds" -v e="$(median_epoch try-pmix 2>/dev/null || echo 0.01)" \
    'BEGIN {n = int(s / (e + 0.0005)); print (n < 500 ? 500 : (n > 60000 ? 60000 : n))}')
config "$epochs"
build/fringe train config.json --ranks "$nodes" --set run.dir=straight \
    --set run.checkpoint_every=10 >straight.log 2>&1 || failed "$(tail -n 2 straight.log)"
say "the job, $epochs epochs, by $how:"
sed 's/^/    /' job.sh
number=$(sbatch --parsable job.sh) || failed "sbatch"
out=$work/slurm-$number.out
wait_for_end "$number"
stops=$(grep -c 'stopped on request after epoch' "$out")
grep -E 'stopped on request|^resume|^result|requeue' "$out" | cut -c 1-120 | sed 's/^/    /'
[ "$(job "$number" JobState)" = COMPLETED ] || failed "the job did not end well"
[ "$stops" -ge 1 ] || failed "USR1 never stopped it; give more --seconds"
[ "$(job "$number" Restarts)" -eq "$stops" ] || failed "$stops stops, but other restarts"
for file in model best optimizer; do
    cmp {straight,run}/checkpoints/epoch-"$epochs"/$file.safetensors || failed "another $file"
done
cmp <(timeless straight) <(timeless run) || failed "other metrics"
say "USR1 by --signal stopped it $stops times with 75, it was requeued as often, and ended with the" \
    "bytes of a training under mpirun that nobody stopped"
