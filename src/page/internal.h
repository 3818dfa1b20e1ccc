// Inside the page room: runs become arms, arms become JSON, and JSON becomes a page.
#ifndef FRINGE_PAGE_INTERNAL_H
#define FRINGE_PAGE_INTERNAL_H

#include "fringe/page.h"

// --- arms.c: runs that differ only in their seed

typedef struct Arm {
    const RunRecord *first; // borrowed; its facts are those of the arm
    char label[256];        // what differs from the other arms: "adaqp", "vanilla, lr=0.01"
} Arm;

typedef struct Arms {
    char (*key)[RECORD_KEY]; // [keys] whose values are not the same in all arms; owned
    int keys;
    Arm *arm; // [count] owned; in the order of the table of modes
    int count;
    int *arm_of; // [runs] the arm of each run, or -1: the same run was named twice; owned
} Arms;

void arms_gather(Arms *arms, const RunRecords *records);
void arms_clear(Arms *arms);

// --- data.c, run.c: what the page shows, as JSON

enum { RANKS_DRAWN = 64 }; // more ranks have sums only

void page_put_data(JsonWriter *writer, const RunRecords *records);
// One run. `stride`: epochs per point of its curves.
void page_put_run(JsonWriter *writer, const RunRecord *run, int64_t stride);

// --- the parts of every page, written into the program by cmake/embed.cmake

extern const char page_style[], page_charts[], page_script[], page_d3[], page_d3_license[];

#endif
