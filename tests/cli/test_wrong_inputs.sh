#!/usr/bin/env bash
# once
# If this failed, somebody who knows PyG, DGL, OGB or AdaQP, or who mistypes, would get no cure, a
# wrong one, or the wrong exit code. wrong_inputs.tsv has a row for each command line or config.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
printf '0 1\n1 2\n' >g.txt
echo '{"data": {"path": "g.txt"}}' >good.json
rows=0

# The answer has all wanted texts, and suggests a word only where one of them does.
cured() { # WANTED
    local rest="$1 && " text
    [[ $1 == *"did you mean"* || $answer != *"did you mean"* ]] || return 1
    while [[ -n $rest ]]; do
        text=${rest%% && *} rest=${rest#* && }
        [[ $answer == *"$text"* ]] || return 1
    done
}

while IFS=$'\t' read -r code wanted command config; do
    [[ $code != "#"* ]] || continue
    rows=$((rows + 1)) status=0
    [[ -z $config ]] || echo "$config" >wrong.json
    since=${EPOCHREALTIME/./}
    # shellcheck disable=SC2086
    answer=$("$FRINGE" ${command/@/wrong.json} 2>&1 </dev/null) || status=$?
    [[ $((${EPOCHREALTIME/./} - since)) -lt 5000000 ]] || fail "fringe $command: it took long" # 0.02 s when idle
    [[ $status -eq $code ]] && cured "$wanted" && [[ $answer != *'?'[\;.,:]* ]] ||
        fail "fringe $command ($config): exit $status (expected $code), expected '$wanted' in: $answer"
done <"$FRINGE_SOURCE/tests/cli/wrong_inputs.tsv"
echo "$rows wrong inputs"
[[ $rows -ge 150 ]] || fail "150 wrong inputs are wanted"
finish
