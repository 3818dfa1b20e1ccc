// A finished stream of events, text or binary (docs/stream.md), as the hypergraph that is there at
// its end: nodes and hyperedges are numbered in the ascending order of their ids. Its snapshots are
// passed over.

#include "internal.h"

#include <stdio.h>
#include <string.h>

// Without a config, as in fringe inspect, nothing is said.
bool stream_is_lenient(const Config *config) {
    return config_is_said(config, "stream.strict") && !config->stream.strict;
}

// Only of a file: a pipe would be empty when it is read for the second time.
static EventReader *open_file(const char *path, Error *err) {
    int64_t bytes;
    FILE *file = file_stream(path, &bytes, err);
    if (file == NULL)
        return NULL;
    fclose(file);
    return event_reader_open(path, err);
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
            return event_reader_blame(reader, err);
    }
}

static bool read_stream(Dataset *dataset, LiveHypergraph *live, const char *path, Error *err) {
    EventReader *reader = open_file(path, err);
    bool ok = reader != NULL && apply_all(live, reader, err);
    if (ok)
        warnings_add_all(&dataset->warnings, event_reader_warnings(reader));
    event_reader_close(reader);
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
    memory_free(order[SIDE_NODE]);
    memory_free(order[SIDE_HYPEREDGE]);
    if (id == NULL)
        error_prefix(err, "%s", path);
    return id;
}

static bool read(Dataset *dataset, const Request *request, Error *err) {
    LiveHypergraph live;
    uint64_t *id = NULL;
    if (!live_init(&live, err))
        return false;
    live.strict = !stream_is_lenient(request->config);
    if (read_stream(dataset, &live, request->path, err))
        id = make(dataset, &live, request->path, err);
    live_clear(&live);
    bool ok = id != NULL && beside_join(dataset, request->beside, id, err);
    memory_free(id);
    return ok;
}

// --- the plan: the stream is read through

typedef struct Facts {
    int64_t pins;                 // that are added
    int64_t longest;              // ids of an event
    int64_t named[LIVE_SIDES];    // how often a node or hyperedge is named where it may be new
    uint64_t largest[LIVE_SIDES]; // id
} Facts;

static void name(Facts *facts, int side, uint64_t id) {
    facts->named[side]++;
    facts->largest[side] = id > facts->largest[side] ? id : facts->largest[side];
}

static void look_at(Facts *facts, const Event *event) {
    if (event->kind > EVENT_PIN)
        return;
    int side = event->kind == EVENT_NODE ? SIDE_NODE : SIDE_HYPEREDGE;
    facts->pins += event->count;
    facts->longest = event->count > facts->longest ? event->count : facts->longest;
    name(facts, side, event->id);
    for (int64_t i = 0; i < event->count; i++)
        name(facts, 1 - side, event->other[i]);
}

static bool look(Facts *facts, const char *path) {
    Event event;
    EventReader *reader = open_file(path, &(Error){0});
    EventNext next = reader == NULL ? EVENT_WRONG : EVENT_WAITING;
    *facts = (Facts){0};
    while (next == EVENT_READ || next == EVENT_WAITING) {
        next = event_reader_next(reader, &event, &(Error){0});
        if (next == EVENT_READ)
            look_at(facts, &event);
    }
    event_reader_close(reader);
    return next == EVENT_END && facts->pins > 0;
}

static int64_t most_items(const Facts *facts, int side) {
    return facts->largest[side] < (uint64_t)facts->named[side] ? (int64_t)facts->largest[side] + 1
                                                               : facts->named[side];
}

// Bytes at most: a list that grew has left blocks of all smaller sizes behind, together up to 14 /
// 3 of its length; sorting by ids takes pairs of id and slot, and qsort a copy.
enum {
    OF_ITEM = sizeof(LiveItem) + sizeof(int32_t), // with its place among the ids
    OF_PIN = LIVE_SIDES * 14 * sizeof(int32_t) / 3 + 1,
    OF_TEXT = 21 + sizeof(uint64_t), // an id in a line, and as a number
    OF_SORT = 2 * 16,
    OF_ORDER = sizeof(int32_t)
};

static void plan(Tally *tally, const Request *request) {
    Facts facts;
    if (!look(&facts, request->path))
        return;
    tally->nodes = most_items(&facts, SIDE_NODE);
    tally->hyperedges = most_items(&facts, SIDE_HYPEREDGE);
    int64_t items = tally->nodes + tally->hyperedges;
    size_t live = memory_product(items, OF_ITEM + OF_ORDER) + memory_product(facts.pins, OF_PIN) +
                  memory_product(facts.longest, OF_TEXT);
    tally_add(tally, live + memory_product(items, OF_SORT));
    tally_sub(tally, memory_product(items, OF_SORT));
    // numbers, weights, ids, rows
    tally_add(tally, memory_product(items, sizeof(int32_t)));
    tally_add(tally, memory_product(tally->nodes, sizeof(uint64_t)));
    pins_plan(tally, facts.pins, false);
    tally_sub(tally, live);
    beside_plan_join(tally, request->beside);
}

// --- the format

static bool begins_a_stream(const char *path) {
    char first[14] = "";
    int64_t bytes;
    FILE *file = file_stream(path, &bytes, &(Error){0});
    if (file == NULL)
        return false;
    bool whole = fread(first, 1, sizeof first - 1, file) == sizeof first - 1;
    fclose(file);
    return (whole && strcmp(first, "fringe-stream") == 0) || strncmp(first, "FRNGSTRM", 8) == 0;
}

static bool matches(const char *path) {
    return format_file_ends(path, (const char *const[]){".events", NULL}) || begins_a_stream(path);
}

const Format format_events = {.name = "events", .matches = matches, .read = read, .plan = plan};
