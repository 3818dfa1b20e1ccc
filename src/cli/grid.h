// Inside fringe train --sweep: the keys that are swept, and the points, which are all combinations
// of their values.
#pragma once

#include "internal.h"

enum { VALUES_MOST = 64, POINTS_MOST = 10000, VALUE = 128, POINT = 240 };

typedef struct Axis { // one --sweep
    char key[96];
    char value[VALUES_MOST][VALUE];
    int count;
} Axis;

typedef struct Grid {
    Axis axis[CLI_SWEEPS];
    int axes, points;
} Grid;

// Reads the options --sweep. EXIT_USAGE.
bool grid_read(Grid *grid, const Options *options, Error *err);
// The value of an axis at a point; the last axis changes first.
const char *grid_value(const Grid *grid, int point, int axis);
// "train.lr=0.1,model.hidden=[8]". EXIT_USAGE: it is too long for the name of a folder.
bool grid_name(char out[POINT], const Grid *grid, int point, Error *err);
// Names of folders have '_' in place of '/'.
char grid_folder_letter(char letter);
