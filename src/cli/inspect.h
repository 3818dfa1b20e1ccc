// Inside fringe inspect: the kinds of things that it opens. A kind is a row of the table in
// cmd_inspect.c, and a recogniser and two printers in an inspect_*.c.
#ifndef FRINGE_CLI_INSPECT_H
#define FRINGE_CLI_INSPECT_H

#include "internal.h"

typedef struct Inspected {
    const char *name;             // member "kind" of --json; listed where no kind fits
    bool (*is)(const char *path); // looks at names, and at contents where names do not tell
    bool (*print)(const char *path, Error *err); // stdout; lines are broken at 80 columns later
    bool (*put)(JsonWriter *writer, const char *path, Error *err); // members of the open object
} Inspected;

// inspect_run.c, inspect_runs.c: what trainings write
extern const Inspected inspected_run, inspected_metrics, inspected_comparison, inspected_sweep,
    inspected_runs, inspected_table;
// inspect_files.c: files and folders inside of runs
extern const Inspected inspected_checkpoint, inspected_assignment, inspected_trace,
    inspected_predictions, inspected_page;
// inspect_stream.c: what fringe stream writes
extern const Inspected inspected_stream, inspected_snapshot, inspected_stream_checkpoint;
// inspect_arrays.c: files of arrays
extern const Inspected inspected_array, inspected_shard, inspected_tensors;
// inspect_data.c: data, the cache and configs
extern const Inspected inspected_cache, inspected_entry, inspected_partition, inspected_part_file,
    inspected_dataset, inspected_graph, inspected_config;

// ---- for recognisers and printers (inspect_tools.c)

bool inspect_holds(const char *folder, const char *name);  // folder/name exists
bool inspect_is_named(const char *path, const char *name); // a file of that name
bool inspect_ends(const char *path, const char *ending);
// The folder itself, or that of the file. Returns out.
const char *inspect_folder(char out[PATH_BYTES], const char *path);
// The file folder/name as JSON; an error unless it is an object. json_free it.
Json *inspect_read(const char *folder, const char *name, Error *err);
// Calls `visit` with the path of each entry of the folder, in the order of names with numbers by
// value, until it returns false.
bool inspect_each(const char *folder, bool (*visit)(const char *path, void *context),
                  void *context);

// inspect_assignment.c: prints one file of assignments/, and all of a run; nothing if there are
// none
bool inspect_assignment(const char *path, Error *err);
bool inspect_assignments(const char *run_dir, Error *err);

void inspect_put_tensors(JsonWriter *writer, const Tensors *map); // "tensors"

#endif
