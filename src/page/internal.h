// Inside the page room: runs become arms, arms become JSON, and JSON becomes a page.
#ifndef FRINGE_PAGE_INTERNAL_H
#define FRINGE_PAGE_INTERNAL_H

#include "fringe/page.h"

// --- settings.c: the config of a run as a list of keys and values

enum { SETTINGS_MOST = 256, SETTING_KEY = 64, SETTING_VALUE = 600 };

typedef struct Setting {
    char key[SETTING_KEY];     // "train.lr"; "ranks" and "mode" have no section
    char value[SETTING_VALUE]; // "0.01", "gcn", "2, 4, 8"
} Setting;

typedef struct Settings {
    int count;
    Setting row[SETTINGS_MOST];
} Settings;

// Reads those settings of a run that make it another training: not its seed, its folder and when it
// logs or saves.
void settings_read(Settings *settings, const RunRecord *run);
const char *settings_value(const Settings *settings, const char *key); // "" if there is none

// --- arms.c: runs that differ only in their seed

typedef struct Arm {
    const RunRecord *first; // borrowed; its facts are those of the arm
    Settings settings;
    char label[256]; // what differs from the other arms: "adaqp", "vanilla, train.lr=0.01"
} Arm;

typedef struct Arms {
    Arm **arm; // [count] owned; in the order of the table of modes
    int count;
    int *arm_of; // [runs] the arm of each run, or -1: the same run was named twice; owned
} Arms;

void arms_gather(Arms *arms, const RunRecords *records);
void arms_clear(Arms *arms);
// True if the value of that key is not the same in all arms.
bool arms_differ(const Arms *arms, const char *key);

// --- data.c, run.c: what the page shows, as JSON

enum { RANKS_DRAWN = 64 }; // more ranks have sums only

void page_put_data(JsonWriter *writer, const RunRecords *records);
// One run. `stride`: epochs per point of its curves.
void page_put_run(JsonWriter *writer, const RunRecord *run, int64_t stride);

// --- the parts of every page, written into the program by cmake/embed.cmake

extern const char page_style[], page_charts[], page_script[], page_d3[], page_d3_license[];

#endif
