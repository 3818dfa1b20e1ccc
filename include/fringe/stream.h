// stream: follows a stream of events to its end: partitions it, reports progress, and writes
// snapshots and checkpoints.
//
// A snapshot is a dataset that a training can start from: a dataset directory with node_ids.npy and
// hyperedge_ids.npy (the user's ids), the part files, and stream.json. Its homes are refined once
// more; the stream itself goes on from the homes before. A checkpoint is everything that later
// events depend on; from it the stream goes on as if it had never stopped.
//
//   FOLDER/snapshots/NAME/            a snapshot; an existing one gets a number: NAME-2
//   FOLDER/checkpoints/events-N/      the state after N events; the newest one only
//   FOLDER/stream.json                how the stream went, with times
#pragma once

#include "fringe/base.h"
#include "fringe/srp.h"

typedef struct StreamRequest {
    const char *source; // a file, a FIFO, or "-"
    const char *folder; // exists, and belongs to this stream (runfolder_claim)
    const char *nodes;  // .npz that joins features, labels and splits by id, or "random:F"; NULL
    int parts;
    int64_t skip;       // events of the source that are passed over; 0: none
    bool resume;        // go on from the checkpoint in the folder, if there is one
    bool (*stop)(void); // true once the stream shall stop
    const Sink *sink;   // of warnings and of what a resume goes on with; NULL: nowhere
} StreamRequest;

// Where the time of events went, in seconds.
typedef struct StreamTimes {
    double total;                      // of all events, without snapshots and checkpoints
    double median, p99, p999, longest; // of one event; the window's work counts for its last event
} StreamTimes;

typedef struct StreamSummary {
    int64_t events, nodes, hyperedges, pins, repeated, skipped;
    SrpTotals totals;
    double cut_weight, weight, connectivity_weight; // with weights of hyperedges
    double workload_variation; // of hyperedges + nodes + replicas of the parts: deviation / mean
    double load;               // most pins of a part / mean
    double load_bound;         // and what a snapshot allows
    int64_t bytes;             // of memory in use
    int64_t pins_at_first;     // pins that a resumed stream began with
    StreamTimes times;         // since this command began
    char snapshot[PATH_BYTES]; // the last snapshot; "": none
} StreamSummary;

// Runs to the end of the stream, which writes the snapshot `final`. False with EXIT_STOPPED and a
// sentence after a stop; with EXIT_DATA and the place after a bad event: the checkpoint holds the
// state before it. Local; one process.
bool stream_run(StreamSummary *summary, const StreamRequest *request, const Config *config,
                Error *err);
// The summary as members of the writer's open object; times: also those that differ from run to
// run.
void stream_put(JsonWriter *writer, const StreamSummary *summary, bool times);
