// The hypergraph that a stream has made so far as a dataset: its slots become numbers in the
// ascending order of the user's ids. Nothing is sorted, because the pins of hyperedges are taken in
// that order.

#include "internal.h"

typedef struct Numbers {
    const LiveHypergraph *live;
    const int32_t *const *order; // of each side: the slots in ascending order of ids
    int32_t *node;               // [slots of nodes] their numbers; owned
} Numbers;

static bool number_nodes(Numbers *numbers, Error *err) {
    const LiveSide *nodes = &numbers->live->side[SIDE_NODE];
    numbers->node = TRY(int32_t, nodes->slots, "numbers of nodes", err);
    for (int64_t i = 0; numbers->node != NULL && i < nodes->count; i++)
        numbers->node[numbers->order[SIDE_NODE][i]] = (int32_t)i;
    return numbers->node != NULL;
}

// offset[i] is first where the pins of node i begin, and then where they end.
static void place_pins(const Numbers *numbers, Csr *rows) {
    const LiveHypergraph *live = numbers->live;
    const LiveSide *hyperedges = &live->side[SIDE_HYPEREDGE];
    for (int64_t i = 0; i < rows->rows; i++)
        rows->offset[i + 1] =
            rows->offset[i] + live->side[SIDE_NODE].item[numbers->order[SIDE_NODE][i]].count;
    for (int64_t h = 0; h < hyperedges->count; h++) {
        int32_t slot = numbers->order[SIDE_HYPEREDGE][h];
        const int32_t *pin = live_pins(live, SIDE_HYPEREDGE, slot);
        for (int32_t k = 0; k < hyperedges->item[slot].count; k++)
            rows->column[rows->offset[numbers->node[pin[k]]]++] = (int32_t)h;
    }
    offsets_shift_back(rows->offset, rows->rows);
}

static bool set_weights(Dataset *dataset, const Numbers *numbers, Error *err) {
    const LiveItem *item = numbers->live->side[SIDE_HYPEREDGE].item;
    float *weight = TRY(float, dataset->hyperedges, "weights of hyperedges", err);
    for (int64_t h = 0; weight != NULL && h < dataset->hyperedges; h++)
        weight[h] = item[numbers->order[SIDE_HYPEREDGE][h]].weight;
    hypergraph_set_weights(dataset, weight);
    return weight != NULL;
}

static bool make(Dataset *dataset, const Numbers *numbers, Error *err) {
    Csr rows;
    int64_t nodes = numbers->live->side[SIDE_NODE].count;
    if (!csr_try(&rows, nodes, numbers->live->pins, false, "pins of a hypergraph", err))
        return false;
    place_pins(numbers, &rows);
    dataset_set_csr(dataset, &rows);
    dataset->hyperedges = numbers->live->side[SIDE_HYPEREDGE].count;
    return dataset_need_split(dataset, err) && set_weights(dataset, numbers, err);
}

bool dataset_from_live(Dataset *dataset, const LiveHypergraph *live, const int32_t *const *order,
                       Error *err) {
    Numbers numbers = {.live = live, .order = order};
    *dataset = (Dataset){0};
    if (live->pins == 0)
        return error_data(err,
                          "there are no pins; a hypergraph has at least one hyperedge with a node");
    bool ok = hypergraph_fits(live->side[SIDE_NODE].count, live->side[SIDE_HYPEREDGE].count, err) &&
              number_nodes(&numbers, err) && make(dataset, &numbers, err);
    memory_free(numbers.node);
    if (!ok) {
        dataset_clear(dataset);
        return false;
    }
    dataset_finish(dataset);
    return true;
}
