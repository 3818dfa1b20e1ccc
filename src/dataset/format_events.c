// A finished stream of events, text or binary (docs/stream.md), as the hypergraph that is there at
// its end: nodes and hyperedges are numbered in the ascending order of their ids. Its snapshots are
// passed over.

#include "internal.h"

// Without a config, as in fringe inspect, nothing is said.
bool stream_is_lenient(const Config *config) {
    return config_is_said(config, "stream.strict") && !config->stream.strict;
}

// Only of a file: a pipe would be empty when it is read for the second time.
static EventReader *open_file(const char *path, Error *err) {
    int64_t bytes;
    CLEARED(stream_drop) FILE *file = file_stream(path, &bytes, err);
    return file != NULL ? event_reader_open(path, err) : NULL;
}

// --- reading

static bool apply_all(LiveHypergraph *live, EventReader *reader, Error *err) {
    Event event;
    LiveChange change;
    for (;;) {
        EventNext next = event_reader_next(reader, &event, err);
        if (next == EVENT_END || next == EVENT_WRONG)
            return next == EVENT_END;
        if (next == EVENT_READ && !live_apply(live, &event, &change, err))
            return event_reader_error(reader, err);
    }
}

static bool read_stream(Dataset *dataset, LiveHypergraph *live, const char *path, Error *err) {
    CLEARED(reader_drop) EventReader *reader = open_file(path, err);
    bool ok = reader != NULL && apply_all(live, reader, err);
    if (ok)
        warnings_add_all(&dataset->warnings, event_reader_warnings(reader));
    warn_of_count(dataset, live->repeated, "addition", "of what was there already");
    warn_of_count(dataset, live->skipped, "deletion", "of what was not there, skipped");
    return ok;
}

static uint64_t *ids_of_nodes(const LiveHypergraph *live, const int32_t *order, Error *err) {
    uint64_t *id = TRY(uint64_t, live->side[SIDE_NODE].count, "ids of nodes", err);
    if (id != NULL)
        live_ids(live, SIDE_NODE, order, id);
    return id;
}

// Also the ids of the nodes; NULL with an error.
static uint64_t *make(Dataset *dataset, const LiveHypergraph *live, const char *path, Error *err) {
    int32_t *order[LIVE_SIDES] = {live_order(live, SIDE_NODE), live_order(live, SIDE_HYPEREDGE)};
    uint64_t *id = NULL;
    Dataset made;
    if (dataset_from_live(&made, live, (const int32_t *const *)order, err)) {
        memcpy(made.name, dataset->name, sizeof made.name);
        made.warnings = dataset->warnings;
        *dataset = made;
        id = ids_of_nodes(live, order[SIDE_NODE], err);
    }
    MEMORY_FREE(order[SIDE_NODE], order[SIDE_HYPEREDGE]);
    if (id == NULL)
        error_prefix(err, "%s", path);
    return id;
}

static bool read(Dataset *dataset, const Request *request, Error *err) {
    LiveHypergraph live;
    FREED uint64_t *id = NULL;
    if (!live_init(&live, err))
        return false;
    live.strict = !stream_is_lenient(request->config);
    if (read_stream(dataset, &live, request->path, err))
        id = make(dataset, &live, request->path, err);
    live_clear(&live);
    return id != NULL && node_files_join(dataset, request->node_files, id, err);
}

// --- the format

static bool matches(const char *path) {
    char head[14];
    file_head(path, head, sizeof head);
    return (path_ends(path, ".events") && !file_is_folder(path)) ||
           strcmp(head, "fringe-stream") == 0 || strncmp(head, "FRNGSTRM", 8) == 0;
}

const Format format_events = {
    .name = "events", .matches = matches, .read = read, .factor.word = 48};
