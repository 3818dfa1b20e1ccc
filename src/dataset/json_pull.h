// A JSON file read piece by piece, for files that are larger than what should be in memory: the
// caller says what comes next, and anything else is an error. Nothing is nested, so no depth
// matters. Errors name the file and the byte.
#pragma once

#include "internal.h"

typedef struct JsonPull JsonPull;
JsonPull *json_pull_open(const char *path, Error *err);
void json_pull_close(JsonPull *pull);
CLEARED_POINTER(json_pull_drop, JsonPull, json_pull_close)
// Takes that character, after blanks. EXIT_DATA if something else is there.
bool json_pull_take(JsonPull *pull, char wanted, Error *err);
// Takes that character if it comes next; false if something else does, or the file is at its end.
bool json_pull_if(JsonPull *pull, char wanted);
bool json_pull_key(JsonPull *pull, char out[64], Error *err); // a short string without escapes
bool json_pull_integer(JsonPull *pull, int64_t *out, Error *err);
bool json_pull_end(JsonPull *pull, Error *err); // nothing but blanks may follow
bool json_pull_error(JsonPull *pull, Error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
