// Inside fringe inspect: the kinds of things that it opens. A kind is a row of the table in
// cmd_inspect.c, and a function of an inspect_*.c that shows what it holds.
#pragma once

#include "internal.h"

typedef struct Inspection {
    const char *path;
    char folder[PATH_BYTES]; // the path itself, or that of the file
    bool is_folder;
    JsonWriter *json; // takes members of an open object; NULL: lines on stdout, which are broken at
                      // 80 columns later
    Error *err;
} Inspection;

typedef struct Inspected {
    const char *name; // member "kind" of --json; listed where no kind fits
    const char *file; // it has this name, or is a folder that holds it; NULL: `is` tells
    bool (*is)(const char *path); // other names, and contents where names do not tell; may be NULL
    bool (*show)(const Inspection *at);
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

Inspection inspect_at(const char *path, JsonWriter *json, Error *err);
bool inspect_holds(const char *folder, const char *name);  // folder/name exists
bool inspect_is_named(const char *path, const char *name); // a file of that name
bool inspect_ends(const char *path, const char *ending);
// The file folder/name as JSON; an error unless it is an object. json_free it.
Json *inspect_read(const char *folder, const char *name, Error *err);
// The same for at->folder: prints the object, or puts it as the member `key`.
bool inspect_document(const Inspection *at, const char *name, const char *key,
                      void (*print)(const Inspection *at, const Json *document));
bool inspect_any(const char *folder, bool (*is)(const char *path)); // is one of its entries?
// Calls `visit` with the path of each entry of the folder, in the order of names with numbers by
// value, until it returns false.
bool inspect_each(const char *folder, bool (*visit)(const char *path, void *context),
                  void *context);

// inspect_assignment.c: prints one assignment, and all of a run; nothing if there are none
void inspect_assignment(const Inspection *at, const Json *assignment);
bool inspect_assignments(const char *run_dir, Error *err);

void inspect_put_tensors(JsonWriter *writer, const Tensors *map); // "tensors"
