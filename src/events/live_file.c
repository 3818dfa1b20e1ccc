// A live hypergraph as a file of tensors: slots with their ids and weights, free slots in the order
// in which they will be used, and the pins in the order of the lists, of both sides, because later
// events depend on that order.
#include "live.h"

// "id", "count", "free", "pin" of each side; weights; numbers
enum { TENSORS_OF_SIDE = 4, LIVE_TENSORS = LIVE_SIDES * TENSORS_OF_SIDE + 2, LIVE_NUMBERS = 3 };

static const char *const suffix[LIVE_SIDES] = {".node", ".hyperedge"};

static Tensor vector(const char *name, int side, TensorType type, int64_t count) {
    return tensor_vector(type, count, NULL, "%s%s", name, side < 0 ? "" : suffix[side]);
}

static void describe(const LiveHypergraph *live, Tensor tensor[LIVE_TENSORS]) {
    int count = 0;
    for (int side = 0; side < LIVE_SIDES; side++) {
        const LiveSide *s = &live->side[side];
        tensor[count++] = vector("id", side, TENSOR_I64, s->slots);
        tensor[count++] = vector("count", side, TENSOR_I32, s->slots);
        tensor[count++] = vector("free", side, TENSOR_I32, s->slots - s->count);
        tensor[count++] = vector("pin", side, TENSOR_I32, live->pins);
    }
    tensor[count++] =
        vector("weight", SIDE_HYPEREDGE, TENSOR_F32, live->side[SIDE_HYPEREDGE].slots);
    tensor[count++] = vector("numbers", -1, TENSOR_I64, LIVE_NUMBERS);
}

// ---- writing, through a buffer

typedef struct Output {
    TensorsWriter writer;
    size_t used;
    bool ok;
    Error *err;
    unsigned char buffer[1 << 16];
} Output;

static void flush(Output *out) {
    out->ok = out->ok && tensors_writer_put(&out->writer, out->buffer, out->used, out->err);
    out->used = 0;
}

static void put(Output *out, const void *data, size_t bytes) {
    if (out->used + bytes > sizeof out->buffer)
        flush(out);
    if (bytes > sizeof out->buffer) {
        out->ok = out->ok && tensors_writer_put(&out->writer, data, bytes, out->err);
        return;
    }
    memcpy(out->buffer + out->used, data, bytes);
    out->used += bytes;
}

static void put_side(Output *out, const LiveHypergraph *live, int side) {
    const LiveSide *s = &live->side[side];
    for (int64_t i = 0; i < s->slots; i++)
        put(out, &s->item[i].id, sizeof s->item[i].id);
    for (int64_t i = 0; i < s->slots; i++)
        put(out, &s->item[i].count, sizeof s->item[i].count);
    for (int32_t i = live->memory->free[side]; i >= 0; i = s->item[i].next)
        put(out, &i, sizeof i);
    for (int64_t i = 0; i < s->slots; i++)
        if (s->item[i].count > 0)
            put(out, live_pins(live, side, (int32_t)i), (size_t)s->item[i].count * sizeof(int32_t));
}

bool live_write(const LiveHypergraph *live, const char *path, Error *err) {
    Tensor tensor[LIVE_TENSORS];
    FREED Output *out = ALLOC(Output, 1, "state of the stream");
    const LiveSide *hyperedges = &live->side[SIDE_HYPEREDGE];
    int64_t numbers[LIVE_NUMBERS] = {live->largest, live->repeated, live->skipped};
    describe(live, tensor);
    out->err = err;
    out->ok = tensors_writer_open(&out->writer, path, tensor, LIVE_TENSORS, NULL, err);
    if (!out->ok)
        return false;
    put_side(out, live, SIDE_NODE);
    put_side(out, live, SIDE_HYPEREDGE);
    for (int64_t i = 0; i < hyperedges->slots; i++)
        put(out, &hyperedges->item[i].weight, sizeof hyperedges->item[i].weight);
    put(out, numbers, sizeof numbers);
    flush(out);
    return tensors_writer_close(&out->writer, true, err) && out->ok;
}

// ---- reading

static const void *need(const Tensors *file, const char *name, int side, TensorType type,
                        int64_t count, int64_t *found, Error *err) {
    Tensor wanted = vector(name, side, type, count);
    const Tensor *tensor = tensors_need(file, wanted.name, type, 1, wanted.shape, err);
    if (tensor != NULL && found != NULL)
        *found = tensor->shape[0];
    return tensor != NULL ? tensor->data : NULL;
}

typedef struct SideInput {
    const int64_t *id;
    const int32_t *count, *free, *pin;
    int64_t slots, frees, pins;
} SideInput;

static bool find_side(SideInput *in, const Tensors *file, int side, Error *err) {
    in->id = need(file, "id", side, TENSOR_I64, -1, &in->slots, err);
    in->count = in->id != NULL ? need(file, "count", side, TENSOR_I32, in->slots, NULL, err) : NULL;
    in->free = in->count != NULL ? need(file, "free", side, TENSOR_I32, -1, &in->frees, err) : NULL;
    in->pin = in->free != NULL ? need(file, "pin", side, TENSOR_I32, -1, &in->pins, err) : NULL;
    return in->pin != NULL;
}

// Numbers from the file are checked before they lead anywhere.
static bool side_is_sound(const SideInput *in, const SideInput *other) {
    int64_t pins = 0, frees = 0;
    bool ok = in->slots < INT32_MAX && in->pins <= INT32_MAX && in->pins == other->pins;
    for (int64_t i = 0; ok && i < in->slots; i++) {
        ok = in->count[i] >= -1;
        frees += in->count[i] == -1;
        pins += in->count[i] > 0 ? in->count[i] : 0;
    }
    for (int64_t i = 0; ok && i < in->frees; i++)
        ok = in->free[i] >= 0 && in->free[i] < in->slots && in->count[in->free[i]] == -1;
    for (int64_t i = 0; ok && i < in->pins; i++)
        ok = in->pin[i] >= 0 && in->pin[i] < other->slots && other->count[in->pin[i]] > 0;
    return ok && pins == in->pins && frees == in->frees;
}

static void restore_list(LiveHypergraph *live, int side, int32_t slot, const int32_t *pin) {
    LiveItem *item = live_item(live, side, slot);
    if (item->count == 0)
        return;
    Pool *pool = &live->memory->list[side];
    item->list = pool_take(pool, item->count);
    memcpy((int32_t *)pool->elements.at + item->list, pin, (size_t)item->count * sizeof *pin);
}

static void restore_side(LiveHypergraph *live, int side, const SideInput *in) {
    LiveMemory *memory = live->memory;
    const int32_t *pin = in->pin;
    growing_reach(&memory->item[side], in->slots);
    live->side[side].slots = in->slots;
    for (int32_t slot = 0; slot < in->slots; slot++) {
        LiveItem *item = live_item(live, side, slot);
        *item = (LiveItem){.id = (uint64_t)in->id[slot], .count = in->count[slot], .weight = 1};
        if (item->count < 0)
            continue;
        restore_list(live, side, slot, pin);
        pin += item->count;
        live->side[side].count++;
        live_index(live, side, slot);
    }
    for (int64_t i = in->frees - 1; i >= 0; i--) {
        live_item(live, side, in->free[i])->next = memory->free[side];
        memory->free[side] = in->free[i];
    }
}

static bool restore(LiveHypergraph *live, const Tensors *file, Error *err) {
    SideInput in[LIVE_SIDES] = {{0}};
    if (!find_side(&in[SIDE_NODE], file, SIDE_NODE, err) ||
        !find_side(&in[SIDE_HYPEREDGE], file, SIDE_HYPEREDGE, err))
        return false;
    int64_t slots = in[SIDE_HYPEREDGE].slots;
    const float *weight = need(file, "weight", SIDE_HYPEREDGE, TENSOR_F32, slots, NULL, err);
    const int64_t *number = need(file, "numbers", -1, TENSOR_I64, LIVE_NUMBERS, NULL, err);
    if (weight == NULL || number == NULL)
        return false;
    if (!side_is_sound(&in[SIDE_NODE], &in[SIDE_HYPEREDGE]) ||
        !side_is_sound(&in[SIDE_HYPEREDGE], &in[SIDE_NODE]))
        return error_data(err, "%s: damaged: its numbers contradict each other", file->path);
    restore_side(live, SIDE_NODE, &in[SIDE_NODE]);
    restore_side(live, SIDE_HYPEREDGE, &in[SIDE_HYPEREDGE]);
    for (int64_t i = 0; i < slots; i++)
        live->side[SIDE_HYPEREDGE].item[i].weight = weight[i];
    live->pins = in[SIDE_NODE].pins;
    live->largest = number[0];
    live->repeated = number[1];
    live->skipped = number[2];
    return true;
}

bool live_read(LiveHypergraph *live, const char *path, Error *err) {
    CLEARED(tensors_close) Tensors file = {0};
    return tensors_open(&file, path, err) && restore(live, &file, err);
}
