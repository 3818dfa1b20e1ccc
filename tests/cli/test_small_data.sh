#!/usr/bin/env bash
# once
# If this failed, the smallest data sets that come with fringe would not be what their script makes, or
# could not be read, cut and trained.
. "$FRINGE_SOURCE/tests/cli/lib.sh"

small=$FRINGE_SOURCE/data/small
mkdir made
python3 "$small/make.py" made || fail 'make.py'
for name in club.txt seven.hgr seven.events; do same "$name is what make.py makes" "$small/$name" "made/$name"; done
expect 'the club' 0 '^nodes +34$' "$FRINGE" inspect "$small/club.txt"
echo '{"model": {"layers": 2, "hidden": [4]}, "train": {"epochs": 2}}' >c.json
expect 'the club is cut' 0 'halo' "$FRINGE" partition c.json --parts 2 --set "data.path=$small/club.txt" \
    --set data.undirected=true
expect 'the hypergraph' 0 '^hyperedges +4$' "$FRINGE" inspect "$small/seven.hgr"
expect 'the stream' 0 '^hyperedges +4$' "$FRINGE" inspect "$small/seven.events"
pins() { "$FRINGE" inspect "$1" | grep -E '^(nodes|hyperedges|pins|degrees|sizes)'; }
[ "$(pins "$small/seven.hgr")" = "$(pins "$small/seven.events")" ] || fail 'the stream ends in the hypergraph'

# --- the cure that a refusal prints, pasted with names in the place of OLD and NEW, or in the config
printf 'm\xfcller,b\nb,c\n' >latin.csv
printf 'a,b\rb,c\r' >mac.csv
printf '7,8\n007,9\n' >zeros.csv
printf 'head,tail\n1,2\n2,3\n' >head.csv
cured() { # NAME FILE SENTENCE: follows `convert it: COMMAND OLD > NEW`
    expect "$1 is refused" 65 "$3" "$FRINGE" config check c.json --files --set data.path="$2"
    local command
    command=$(sed -n "s/.*convert it: \\(.*\\) OLD > NEW.*/\\1/p" out | head -1)
    [ -n "$command" ] && bash -c "$command '$2' >'new-$2'" || fail "$1: '$command'"
    expect "$1 is cured" 0 '^edges +2 ' "$FRINGE" inspect "new-$2"
}
cured 'a file in Latin-1' latin.csv 'latin.csv:1: it is not UTF-8'
cured 'a file of an old Macintosh' mac.csv 'mac.csv:1: its lines end in CR alone'
setting() { # NAME FILE SETTING [WHOLE]: the beginning of a setting that the refusal prints; with it the file is read
    expect "$1 is refused" 65 'set data' "$FRINGE" convert "$2" no
    grep -qF "$3" out || fail "$1: the sentence has no $3"
    expect "$1 is cured" 0 '' "$FRINGE" convert "$2" "made-$2" --to ogb --set "${4:-$3}"
    rm -r "made-$2"
}
setting 'ids with zeros in front' zeros.csv data.ids=number
setting 'ids with zeros in front, as text' zeros.csv data.ids=text
expect 'which is needed' 65 '007' "$FRINGE" convert zeros.csv no --to ogb
setting 'head and tail' head.csv 'data.columns={' 'data.columns={"source": "head", "target": "tail"}'
finish
