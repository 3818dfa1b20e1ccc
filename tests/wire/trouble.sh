# What scripts share whose job gets into trouble: its program has the script's name.
set -u
program=$FRINGE_BUILD/tests/$(basename "$0" .sh)
[ -x "$program" ] || { echo "skipped: $program is not built"; exit 77; }
failed=0
# After the death of a rank mpirun waits 2 s before it ends the others by force; here it does not wait.
export OMPI_MCA_odls_base_sigkill_timeout=0

# trouble WORD RANKS STATUS PATTERN [MORE...]: rank 1 gets into it; NODE is whose row it poisoned
trouble() {
    local said status node pattern
    said=$(OMP_NUM_THREADS=1 timeout 60 mpirun --oversubscribe --bind-to none -n "$2" \
        "$program" "$1" "${@:5}" 2>&1)
    status=$?
    node=$(sed -n 's/^poisoned //p' <<<"$said")
    pattern=${4/NODE/${node:-nobody}}
    if [ "$status" -ne "$3" ] || ! grep -qE "$pattern" <<<"$said"; then
        echo "$1 on $2 ranks: expected status $3 and /$pattern/, found status $status and:"
        echo "$said"
        failed=1
    fi
}
