#!/usr/bin/env bash
# The lengths of functions and files in src, kernels, solver and include. A function reaches from the
# first line of its signature to its closing brace. The layout of clang-format is taken for granted:
# what stands outside of functions begins in the first column, and so does a closing brace.
#
#   shape.sh [--strict] [--longest=N] [--tree=FOLDER]
#
# smoke: --longest=1
#
# --strict: the exit status says whether every bar was reached: a median of at most 10 lines, nine of
# ten functions of at most 22, no function above 45 lines, no file above 400.
# --longest: how many of the longest functions and files are listed, 10 of each unless given.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
longest=10 tree=$root
source "$root/bench/common/options.sh"
options longest tree -- "$@"
cd "$tree"
folder=$(mktemp -d "${TMPDIR:-/tmp}/fringe-shape-XXXXXX")
trap 'rm -rf "$folder"' EXIT

find src kernels solver include -name '*.[ch]' | sort >"$folder/names"
xargs wc -l <"$folder/names" | awk '$2 != "total" {print $1, $2}' | sort -k1,1nr -k2 >"$folder/files"

# functions: "LINES FILE:LINE NAME", longest first.
xargs awk '
function ends(line) { # the body closes with this line
    print FNR - first + 1, FILENAME ":" first, name
    first = 0
    head = ""
}
FNR == 1 { first = macro = 0; head = "" }
macro { macro = /\\$/; next }              # the rest of a #define
/^#/ { macro = /\\$/; head = ""; next }
first && name != "" { if (/^}/) ends(); next }
/^[[:space:]]*\/\// || /^$/ { next }       # comments between the parts of a file
{
    sub(/[[:space:]]*\/\/.*$/, "")
    if (head == "")
        first = FNR
    head = head " " $0
    name = ""
    if (head ~ /\) *\{/ && head !~ /=.*\{/) {
        name = head
        sub(/ *__attribute__\(\(.*\)\)/, "", name)
        sub(/\(.*/, "", name)
        sub(/.*[ *]/, "", name)
        if (head ~ /\}$/)
            ends()
    } else if (head ~ /;$/ && (head !~ /\{/ || head ~ /\}[^{]*;$/)) {
        first = 0                          # a declaration, a struct or a table
        head = ""
    }
}' <"$folder/names" | sort -k1,1nr -k2 >"$folder/functions"

count=$(wc -l <"$folder/functions")
files=$(wc -l <"$folder/files")
nth() { sed -n "$1{s/ .*//p;q}" "$2"; } # the first word of a line
middle=$(nth $(((count + 1) / 2)) "$folder/functions")
ninth=$(nth $((count - (9 * count + 9) / 10 + 1)) "$folder/functions")
most=$(nth 1 "$folder/functions")
file=$(nth 1 "$folder/files")
lines=$(awk '{sum += $1} END {print sum}' "$folder/files")

echo "$count functions; the longest:"
head -n "$longest" "$folder/functions" | awk '{printf "  %4d  %-44s %s\n", $1, $2, $3}'
echo "$files files, $lines lines; the longest:"
head -n "$longest" "$folder/files" | awk '{printf "  %4d  %s\n", $1, $2}'

missed=0 figures=""
bar() { # name, lines, at most
    local verdict=ok
    if [ "$2" -gt "$3" ]; then
        verdict=short
        missed=$((missed + 1))
    fi
    printf '%-50s %9d %-7s | bar <= %d | %s\n' "$1" "$2" lines "$3" "$verdict"
    figures+="${figures:+, }{\"name\": \"$1\", \"value\": $2, \"unit\": \"lines\", "
    figures+="\"at_most\": $3, \"verdict\": \"$verdict\"}"
}
bar "functions, median" "$middle" 10
bar "functions, nine of ten" "$ninth" 22
bar "functions, longest" "$most" 45
bar "files, longest" "$file" 400
echo "{\"bench\": \"shape\", \"missed\": $missed, \"functions\": $count, \"files\": $files, \"figures\": [$figures]}"
[ -z "$strict" ] || [ "$missed" -eq 0 ]
