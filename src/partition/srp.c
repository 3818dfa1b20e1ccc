// srp: replays the dataset as a stream of events and keeps the homes that the streaming partitioner
// has given at its end (the module srp). It cuts nodes and hyperedges; of a graph, whose nodes
// stand for hyperedges of themselves and all that read their rows, only the nodes are kept.
#include "fringe/srp.h"
#include "fringe/dataset_events.h"
#include "internal.h"

// Bytes of a pin, and of a node or hyperedge, at most (srp.h).
enum { PIN_BYTES = 40, ITEM_BYTES = 64 };
// Part of the cache key: raise it when the same stream and options give other homes.
enum { SRP_VERSION = 2 };

static bool fits(const CutInput *input, Error *err) {
    const Dataset *d = input->dataset;
    int64_t hyperedges = d->hyperedges > 0 ? d->hyperedges : d->nodes;
    int64_t pins = d->hyperedges > 0 ? d->edges : d->edges + d->nodes;
    MemoryForecast forecast = {0};
    forecast_add(&forecast, "pins of the stream", memory_product(pins, PIN_BYTES));
    forecast_add(&forecast, "nodes and hyperedges of the stream",
                 memory_product(d->nodes + hyperedges, ITEM_BYTES));
    forecast_add(&forecast, "order of the stream",
                 memory_product(pins, sizeof(int32_t)) + csr_bytes_of(hyperedges, pins, false));
    return forecast_fits(&forecast, input->config->run.memory_limit,
                         "use partition.method=fennel, which needs 8 bytes per node", err);
}

// The sizes of hyperedges alone say how evenly they can be spread. Of a graph no hyperedges are
// kept.
static void warn_of_bound(const SrpOptions *options, const Dataset *d, Warnings *warnings) {
    char text[512];
    FREED int64_t *size = ALLOC(int64_t, d->hyperedges, "pins of hyperedges");
    for (int64_t e = 0; e < d->edges; e++)
        size[d->target[e]]++;
    SrpBound bound = srp_bound(options, size, d->hyperedges);
    srp_bound_text(text, sizeof text, options, &bound);
    if ((double)bound.most > bound.promised)
        warnings_add(warnings, "%s", text);
}

static bool take(void *context, const Event *event, Error *err) {
    return srp_apply(context, event, err);
}

// Hyperedges without pins are in no stream; they get part 0.
static void keep(int32_t *part, Srp *srp, int side, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        int32_t slot = live_find(srp_live(srp), side, (uint64_t)i);
        part[i] = slot < 0 ? 0 : srp_home(srp, side, slot);
    }
}

static bool cut_srp(int32_t *part, const CutInput *input, Warnings *warnings, Error *err) {
    const Dataset *d = input->dataset;
    SrpOptions options = srp_options(input->config, input->parts);
    if (!fits(input, err))
        return false;
    if (d->hyperedges > 0)
        warn_of_bound(&options, d, warnings);
    Srp *srp = srp_new(&options, err);
    bool ok = srp != NULL && dataset_replay(d, input->config->stream.order, take, srp, err);
    if (ok) {
        srp_settle(srp);
        keep(part, srp, SIDE_NODE, d->nodes);
        keep(part + d->nodes, srp, SIDE_HYPEREDGE, d->hyperedges);
    }
    srp_free(srp);
    return ok;
}

static void depends_on(char *out, size_t size, const Config *config) {
    SrpOptions o = srp_options(config, 1);
    snprintf(out, size, "srp %d|%s|%s|%d%d|%ld|%d|%.17g|%ld|%d%d|%d", SRP_VERSION,
             config->stream.order, o.score, o.during, o.after, o.window, o.iterations, o.epsilon,
             o.capacity, o.window_votes, o.window_balance, o.passes);
}

const Method method_srp = {.name = "srp",
                           .reads = READS_EDGES,
                           .may_leave_empty = true,
                           .depends_on = depends_on,
                           .cut = cut_srp};
