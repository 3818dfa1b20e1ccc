// Homes of hyperedges by the majority rule: a hyperedge lives in the part that has most of its
// pins; of several such parts in the one whose hyperedges have fewer pins so far, then in the
// lowest one. Hyperedges are taken in the order of their ids.
#include "internal.h"

typedef struct Homes {
    const int32_t *part; // [nodes]
    int parts;
    int64_t *load;  // [parts] pins of the hyperedges so far
    int64_t *count; // [parts] pins of the hyperedge being placed; zeros between hyperedges
    int lightest;   // the part with the least load, or -1: not known
} Homes;

static bool is_better(const Homes *homes, int p, int best) {
    if (homes->count[p] != homes->count[best])
        return homes->count[p] > homes->count[best];
    return homes->load[p] != homes->load[best] ? homes->load[p] < homes->load[best] : p < best;
}

// The best of all parts while no pins are counted.
static int lightest(Homes *homes) {
    if (homes->lightest >= 0)
        return homes->lightest;
    homes->lightest = 0;
    for (int p = 1; p < homes->parts; p++)
        if (is_better(homes, p, homes->lightest))
            homes->lightest = p;
    return homes->lightest;
}

static int home_of(Homes *homes, const int32_t *pin, int64_t count) {
    if (count == 0)
        return lightest(homes);
    int best = homes->part[pin[0]];
    for (int64_t k = 0; k < count; k++)
        homes->count[homes->part[pin[k]]]++;
    for (int64_t k = 1; k < count; k++)
        if (is_better(homes, homes->part[pin[k]], best))
            best = homes->part[pin[k]];
    for (int64_t k = 0; k < count; k++)
        homes->count[homes->part[pin[k]]] = 0;
    return best;
}

static void add_load(Homes *homes, int p, int64_t pins) {
    homes->load[p] += pins;
    if (p == homes->lightest && pins > 0)
        homes->lightest = -1;
}

bool homes_fill(int32_t *part, const Dataset *dataset, int parts, double memory_limit, Error *err) {
    CLEARED(csr_free) Csr pins = {0};
    int32_t *home = part + dataset->nodes;
    if (!hyperedge_pins(&pins, dataset, memory_limit, err))
        return false;
    Homes homes = {part, parts, ALLOC(int64_t, parts, "homes of hyperedges"),
                   ALLOC(int64_t, parts, "homes of hyperedges"), -1};
    for (int64_t h = 0; h < pins.rows; h++) {
        int64_t count = pins.offset[h + 1] - pins.offset[h];
        home[h] = home_of(&homes, pins.column + pins.offset[h], count);
        add_load(&homes, home[h], count);
    }
    MEMORY_FREE(homes.count, homes.load);
    return true;
}
