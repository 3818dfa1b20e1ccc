#!/usr/bin/env bash
# once
# If this failed, a module could include a header above it, a library leave its module, or a module below cli
# print, and the build would say nothing.
set -u
failed=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder"/src/{base,halo,wire,exchange,gradsync,assigner,model,trainer} "$folder"/kernels/cpu "$folder"/include/fringe/base \
    "$folder"/solver "$folder"/cmake
cp "$FRINGE_SOURCE/cmake/modules.txt" "$folder/cmake/"

# refuse FILE LINE EXPECTED: a file with this include must be named
refuse() {
    echo "$2" >"$folder/$1"
    output=$(sh "$FRINGE_SOURCE/cmake/includes.sh" "$folder")
    if [ $? -eq 0 ] || ! grep -qF "$1:1: $3" <<<"$output"; then
        echo "FAILED: $1 with $2 should be refused; said: $output"
        failed=1
    fi
    rm "$folder/$1"
}
accept() {
    echo "$2" >"$folder/$1"
    if ! output=$(sh "$FRINGE_SOURCE/cmake/includes.sh" "$folder"); then
        echo "FAILED: $1 with $2 should be fine; said: $output"
        failed=1
    fi
    rm "$folder/$1"
}

refuse src/halo/a.c '#include "fringe/model.h"' '"fringe/model.h": the module "halo"'
refuse src/assigner/a.c '#include "fringe/records.h"' '"fringe/records.h": the module "assigner"'
refuse src/trainer/a.c '#include "fringe/runfolder.h"' '"fringe/runfolder.h": the module "trainer"'
refuse src/halo/a.h '  #  include "fringe/trainer.h" // why' '"fringe/trainer.h"'
refuse src/exchange/a.c '#include "fringe/gradsync.h"' '"fringe/gradsync.h"'
refuse src/gradsync/a.c '#include "fringe/exchange.h"' '"fringe/exchange.h"'
refuse include/fringe/halo.h '#include "fringe/codec.h"' '"fringe/codec.h"'
refuse include/fringe/base/x.h '#include "fringe/config.h"' '"fringe/config.h"'
refuse kernels/cpu/a.c '#include "fringe/dataset.h"' '"fringe/dataset.h"'
refuse src/model/a.c '#include "../halo/private.h"' '"../halo/private.h"'
refuse src/model/a.c '#include "halo/private.h"' '"halo/private.h"'
refuse src/model/a.c '#include <metis.h>' '<metis.h>'
refuse src/model/a.c '#include <mpi.h>' '<mpi.h>'
refuse src/exchange/a.c '#include <mpi.h>' '<mpi.h>'
refuse src/gradsync/a.c '#include "fringe/base/mpi.h"' '<fringe/base/mpi.h>'
refuse src/wire/a.c '#include "fringe/exchange.h"' '"fringe/exchange.h"'
refuse src/model/a.c '#include "fringe/base/mpi.h"' '<fringe/base/mpi.h>'
refuse src/model/a.c '#include <cjson/cJSON.h>' '<cjson/cJSON.h>'
refuse src/base/a.c '#include <dnnl.h>' '<dnnl.h>'
refuse src/model/a.c '#include <glpk.h>' '<glpk.h>'
refuse src/base/a.c '#include "fringe/bitwidth.h"' '"fringe/bitwidth.h": the module "base"'
refuse solver/a.c '#include "fringe/trainer.h"' '"fringe/trainer.h": the module "solver"'
refuse src/model/a.c '#include "fringe/attic.h"' '"fringe/attic.h" is no public header'
refuse src/model/a.c '#include "fringe/base/terminal.h"' '<fringe/base/terminal.h>'
refuse src/model/a.c '    printf("%d", rows);' 'only cli prints'
refuse kernels/cpu/a.c 'fprintf(stderr, "rows");' 'only cli prints'
refuse src/base/a.c 'terminal_say("rows");' 'only cli prints'
refuse include/fringe/halo.h '(void)!write(STDERR_FILENO, text, bytes);' 'only cli prints'
accept src/base/terminal.c 'fwrite(text, 1, bytes, stdout);'
accept src/model/a.c 'snprintf(line, 80, "rows"); // not printf("rows") to stdout'
accept src/model/a.c '#include "fringe/halo.h"'
accept src/model/a.c '#include "fringe/npy.h"'
accept src/model/a.c '#include "fringe/base/json.h"'
accept src/model/a.c '#include "private.h"'
accept src/wire/a.c '#include "fringe/base/mpi.h"'
accept include/fringe/base/mpi.h '#include <mpi.h>'
accept solver/a.c '#include <glpk.h>'
accept solver/a.c '#include "fringe/bitwidth.h"'
accept kernels/cpu/dense.c '#include <dnnl.h>'
accept kernels/cpu/a.c '#include "../scalar.h"'

sh "$FRINGE_SOURCE/cmake/includes.sh" "$FRINGE_SOURCE" || failed=1
exit $failed
