// What a cut of a hypergraph costs, counted from the dataset and part[n + m] alone in time linear
// in the pins. A node has a replica on every part other than its home that has one of its
// hyperedges: its row goes there for the first stage, and a partial aggregate comes back in the
// second one, if every pin is source and target; a directed pin takes part in one of the stages
// only. lambda of a hyperedge is the number of distinct homes of its pins.
#include "internal.h"

// seen[p] == stamp: part p has been counted for this row.
static bool is_new(int64_t *seen, int32_t p, int64_t stamp) {
    bool is_first = seen[p] != stamp;
    seen[p] = stamp;
    return is_first;
}

static void count_replicas(HyperCut *cut, PartFigures *figures, const Dataset *d,
                           const int32_t *part, int64_t *seen) {
    for (int64_t v = 0; v < d->nodes; v++)
        for (int64_t e = d->offset[v]; e < d->offset[v + 1]; e++) {
            int32_t home = part[d->nodes + d->target[e]];
            bool remote = home != part[v];
            figures[home].edges++;
            figures[home].edges_remote += remote;
            if (!is_new(seen, home, v) || !remote)
                continue;
            figures[home].replicas++;
            cut->replicas++;
        }
}

static void count_cut(HyperCut *cut, const Csr *pins, const Dataset *d, const int32_t *part,
                      int64_t *seen) {
    for (int64_t h = 0; h < pins->rows; h++) {
        double weight = d->hyperedge_weight != NULL ? (double)d->hyperedge_weight[h] : 1;
        int64_t lambda = 0;
        for (int64_t k = pins->offset[h]; k < pins->offset[h + 1]; k++)
            lambda += is_new(seen, part[pins->column[k]], d->nodes + h);
        cut->connectivity += lambda > 1 ? lambda - 1 : 0;
        cut->cut += lambda > 1;
        cut->weight += weight;
        cut->weight_cut += lambda > 1 ? weight : 0;
    }
}

bool hypercut_count(HyperCut *cut, PartFigures *figures, const Dataset *dataset,
                    const int32_t *part, int parts, double memory_limit, Error *err) {
    CLEARED(csr_free) Csr pins = {0};
    *cut = (HyperCut){.weighted = dataset->hyperedge_weight != NULL};
    if (!hyperedge_pins(&pins, dataset, memory_limit, err))
        return false;
    FREED int64_t *seen = ALLOC(int64_t, parts, "parts of a hyperedge");
    for (int p = 0; p < parts; p++)
        seen[p] = -1;
    count_replicas(cut, figures, dataset, part, seen);
    count_cut(cut, &pins, dataset, part, seen);
    for (int64_t h = 0; h < dataset->hyperedges; h++)
        figures[part[dataset->nodes + h]].hyperedges++;
    return true;
}

void hypercut_put(JsonWriter *out, const Manifest *m) {
    const HyperCut *cut = &m->hypercut;
    Workload workload = ranks_workload(m->part, m->parts);
    JSON_PUT(out, PAIR("replicas", cut->replicas), PAIR("replication_factor", hypercut_factor(m)),
             PAIR("cut_hyperedges", cut->cut),
             PAIR("cut_share", (double)cut->cut / (double)m->hyperedges));
    if (cut->weighted)
        JSON_PUT(out, PAIR("weight", cut->weight), PAIR("cut_weight", cut->weight_cut));
    JSON_PUT(out, PAIR("connectivity_minus_1", cut->connectivity),
             PAIR("workload_cov", workload.variation), PAIR("workload_balance", workload.largest));
}

double hypercut_factor(const Manifest *m) {
    return (double)(m->nodes + m->hypercut.replicas) / (double)m->nodes;
}
