// Inside the page room: runs become variants, variants become JSON, and JSON becomes a page.
#pragma once

#include "fringe/page.h"

// --- variants.c: runs that differ only in their seed

typedef struct Variant {
    const RunRecord *first; // borrowed; its facts are those of the variant
    char label[256];        // what differs from the other variants: "adaqp", "vanilla, lr=0.01"
} Variant;

typedef struct Variants {
    char (*key)[RECORD_KEY]; // [keys] whose values are not the same in all variants; owned
    int keys;
    Variant *variant; // [count] owned; in the order of the table of modes
    int count;
    int *variant_of; // [runs] the variant of each run, or -1: the same run was named twice; owned
} Variants;

void variants_gather(Variants *variants, const RunRecords *records);
void variants_clear(Variants *variants);

// --- data.c, run.c: what the page shows, as JSON

enum { RANKS_DRAWN = 64 }; // more ranks have sums only

void page_put_data(JsonWriter *writer, const RunRecords *records);
// One run. `stride`: epochs per point of its curves.
void page_put_run(JsonWriter *writer, const RunRecord *run, int64_t stride);

// --- the parts of every page, written into the program by cmake/embed.cmake

extern const char page_style[], page_charts[], page_script[], page_d3[], page_d3_license[];
