# For scripts that kill, stop or watch the processes of a training: who they are, by its run.dir.

# alive FOLDER: supervisor, mpirun and ranks of the training whose command line says run.dir=FOLDER.
# Brackets keep grep from finding itself.
alive() { grep -lsaz "run[.]dir=$1\$" /proc/[0-9]*/cmdline | cut -d/ -f3; }
is_mpirun() { [ "$(cat "/proc/$1/comm" 2>/dev/null)" = mpirun ]; }
rank_of() { tr '\0' '\n' 2>/dev/null <"/proc/$1/environ" | sed -n 's/^OMPI_COMM_WORLD_RANK=//p'; }

# rank_process FOLDER RANK: its process id
rank_process() {
    local pid
    for pid in $(alive "$1"); do
        [ "$(rank_of "$pid")" != "$2" ] || echo "$pid"
    done
}

# wait_for_none FOLDER SECONDS: until none of them is left; false, and who is, after so many seconds
wait_for_none() {
    local left began=$EPOCHREALTIME
    while left=$(alive "$1") && [ -n "$left" ]; do
        if [ "${EPOCHREALTIME%.*}" -gt $((${began%.*} + $2)) ]; then
            ps -o pid,stat,args -p "$(paste -sd, <<<"$left")"
            return 1
        fi
        sleep 0.05
    done
}

seconds_since() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN {printf "%.2f", b - a}'; }
# random_seconds FROM SPAN
random_seconds() { awk -v f="$1" -v s="$2" -v r=$RANDOM 'BEGIN {printf "%.4f", f + r / 32768 * s}'; }
larger() { awk -v a="$1" -v b="$2" 'BEGIN {print (a > b ? a : b)}'; }
