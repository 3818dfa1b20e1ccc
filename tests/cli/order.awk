# Checks a record of tests/preload/record.c against what survives the loss of power:
#   - what is renamed was flushed before, with all that lies in it;
#   - the folder of a rename is flushed before anything else happens to files;
#   - a new folder is flushed into its parent before anything is renamed, and so is the end of all;
#   - nothing has its final name while it is written, but metrics.jsonl, which is flushed before a
#     checkpoint gets its name;
#   - no checkpoint is removed before LATEST names the newest one;
#   - the marker of a run's folder is there before anything else is;
#   - a temporary file is opened so that nobody else can have it.
# Prints the first breach and fails.
BEGIN { FS = "\t" }

function breach(text) {
    if (!failed)
        print "line " NR ": " text
    failed = 1
}
function folder_of(path) {
    sub(/\/[^\/]*$/, "", path)
    return path
}
function name_of(path) {
    sub(/^.*\//, "", path)
    return path
}
function is_in(path, folder) { return path == folder || index(path, folder "/") == 1 }

function renames_flushed(before,    p) {
    for (p in waiting)
        breach("the rename in " p " is not on the disk before " before)
}
function folders_flushed(before,    p) {
    for (p in made)
        breach("the folder " p " is not in its parent on the disk before " before)
}
# Files and entries of folders that are not on the disk, at `path` or in it.
function contents_flushed(path, before,    p) {
    for (p in written)
        if (is_in(p, path))
            breach(p " is not on the disk before " before)
    for (p in entries)
        if (is_in(p, path))
            breach("what is in " p " is not on the disk before " before)
}
function forget(path,    p) {
    for (p in written)
        if (is_in(p, path))
            delete written[p]
    for (p in entries)
        if (is_in(p, path))
            delete entries[p]
    for (p in made)
        if (is_in(p, path))
            delete made[p]
}
function is_checkpoint(path) {
    return name_of(path) ~ /^epoch-[0-9]+$/ && name_of(folder_of(path)) == "checkpoints"
}
function latest_first(before) {
    if (unnamed != "")
        breach("LATEST does not name " unnamed " before " before)
}
function metrics_flushed(path,    run) {
    if (!is_checkpoint(path))
        return
    checkpoints++
    run = folder_of(folder_of(path))
    if (run "/metrics.jsonl" in written)
        breach("metrics.jsonl is not on the disk before " path " has its name")
}

$1 != "fsync" { renames_flushed($1 " " $2) }
$1 == "create" || $1 == "exclusive" || $1 == "mkdir" {
    if (folder_of($2) in unmarked)
        breach("the marker beside " $2 " is not on the disk before that is made")
    if (name_of($2) == ".fringe")
        unmarked[folder_of($2)] = 1
}
$1 == "create" || $1 == "exclusive" {
    if ($1 == "create" && name_of($2) ~ /\.fringe-tmp-/)
        breach($2 " may have been opened by another")
    written[$2] = 1
    entries[folder_of($2)] = 1
}
$1 == "create" || $1 == "write" {
    if ($2 !~ /\.fringe-tmp-/ && name_of($2) !~ /^(metrics\.jsonl|\..*)$/)
        breach($2 " is written under its final name")
    written[$2] = 1
}
$1 == "fsync" {
    delete written[$2]
    delete entries[$2]
    delete waiting[$2]
    delete unmarked[$2]
    for (p in made)
        if (folder_of(p) == $2)
            delete made[p]
}
$1 == "mkdir" {
    made[$2] = 1
    entries[folder_of($2)] = 1
}
$1 == "rename" || $1 == "exchange" {
    folders_flushed("the rename to " $3)
    contents_flushed($2, "it is renamed")
    metrics_flushed($3)
    forget($2)
    waiting[folder_of($3)] = entries[folder_of($3)] = 1
    if (is_checkpoint($2))
        latest_first("the removal of " $2)
    if (is_checkpoint($3))
        unnamed = $3
    if (name_of($3) == "LATEST")
        unnamed = ""
    renames++
    exchanges += $1 == "exchange"
}
$1 == "unlink" || $1 == "rmdir" {
    folders_flushed($2 " is removed")
    forget($2)
}
END {
    NR = "end"
    renames_flushed("the end")
    folders_flushed("the end")
    latest_first("the end")
    for (p in written)
        if (name_of(p) != ".lock")
            breach(p " is not on the disk at the end")
    if (renames == 0 || checkpoints < at_least || exchanges < exchanges_at_least)
        breach("nothing was recorded")
    exit failed
}
