// Snapshots: the hypergraph so far as a dataset with its parts.
#include "fringe/dataset_events.h"
#include "fringe/npy.h"
#include "fringe/partition.h"
#include "internal.h"

typedef struct Snapshot {
    Stream *stream;
    char name[EVENT_NAME + 16], writing[PATH_BYTES], place[PATH_BYTES];
    int32_t *order[LIVE_SIDES]; // owned
} Snapshot;

// ---- its name

// The number of events after which the snapshot there was made; -1: not known.
static int64_t events_of_snapshot(const char *folder) {
    int64_t events = -1;
    const char *path = PATH_IN(folder, "stream.json");
    CLEARED(json_drop) Json *document = file_exists(path) ? json_read(path, &(Error){0}) : NULL;
    json_get_int(document, "events", &events);
    return events;
}

// A resumed stream makes a snapshot again in its old place.
static void find_place(Snapshot *s, const char *name) {
    const Stream *stream = s->stream;
    const char *above = PATH_IN(stream->request->folder, "snapshots");
    for (int number = 1;; number++) {
        if (number == 1)
            snprintf(s->name, sizeof s->name, "%s", name);
        else
            snprintf(s->name, sizeof s->name, "%s-%d", name, number);
        path_join(s->place, sizeof s->place, above, s->name);
        if (!file_exists(s->place) || events_of_snapshot(s->place) == stream->events)
            break;
    }
    path_join(s->writing, sizeof s->writing, above, ".writing");
}

// ---- its files

static bool write_ids(const Snapshot *s, int side, const char *name, uint64_t *id, Error *err) {
    const LiveHypergraph *live = srp_live(s->stream->srp);
    live_ids(live, side, s->order[side], id);
    return npy_write(PATH_IN(s->writing, name), "<u8", id, sizeof *id, 1, &live->side[side].count,
                     err);
}

static bool write_parts(const Snapshot *s, int side, Error *err) {
    int64_t count = srp_live(s->stream->srp)->side[side].count;
    FREED int32_t *part = ALLOC(int32_t, count, "parts of a snapshot");
    for (int64_t i = 0; i < count; i++)
        part[i] = srp_home(s->stream->srp, side, s->order[side][i]);
    return partition_write_part_file(s->writing, s->name, side, part, count,
                                     s->stream->options.parts, err);
}

static bool write_facts(const Snapshot *s, Error *err) {
    StreamSummary summary = {0};
    JsonWriter out;
    summary_fill(&summary, s->stream);
    json_writer_begin(&out, true);
    JSON_PUT(&out, PAIR("format", "fringe-stream-snapshot"), PAIR("version", 1),
             PAIR("name", s->name), PAIR("parts", s->stream->options.parts),
             PAIR("score", s->stream->options.score),
             PAIR("offset", event_reader_place(s->stream->reader).offset));
    stream_put(&out, &summary, false);
    return json_writer_store(&out, PATH_IN(s->writing, "stream.json"), err);
}

static void say_warnings(const Snapshot *s, const Dataset *dataset) {
    const char *at = dataset->warnings.text;
    while (*at != '\0') {
        int length = (int)strcspn(at, "\n");
        sink_warn(s->stream->request->sink, "snapshot %s: %.*s", s->name, length, at);
        at += length + (at[length] == '\n');
    }
}

static void say_bound(const Snapshot *s) {
    char text[512];
    const SrpBound *bound = &s->stream->bound;
    srp_bound_text(text, sizeof text, &s->stream->options, bound);
    if (summary_load(s->stream) * bound->mean > bound->promised)
        sink_warn(s->stream->request->sink, "snapshot %s: %s", s->name, text);
}

static bool write_dataset(const Snapshot *s, uint64_t *id, Error *err) {
    CLEARED(dataset_clear) Dataset dataset = {0};
    const Stream *stream = s->stream;
    const char *nodes = stream->request->nodes;
    const LiveHypergraph *live = srp_live(stream->srp);
    live_ids(live, SIDE_NODE, s->order[SIDE_NODE], id);
    bool ok = dataset_from_live(&dataset, live, (const int32_t *const *)s->order, err) &&
              (nodes == NULL || dataset_join(&dataset, id, nodes, stream->config->run.seed, err));
    snprintf(dataset.name, sizeof dataset.name, "%s", s->name);
    ok = ok && dataset_write(&dataset, s->writing, err);
    if (ok)
        say_warnings(s, &dataset);
    return ok;
}

static bool write_all(Snapshot *s, Error *err) {
    const LiveHypergraph *live = srp_live(s->stream->srp);
    int64_t nodes = live->side[SIDE_NODE].count, hyperedges = live->side[SIDE_HYPEREDGE].count;
    FREED uint64_t *id =
        ALLOC(uint64_t, nodes > hyperedges ? nodes : hyperedges, "ids of a snapshot");
    return file_remove(s->writing, err) && write_dataset(s, id, err) &&
           write_ids(s, SIDE_NODE, "node_ids.npy", id, err) &&
           write_ids(s, SIDE_HYPEREDGE, "hyperedge_ids.npy", id, err) &&
           write_parts(s, SIDE_NODE, err) && write_parts(s, SIDE_HYPEREDGE, err) &&
           write_facts(s, err);
}

bool snapshot_write(Stream *stream, const char *name, Error *err) {
    Snapshot s = {.stream = stream};
    LiveHypergraph *live = srp_live(stream->srp);
    char after[64];
    if (live->pins == 0)
        return sink_warn(stream->request->sink, "snapshot %s is left out: there are no pins yet",
                         name),
               true;
    find_place(&s, name);
    progress_drop();
    progress_begin("snapshot", "%s", s.name);
    stream->bound = srp_settle(stream->srp);
    say_bound(&s);
    for (int side = 0; side < LIVE_SIDES; side++)
        s.order[side] = live_order(live, side);
    bool ok = write_all(&s, err) && file_take_place(s.writing, s.place, err);
    if (ok)
        summary_fill(stream->summary, stream);
    MEMORY_FREE(s.order[SIDE_NODE], s.order[SIDE_HYPEREDGE]);
    srp_unsettle(stream->srp);
    if (ok)
        snprintf(stream->summary->snapshot, sizeof stream->summary->snapshot, "%s", s.place);
    else
        file_remove(s.writing, &(Error){0});
    snprintf(after, sizeof after, "after event %ld", stream->events);
    progress_end(ok ? after : "");
    return ok;
}
