// Losses, metrics and the optimizer on the fenced backend.
#include "fenced.h"

typedef struct Loss {
    DeviceDouble *loss;
    Rows g, logits;
    const void *labels; // DeviceInt32 or DeviceByte
    const DeviceByte *split;
    uint8_t which;
    float weight;
} Loss;

static void run_softmax_loss(const void *arguments, const Poll *poll) {
    const Loss *c = arguments;
    (void)poll;
    backend_cpu.softmax_loss(c->loss, c->g, c->logits, c->labels, c->split, c->which, c->weight);
}

void fenced_softmax_loss(DeviceDouble *loss, Rows g, Rows logits, const DeviceInt32 *label,
                         const DeviceByte *split, uint8_t which, float weight) {
    FENCED_PUT(STREAM_COMPUTE, run_softmax_loss, Loss, fenced_twin(loss), fenced_rows(g),
               fenced_rows(logits), fenced_twin(label), fenced_twin(split), which, weight);
}

static void run_bce_loss(const void *arguments, const Poll *poll) {
    const Loss *c = arguments;
    (void)poll;
    backend_cpu.bce_loss(c->loss, c->g, c->logits, c->labels, c->split, c->which, c->weight);
}

void fenced_bce_loss(DeviceDouble *loss, Rows g, Rows logits, const DeviceByte *labels,
                     const DeviceByte *split, uint8_t which, float weight) {
    FENCED_PUT(STREAM_COMPUTE, run_bce_loss, Loss, fenced_twin(loss), fenced_rows(g),
               fenced_rows(logits), fenced_twin(labels), fenced_twin(split), which, weight);
}

typedef struct Count {
    DeviceInt64 *count;
    Rows logits;
    const void *labels;
    const DeviceByte *split;
} Count;

static void run_count_classes(const void *arguments, const Poll *poll) {
    const Count *c = arguments;
    (void)poll;
    backend_cpu.count_classes(c->count, c->logits, c->labels, c->split);
}

void fenced_count_classes(DeviceInt64 *count, Rows logits, const DeviceInt32 *label,
                          const DeviceByte *split) {
    FENCED_PUT(STREAM_COMPUTE, run_count_classes, Count, fenced_twin(count), fenced_rows(logits),
               fenced_twin(label), fenced_twin(split));
}

static void run_count_labels(const void *arguments, const Poll *poll) {
    const Count *c = arguments;
    (void)poll;
    backend_cpu.count_labels(c->count, c->logits, c->labels, c->split);
}

void fenced_count_labels(DeviceInt64 *count, Rows logits, const DeviceByte *labels,
                         const DeviceByte *split) {
    FENCED_PUT(STREAM_COMPUTE, run_count_labels, Count, fenced_twin(count), fenced_rows(logits),
               fenced_twin(labels), fenced_twin(split));
}

// ---- optimizer

typedef struct Step {
    DeviceFloat *w, *m, *v;
    const DeviceFloat *g, *decay;
    int64_t count;
    AdamStep adam;
    float rate, momentum; // of sgd
} Step;

static void run_adam(const void *arguments, const Poll *poll) {
    const Step *c = arguments;
    (void)poll;
    backend_cpu.adam(c->w, c->m, c->v, c->g, c->decay, c->count, c->adam);
}

void fenced_adam(DeviceFloat *w, DeviceFloat *m, DeviceFloat *v, const DeviceFloat *g,
                 const DeviceFloat *decay, int64_t count, AdamStep step) {
    FENCED_PUT(STREAM_COMPUTE, run_adam, Step, fenced_twin(w), fenced_twin(m), fenced_twin(v),
               fenced_twin(g), fenced_twin(decay), count, .adam = step);
}

static void run_sgd(const void *arguments, const Poll *poll) {
    const Step *c = arguments;
    (void)poll;
    backend_cpu.sgd(c->w, c->v, c->g, c->decay, c->count, c->rate, c->momentum);
}

void fenced_sgd(DeviceFloat *w, DeviceFloat *velocity, const DeviceFloat *g,
                const DeviceFloat *decay, int64_t count, float rate, float momentum) {
    FENCED_PUT(STREAM_COMPUTE, run_sgd, Step, .w = fenced_twin(w), .v = fenced_twin(velocity),
               .g = fenced_twin(g), .decay = fenced_twin(decay), .count = count, .rate = rate,
               .momentum = momentum);
}

typedef struct Flat {
    DeviceDouble *out;
    DeviceFloat *x;
    int64_t count;
    float factor;
} Flat;

static void run_square_sum(const void *arguments, const Poll *poll) {
    const Flat *c = arguments;
    (void)poll;
    backend_cpu.square_sum(c->out, c->x, c->count);
}

void fenced_square_sum(DeviceDouble *out, const DeviceFloat *x, int64_t count) {
    FENCED_PUT(STREAM_COMPUTE, run_square_sum, Flat, fenced_twin(out), fenced_twin(x), count, 0);
}

static void run_scale(const void *arguments, const Poll *poll) {
    const Flat *c = arguments;
    (void)poll;
    backend_cpu.scale(c->x, c->count, c->factor);
}

void fenced_scale(DeviceFloat *x, int64_t count, float factor) {
    FENCED_PUT(STREAM_COMPUTE, run_scale, Flat, NULL, fenced_twin(x), count, factor);
}
