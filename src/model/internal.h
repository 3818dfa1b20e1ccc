// What the files of the model room share.
#ifndef FRINGE_MODEL_INTERNAL_H
#define FRINGE_MODEL_INTERNAL_H

#include "fringe/model.h"

// One distributed aggregate: a Block with what it needs to run. Shared by layers whose Pattern is
// the same.
typedef struct SparseOperator {
    Block block;
    const DeviceFloat *left, *right; // the block's; NULL: 1. Borrowed from the model.
    DeviceFloat *left_own; // [N] left where a row has no halo column, 1 elsewhere; NULL if left is
                           // NULL
    Aggregate *aggregate;  // over block.pattern->own
    bool owns_aggregate;
    Aggregate *partial;  // over block.pattern->partial
    HaloAggregate *halo; // over block.pattern->halo
    int rest_count;      // rows that wait for the halo: the complement of pattern->central
    Range rest[PATTERN_RANGES + 1];
} SparseOperator;

// How the rows that a layer aggregates reach their readers.
typedef struct Propagation {
    SparseOperator *op;       // borrowed from the model; NULL: nothing is aggregated
    Channel *channel;         // NULL: nothing is sent
    Rows partials;            // [partials, columns] partial sums, sent after own rows
    ExchangeBuffers *buffers; // the channel's own, owned; NULL: it borrows the model's
} Propagation;

typedef struct Layer {
    const Parameter *parameter[ROLE_COUNT]; // by role; NULL: it has none; in the model's shape
    Propagation propagation[2];             // [FORWARD], [BACKWARD]: of training
    // Of evaluation, forward: the same channel where the Pattern is the same and no messages of
    // training fly meanwhile.
    Propagation infer;
    Rows h; // [N, in] input while training, where a post made it; kept where the way back needs it,
            // else one buffer serves all layers
    Rows a; // [N, in] A·H, aggregate-first only
    Rows y; // [N, out] H·W, transform-first only
    Rows z; // [N, out] before post; after inference: after post
    PostSaved saved;
    Rows own[2];      // of the kind
    DeviceByte *bits; // of the kind
} Layer;

// Takes memory or plans it.
typedef struct Allocator {
    MemoryPlan *plan; // NULL: take
    const Backend *backend;
} Allocator;

typedef struct LayerRun { // a layer in the call that is running
    Model *m;
    int l;
    const Layer *layer;
    bool transformed; // z holds L·M·R·(H W), not yet the rest
    Rows h;           // [rows of its input, in]
    Rows a;           // [rows of its input, in] L·M·R·H; only if not transformed
    Rows g;           // backward: [rows of its output, out] the gradient of Z
    Rows da;          // [rows of its output, in] the gradient of A, if the input wants one
    Rows dy;          // [rows of its input, out] the gradient of H W, once it is there
    Rows dh;          // [rows of its input, in] the gradient of H
} LayerRun;

// A kind of layer: how Z comes from the aggregate A = L·M·R·H and from H, and the way back. Nothing
// may be NULL.
struct LayerKind {
    const char *name;
    MemberKeys keys;           // that the kind brings along; their values are ModelShape.options
    const char *const *unused; // keys that mean nothing to it, ended by NULL: none may be said
    // Z is linear in A through W: L·M·R·(H W) may be made instead of (L·M·R·H) W.
    bool may_transform_first;
    const char *(*normalisation)(const ModelShape *shape); // of the Block (halo.h)
    int (*layers)(const Config *config);                   // that model.layers makes
    bool (*weights)(const ModelShape *shape, int l);       // false: the layer is L·M·R·H alone
    // Adds the parameters of a layer with weights, W first.
    void (*parameters)(ModelShape *shape, int l);
    void (*initial)(const ModelShape *shape, const Parameter *p, uint64_t seed, float *w);
    bool (*keeps_input)(const ModelShape *shape, int l);          // H is needed on the way back
    void (*buffers)(Model *m, const Allocator *allocator, int l); // a, y, own and bits of a layer
    int64_t (*scratch)(const Model *m, int l); // floats that parameter_gradient wants
    // Z of rows whose aggregate is complete.
    void (*forward)(const LayerRun *run, Range rows, const Poll *poll);
    // dA of all rows from G; not called where the layer was transformed first.
    void (*aggregate_gradient)(const LayerRun *run, const Poll *poll);
    // Adds to dH, in rows that have a G, what reaches H around the aggregate.
    void (*input_gradient)(const LayerRun *run, Range rows, const Poll *poll);
    // Of one parameter, into its window. Called from the last window of the layer to the first,
    // after aggregate_gradient; where the layer was transformed first, of W when dy is there.
    void (*parameter_gradient)(const LayerRun *run, const Parameter *p, const Poll *poll);
};

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
    int64_t rows;                    // N
    Block block;                     // the normalised operator; its diagonals are owned here
    const DeviceFloat *left, *right; // mirrors of the block's diagonals
    struct {                         // mirrors of what the shard says of its rows
        const DeviceInt64 *gid;
        const DeviceInt32 *label;
        const DeviceByte *labels, *split;
        const DeviceInt64 *halo_id; // of halo features that are kept: ids of their nodes
    } on;
    Rows x;        // [N, F] features
    Rows features; // [N, F] aggregate of the last leading layer, where it is made once
    Rows entering; // [N, F] the rows that it is made of, if they are not x
    Rows kept;     // [H, F] features of the halo, where they are kept; H of that layer's Pattern
    Rows masked;   // [H, F] after dropout
    Layer layer[MODEL_LAYERS];
    ExchangeBuffers *buffers; // of all channels whose exchanges run one at a time
    GradSync *sync;           // told what is made of the gradient; NULL: nobody is
    Poll gradient_poll;       // moves what it was told, and messages of training in flight
    int operators;
    SparseOperator operator[MODEL_OPERATORS];
    // Gradients of rows: three buffers for each distinct width, used in turn (G, dH, dA or dY).
    // Widths never share memory, so padding stays zero.
    int widths;
    int64_t gradient_width[MODEL_LAYERS];
    Rows gradient_slot[MODEL_LAYERS][GRADIENT_SLOTS];
    Rows g;   // G of the layer that runs
    int slot; // where it lies
    int made; // parameters [made, parameter_windows) have their gradients
    DeviceFloat *scratch;
    DeviceInt64 *device_counts; // [SPLITS, split_counts] of metrics
    int64_t *counts;            // the same on the host
    Timers *timers;
    // of the call that is running
    const DeviceFloat *parameters;
    DeviceFloat *gradient;
    uint64_t seed;
    uint32_t epoch;
    bool training;
};

extern const char *const no_keys[]; // an empty list for `unused`

// ---- shape.c
// model_shape of a kind that need not be in the table.
bool model_shape_of(ModelShape *shape, const LayerKind *kind, const Config *config,
                    int64_t features, int64_t classes, bool multilabel, Error *err);
// Adds "convs.N.<name>" to the windows of a layer: [in, out], or [width].
void parameter_matrix(ModelShape *shape, int l, int role, const char *name, int64_t in,
                      int64_t out);
void parameter_vector(ModelShape *shape, int l, int role, const char *name, int64_t width);
// Does a layer below have weights, which the gradient of this one's input goes to?
bool wants_input_gradient(const ModelShape *shape, int l);
// Xavier-uniform, from a random stream that no other matrix of the model has.
void initial_xavier(const ModelShape *shape, const Parameter *p, uint64_t seed, float *w);

// ---- model.c
void alloc_rows(const Allocator *allocator, Rows *rows, int64_t count, int64_t columns,
                const char *what);
void *alloc_bytes(const Allocator *allocator, size_t bytes, const char *what);
void alloc_aggregate(Model *m, const Allocator *allocator,
                     int l); // Layer.a, unless it is made once
// The first layer of which anything is made after set-up.
static inline int first_layer(const ModelShape *shape) {
    return shape->layer0 == LAYER0_ONCE ? shape->leading - 1 : 0;
}
// Is the aggregate of that layer made at set-up?
static inline bool is_made_once(const ModelShape *shape, int l) {
    return shape->layer0 == LAYER0_ONCE && l == shape->leading - 1;
}

// Where the running call finds a layer's parameter of that role; NULL if it has none.
static inline const DeviceFloat *weights_of(const LayerRun *run, int role) {
    const Parameter *p = run->layer->parameter[role];
    return p != NULL ? flat_window(run->m->parameters, p->begin) : NULL;
}

// Loss of one split and its gradient times `weight` (g.at NULL: none).
double loss_of(Model *m, Rows g, Rows logits, uint8_t which, float weight);

size_t counts_bytes(const Model *m); // of device_counts

// ---- exchanges.c
// What long work moves along beside the exchange that runs; without a function: nothing.
Poll poll_beside(Model *m);

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
// Moves what is under way beside the exchange that runs; NULL: nothing is.
const Poll *gradient_poll(const Model *m);

// ---- layers.c
// Rows of layer l's input (l = layers: the logits) that the running call needs: [0, level_rows).
static inline int64_t level_rows(const Model *m, int l) {
    return m->training ? m->parts.patterns->rows[l] : m->rows;
}
void model_forward(Model *m);
void model_backward(Model *m); // from m->g = dLoss / d logits
// dw = aᵀ g over the rows of g, into the window of p.
void matrix_gradient(const Model *m, const Parameter *p, Rows a, Rows g, const Poll *poll);
int64_t matrix_gradient_scratch(const Model *m, int64_t in, int64_t out); // floats
// The buffer of that width, `turn` slots after the one of G.
Rows gradient_rows(const Model *m, int64_t width, int turn);

#endif
