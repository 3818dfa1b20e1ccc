// The partitioner as files: the live hypergraph, and the homes, the window and the hyperedges that
// phase 2 has yet to look at. Tallies and counters are counted anew.
#include "internal.h"

enum { STATE = 6, STATE_NUMBERS = 6 };

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
    int64_t number[STATE_NUMBERS];
    int32_t *home[LIVE_SIDES] = {homes_of(srp, SIDE_NODE), homes_of(srp, SIDE_HYPEREDGE)};
    const SlotList *nodes = &srp->changed[SIDE_NODE];
    const SlotList *hyperedges = &srp->changed[SIDE_HYPEREDGE];
    numbers_of(srp, number);
    Tensor tensor[STATE] = {
        {"home.node", TENSOR_I32, 1, {srp->slots[SIDE_NODE]}, home[SIDE_NODE]},
        {"home.hyperedge", TENSOR_I32, 1, {srp->slots[SIDE_HYPEREDGE]}, home[SIDE_HYPEREDGE]},
        {"window", TENSOR_I32, 1, {srp->window.count}, slot_list_at(&srp->window)},
        {"changed.node", TENSOR_I32, 1, {nodes->count}, slot_list_at(nodes)},
        {"changed.hyperedge", TENSOR_I32, 1, {hyperedges->count}, slot_list_at(hyperedges)},
        {"numbers", TENSOR_I64, 1, {STATE_NUMBERS}, number}};
    bool ok = tensors_write(PATH_IN(folder, "homes.safetensors"), tensor, STATE, NULL, true, err);
    MEMORY_FREE(home[SIDE_NODE], home[SIDE_HYPEREDGE]);
    return ok;
}

bool srp_write(Srp *srp, const char *folder, Error *err) {
    assert(!srp->settled);
    window_close_gaps(srp);
    return live_write(&srp->live, PATH_IN(folder, "hypergraph.safetensors"), err) &&
           write_homes(srp, folder, err);
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

static void restore_window(Srp *srp, const Tensor *window) {
    for (int64_t i = 0; i < window->shape[0]; i++) {
        int32_t slot = ((const int32_t *)window->data)[i];
        slot_list_add(&srp->window, slot);
        placed_at(srp, SIDE_NODE, slot)->seat = (uint32_t)srp->window.count & SEAT_MOST;
    }
}

static void restore_changed(Srp *srp, int side, const Tensor *changed) {
    for (int64_t i = 0; i < changed->shape[0]; i++)
        changed_add(srp, side, ((const int32_t *)changed->data)[i]);
}

static void restore_numbers(Srp *srp, const int64_t *number) {
    srp->arrived = number[0];
    srp->totals.overfull = number[1];
    srp->totals.work = number[2];
    srp->totals.runs = number[3];
    srp->totals.undone = number[4];
}

typedef struct StateInput {
    const Tensor *home[LIVE_SIDES], *changed[LIVE_SIDES], *window, *number;
} StateInput;

static bool find(StateInput *in, const Srp *srp, const Tensors *file, Error *err) {
    static const char *const home[] = {"home.node", "home.hyperedge"};
    static const char *const changed[] = {"changed.node", "changed.hyperedge"};
    const int64_t any[1] = {-1}, numbers[1] = {STATE_NUMBERS};
    bool ok = true;
    for (int side = 0; ok && side < LIVE_SIDES; side++) {
        const int64_t slots[1] = {srp->live.side[side].slots};
        in->home[side] = tensors_need(file, home[side], TENSOR_I32, 1, slots, err);
        in->changed[side] = tensors_need(file, changed[side], TENSOR_I32, 1, any, err);
        ok = in->home[side] != NULL && in->changed[side] != NULL;
    }
    in->window = ok ? tensors_need(file, "window", TENSOR_I32, 1, any, err) : NULL;
    in->number = ok ? tensors_need(file, "numbers", TENSOR_I64, 1, numbers, err) : NULL;
    return in->window != NULL && in->number != NULL;
}

static bool is_sound(const StateInput *in, const Srp *srp) {
    bool ok = ((const int64_t *)in->number->data)[5] == srp->options.parts &&
              are_slots(srp, SIDE_NODE, in->window);
    for (int side = 0; ok && side < LIVE_SIDES; side++)
        ok = homes_are_sound(srp, side, in->home[side]->data) &&
             are_slots(srp, side, in->changed[side]);
    return ok;
}

static bool restore(Srp *srp, const Tensors *file, Error *err) {
    StateInput in;
    if (!find(&in, srp, file, err))
        return false;
    if (!is_sound(&in, srp))
        return error_data(err, "%s: damaged: its numbers contradict each other", file->path);
    homes_reach(srp);
    for (int side = 0; side < LIVE_SIDES; side++)
        restore_homes(srp, side, in.home[side]->data);
    restore_window(srp, in.window);
    for (int side = 0; side < LIVE_SIDES; side++)
        restore_changed(srp, side, in.changed[side]);
    restore_numbers(srp, in.number->data);
    return true;
}

bool srp_read(Srp *srp, const char *folder, Error *err) {
    CLEARED(tensors_close) Tensors file = {0};
    return live_read(&srp->live, PATH_IN(folder, "hypergraph.safetensors"), err) &&
           tensors_open(&file, PATH_IN(folder, "homes.safetensors"), err) &&
           restore(srp, &file, err);
}
