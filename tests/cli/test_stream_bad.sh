#!/usr/bin/env bash
# once
# If this failed, a wrong stream would be taken for a right one, or refused without saying where it
# is wrong, or what came before the mistake would be lost.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$FRINGE_SOURCE/tests/cli/stream.sh"
streams 6000
parts="--parts 3 --quiet --set run.threads=1"

# --- a line that is wrong
bad() { # 'line' 'what is said of it': behind two good ones
    printf 'fringe-stream 1\n+h 1 2 3\n+h 2 3 4\n%b\n+h 5 6 7\n' "$1" >bad.events
    rm -rf bad
    expect "the line '${1:0:40}'" 65 "^fringe: bad.events:4: $2" stream bad.events -o bad $parts
    [ -d bad/checkpoints/events-2 ] && [ ! -e bad/snapshots ] || fail "the two before it are held: $(find bad)"
}
bad '+h 3 18446744073709551616' "'18446744073709551616' is above 18446744073709551615, the largest id"
bad '+h 3 -1' "'-1' is not an id .digits only.; the form is '.h H .w=F. V V ...'"
bad '+h x 1' "'x' is not an id"
bad '+h 3' "'.h' with neither pins nor a weight"
bad '+h 3 w=-1 4' "'w=-1' is not a weight"
bad '+h 3 w=nan 4' "'w=nan' is not a weight"
bad '+p 3' "'.p' with 1 id"
bad '+p 3 4 5' "'.p' with 3 ids"
bad '-h 1 2' "'-h' with 2 ids"
bad 'add 1 2' "'add' begins no event; an event is '.h H"
bad '+h 3 \00004' 'byte 6 of the line is zero'
bad '-h 9' 'hyperedge 9 '
bad '-v 9' 'node 9 '
bad '-p 9 3' 'node 3 is deleted from hyperedge 9, but is not in it; stream.strict=false skips'
bad '-p 1 4' 'node 4 is deleted from hyperedge 1, but'
for name in '' a/b .hidden 'a b' '../up' "$(printf 'x%.0s' {1..65})"; do
    bad "= $name" "('.*' cannot name a snapshot|'=' with (no name|more than a name))"
done
[ ! -e up ] && [ ! -e bad/up ] || fail "a name leaves the folder"

printf 'fringe-stream 1\n+h 1 2 3\n-h 9\n-v 9\n-p 1 4\n+h 2 3\n+h 1 2\n' >lenient.events
expect "deletions that are passed over are counted" 0 '^skipped +3 deletions' \
    stream lenient.events -o lenient $parts --set stream.strict=false
grep -q '^repeated     1 ' out && grep -q '"skipped": 3' lenient/snapshots/final/stream.json || fail "$(cat out)"

# --- files that are no streams
no() { # NAME CODE 'what is said' SOURCE [OPTION...]: and no folder is made
    expect "$1" "$2" "$3" stream "${@:4}" -o no $parts
    [ ! -e no ] || fail "$1: a folder is made: $(find no)"
    rm -rf no
}
: >empty
echo 'fringe-stream 2' >version
printf 'FRNGSTRM\2\0\0\0' >version.twin
printf 'FRNGSTRM\1\0' >short.twin
mkdir folder
no "an empty file" 65 "^fringe: empty: is empty; a stream begins with the line 'fringe-stream 1'" empty
no "another text" 65 "left.json: is not a stream of events: it begins with '.*', not with the line" left.json
no "an archive" 65 'nodes.npz: is a zip or .npz archive and not a stream' nodes.npz
no "a later version" 65 'version: is a stream of version 2; this program reads version 1' version
no "a later version, binary" 65 'version.twin: is a stream of version 2' version.twin
no "half a head" 65 'short.twin: ends within the 12 bytes' short.twin
no "a folder" 65 'folder: is a folder; a stream is a file, a FIFO or, as .-., standard input' folder
no "a device" 65 '/dev/null: is a device' /dev/null
no "a file that is not there" 66 '^fringe: nowhere: cannot open: No such file' nowhere
echo 'fringe-stream 1' >without.events
expect "a stream without pins" 65 '^fringe: without.events: the stream has ended without any pin' \
    stream without.events -o without $parts
{ echo 'fringe-stream 1' && echo '+h 1 2 3' && head -c $(((1 << 26) + 9)) /dev/zero | tr '\0' 7; } >endless.events
expect "a line without end" 65 '^fringe: endless.events:3: the line has more than 67108864 bytes .64 MiB.' \
    stream endless.events -o endless $parts
[ -d endless/checkpoints/events-1 ] || fail "what came before it is held"
rm endless.events

# --- the command line
expect "no folder" 64 'stream: -o FOLDER is missing' stream plain.events
expect "no source" 64 'an argument is missing; usage: fringe stream SOURCE -o FOLDER' stream -o no
expect "a file as folder" 73 'empty is a file, not a folder' stream plain.events -o empty $parts
expect "a folder in a file" 73 'empty is a file' stream plain.events -o empty/no $parts
for k in 0 -1 x 65537; do
    no "--parts $k" 64 "--parts: expected a whole number from 1 to 65536, found '$k'" plain.events --parts $k
done
expect "a long path" 64 'a path has 4200 bytes; at most 4095' stream plain.events -o "$(printf 'x%.0s' {1..4200})"
expect "one part" 0 '^cut +0 hyperedges' stream plain.events -o single --parts 1 --quiet
expect "more parts than nodes" 0 'hyperedges' stream lenient.events -o many --parts 50 --quiet --set stream.strict=false
[ "$(sort -n many/snapshots/final/final.part.50 | tail -1)" -lt 50 ] || fail "they are parts"
npz() { "$python" -c "import numpy as n; n.savez('$1', $2)"; }
npz rows.npz 'features=n.ones((4, 2))'
npz idx.npz 'ids=n.arange(4), train_idx=n.arange(2)'
npz only.npz 'ids=n.arange(4)'
no "nodes without ids" 65 "^fringe: rows.npz: there is no array 'ids'; add" plain.events --nodes rows.npz
no "nodes with lists of rows" 65 "^fringe: idx.npz: 'train_idx' is about rows" plain.events --nodes idx.npz
no "nodes with nothing" 65 "^fringe: only.npz: there is nothing about nodes beside 'ids'" plain.events --nodes only.npz
no "nodes that are a text" 65 'plain.events: it is not a sound npz' plain.events --nodes plain.events
no "nodes that are not there" 66 'nowhere.npz: cannot open' plain.events --nodes nowhere.npz
no "random features of no width" 78 "'random:0' needs a width" plain.events --nodes random:0

# --- a folder in which another stream works
expect "a mistake makes no folder" 66 'nowhere: cannot open' stream nowhere -o inside $parts
[ ! -e inside ] || fail "it was made"
mkfifo pipe
"$FRINGE" stream pipe -o inside $parts --resume auto >/dev/null 2>&1 </dev/null &
for _ in {1..200}; do grep -qsw $! inside/.lock && break || sleep 0.02; done
expect "another one beside it" 0 'works in inside-2: another run works in inside' \
    stream plain.events -o inside $parts
expect "one that would go on there" 73 "another run works there .pid $!" \
    stream plain.events -o inside $parts --set run.lock_wait=0.1 --resume auto
kill -9 $! && wait $! 2>/dev/null

# --- what is mended goes on, and ends as if it had been right from the beginning
right() { # SOURCE: ends in right/
    rm -rf right && stream "$1" -o right $parts --snapshot-every 2500 >out 2>&1 || fail "right: $(cat out)"
}
mended() { # NAME SOURCE
    expect "$1 is mended" 0 '^snapshot +mend/snapshots/final$' \
        stream "$2" -o mend $parts --snapshot-every 2500 --resume auto "${@:3}"
    same_folder "$1 ends as if it had been right: snapshots" {right,mend}/snapshots
    same_folder "and the state" {right,mend}/checkpoints
    rm -rf mend
}
right marked.events
sed '4001s/^/+q /' marked.events >mend.events
expect "a wrong line, far in" 65 "^fringe: mend.events:4001: '.q' begins no event" \
    stream mend.events -o mend $parts --snapshot-every 2500
cp marked.events mend.events && mended "a wrong line" mend.events
{ head -n 4000 marked.events && echo '-h 3' && tail -n +4001 marked.events; } >mend.events
expect "a deletion, far in" 65 '^fringe: mend.events:4001: hyperedge 3 ' \
    stream mend.events -o mend $parts --snapshot-every 2500
cp marked.events mend.events && mended "a deletion of what is not there" mend.events
right marked.twin
bytes=$(stat -c %s marked.twin)
for cut in 1 $((bytes / 2)); do
    head -c $((bytes - cut)) marked.twin >mend.twin
    expect "a record that is cut off" 65 '^fringe: mend.twin: byte [0-9]+: the stream ends within this record; of its .*[0-9]+ bytes [0-9]+ are missing' \
        stream mend.twin -o mend $parts --snapshot-every 2500
    cp marked.twin mend.twin && mended "a record that is cut off" mend.twin
done
"$python" - <<'PY' || fail "records"
stream = open("marked.twin", "rb").read()
for name, at, value in ("kind", 12, 9), ("flags", 13, 2), ("zero", 14, 1), ("count", 19, 255):
    with open(f"{name}.twin", "wb") as f:
        f.write(stream[:at] + bytes([value]) + stream[at + 1:])
PY
while read -r name text; do
    expect "a record of another $name" 65 "$name.twin: byte 12: a record $text" stream $name.twin -o record $parts
done <<'WRONG'
kind of kind 9, and the kinds are 1 to 7; the stream is damaged
flags with flags 0x02, and only 0x01 is known
zero whose bytes 2 and 3 are 0x0001, not zero
count of [0-9]+ bytes; at most 67108864
WRONG
right marked.events

# --- a snapshot that cannot be written
npz early.npz 'ids=n.array([10**12], n.uint64), features=n.ones((1, 3))'
npz wrong.npz 'ids=n.array([10**12], n.uint64), labels=n.array([-1]), train_ids=n.array([10**12], n.uint64)'
rm -rf right && stream marked.events -o right $parts --snapshot-every 2500 --nodes early.npz >out 2>&1 || fail "$(cat out)"
expect "nodes that do not fit" 65 "wrong.npz: 'train_ids' holds 1000000000000, which has no label" \
    stream marked.events -o mend $parts --nodes wrong.npz --snapshot-every 2500
[ -z "$(ls -A mend/snapshots 2>/dev/null)" ] || fail "no half snapshot stays: $(ls -A mend/snapshots)"
mended "a snapshot that was due" marked.events --nodes early.npz
stream marked.events -o half $parts --nodes early.npz >out 2>&1 || fail "$(cat out)"
stream marked.events -o mend $parts --nodes wrong.npz >out 2>&1 && fail "nodes that do not fit"
expect "a snapshot of the stream is made up" 0 'mend/snapshots/final' \
    stream marked.events -o mend $parts --nodes early.npz --resume auto
same_folder "with the same bytes" {half,mend}/snapshots

# --- more than may be used: looked at every 2^18 events
{ echo fringe-stream 1 && seq 262200 | sed 's/.*/+h & & 9&/'; } >large.events
stream large.events -o large $parts >out 2>&1 || fail "large: $(cat out)"
expect "a stream that does not fit" 71 '^fringe: the hypergraph takes .* GiB after 262144 events, and no more may' \
    stream large.events -o small $parts --set run.memory_limit=0.01
expect "goes on with more memory" 0 'small/snapshots/final' stream large.events -o small $parts --resume auto
same_folder "and ends the same" {large,small}/snapshots
rm -r large* small

# --- a disk that is full
full=$FRINGE_BUILD/tests/preload_full.so
stream marked.events -o roomy $parts --snapshot-every 2500 >out 2>&1 || fail "$(cat out)"
for n in 1 9 25 40 60; do
    [ -e "$full" ] || break # it cannot stand before a sanitizer
    rm -rf full && status=0
    FRINGE_FULL_UNDER=$work/full FRINGE_FULL_AT=$n LD_PRELOAD=$full \
        stream marked.events -o full $parts --snapshot-every 2500 >out 2>&1 </dev/null || status=$?
    [[ $status == 7[34] ]] && grep -q 'No space left' out || fail "full at $n: $status, $(cat out)"
    expect "a disk that was full at call $n" 0 'full/snapshots/final' \
        stream marked.events -o full $parts --snapshot-every 2500 --resume auto
    same_folder "loses nothing" {roomy,full}/snapshots
done
finish
