// Several files that are parts of one: a folder of them, as Spark writes it, or a pattern
// (parts.c).
#pragma once

#include "internal.h"

typedef struct Parts {
    int count;
    char (*path)[PATH_BYTES]; // [count] in ascending order of their bytes; owned
} Parts;
// False: it is neither a folder of texts nor a pattern that fits a file.
bool parts_find(Parts *parts, const char *path);
void parts_clear(Parts *parts);
bool parts_are(const char *path);
// One text of all of them, with the header of the first. Refuses a folder inside, and parts whose
// headers differ.
bool parts_read(Text *text, const char *path, const Config *config, Error *err);
