// What is measured of the own shares while they are coded. Each share has a place of its own, so
// that the order in which chunks advance changes no bit.
//
// A memory that both ends hold stands for a row, and what it leaves travels: |g - h| / |g|. One
// that the sender alone holds is added to the row as what was lost of earlier ones: |e| / |g|.

#include "internal.h"

static int64_t floats_in(Rows rows) { return rows.count * rows.stride; }

static GradMoments *moments_at(Coding *c, int chunk, int owner) {
    return &c->moment[(int64_t)chunk * c->size + owner];
}

void note_moments(Coding *c, int chunk, int owner, Rows rows) {
    GradMoments *moments = moments_at(c, chunk, owner);
    const float *at = row_at(c, rows, 0);
    moments->sum = moments->square = 0;
    if (c->bits.rule == NULL)
        return;
    for (int64_t i = 0; i < floats_in(rows); i++) {
        moments->sum += at[i];
        moments->square += (double)at[i] * at[i];
    }
}

// ---- what memories leave

// That of gradients.memory, whose rows are floats.
static const Residual *memory_in(const Coding *c) {
    return box_residual(&c->options[UP], CODING_MEMORY);
}

enum { LANES = 16 }; // sums of their own, so that they are added side by side

static double total(const double lane[LANES]) {
    double sum = 0;
    for (int l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

// coded = sum of x^2, left = sum of (stands x - memory)^2. Strides are multiples of LANES.
static void compare(GradMoments *moments, const float *x, const float *memory, double stands,
                    int64_t count) {
    double coded[LANES] = {0}, left[LANES] = {0};
    for (int64_t i = 0; i < count; i += LANES)
        for (int l = 0; l < LANES; l++) {
            double value = x[i + l], rest = stands * value - memory[i + l];
            coded[l] += value * value;
            left[l] += rest * rest;
        }
    moments->coded = total(coded);
    moments->left = total(left);
}

void note_memory(Coding *c, int chunk, int owner, int message, Rows rows) {
    const Residual *residual = memory_in(c);
    const BoxResidual *of = &c->box[UP][OUTGOING].residual[CODING_MEMORY];
    if (residual == NULL)
        return;
    DeviceByte *memory = byte_at(of->memory, (int64_t)of->place[message]);
    compare(moments_at(c, chunk, owner), row_at(c, rows, 0),
            host_mirror(c->cpu, (void *)memory, NULL), residual->after_decode != NULL,
            floats_in(rows));
}

double moments_share(const Coding *c, const GradMoments *moments) {
    const Residual *residual = memory_in(c);
    bool stands = residual != NULL && residual->after_decode != NULL;
    return stands && moments->coded > 0 ? moments->left / moments->coded : 1;
}

// ---- of a sum

bool gradsync_measures(const GradSync *sync) {
    const Coding *c = sync->coding;
    return c != NULL && (c->bits.rule != NULL || memory_in(c) != NULL);
}

GradMoments gradsync_moments(const GradSync *sync) {
    const Coding *c = sync->coding;
    GradMoments sum = {0};
    for (int i = 0; c != NULL && i < sync->chunks * c->size; i++) {
        sum.sum += c->moment[i].sum;
        sum.square += c->moment[i].square;
        sum.coded += c->moment[i].coded;
        sum.left += c->moment[i].left;
    }
    return sum;
}

double gradsync_memory(const GradMoments *moments) {
    return moments->coded > 0 ? sqrt(moments->left / moments->coded) : NAN;
}
