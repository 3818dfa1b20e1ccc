// page: the report of runs as one HTML file that needs no network: curves with their spread over
// seeds, time per epoch in its parts, bytes and bit widths, the messages between ranks, and tables.
// The numbers are those of run.json, metrics.jsonl and assignments/.
#pragma once

#include "fringe/records.h"

// Writes the report of all runs to `path`. Runs whose configs differ only in run.seed and run.dir
// are one variant with a spread. Local; may take long.
bool page_write(const char *path, const RunRecords *records, Error *err);
