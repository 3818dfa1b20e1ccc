// Inside the report room: the open report, and the writers of its files.
#ifndef FRINGE_REPORT_INTERNAL_H
#define FRINGE_REPORT_INTERNAL_H

#include "fringe/report.h"

enum { REPORT_SAMPLES = 4096 };

struct Report {
    const Config *config;   // borrowed, outlives the report
    const Shard *shard;     // borrowed
    const Trainer *trainer; // borrowed
    const Comm *comm;       // borrowed
    RunSummary summary;
    bool resumed;
    int64_t resumed_at; // epoch, or 0
    Writer *writer;     // of everything below; owned
    int metrics;        // descriptor of metrics.jsonl, at its end
    char folder[1024];  // run.dir
    char path[1100];    // of metrics.jsonl
    JsonWriter line;    // kept between epochs, so that an epoch allocates no memory
    double opened;      // clock
    int64_t epochs;     // number reported since then
    double logged;      // seconds of reported epochs with their evaluations
    int64_t bytes;      // of the last epoch, also of one before a resume
    double *sample;     // [REPORT_SAMPLES] seconds of the first epochs, also before a resume; owned
    int samples;
};

// Writes run.json: config, versions, machine, data, parts, summary, and `result` if not NULL.
bool report_write_run(Report *report, const RunResult *result, Error *err);
// Removes the assignments that were applied after epoch `last`.
bool report_cut_assignments(const char *folder, int64_t last, Error *err);
void report_machine(JsonWriter *writer, const Report *report);

#endif
