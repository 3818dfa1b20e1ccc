// A dataset as the events of a stream. Both a graph and a hypergraph are pins, by node and by
// hyperedge; an order is a walk over them.
#include "internal.h"

typedef struct Replay {
    const Dataset *dataset;
    Csr by_node, by_hyperedge; // by_node only where the order needs it
    bool owns_node;
    EventTaker *take;
    void *context;
    Error *err;
    uint64_t *other; // [largest] pins of an event
} Replay;

// ---- the pins

// Hyperedge v of a graph: v and all nodes that read its row.
static void closed_neighbourhoods(Csr *out, const Dataset *d) {
    csr_alloc(out, d->nodes, d->edges + d->nodes, false, "neighbourhoods");
    int64_t count = 0;
    for (int64_t v = 0; v < d->nodes; v++) {
        int64_t begin = count;
        bool has_self = false;
        for (int64_t e = d->offset[v]; e <= d->offset[v + 1]; e++) {
            bool is_last = e == d->offset[v + 1];
            bool self_is_next = !has_self && (is_last || d->target[e] >= v);
            if (self_is_next)
                out->column[count++] = (int32_t)v;
            has_self = has_self || self_is_next;
            if (!is_last && (count == begin || out->column[count - 1] != d->target[e]))
                out->column[count++] = d->target[e];
        }
        out->offset[v + 1] = count;
    }
}

static void need_node(Replay *replay) {
    replay->owns_node = replay->dataset->hyperedges == 0;
    if (replay->owns_node)
        csr_transpose(&replay->by_node, &replay->by_hyperedge, replay->dataset->nodes);
    else
        replay->by_node = dataset_csr(replay->dataset);
}

static void need_hyperedge(Replay *replay) {
    const Dataset *d = replay->dataset;
    Csr pins = dataset_csr(d);
    if (d->hyperedges > 0)
        csr_transpose(&replay->by_hyperedge, &pins, d->hyperedges);
    else
        closed_neighbourhoods(&replay->by_hyperedge, d);
}

static int64_t longest(const Csr *csr) {
    int64_t most = 1;
    for (int64_t i = 0; i < csr->rows; i++)
        if (csr->offset[i + 1] - csr->offset[i] > most)
            most = csr->offset[i + 1] - csr->offset[i];
    return most;
}

// ---- events

static bool give(Replay *replay, EventKind kind, int64_t id, const int32_t *other, int64_t count) {
    Event event = {.kind = kind, .id = (uint64_t)id, .count = count, .weight = 1};
    for (int64_t i = 0; i < count; i++)
        replay->other[i] = (uint64_t)other[i];
    event.other = replay->other;
    const float *weight = replay->dataset->hyperedge_weight;
    if (kind == EVENT_HYPEREDGE && weight != NULL && weight[id] != 1) {
        event.weighted = true;
        event.weight = weight[id];
    }
    return replay->take(replay->context, &event, replay->err);
}

static bool give_row(Replay *replay, EventKind kind, const Csr *csr, int64_t id) {
    return give(replay, kind, id, csr->column + csr->offset[id],
                csr->offset[id + 1] - csr->offset[id]);
}

static bool is_empty(const Csr *csr, int64_t row) {
    return csr->offset[row] == csr->offset[row + 1];
}

// Nodes in no hyperedge come last.
static bool give_uncovered(Replay *replay) {
    const Dataset *d = replay->dataset;
    for (int64_t v = 0; d->hyperedges > 0 && v < d->nodes; v++)
        if (d->offset[v] == d->offset[v + 1] && !give(replay, EVENT_NODE, v, NULL, 0))
            return false;
    return true;
}

// Weights of hyperedges that were made by events without one.
static bool give_weights(Replay *replay) {
    const Dataset *d = replay->dataset;
    for (int64_t h = 0; d->hyperedge_weight != NULL && h < d->hyperedges; h++)
        if (d->hyperedge_weight[h] != 1 && !is_empty(&replay->by_hyperedge, h) &&
            !give(replay, EVENT_HYPEREDGE, h, NULL, 0))
            return false;
    return true;
}

// ---- orders

static bool by_hyperedges(Replay *replay) {
    for (int64_t h = 0; h < replay->by_hyperedge.rows; h++)
        if (!is_empty(&replay->by_hyperedge, h) &&
            !give_row(replay, EVENT_HYPEREDGE, &replay->by_hyperedge, h))
            return false;
    return give_uncovered(replay);
}

static bool by_nodes(Replay *replay) {
    for (int64_t v = 0; v < replay->by_node.rows; v++)
        if (!give_row(replay, EVENT_NODE, &replay->by_node, v))
            return false;
    return give_weights(replay);
}

static bool full(Replay *replay) {
    FREED uint8_t *given = ALLOC(uint8_t, replay->by_hyperedge.rows, "hyperedges of the stream");
    for (int64_t v = 0; v < replay->by_node.rows; v++)
        for (int64_t e = replay->by_node.offset[v]; e < replay->by_node.offset[v + 1]; e++) {
            int32_t h = replay->by_node.column[e];
            if (!given[h] && !give_row(replay, EVENT_HYPEREDGE, &replay->by_hyperedge, h))
                return false;
            given[h] = 1;
        }
    return give_uncovered(replay);
}

static bool by_pins(Replay *replay) {
    const Csr *pins = &replay->by_hyperedge;
    for (int64_t h = 0; h < pins->rows; h++)
        for (int64_t e = pins->offset[h]; e < pins->offset[h + 1]; e++)
            if (!give(replay, EVENT_PIN, h, pins->column + e, 1))
                return false;
    return give_uncovered(replay) && give_weights(replay);
}

typedef struct Order {
    const char *name;
    bool needs_node;
    bool (*walk)(Replay *replay);
} Order;
static const Order orders[] = {{"hyperedges", false, by_hyperedges},
                               {"nodes", true, by_nodes},
                               {"full", true, full},
                               {"pins", false, by_pins}};
const Family replay_family = FAMILY("stream.order", NULL, orders);

bool dataset_replay(const Dataset *dataset, const char *order, EventTaker *take, void *context,
                    Error *err) {
    const Order *member = family_find(&replay_family, order, NULL, err);
    Replay replay = {.dataset = dataset, .take = take, .context = context, .err = err};
    if (member == NULL)
        return false;
    need_hyperedge(&replay);
    if (member->needs_node)
        need_node(&replay);
    int64_t most = longest(&replay.by_hyperedge);
    if (member->needs_node && longest(&replay.by_node) > most)
        most = longest(&replay.by_node);
    replay.other = ALLOC(uint64_t, most, "an event");
    bool ok = member->walk(&replay);
    memory_free(replay.other);
    if (replay.owns_node)
        csr_free(&replay.by_node);
    csr_free(&replay.by_hyperedge);
    return ok;
}
