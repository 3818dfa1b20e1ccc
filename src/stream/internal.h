// Inside the module of streams.
#pragma once

#include "fringe/events.h"
#include "fringe/srp.h"
#include "fringe/stream.h"

// ---- latency.c: a histogram of durations
enum { LATENCY_BINS = 64 * 16 };
typedef struct Latency {
    int64_t count, bin[LATENCY_BINS];
    double total, longest; // seconds
} Latency;
void latency_add(Latency *latency, double seconds);
double latency_quantile(const Latency *latency, double share); // at most 6 % above the true one

typedef struct Stream {
    const StreamRequest *request;
    const Config *config;
    EventReader *reader;
    Srp *srp;
    SrpOptions options;
    int64_t events;   // of the stream so far: applied, passed over, and snapshots
    int64_t passing;  // events of the source that are still to be passed over
    bool resumed;     // those that are passed over count already
    Latency *latency; // owned
    double began;     // clock: of the first event of this command
    int64_t events_at_first;
    double shown; // clock: of the last progress
    size_t memory_limit;
    SrpBound bound; // of the last snapshot
    StreamSummary *summary;
} Stream;

// ---- summary.c
double summary_load(const Stream *stream);                       // most pins of a part / mean
void summary_fill(StreamSummary *summary, const Stream *stream); // from the homes there are now

// ---- snapshot.c
// Writes snapshots/NAME, or NAME-2, ... if another event made that.
bool snapshot_write(Stream *stream, const char *name, Error *err);

// ---- checkpoint.c
bool stream_checkpoint(Stream *stream, EventPlace place, Error *err);
// The newest checkpoint of the folder; *found false: there is none. The reader is sought to its
// place if it can be.
bool stream_restore(Stream *stream, bool *found, Error *err);
