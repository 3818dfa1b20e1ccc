// Inside the cli room: what fringe inspect prints. A kind of file or folder is a row of the table
// in cmd_inspect.c.
#ifndef FRINGE_CLI_INSPECT_H
#define FRINGE_CLI_INSPECT_H

#include "internal.h"

enum { INSPECT_PATH = 4096 };

// Writes members of the writer's open object, or fails with an error.
bool put_run(JsonWriter *writer, const char *path, Error *err);
bool put_runs(JsonWriter *writer, const char *path, Error *err);
bool put_predictions(JsonWriter *writer, const char *path, Error *err);
bool put_partition(JsonWriter *writer, const char *path, Error *err);
bool put_tensors(JsonWriter *writer, const char *path, Error *err);
bool put_npy(JsonWriter *writer, const char *path, Error *err);
bool put_json_file(JsonWriter *writer, const char *path, Error *err); // its own members
bool put_metrics(JsonWriter *writer, const char *path, Error *err);
bool put_part_file(JsonWriter *writer, const char *path, Error *err);
bool put_config(JsonWriter *writer, const char *path, Error *err);

// Print to stdout.
bool print_run(const char *path, Error *err);
bool print_runs(const char *path, Error *err);
bool print_cut(const char *path, Error *err);
bool print_tensors(const char *path, Error *err);
// The members of an object, one in a line of at most 80 columns where a word allows it.
void inspect_print_members(const Json *object);

bool inspect_holds(const char *folder, const char *name);
bool inspect_ends_with(const char *text, const char *end);

#endif
