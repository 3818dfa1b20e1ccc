// The JSON files of GraphSAINT's sets, which are read piece by piece.
#pragma once

#include "json_pull.h"

// class_map.json: label, or labels, and classes of the d->nodes nodes. On failure clear the
// dataset.
bool graphsaint_classes(Dataset *d, JsonPull *pull, Error *err);
// role.json: sets d->split, which is there and SPLIT_NONE.
bool graphsaint_roles(Dataset *d, JsonPull *pull, Error *err);
