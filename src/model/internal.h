// What the files of the model room share.
#ifndef FRINGE_MODEL_INTERNAL_H
#define FRINGE_MODEL_INTERNAL_H

#include "fringe/model.h"

// One distributed aggregate: a Block with what it needs to run. Shared by layers whose Pattern is
// the same.
typedef struct SparseOperator {
    Block block;
    float *left_own; // [N] left where a row has no halo column, 1 elsewhere; NULL if left is NULL
    Aggregate *aggregate; // over block.pattern->own
    bool owns_aggregate;
    Aggregate *pre;  // over block.pattern->pre
    int64_t *cursor; // [halo.rows] edge cursors of the halo pass
    int rest_count;  // rows that wait for the halo: the complement of pattern->central
    Range rest[PATTERN_RANGES + 1];
} SparseOperator;

// How the rows that a layer aggregates reach their readers.
typedef struct Propagation {
    SparseOperator *op; // borrowed from the model; NULL: nothing is aggregated
    Channel *channel;   // NULL: nothing is sent
    Rows partials;      // [pre.rows, columns] partial sums, sent after own rows
} Propagation;

typedef struct Layer {
    const Parameter *parameter[ROLE_COUNT]; // by role; NULL: it has none; in the model's shape
    Propagation propagation[2];             // [FORWARD], [BACKWARD]: of training
    Propagation infer; // of evaluation, forward: the same channel where the Pattern is the same
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
    Mailbox *mailbox;   // of all channels: only one exchange runs at a time
    GradSync *sync;     // told what is made of the gradient; NULL: nobody is
    Poll gradient_poll; // moves what it was told
    int operators;
    SparseOperator operator[MODEL_OPERATORS];
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

// The windows of a layer's parameter in the flat arrays of the running call; NULL if it has none.
static inline const float *weights_of(const Model *m, int l, ParameterRole role) {
    const Parameter *p = m->layer[l].parameter[role];
    return p != NULL ? m->parameters + p->begin : NULL;
}
static inline float *gradient_of(const Model *m, int l, ParameterRole role) {
    const Parameter *p = m->layer[l].parameter[role];
    return p != NULL ? m->gradient + p->begin : NULL;
}

// The Post of a layer, ready to run.
Post layer_post(const Model *m, int layer);

// Loss of one split and its gradient times `weight` (g.at NULL: none).
double loss_of(Model *m, Rows g, Rows logits, uint8_t which, float weight);

static inline int64_t metric_counts(int64_t classes) { return 2 + 3 * classes; } // per split

// ---- propagation_setup.c
// Floats of a row that is aggregated there, in training or evaluation; 0: none is.
int64_t aggregated(const ModelShape *shape, int l, int direction);
void propagations_make(Model *m);     // operators and channels of all layers. Collective.
void propagations_features(Model *m); // what is made of the features once. Collective.
void propagations_plan(MemoryPlan *plan, const Model *m, const Config *config);
void propagations_clear(Model *m);

// ---- propagation.c
typedef struct PropagationCall { // one propagation, and the work around it
    const Propagation *over;
    Rows in, out;  // rows that are aggregated, and their sums
    Rows received; // [H, columns] halo rows of `in`, where `over` has no channel
    void *context; // of both:
    void (*beside)(void *context, const Poll *poll); // work that needs no message; may be NULL
    void (*finish)(void *context, Range rows, const Poll *poll); // of complete sums; may be NULL
} PropagationCall;
// By the schedule in training, else exactly. Collective.
void propagate(Model *m, const PropagationCall *call);
const Poll *gradient_poll(const Model *m); // NULL: nobody sums gradients meanwhile

// ---- layers.c
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
