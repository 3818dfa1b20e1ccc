// What an assigner leaves in files: the widths in use, for reports and replays, and its whole
// state, for checkpoints. Rank 0 writes and reads what all ranks hold, by rank.

#include "internal.h"

#include <stdio.h>
#include <string.h>

int64_t lot_messages(const Lot *lot, const Comm *comm) {
    return comm->rank == 0 ? lot->row_piece[comm->size] : 0;
}

void lot_gather_rows(const Lot *lot, const Comm *comm, const void *mine, void *all, size_t bytes) {
    list_gather(comm, mine, lot->rows, all, lot->row_piece, bytes);
}

void lot_scatter_rows(const Lot *lot, const Comm *comm, const void *all, void *mine, size_t bytes) {
    list_scatter(comm, all, lot->row_piece, mine, lot->rows, bytes);
}

bool widths_check(const Tensor *tensor, const char *path, Error *err) {
    const uint8_t *bits = tensor->data;
    for (int64_t i = 0; i < tensor->shape[0]; i++)
        if (!width_known(bits[i]))
            return error_set(err, EXIT_DATA, "%s: message %lld of %s has a width of %d bits", path,
                             (long long)i, tensor->name, bits[i]);
    return true;
}

static Tensor tensor_of(const Lot *lot, const char *what, TensorType type, int64_t count,
                        const void *data) {
    Tensor tensor = {.type = type, .rank = 1, .shape = {count}, .data = data};
    snprintf(tensor.name, sizeof tensor.name, "%s%s", lot->name, what);
    return tensor;
}

// Gathers one list of a lot on rank 0; memory_give((void *)tensor.data).
static Tensor gathered(const Assigner *a, const Lot *lot, const char *what, TensorType type,
                       const void *mine) {
    int64_t count = lot_messages(lot, a->comm);
    size_t bytes = tensor_type_bytes[type];
    void *all = memory_take(memory_product(count, bytes), "state of the assigner");
    lot_gather_rows(lot, a->comm, mine, all, bytes);
    return tensor_of(lot, what, type, count, all);
}

int assigner_widths(Assigner *a, Tensor tensor[ASSIGNED_CHANNELS]) {
    for (int i = 0; i < a->lots; i++)
        tensor[i] =
            gathered(a, &a->lot[i], "", TENSOR_U8, channel_widths(a->lot[i].of.channel, true));
    return a->lots;
}

void assigner_widths_give(Tensor tensor[ASSIGNED_CHANNELS], int count) {
    for (int i = 0; i < count; i++)
        memory_give((void *)tensor[i].data);
}

// ---- checkpoints

enum { LISTS = 3, COUNTERS = 3 };
static const struct {
    const char *name;
    TensorType type;
} lists[LISTS] = {{".widths", TENSOR_U8}, {".next", TENSOR_U8}, {".ranges", TENSOR_F32}};

static const void *list_of(const Lot *lot, int list) {
    return list == 0   ? (const void *)channel_widths(lot->of.channel, true)
           : list == 1 ? (const void *)lot->next
                       : channel_trace(lot->of.channel)->square;
}

// Whatever is asked is decided first, so that a resumed run needs no solver's answer.
bool assigner_write(Assigner *a, const char *path, Error *err) {
    Tensor tensor[LISTS * ASSIGNED_CHANNELS + 1];
    int64_t counters[COUNTERS + ASSIGNED_CHANNELS] = {a->asked, 0, a->taken};
    int count = 0;
    if (!assigner_decide(a, err))
        return false;
    counters[1] = a->pending;
    for (int i = 0; i < a->lots; i++) {
        counters[COUNTERS + i] = channel_trace(a->lot[i].of.channel)->exchanges;
        for (int list = 0; list < LISTS; list++)
            tensor[count++] = gathered(a, &a->lot[i], lists[list].name, lists[list].type,
                                       list_of(&a->lot[i], list));
    }
    tensor[count] = (Tensor){.name = "counters",
                             .type = TENSOR_I64,
                             .rank = 1,
                             .shape = {COUNTERS + a->lots},
                             .data = counters};
    if (path != NULL && a->comm->rank == 0)
        tensors_write(path, tensor, count + 1, NULL, true, err);
    for (int i = 0; i < count; i++)
        memory_give((void *)tensor[i].data);
    return comm_agree(a->comm, err);
}

static const Tensor *need(const Assigner *a, const Tensors *file, const Lot *lot, int list,
                          Error *err) {
    int64_t shape[1] = {lot_messages(lot, a->comm)};
    char name[64];
    snprintf(name, sizeof name, "%s%s", lot->name, lists[list].name);
    return tensors_need(file, name, lists[list].type, 1, shape, err);
}

static bool check_lot(const Assigner *a, const Tensors *file, const Lot *lot, Error *err) {
    for (int list = 0; list < LISTS; list++) {
        const Tensor *tensor = need(a, file, lot, list, err);
        if (tensor == NULL || (tensor->type == TENSOR_U8 && !widths_check(tensor, file->path, err)))
            return false;
    }
    return true;
}

static bool check(const Assigner *a, const Tensors *file, Error *err) {
    int64_t shape[1] = {COUNTERS + a->lots};
    const Tensor *counters = tensors_need(file, "counters", TENSOR_I64, 1, shape, err);
    if (counters == NULL)
        return false;
    int64_t pending = ((const int64_t *)counters->data)[1];
    if (pending != NOTHING_PENDING && pending != WIDTHS_DECIDED)
        return error_set(err, EXIT_DATA, "%s: counters has a state %lld that is not known",
                         file->path, (long long)pending);
    for (int i = 0; i < a->lots; i++)
        if (!check_lot(a, file, &a->lot[i], err))
            return false;
    return true;
}

static void restore(Assigner *a, const Tensors *file, Error *err) {
    bool first = a->comm->rank == 0;
    int64_t counters[COUNTERS + ASSIGNED_CHANNELS];
    if (first)
        memcpy(counters, tensors_find(file, "counters")->data,
               (size_t)(COUNTERS + a->lots) * sizeof *counters);
    comm_broadcast(a->comm, counters, sizeof counters, 0);
    a->asked = counters[0];
    a->pending = (Pending)counters[1];
    a->taken = counters[2];
    a->assignment = (Assignment){.asked = a->asked, .parts = a->lots};
    for (int i = 0; i < a->lots; i++) {
        Lot *lot = &a->lot[i];
        ChannelTrace *trace = channel_trace(lot->of.channel);
        const void *data[LISTS];
        for (int list = 0; list < LISTS; list++)
            data[list] = first ? need(a, file, lot, list, err)->data : NULL;
        lot_scatter_rows(lot, a->comm, data[0], lot->next, 1); // in use, and taken at once
        lot_take(lot);
        lot_scatter_rows(lot, a->comm, data[1], lot->next, 1);
        lot_scatter_rows(lot, a->comm, data[2], trace->square, sizeof *trace->square);
        trace->exchanges = counters[COUNTERS + i];
        a->assignment.part[i].layer = lot->of.layer;
        a->assignment.part[i].direction = lot->of.direction;
    }
}

bool assigner_read(Assigner *a, const char *path, Error *err) {
    Tensors file = {0};
    bool open = a->comm->rank == 0 && tensors_open(&file, path, err);
    if (open)
        check(a, &file, err);
    bool fine = comm_agree(a->comm, err);
    if (fine)
        restore(a, &file, err);
    if (open)
        tensors_close(&file);
    return fine;
}
