// What entries.c hands to the loop of entries_lanes.c.
#pragma once

#include "pointwise.h"

typedef struct EntriesCall {
    float *out;
    const float *value;
    const int32_t *row, *column;
    const int64_t *gid;
    DropoutKey key;
} EntriesCall;

// Entries begin .. end - 1.
typedef void EntriesLoop(const EntriesCall *call, int64_t begin, int64_t end);
EntriesLoop dropout_entries_plain, dropout_entries_avx2, dropout_entries_avx512;
