#!/usr/bin/env bash
# Waits that are left out, each on a copy of the source: does a test on the backend "fenced" notice?
# Prints the first test that fails for each, and exits with 1 unless all are noticed.
#   bench/run.sh late [--only=NAME] [--log=FILE]
# smoke: --dry=yes
#   --dry=yes: are the lines of the faults there? Builds nothing.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
only= log=/dev/null dry=
. "$root/bench/common/options.sh"
options only log dry -- "$@"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
copy=$work/copy
export FRINGE_LONG=1 # what chance decides is repeated more often
tests="test_late-2 test_late-3 fenced.test_sgc-3 fenced.test_resume-2 fenced.test_trainer-2
    fenced.test_stale_run-2 fenced.test_gin-3 fenced.test_quantized-2 fenced.test_gradients-3 test_fenced.sh"
programs="test_late test_sgc test_stale_run test_resume test_trainer test_gin test_quantized test_gradients fringe-fenced"

# The wait of widths_set is not among them: it cannot matter while packing with widths waits for ranges,
# behind which the upload of the places has run.
# NAME | FILE | LINE of the source, which is there once | what stands in its place
faults='made before MPI_Isend|src/exchange/send.c|    box_wait_made(box, round, beat);|
ranges before the host adds them|src/wire/box_steps.c|box->device_range, bytes);\n    wait_for_downloads(box, poll);|box->device_range, bytes);\n    (void)poll;
shares before MPI_Isend|src/gradsync/sum.c|    if (chunk->state == SHARES_DOWNLOADED && !sync->backend->event_reached(chunk->downloaded))|    if (false)
distances before the host decides|src/wire/box_steps.c|box->device_distance, bytes);\n    wait_for_downloads(box, poll);|box->device_distance, bytes);\n    (void)poll;
compute before message (rows_ready)|src/exchange/send.c|    buffers->backend->stream_wait(STREAM_MESSAGE, buffers->rows_ready);|
message before compute (decoded)|src/exchange/receive.c|    buffers->backend->stream_wait(STREAM_COMPUTE, buffers->decoded);\n    channel->seconds.unpack|    channel->seconds.unpack
compute before decoding (rows_read)|src/exchange/receive.c|    buffers->backend->stream_wait(STREAM_MESSAGE, buffers->rows_read);|
decoded before MPI_Irecv|src/exchange/send.c|    channel_wait_decoded(channel);|
loss before the host reads it|src/model/model.c|    m->parts.backend->event_wait(m->results, gradient_poll(m));|
counts before the host reads them|src/model/metrics.c|    b->event_wait(m->results, NULL);|    (void)b;
square before the host reads it|src/trainer/trainer.c|    b->event_wait(t->square_ready, NULL);|
trainer_download without finish|src/trainer/flat.c|        t->backend->download(*all[i].host, *all[i].device, trainer_flat_bytes(t));\n    t->backend->finish(NULL);|        t->backend->download(*all[i].host, *all[i].device, trainer_flat_bytes(t));
trainer_parameters without finish|src/trainer/flat.c|trainer_flat_bytes(t));\n    t->backend->finish(NULL);\n    return host;|trainer_flat_bytes(t));\n    return host;
predictions without finish|src/cli/cmd_predict.c|    backend->finish(NULL);|'

# Is OLD of every line of "NAME|FILE|OLD|NEW" in its file once?
find_faults() {
    python3 - "$root" "$faults" <<'PY'
import sys
faults = [line.split("|") for line in sys.argv[2].split("\n")]
for name, path, old, _ in faults:
    found = open(f"{sys.argv[1]}/{path}").read().count(old.replace("\\n", "\n"))
    if found != 1:
        sys.exit(f"late: {name}: {path} has its line {found} times")
print(f"{len(faults)} faults can be made")
PY
}

# plant FILE OLD NEW, where \n is a line break; fails unless OLD is there once
plant() {
    python3 - "$@" <<'PY'
import sys
path, old, new = sys.argv[1], sys.argv[2].replace("\\n", "\n"), sys.argv[3].replace("\\n", "\n")
text = open(path).read()
if text.count(old) != 1:
    sys.exit(f"{path}: {text.count(old)} times: {old}")
open(path, "w").write(text.replace(old, new))
PY
}

build() { cmake --build "$copy/build" --target $programs; }

# The first test that fails; nothing where all pass. A test that hangs fails.
notice() {
    local test
    for test in $tests; do
        ctest --test-dir "$copy/build" -R "^$test\$" --timeout 200 >>"$work/out" 2>&1 </dev/null ||
            { echo "$test"; return; }
    done
}

if [ -n "$dry" ]; then
    find_faults
    exit
fi
mkdir "$copy"
(cd "$root" && git ls-files -z -co --exclude-standard | xargs -0 cp --parents -t "$copy") || exit 70
cmake -S "$copy" -B "$copy/build" -G Ninja -DCMAKE_BUILD_TYPE=Release >"$work/out" &&
    build >>"$work/out" || { cat "$work/out"; exit 70; }

planted=0 noticed=0 tests_used=
while IFS='|' read -r name file old new; do
    [[ -z $only || $name == *$only* ]] || continue
    cp "$copy/$file" "$work/kept"
    plant "$copy/$file" "$old" "$new" || exit 70
    planted=$((planted + 1))
    if build >"$work/out" 2>&1; then by=$(notice); else by="nothing: it does not build"; fi
    case $by in
    '') by=nobody ;;
    nothing*) tail -20 "$work/out" ;;
    *) noticed=$((noticed + 1)) tests_used+=" $by" ;;
    esac
    printf '%-34s %s\n' "$name" "$by" | tee -a "$log"
    cp "$work/kept" "$copy/$file"
done <<<"$faults"
tests=$(tr ' ' '\n' <<<"$tests_used" | sort -u) # they must not fail without a fault
build >"$work/out" 2>&1 && by=$(notice) && [ -z "$by" ] || { echo "$by fails without any fault"; exit 70; }
echo "$noticed of $planted noticed" | tee -a "$log"
[ "$noticed" -eq "$planted" ]
