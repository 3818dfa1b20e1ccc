// report: what a person and a program see of a run. run.json (resolved config, versions, machine),
// metrics.jsonl (one object per epoch, the source of truth), one plain line per logged epoch on
// stderr. Rank 0 only.
#ifndef FRINGE_REPORT_H
#define FRINGE_REPORT_H

#include "fringe/base.h"
#include "fringe/config.h"
#include "fringe/trainer.h"

typedef struct Report Report;
// Opens <dir>; `resume_epoch` > 0 cuts metrics.jsonl back to that epoch, 0 starts anew.
Report *report_open(const Config *config, const Shard *shard, const Trainer *trainer,
                    const Comm *comm, int64_t resume_epoch, Error *err);
bool report_epoch(Report *report, const EpochRecord *record,
                  Error *err); // metrics.jsonl, and a line when due
void report_line(const EpochRecord *record, int64_t epochs, double eta_seconds, char *out,
                 size_t size);
void report_close(Report *report);

// Mean and sample standard deviation.
typedef struct Summary {
    double mean, deviation;
    int count;
} Summary;
Summary report_summary(const double *value, int count);

// Versions of everything linked, one per line (--version) and as JSON members (run.json).
void report_versions(JsonWriter *writer); // NULL: prints to stdout

#endif
