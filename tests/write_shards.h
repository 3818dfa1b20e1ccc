// The shards of a cut that a test has made.
#pragma once

#include "fringe/partition.h"

// Writes the shards of all parts, the manifest and the part files under `folder`. Local. part: [n +
// m].
bool test_write_shards(const Dataset *dataset, const int32_t *part, int parts, bool reorder,
                       const char *folder, Error *err);
