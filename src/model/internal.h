// What the files of the model room share.
#ifndef FRINGE_MODEL_INTERNAL_H
#define FRINGE_MODEL_INTERNAL_H

#include "fringe/model.h"

// One distributed aggregate: a Block with what it needs to run. Shared by layers whose Pattern is
// the same.
typedef struct Operator {
    Block block;
    float *left_own; // [N] left where a row has no halo column, 1 elsewhere; NULL if left is NULL
    Aggregate *aggregate; // over block.pattern->own
    bool owns_aggregate;
    Aggregate *partial; // over block.pattern->partial
    int64_t *cursor;    // [halo.rows] edge cursors of the halo pass
    int rest_count;     // rows that wait for the halo: the complement of pattern->central
    Range rest[PATTERN_RANGES + 1];
} Operator;

// How the rows that a layer aggregates reach their readers.
typedef struct Route {
    Operator *op;     // borrowed from the model; NULL: nothing is aggregated
    Channel *channel; // NULL: nothing is sent
    Rows sums;        // [partials, columns] partial sums, sent after own rows
} Route;

typedef struct Layer {
    Route route[2]; // [FORWARD], [BACKWARD]: of training
    Route infer;    // of evaluation, forward: the same channel where the Pattern is the same
    Rows h; // [N, in] input while training; kept for Ws and transform-first, else one buffer serves
            // all layers
    Rows a; // [N, in] A·H, aggregate-first only
    Rows y; // [N, out] H·W, transform-first only
    Rows z; // [N, out] before post; after inference: after post
    PostSaved saved;
} Layer;

enum {
    MODEL_OPERATORS = 2 * MODEL_LAYERS + 2,
    GRADIENT_SLOTS = 3,
    STRIP_FLOATS = 1 << 15, // of a weight gradient, made at once
};

struct Model {
    ModelShape shape;
    ModelParts parts;
    const Schedule *blocking; // for evaluation
    char panels[CONFIG_WORD];
    int64_t rows;  // N
    Block block;   // the normalised operator; its diagonals are owned here
    Rows x;        // [N, F] features
    Rows features; // [N, F] their aggregate, where it is made once
    Rows kept;     // [H, F] features of the halo, where they are kept; H of that layer's Pattern
    Rows masked;   // [H, F] after dropout
    Layer layer[MODEL_LAYERS];
    Mailbox *mailbox; // of all channels: only one exchange runs at a time
    GradSync *sync;   // told what is made of the gradient; NULL: nobody is
    Poll sums;        // moves what it was told
    int operators;
    Operator operator[MODEL_OPERATORS];
    // Gradients of rows: three buffers for each distinct width, used in turn (G, dH, dA or dY).
    // Widths never share memory, so padding stays zero.
    int widths;
    int64_t gradient_width[MODEL_LAYERS];
    Rows gradient_slot[MODEL_LAYERS][GRADIENT_SLOTS];
    Rows g;   // G of the layer that runs
    int slot; // where it lies
    float *scratch;
    int64_t *counts; // metrics
    Spans *spans;
    // of the call that is running
    const float *parameters;
    float *gradient;
    uint64_t seed;
    uint32_t epoch;
    bool training;
};

// Windows of layer l in a flat array; NULL where the layer has none.
typedef struct LayerWindows {
    float *w, *ws, *bias, *gamma, *beta;
} LayerWindows;
LayerWindows layer_windows(const ModelShape *shape, const float *flat, int layer);

// The Post of a layer, ready to run.
Post layer_post(const Model *m, int layer);

// Loss of one split and its gradient times `weight` (g.at NULL: none).
double loss_of(Model *m, Rows g, Rows logits, uint8_t which, float weight);

static inline int64_t metric_counts(int64_t classes) { return 2 + 3 * classes; } // per split

// ---- routes.c
// Floats of a row that is aggregated there, in training or evaluation; 0: none is.
int64_t aggregated(const ModelShape *shape, int l, int direction);
void routes_make(Model *m);     // operators and channels of all layers. Collective.
void routes_features(Model *m); // what is made of the features once. Collective.
void routes_plan(MemoryPlan *plan, const Model *m, const Config *config);
void routes_clear(Model *m);

// ---- epoch.c
// A·X into m->features, exactly, over the route that evaluation has for the first layer meanwhile.
void model_features_once(Model *m);
// Rows of layer l's input (l = layers: the logits) that the running call needs: [0, level_rows).
static inline int64_t level_rows(const Model *m, int l) {
    return m->training ? m->parts.patterns->rows[l] : m->rows;
}
static inline Rows first_rows(Rows rows, int64_t count) {
    assert(count <= rows.count);
    rows.count = count;
    return rows;
}
void model_forward(Model *m);
void model_backward(Model *m); // from m->g = dLoss / d logits
// Rows of a weight gradient [in, out] that are made at once: whole tiles of the library; all of
// them where no other rank waits for their sum.
int64_t strip_rows(const Model *m, int64_t in, int64_t out);
// The buffer of that width, `turn` slots after the one of G.
Rows gradient_rows(const Model *m, int64_t width, int turn);

#endif
