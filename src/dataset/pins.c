// A list of pins (node, hyperedge) in any order, and how it becomes the rows of a dataset.

#include "internal.h"

enum { SORTING = 2 * sizeof(int64_t) }; // bytes for each hyperedge, also for those without pins

void pins_clear(Pins *pins) {
    MEMORY_FREE(pins->node, pins->hyperedge, pins->role);
    *pins = (Pins){0};
}

bool pins_init(Pins *pins, int64_t room, Error *err) {
    *pins = (Pins){.node = TRY(int64_t, room, "nodes of pins", err),
                   .hyperedge = TRY(int64_t, room, "hyperedges of pins", err)};
    return pins->node != NULL && pins->hyperedge != NULL;
}

static bool check_ids(const Pins *pins, int64_t nodes, int64_t hyperedges, Error *err) {
    for (int64_t p = 0; p < pins->count; p++) {
        if (pins->node[p] < 0 || pins->node[p] >= nodes)
            return error_data(err, "pin %ld is node %ld, but nodes are 0 to %ld", p, pins->node[p],
                              nodes - 1);
        if (pins->hyperedge[p] < 0 || pins->hyperedge[p] >= hyperedges)
            return error_data(err, "pin %ld is of hyperedge %ld, but hyperedges are 0 to %ld", p,
                              pins->hyperedge[p], hyperedges - 1);
    }
    return true;
}

// Copies every pin behind those of its node: offset[i] is then the end of node i.
static void place_pins(const Pins *pins, Csr *rows, uint8_t *role) {
    for (int64_t p = 0; p < pins->count; p++) {
        int64_t place = rows->offset[pins->node[p]]++;
        rows->column[place] = (int32_t)pins->hyperedge[p];
        if (role != NULL)
            role[place] = pins->role[p];
    }
    offsets_shift_back(rows->offset, rows->rows);
}

bool pins_to_rows(Dataset *dataset, const Pins *pins, int64_t nodes, int64_t hyperedges,
                  Error *err) {
    CLEARED(csr_free) Csr rows = {0};
    uint8_t *role = NULL;
    if (!hypergraph_fits(nodes, hyperedges, err) || !check_ids(pins, nodes, hyperedges, err) ||
        !memory_is_there(memory_product(hyperedges, SORTING), "sorting the pins of hyperedges",
                         err) ||
        !csr_try(&rows, nodes, pins->count, false, "pins of a hypergraph", err))
        return false;
    if (pins->role != NULL && (role = TRY(uint8_t, pins->count, "roles of pins", err)) == NULL)
        return false;
    for (int64_t p = 0; p < pins->count; p++)
        rows.offset[pins->node[p] + 1]++;
    offsets_sum(rows.offset, nodes);
    place_pins(pins, &rows, role);
    dataset_set_csr(dataset, &rows);
    hypergraph_set_roles(dataset, role);
    dataset->hyperedges = hyperedges;
    return true;
}
