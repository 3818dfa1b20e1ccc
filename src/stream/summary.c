// What a stream has come to, in the measures of ALGORITHMS C.1.
#include "internal.h"

static double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

static void weigh(StreamSummary *out, const Srp *srp, LiveHypergraph *live) {
    const LiveSide *side = &live->side[SIDE_HYPEREDGE];
    for (int64_t slot = 0; slot < side->slots; slot++) {
        if (side->item[slot].count < 0)
            continue;
        double weight = (double)side->item[slot].weight;
        int homes = srp_homes_of_pins(srp, (int32_t)slot);
        out->weight += weight;
        out->cut_weight += homes > 1 ? weight : 0;
        out->connectivity_weight += weight * (homes - 1);
    }
}

static double workload_variation(const SrpPart *part, int parts) {
    double mean = 0, squares = 0;
    for (int p = 0; p < parts; p++)
        mean += (double)(part[p].hyperedges + part[p].nodes + part[p].replicas) / parts;
    for (int p = 0; p < parts; p++) {
        double work = (double)(part[p].hyperedges + part[p].nodes + part[p].replicas);
        squares += (work - mean) * (work - mean) / parts;
    }
    return mean > 0 ? sqrt(squares) / mean : 0;
}

double summary_load(const Stream *stream) {
    const SrpPart *part = srp_parts(stream->srp);
    int64_t most = 0, pins = srp_totals(stream->srp).pins;
    for (int p = 0; p < stream->options.parts; p++)
        most = part[p].pins > most ? part[p].pins : most;
    return pins > 0 ? (double)(most * stream->options.parts) / (double)pins : 0;
}

void summary_fill(StreamSummary *out, const Stream *stream) {
    LiveHypergraph *live = srp_live(stream->srp);
    const Latency *latency = stream->latency;
    out->events = stream->events;
    out->nodes = live->side[SIDE_NODE].count;
    out->hyperedges = live->side[SIDE_HYPEREDGE].count;
    out->pins = live->pins;
    out->repeated = live->repeated;
    out->skipped = live->skipped;
    out->totals = srp_totals(stream->srp);
    out->bytes = (int64_t)srp_bytes(stream->srp);
    out->weight = out->cut_weight = out->connectivity_weight = 0;
    weigh(out, stream->srp, live);
    out->workload_variation = workload_variation(srp_parts(stream->srp), stream->options.parts);
    out->load = summary_load(stream);
    out->load_bound =
        share(fmax(stream->bound.promised, (double)stream->bound.most), stream->bound.mean);
    out->times = (StreamTimes){latency->total, latency_quantile(latency, 0.5),
                               latency_quantile(latency, 0.99), latency_quantile(latency, 0.999),
                               latency->longest};
}

void stream_put(JsonWriter *out, const StreamSummary *s, bool times) {
    const SrpTotals *t = &s->totals;
    JSON_PUT(out, PAIR("events", s->events), PAIR("nodes", s->nodes),
             PAIR("hyperedges", s->hyperedges), PAIR("pins", s->pins),
             PAIR("repeated", s->repeated), PAIR("skipped", s->skipped),
             PAIR("replicas", t->replicas),
             PAIR("replication_factor", share((double)(s->nodes + t->replicas), (double)s->nodes)),
             PAIR("rows_per_layer", 2 * t->replicas), PAIR("cut_hyperedges", t->cut),
             PAIR("cut_share", share((double)t->cut, (double)s->hyperedges)),
             PAIR("connectivity_minus_1", t->connectivity), PAIR("weight", s->weight),
             PAIR("cut_weight", s->cut_weight), PAIR("connectivity_weight", s->connectivity_weight),
             PAIR("workload_cov", s->workload_variation), PAIR("load_balance", s->load),
             PAIR("load_bound", s->load_bound), PAIR("placed_overfull", t->overfull),
             PAIR("refinements", t->runs), PAIR("refinements_taken_back", t->undone));
    if (!times)
        return;
    JSON_PUT(out, PAIR("bytes", s->bytes), PAIR("seconds", s->times.total),
             PAIR("ms_per_node", share(1e3 * s->times.total, (double)s->nodes)),
             PAIR("event_p50_us", 1e6 * s->times.median), PAIR("event_p99_us", 1e6 * s->times.p99),
             PAIR("event_p999_us", 1e6 * s->times.p999),
             PAIR("event_longest_us", 1e6 * s->times.longest),
             PAIR("snapshot", s->snapshot[0] != 0 ? s->snapshot : NULL));
}
