// The partitioner as files: the live hypergraph, and the homes, the window and the hyperedges that
// phase 2 has yet to look at. Tallies and counters are counted anew.
#include "internal.h"

#include <string.h>

enum { STATE = 5, STATE_NUMBERS = 6 };

static void numbers_of(const Srp *srp, int64_t number[STATE_NUMBERS]) {
    const SrpTotals *totals = &srp->totals;
    int64_t all[STATE_NUMBERS] = {srp->arrived, totals->overfull, totals->work,
                                  totals->runs, totals->undone,   srp->options.parts};
    memcpy(number, all, sizeof all);
}

static int32_t *homes_of(const Srp *srp, int side) {
    int32_t *home = ALLOC(int32_t, srp->slots[side], "homes");
    for (int64_t slot = 0; slot < srp->slots[side]; slot++)
        home[slot] = placed_at(srp, side, (int32_t)slot)->home;
    return home;
}

static bool write_homes(const Srp *srp, const char *folder, Error *err) {
    char path[1200];
    int64_t number[STATE_NUMBERS];
    int32_t *home[LIVE_SIDES] = {homes_of(srp, SIDE_NODE), homes_of(srp, SIDE_HYPEREDGE)};
    numbers_of(srp, number);
    Tensor tensor[STATE] = {
        {"home.node", TENSOR_I32, 1, {srp->slots[SIDE_NODE]}, home[SIDE_NODE]},
        {"home.hyperedge", TENSOR_I32, 1, {srp->slots[SIDE_HYPEREDGE]}, home[SIDE_HYPEREDGE]},
        {"window", TENSOR_I32, 1, {srp->window.count}, numbers_at(&srp->window)},
        {"changed", TENSOR_I32, 1, {srp->changed.count}, numbers_at(&srp->changed)},
        {"numbers", TENSOR_I64, 1, {STATE_NUMBERS}, number}};
    path_join(path, sizeof path, folder, "homes.safetensors");
    bool ok = tensors_write(path, tensor, STATE, NULL, true, err);
    memory_free(home[SIDE_NODE]);
    memory_free(home[SIDE_HYPEREDGE]);
    return ok;
}

bool srp_write(Srp *srp, const char *folder, Error *err) {
    char path[1200];
    assert(!srp->settled);
    window_close_gaps(srp);
    path_join(path, sizeof path, folder, "hypergraph.safetensors");
    return live_write(&srp->live, path, err) && write_homes(srp, folder, err);
}

// ---- reading

static bool homes_are_sound(const Srp *srp, int side, const int32_t *home) {
    const LiveSide *live = &srp->live.side[side];
    for (int64_t slot = 0; slot < live->slots; slot++)
        if (live->item[slot].count < 0 ? home[slot] != SRP_NONE
                                       : home[slot] < 0 || home[slot] >= srp->options.parts)
            return false;
    return true;
}

static bool are_slots(const Srp *srp, int side, const Tensor *list) {
    for (int64_t i = 0; i < list->shape[0]; i++) {
        int32_t slot = ((const int32_t *)list->data)[i];
        if (slot < 0 || slot >= srp->live.side[side].slots)
            return false;
    }
    return true;
}

static void restore_homes(Srp *srp, int side, const int32_t *home) {
    for (int64_t slot = 0; slot < srp->slots[side]; slot++)
        if (home[slot] != SRP_NONE)
            home_set(srp, side, (int32_t)slot, home[slot]);
}

static void restore_lists(Srp *srp, const Tensor *window, const Tensor *changed) {
    for (int64_t i = 0; i < window->shape[0]; i++) {
        int32_t slot = ((const int32_t *)window->data)[i];
        numbers_add(&srp->window, slot);
        placed_at(srp, SIDE_NODE, slot)->seat = (uint32_t)i + 1;
    }
    for (int64_t i = 0; i < changed->shape[0]; i++) {
        int32_t slot = ((const int32_t *)changed->data)[i];
        numbers_add(&srp->changed, slot);
        placed_at(srp, SIDE_HYPEREDGE, slot)->seat |= QUEUED_CHANGED;
    }
}

static void restore_numbers(Srp *srp, const int64_t *number) {
    srp->arrived = number[0];
    srp->totals.overfull = number[1];
    srp->totals.work = number[2];
    srp->totals.runs = number[3];
    srp->totals.undone = number[4];
}

static bool restore(Srp *srp, const Tensors *file, Error *err) {
    const int64_t any[1] = {-1}, numbers[1] = {STATE_NUMBERS};
    const int64_t nodes[1] = {srp->live.side[SIDE_NODE].slots};
    const int64_t hyperedges[1] = {srp->live.side[SIDE_HYPEREDGE].slots};
    const Tensor *node = tensors_need(file, "home.node", TENSOR_I32, 1, nodes, err);
    const Tensor *hyperedge = tensors_need(file, "home.hyperedge", TENSOR_I32, 1, hyperedges, err);
    const Tensor *window = tensors_need(file, "window", TENSOR_I32, 1, any, err);
    const Tensor *changed = tensors_need(file, "changed", TENSOR_I32, 1, any, err);
    const Tensor *number = tensors_need(file, "numbers", TENSOR_I64, 1, numbers, err);
    if (node == NULL || hyperedge == NULL || window == NULL || changed == NULL || number == NULL)
        return false;
    homes_reach(srp);
    if (((const int64_t *)number->data)[5] != srp->options.parts ||
        !homes_are_sound(srp, SIDE_NODE, node->data) ||
        !homes_are_sound(srp, SIDE_HYPEREDGE, hyperedge->data) ||
        !are_slots(srp, SIDE_NODE, window) || !are_slots(srp, SIDE_HYPEREDGE, changed))
        return error_set(err, EXIT_DATA, "%s: damaged: its numbers contradict each other",
                         file->path);
    restore_homes(srp, SIDE_HYPEREDGE, hyperedge->data);
    restore_homes(srp, SIDE_NODE, node->data);
    restore_lists(srp, window, changed);
    restore_numbers(srp, number->data);
    return true;
}

bool srp_read(Srp *srp, const char *folder, Error *err) {
    char path[1200];
    Tensors file;
    path_join(path, sizeof path, folder, "hypergraph.safetensors");
    if (!live_read(&srp->live, path, err))
        return false;
    path_join(path, sizeof path, folder, "homes.safetensors");
    if (!tensors_open(&file, path, err))
        return false;
    bool ok = restore(srp, &file, err);
    tensors_close(&file);
    return ok;
}
