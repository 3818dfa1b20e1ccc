// Losses, metrics, optimizers and the operations on messages, each with its variants.
#pragma once

#include "backend_case.h"

// ---- losses and metrics

// Rows of which some do not count, and factors of classes.
static void loss_weights(Case *c, DeviceFloat **row, LossForm *form) {
    FREED float *host = ALLOC(float, c->shape.rows + c->shape.columns, "test");
    for (int64_t i = 0; i < c->shape.rows + c->shape.columns; i++)
        host[i] = (float)(i % 5) / 2;
    *row = uploaded(c, host, (size_t)c->shape.rows * sizeof *host);
    form->classes = uploaded(c, host + c->shape.rows, (size_t)c->shape.columns * sizeof *host);
    form->smoothing = 0.1f;
    form->positive = 2.5f;
}

// What a loss takes and gives.
typedef struct LossArguments {
    DeviceFloat *row; // NULL: 1
    LossForm form;
    Rows logits, g; // g: none, the logits in place, or rows of its own
    Labels on;
    DeviceDouble *loss;
} LossArguments;

// Variants: a gradient of its own, in place, the value alone; then weighed, and weighed in place.
static LossArguments loss_arguments(Case *c, LossKind kind) {
    LossArguments of = {.form = LOSS_PLAIN(kind)};
    if (c->variant > 2)
        loss_weights(c, &of.row, &of.form);
    of.logits = case_rows(c, c->shape.rows, c->shape.columns);
    Rows apart = case_rows(c, of.logits.count, of.logits.columns);
    of.g = c->variant == 2 ? (Rows){0} : c->variant % 3 == 1 ? of.logits : apart;
    of.on.split = case_small_bytes(c, of.logits.count, 3);
    of.loss = case_bytes(c, sizeof(double));
    return of;
}

static void make_loss(Case *c, const LossArguments *of) {
    c->b->loss(of->loss, of->g, of->logits, of->on, 1, 0.125f, of->row, of->form);
    if (of->g.at != NULL)
        case_keep_rows(c, of->g);
}

static DeviceInt32 *some_label(Case *c, Rows logits) {
    return case_int32s(c, logits.count, 0, (int32_t)logits.columns);
}

static void softmax_loss(Case *c) {
    LossArguments of = loss_arguments(c, LOSS_SOFTMAX);
    of.on.label = some_label(c, of.logits);
    make_loss(c, &of);
}

// Its sum alone, whose logarithm is the library's.
static void softmax_value(Case *c) {
    LossArguments of = {.form = LOSS_PLAIN(LOSS_SOFTMAX)};
    if (c->variant == 1)
        loss_weights(c, &of.row, &of.form);
    of.logits = case_rows(c, c->shape.rows, c->shape.columns);
    of.on.label = some_label(c, of.logits);
    of.on.split = case_small_bytes(c, of.logits.count, 2);
    of.loss = case_bytes(c, sizeof(double));
    double value;
    make_loss(c, &of);
    c->b->download(&value, of.loss, sizeof value);
    c->b->finish(NULL);
    float near = (float)value;
    case_put(c, &near, sizeof near);
}

static void bce_loss(Case *c) {
    LossArguments of = loss_arguments(c, LOSS_BCE);
    of.on.labels = case_small_bytes(c, of.logits.count * of.logits.columns, 2);
    make_loss(c, &of);
    case_keep(c, of.loss, sizeof(double));
}

// Of one label; weighed, of several.
static void hinge_loss(Case *c) {
    LossArguments of = loss_arguments(c, LOSS_HINGE);
    if (c->variant > 2)
        of.on.labels = case_small_bytes(c, of.logits.count * of.logits.columns, 2);
    else
        of.on.label = some_label(c, of.logits);
    make_loss(c, &of);
    case_keep(c, of.loss, sizeof(double));
}

static void mse_loss(Case *c) {
    LossArguments of = loss_arguments(c, LOSS_MSE);
    of.on.numbers = case_floats(c, of.logits.count * of.logits.columns);
    make_loss(c, &of);
    case_keep(c, of.loss, sizeof(double));
}

static void count_metrics(Case *c) {
    Rows logits = case_rows(c, c->shape.rows, c->shape.columns);
    size_t bytes = (size_t)(SPLITS * split_counts(logits.columns)) * sizeof(int64_t);
    DeviceInt64 *count = case_zeros(c, bytes);
    Labels on = {.split = case_small_bytes(c, logits.count, SPLITS)};
    if (c->variant == 0)
        on.label = some_label(c, logits);
    else
        on.labels = case_small_bytes(c, logits.count * logits.columns, 2);
    for (int time = 0; time < 2; time++) // counts are added to
        c->b->count_right(count, logits, on);
    case_keep(c, count, bytes);
}

// ---- optimizers, on as many numbers as the shape has

static int64_t flat_count(const Case *c) { return c->shape.rows * c->shape.columns; }

static void adam(Case *c) {
    int64_t count = flat_count(c);
    size_t bytes = (size_t)count * sizeof(float);
    DeviceFloat *w = case_floats(c, count), *m = case_floats(c, count), *g = case_floats(c, count);
    DeviceFloat *v = case_zeros(c, bytes), *decay = case_floats(c, count);
    for (int step = 1; step < 3; step++)
        c->b->adam(w, m, v, g, c->variant ? decay : NULL, count,
                   (AdamStep){0.01f, 0.9f, 0.999f, 1e-8f, 0.1f, 0.001f, 0.1f * (float)step,
                              0.001f * (float)step, c->variant == 2});
    case_keep(c, w, bytes);
    case_keep(c, m, bytes);
    case_keep(c, v, bytes);
}

static void sgd(Case *c) {
    int64_t count = flat_count(c);
    DeviceFloat *w = case_floats(c, count), *v = case_floats(c, count), *g = case_floats(c, count);
    DeviceFloat *decay = case_floats(c, count);
    c->b->sgd(w, v, g, c->variant ? decay : NULL, count, 0.1f, 0.9f);
    case_keep(c, w, (size_t)count * sizeof(float));
    case_keep(c, v, (size_t)count * sizeof(float));
}

static void shrink(Case *c) {
    DeviceFloat *x = case_floats(c, flat_count(c));
    c->b->shrink(x, flat_count(c), 0.2f);
    case_keep(c, x, (size_t)flat_count(c) * sizeof(float));
}

static void square_sum(Case *c) {
    DeviceDouble *out = case_bytes(c, sizeof(double));
    c->b->square_sum(out, case_floats(c, flat_count(c)), flat_count(c));
    case_keep(c, out, sizeof(double));
}

static void scale(Case *c) {
    DeviceFloat *x = case_floats(c, flat_count(c));
    c->b->scale(x, flat_count(c), 0.3f);
    case_keep(c, x, (size_t)flat_count(c) * sizeof(float));
}

// ---- messages. Some rows are partial sums; one in seven values may be what no message can hold.

typedef struct Sending {
    MessageSource source;
    int64_t count; // of the list
    DeviceInt64 *bad;
} Sending;

static Sending sending_of(Case *c, bool scaled, bool spoiled) {
    Shape s = c->shape;
    int64_t sums = s.rows / 4, own = s.rows - sums;
    Sending sending = {.count = s.rows + s.rows / 2, .bad = case_zeros(c, sizeof(int64_t))};
    MessageSource *source = &sending.source;
    source->x = case_rows(c, own, s.columns);
    source->partials = case_rows(c, sums, s.columns);
    source->scale = scaled ? case_floats(c, own) : NULL;
    // rows of x and, after them, of the sums
    source->row = case_int32s(c, sending.count, c->far, (int32_t)(s.rows > 0 ? s.rows : 1));
    source->random =
        random_of_kind(random_key(11, RANDOM_ROUNDING, 7, 1, 1),
                       (RandomKind){.seven = s.rows % 2 == 1, .narrow = s.columns % 2 == 1});
    source->gid = far_ids(c, case_ids(c, s.rows));
    source->peer = 3;
    source->partial_peer = 5;
    source->range = case_floats(c, sending.count);
    if (spoiled && own > 1) {
        static const float values[] = {__builtin_inff(), -3.4e38f, 3.4e38f, __builtin_nanf("")};
        for (int64_t i = 0; i < own; i += 7) {
            int64_t number = i * source->x.stride + s.columns / 2;
            size_t size = rows_number(c->rows); // a bf16 is the upper half
            const char *value = (const char *)&values[i / 7 % 4] + sizeof(float) - size;
            c->b->upload(byte_at((DeviceByte *)source->x.at, number * (int64_t)size), value, size);
        }
        c->b->finish(NULL);
    }
    source->x = far_rows(c, source->x);
    source->scale = far_floats(c, source->scale, 1);
    return sending;
}

static void pack_fp32(Case *c) {
    Sending s = sending_of(c, c->variant & 1, false);
    size_t bytes = (size_t)(s.count * c->shape.columns) * 4;
    DeviceByte *out = case_bytes(c, bytes);
    c->b->pack_fp32(out, &s.source, s.count, NULL);
    case_keep(c, out, bytes);
    Rows rows = case_dirty_rows_of(c, ROWS_FP32, s.count + 3, c->shape.columns);
    c->b->unpack_fp32(far_rows(c, rows), c->far + 2, out, s.count, NULL);
    case_keep_rows(c, rows);
}

static void pack_bf16(Case *c) {
    Sending s = sending_of(c, c->variant & 1, c->variant & 2);
    size_t bytes = (size_t)(s.count * c->shape.columns) * 2;
    DeviceByte *out = case_bytes(c, bytes);
    bool as_they_are = c->rows == ROWS_BF16 && c->variant == 0;
    c->b->pack_bf16(out, &s.source, s.count, as_they_are ? NULL : s.bad, NULL);
    case_keep(c, s.bad, sizeof(int64_t));
    if (c->variant & 2) // what is written of a bad row is nobody's business
        return;
    case_keep(c, out, bytes);
    Rows rows = case_dirty_rows(c, s.count + 3, c->shape.columns);
    c->b->unpack_bf16(far_rows(c, rows), c->far + 2, out, s.count, NULL);
    case_keep_rows(c, rows);
}

enum { QUANTIZED_WIDTHS = 9 };
static const int quantized_bits[QUANTIZED_WIDTHS] = {1, 2, 3, 4, 5, 6, 7, 8, 16};

// Every second place of the list, from behind.
static Quantized quantized_of(Case *c, const Sending *s, int bits, bool bf16) {
    int64_t count = s->count / 2;
    FREED int32_t *place = ALLOC(int32_t, count + 1, "test");
    for (int64_t i = 0; i < count; i++)
        place[i] = (int32_t)(s->count - 1 - 2 * i);
    size_t each = bf16 ? 2 : 4;
    return (Quantized){
        .bits = bits,
        .bf16 = bf16,
        .count = count,
        .place = uploaded(c, place, (size_t)count * sizeof *place),
        .minimum = case_bytes(c, (size_t)count * each),
        .step = case_bytes(c, (size_t)count * each),
        .payload = case_bytes(c, (size_t)(count * quantized_row_bytes(c->shape.columns, bits)))};
}

// Ways: as they are; scaled and in bf16; with bad rows; to the nearest.
enum { QUANTIZE_VARIANTS = 4 * QUANTIZED_WIDTHS };
static void quantize(Case *c) {
    int bits = quantized_bits[c->variant % QUANTIZED_WIDTHS], way = c->variant / QUANTIZED_WIDTHS;
    bool nearest = way == 3;
    if (nearest)
        way = c->variant % 2;
    Sending s = sending_of(c, way & 1, way & 2);
    Quantized q = quantized_of(c, &s, bits, way & 1);
    q.nearest = nearest;
    size_t each = q.bf16 ? 2 : 4;
    c->b->quantize(&q, &s.source, s.bad, NULL);
    case_keep(c, s.bad, sizeof(int64_t));
    if (way & 2)
        return;
    case_keep(c, q.minimum, (size_t)q.count * each);
    case_keep(c, q.step, (size_t)q.count * each);
    case_keep(c, q.payload, (size_t)(q.count * quantized_row_bytes(c->shape.columns, bits)));
    case_keep(c, s.source.range, (size_t)s.count * 4);
    Rows rows = case_dirty_rows_of(c, ROWS_FP32, s.count + 3, c->shape.columns);
    c->b->dequantize(far_rows(c, rows), c->far + 2, &q, NULL);
    case_keep_rows(c, rows);
}

// Of some bytes more and less than whole words. Each byte counts, and its place.
static void message_checksum(Case *c) {
    int64_t bytes = flat_count(c) + c->variant;
    DeviceByte *payload = case_small_bytes(c, bytes, 250);
    DeviceInt64 *sum = case_bytes(c, sizeof(int64_t));
    for (int64_t left = bytes; left >= 0 && left > bytes - 20; left--) {
        c->b->message_checksum(sum, payload, (size_t)left, NULL);
        case_keep(c, sum, sizeof(int64_t));
    }
}

static void message_add_scaled(Case *c) {
    static const float factors[][2] = {{1, -1}, {0, 1}, {0.75f, 0.25f}, {1, 0.1f}};
    Rows out = case_rows(c, c->shape.rows, c->shape.columns),
         x = case_rows(c, c->shape.rows, c->shape.columns);
    const float *factor = factors[c->variant % 4];
    FREED float *part = ALLOC(float, c->shape.rows + 1, "test");
    DeviceFloat *device = case_zeros(c, (size_t)(c->shape.rows + 1) * sizeof *part);
    for (int64_t r = 0; r < c->shape.rows; r++)
        part[r] = (float)(1 + r % 8) / 8; // 1: all of it
    c->b->message_upload(device, part, (size_t)c->shape.rows * sizeof *part);
    if (c->variant < 4)
        c->b->message_add_scaled(out, (RowFactor){.plain = factor[0]}, out,
                                 (RowFactor){.plain = factor[1]}, x, NULL);
    else
        c->b->message_add_scaled(out, (RowFactor){1, -1, device, true}, out,
                                 (RowFactor){0, 1, device, true}, x, NULL);
    case_keep_rows(c, out);
    c->b->finish(NULL);
}

// Of other rows, without the last number; of the same rows.
static void message_distance(Case *c) {
    int64_t count = flat_count(c) - (c->variant == 0);
    DeviceFloat *b = case_floats(c, flat_count(c)),
                *a = c->variant == 1 ? b : case_floats(c, flat_count(c));
    DeviceDouble *two = case_bytes(c, 2 * sizeof(double));
    c->b->message_distance(two, a, b, count, NULL);
    case_keep(c, two, 2 * sizeof(double));
}

#define MESSAGE_OPERATIONS                                                                         \
    {"softmax_loss", softmax_loss, 5, 0, 0, 0, {{17000, 3}, {300, 602}}},                          \
        {"softmax_loss's value", softmax_value, 2, 1e-6, 0, 0, {{17000, 3}, {5000, 41}}},          \
        {"bce_loss", bce_loss, 5, 0, 0, 0, {{17000, 1}, {300, 602}}},                              \
        {"hinge_loss", hinge_loss, 5, 0, 0, 0, {{17000, 1}, {300, 602}}},                          \
        {"mse_loss", mse_loss, 5, 0, 0, 0, {{17000, 1}, {300, 602}}},                              \
        {"shrink", shrink, 1, 0, 0, 0, {{1500, 16}}},                                              \
        {"count", count_metrics, 2, 0, 0, 0, {{1500, 16}, {40, 700}}},                             \
        {"adam", adam, 3, 0, 0, 0, {{1500, 16}}}, {"sgd", sgd, 2, 0, 0, 0, {{1500, 16}}},          \
        {"square_sum", square_sum, 1, 0, 0, 0, {{1500, 16}, {5000, 256}}},                         \
        {"scale", scale, 1, 0, 0, 0, {{1500, 16}}},                                                \
        {"message_checksum", message_checksum, 2, 0, 0, 0, {{300, 602}}},                          \
        {"message_add_scaled", message_add_scaled, 5, 0, 0, 0, {{1500, 16}, {300, 602}}},          \
        {"message_distance", message_distance, 2, 0, 0, 0, {{1500, 16}, {5000, 256}}},             \
        {"pack_fp32", pack_fp32, 2, 0, 2, 2, {{1500, 16}, {9000, 3}, {300, 602}}},                 \
        {"pack_bf16", pack_bf16, 4, 0, 4, 4, {{1500, 16}, {9000, 3}, {300, 602}, {5000, 41}}}, {   \
        "quantize", quantize, QUANTIZE_VARIANTS, 0, QUANTIZE_VARIANTS, QUANTIZE_VARIANTS, {        \
            {1500, 16}, {9000, 3}, {300, 602}, { 24, 1500 }                                        \
        }                                                                                          \
    }
