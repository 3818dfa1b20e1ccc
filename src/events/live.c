// Applying events to the live hypergraph. Everything that can be wrong with an event is found
// before anything changes.
#include "live.h"

static const char *const nouns[LIVE_SIDES] = {"node", "hyperedge"};

// ---- its life

static bool side_init(LiveHypergraph *live, int side, Error *err) {
    LiveMemory *memory = live->memory;
    memory->free[side] = -1;
    bool ok = growing_init(&memory->item[side], INT32_MAX, sizeof(LiveItem), "nodes", err) &&
              growing_init(&memory->head[side], INT32_MAX, sizeof(int32_t), "ids", err) &&
              pool_init(&memory->list[side], sizeof(int32_t), "pins", err);
    live->side[side].item = memory->item[side].at;
    live->side[side].pool = memory->list[side].elements.at;
    return ok;
}

bool live_init(LiveHypergraph *live, Error *err) {
    *live = (LiveHypergraph){.strict = true};
    live->memory = ALLOC(LiveMemory, 1, "live hypergraph");
    bool ok = side_init(live, SIDE_NODE, err) && side_init(live, SIDE_HYPEREDGE, err) &&
              growing_init(&live->memory->other, INT32_MAX, sizeof(int32_t), "an event", err);
    if (!ok)
        live_clear(live);
    return ok;
}

void live_clear(LiveHypergraph *live) {
    LiveMemory *memory = live->memory;
    for (int side = 0; memory != NULL && side < LIVE_SIDES; side++) {
        growing_clear(&memory->item[side]);
        growing_clear(&memory->head[side]);
        pool_clear(&memory->list[side]);
    }
    if (memory != NULL)
        growing_clear(&memory->other);
    memory_free(memory);
    *live = (LiveHypergraph){0};
}

size_t live_bytes(const LiveHypergraph *live) {
    size_t bytes = 0;
    for (int side = 0; side < LIVE_SIDES; side++)
        bytes += (size_t)live->side[side].slots * sizeof(LiveItem) +
                 (size_t)live->memory->buckets[side] * sizeof(int32_t) +
                 (size_t)live->memory->list[side].used * sizeof(int32_t);
    return bytes;
}

// ---- marks: which items the current event has seen

static void next_stamp(LiveHypergraph *live) {
    if (++live->memory->stamp != 0)
        return;
    for (int side = 0; side < LIVE_SIDES; side++) // after 2^32 events
        for (int64_t slot = 0; slot < live->side[side].slots; slot++)
            live->side[side].item[slot].mark = 0;
    live->memory->stamp = 1;
}

static bool mark(LiveHypergraph *live, int side, int32_t slot) {
    LiveItem *item = live_item(live, side, slot);
    bool is_first = item->mark != live->memory->stamp;
    item->mark = live->memory->stamp;
    return is_first;
}

// ---- additions

static bool has_room(const LiveHypergraph *live, int64_t more, Error *err) {
    int64_t items = live->side[SIDE_NODE].count + live->side[SIDE_HYPEREDGE].count;
    if (live->pins + more > INT32_MAX)
        return error_data(err, "more than 2^31 - 1 pins, which fringe cannot hold");
    return items + more + 1 <= INT32_MAX ||
           error_data(err, "more than 2^31 - 1 nodes and hyperedges, which fringe cannot hold");
}

static int32_t find_or_make(LiveHypergraph *live, int side, uint64_t id) {
    int32_t slot = live_find(live, side, id);
    return slot >= 0 ? slot : live_make(live, side, id);
}

static void link_to(LiveHypergraph *live, int side, int32_t subject, int32_t other) {
    if (side == SIDE_NODE)
        live_link(live, subject, other);
    else
        live_link(live, other, subject);
    int32_t hyperedge = side == SIDE_NODE ? other : subject;
    int32_t arity = live_item(live, SIDE_HYPEREDGE, hyperedge)->count;
    live->largest = arity > live->largest ? arity : live->largest;
}

// True if the pin is new. One pin is searched for; of several, all that are there are marked first.
static bool is_new(LiveHypergraph *live, const LiveChange *change, int64_t pins, int32_t other) {
    if (pins != 1)
        return mark(live, 1 - change->side, other);
    int32_t node = change->side == SIDE_NODE ? change->subject : other;
    return !live_is_pin(live, node, change->side == SIDE_NODE ? other : change->subject);
}

static void mark_pins(LiveHypergraph *live, const LiveChange *change) {
    const int32_t *list = live_pins(live, change->side, change->subject);
    int32_t count = live_item(live, change->side, change->subject)->count;
    for (int32_t i = 0; i < count; i++)
        mark(live, 1 - change->side, list[i]);
}

// [begin, end) of the event's other ids.
static void add_some(LiveHypergraph *live, const Event *event, int64_t begin, int64_t end,
                     LiveChange *change) {
    int32_t *other = live->memory->other.at;
    live_prefetch(live, 1 - change->side, event->other + begin, end - begin);
    for (int64_t i = begin; i < end; i++) {
        int32_t slot = find_or_make(live, 1 - change->side, event->other[i]);
        if (is_new(live, change, event->count, slot)) {
            other[change->count++] = slot;
            __builtin_prefetch(live_pins(live, 1 - change->side, slot) +
                                   live_item(live, 1 - change->side, slot)->count,
                               1);
        } else
            live->repeated++;
    }
}

static void add(LiveHypergraph *live, const Event *event, LiveChange *change) {
    enum { AT_ONCE = 64 };
    bool is_known = live_find(live, change->side, event->id) >= 0;
    change->subject = find_or_make(live, change->side, event->id);
    growing_reach(&live->memory->other, event->count);
    change->other = live->memory->other.at;
    if (event->count > 1)
        mark_pins(live, change);
    for (int64_t i = 0; i < event->count; i += AT_ONCE)
        add_some(live, event, i, i + AT_ONCE < event->count ? i + AT_ONCE : event->count, change);
    for (int64_t i = 0; i < change->count; i++)
        link_to(live, change->side, change->subject, change->other[i]);
    live->repeated += is_known && event->count == 0 && !event->weighted;
}

// A weight alone is for a hyperedge that is there.
static bool add_item(LiveHypergraph *live, int side, const Event *event, LiveChange *change,
                     Error *err) {
    change->side = side;
    if (side == SIDE_HYPEREDGE && event->count == 0 && live_find(live, side, event->id) < 0)
        return error_data(err, "hyperedge %lu is new and has no pins", event->id);
    if (!has_room(live, event->count, err))
        return false;
    add(live, event, change);
    if (event->weighted)
        live_item(live, side, change->subject)->weight = event->weight;
    return true;
}

// ---- deletions

// What is deleted is not there: a mistake in the stream, or one more that is counted.
#define SKIP(live, err, ...)                                                                       \
    ((live)->strict ? error_set((err), EXIT_DATA, __VA_ARGS__) : ((live)->skipped++, true))

static bool remove_pin(LiveHypergraph *live, const Event *event, LiveChange *change, Error *err) {
    int32_t hyperedge = live_find(live, SIDE_HYPEREDGE, event->id);
    int32_t node = live_find(live, SIDE_NODE, event->other[0]);
    if (hyperedge < 0 || node < 0 || !live_is_pin(live, node, hyperedge))
        return SKIP(live, err,
                    "node %lu is deleted from hyperedge %lu, but is not in it; stream.strict=false "
                    "skips such events",
                    event->other[0], event->id);
    live_unlink(live, node, hyperedge);
    int32_t *other = live->memory->other.at;
    other[0] = node;
    *change = (LiveChange){SIDE_HYPEREDGE, hyperedge, 1, other, true, false};
    if (live_item(live, SIDE_HYPEREDGE, hyperedge)->count == 0) {
        live_drop(live, SIDE_HYPEREDGE, hyperedge);
        change->gone = true;
    }
    return true;
}

static bool remove_item(LiveHypergraph *live, int side, const Event *event, LiveChange *change,
                        Error *err) {
    int32_t slot = live_find(live, side, event->id);
    if (slot < 0)
        return SKIP(live, err,
                    "%s %lu is deleted, but is not there; stream.strict=false skips such events",
                    nouns[side], event->id);
    int32_t count = live_item(live, side, slot)->count;
    growing_reach(&live->memory->other, count);
    int32_t *other = live->memory->other.at;
    for (int32_t i = 0; i < count; i++)
        other[i] = live_pins(live, side, slot)[i];
    live_unlink_all(live, side, slot);
    live_drop(live, side, slot);
    for (int32_t i = 0; side == SIDE_NODE && i < count; i++)
        if (live_item(live, SIDE_HYPEREDGE, other[i])->count == 0)
            live_drop(live, SIDE_HYPEREDGE, other[i]);
    *change = (LiveChange){side, slot, count, other, true, true};
    return true;
}

// ---- any event

bool live_apply(LiveHypergraph *live, const Event *event, LiveChange *change, Error *err) {
    *change = (LiveChange){.subject = -1};
    next_stamp(live);
    growing_reach(&live->memory->other, 1);
    switch (event->kind) {
    case EVENT_HYPEREDGE:
    case EVENT_PIN:
        return add_item(live, SIDE_HYPEREDGE, event, change, err);
    case EVENT_NODE:
        return add_item(live, SIDE_NODE, event, change, err);
    case EVENT_NO_PIN:
        return remove_pin(live, event, change, err);
    case EVENT_NO_HYPEREDGE:
        return remove_item(live, SIDE_HYPEREDGE, event, change, err);
    case EVENT_NO_NODE:
        return remove_item(live, SIDE_NODE, event, change, err);
    default:
        return true;
    }
}
