#!/bin/sh
# Which headers each module includes: a source of a module may include the public headers of the modules
# below it, its own public header and its own private ones; a library from outside belongs to one module
# (docs/architecture.md). And only cli prints: the files below it put their lines into a sink (fringe/base/sink.h),
# but for five of base, which draw them or say the last words of a process.
# Prints every breach and fails.   usage: includes.sh SOURCE_FOLDER
cd "$1" || exit 70

files=$(find src kernels include solver \( -name '*.[ch]' -o -name '*.cu' \) 2>/dev/null | sort)
[ -n "$files" ] || exit 0

awk '
{ sub(/(^| )\/\/.*/, "") }
/(^|[^A-Za-z_])((terminal_[a-z_]+|v?d?printf|puts|putchar|perror) *\(|(std(out|err)|STD(OUT|ERR)_FILENO)([^A-Za-z_]|$))/ &&
!/dup2|addopen/ && FILENAME !~ /^(src\/cli|solver)\/|\/base\/(ending|error|internal|mapping|screen|terminal)\.[ch]$/ {
    print FILENAME ":" FNR ": only cli prints; put it into a sink (fringe/base/sink.h)"
    failed = 1
}
END { exit failed }
' $files
printed=$?

grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' $files |
    sed -E 's|^([^:]*):([0-9]+):[^<"]*([<"][^>"]*).*|\1 \2 \3|' | awk '
BEGIN {
    while ((getline line < "cmake/modules.txt") > 0)
        if (line ~ /^[a-z]/) {
            height++
            split(line, beside, " ")
            for (i in beside)
                floor[beside[i]] = height
        }
    owner["npy"] = owner["dataset_events"] = "dataset" # smaller public headers
    owner["growing"] = "events"
    owner["operations.def"] = "backend"
    owner["keys.def"] = "config"
    owner["metis_job"] = "solver" # of fringe-metis
    # header from outside -> files that may include it
    only["metis.h"] = "^(src/partition/metis|solver/metis/)"
    only["cJSON.h"] = "^src/base/json\\.c$"
    only["cjson/cJSON.h"] = "^src/base/json\\.c$"
    only["libdeflate.h"] = "^src/dataset/unpack\\.c$"
    only["zip.h"] = only["zlib.h"] = "^src/dataset/"
    only["xxhash.h"] = "^src/base/"
    only["xxh_x86dispatch.h"] = "^src/base/"
    only["mpi.h"] = only["mpi-ext.h"] = "^include/fringe/base/mpi\\.h$"
    only["fringe/base/mpi.h"] = "^src/(base|wire)/"
    only["glpk.h"] = "^solver/"
    only["fringe/base/terminal.h"] = "^src/(base|cli)/"
    only["cuda_runtime.h"] = only["cublas_v2.h"] = only["cusparse.h"] = "^kernels/cuda/"
    only["dnnl.h"] = only["cblas.h"] = "^kernels/cpu/dense\\.c$"
}
function breach(text) {
    print $1 ":" $2 ": " text
    failed = 1
}
function module_of(path, part) {
    split(path, part, "/")
    if (part[1] == "kernels")
        return "backend"
    if (part[1] == "src")
        return part[2]
    if (part[1] == "solver")
        return "solver"
    sub(/\.h$/, "", part[3]) # include/fringe/<module>.h or include/fringe/<module>/x.h
    return part[3] in owner ? owner[part[3]] : part[3]
}
{
    kind = substr($3, 1, 1)
    name = substr($3, 2)
    module = module_of($1)
    if (!(module in floor))
        breach("the module \"" module "\" is not in cmake/modules.txt")
    if (name in only && $1 !~ only[name])
        breach("<" name "> belongs to another module (" only[name] ")")
    if (kind == "<")
        next
    if (name ~ /^fringe\//) {
        header_of = module_of("include/" name)
        if (!(header_of in floor))
            breach("\"" name "\" is no public header")
        else if (header_of != module && floor[header_of] >= floor[module])
            breach("\"" name "\": the module \"" module "\" may only include public headers of modules below it")
        else if (name ~ /^fringe\/.*\/.*/ && header_of != module && header_of != "base")
            breach("\"" name "\" is a private header of \"" header_of "\"")
        next
    }
    if (name ~ /\.\.\//) {
        if (!($1 ~ /^kernels\// && name ~ /^\.\.\/[a-z0-9_]+\.h$/))
            breach("\"" name "\": private headers of other modules are not included")
    } else if (name ~ /\// && $1 !~ /^include\//)
        breach("\"" name "\": private headers lie in the module itself")
}
END { exit failed }
' && exit $printed
