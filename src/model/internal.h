// What the files of the model module share.
#pragma once

#include "label_input.h"
#include "sparse.h"

static inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

// What makes halo rows of a layer from rows that were sent before model.post
// (ModelShape.before_post).
typedef struct BeforePost {
    const DeviceInt64 *halo_id; // [H] mirror of their ids
    DeviceFloat *halo_right;    // [H] the Block's right of their owners; NULL: 1
    Rows posted; // [H, columns] after post, if the received ones are kept for other epochs
} BeforePost;

// What a norm of columns needs of one layer; D: its width.
typedef struct ColumnNorm {
    DeviceDouble *sums;   // [2 D]
    DeviceFloat *factors; // [2 D] middle and factor of the columns
    DeviceFloat *means;   // [2 D] backward: of g and of g xhat
    // On the host, pinned: nothing that a copy reads is written before the next epoch.
    double *host_sums;   // [2 D]
    float *host_factors; // [2 D]
    float *host_means;   // [2 D]
    float *host_own;     // [2 D] of this rank: dbeta, dgamma
    float *host_running; // [2 D + 2]
    DeviceEvent *there;
} ColumnNorm;

typedef struct Layer {
    const Parameter *parameter[ROLE_COUNT]; // by role; NULL: it has none; in the model's shape
    Propagation propagation[2];             // [FORWARD], [BACKWARD]: of training
    // Of evaluation, forward: the same channel if the Pattern is the same and no messages of
    // training are in flight.
    Propagation infer;
    BeforePost before;
    Rows h; // [rows of its level, in] input while training, where a post made it; kept where
            // backward needs it, otherwise all layers of that level's set share one buffer
    Rows a; // [rows of the next level, in] A·H, aggregate-first only
    Rows y; // [rows of its level, out] H·W, where it multiplies first
    Rows z; // [rows of the next level, out] before post; after inference: after post
    PostSaved saved;
    Rows mid[2]; // [rows of the next level, out] inputs of later steps of post (post.c)
    ColumnNorm columns;
    Rows own[2];      // of the layer kind
    DeviceByte *bits; // of the layer kind
} Layer;

typedef struct LayerRun { // a layer during one forward or backward call
    Model *m;
    int l;
    const Layer *layer;
    bool transformed; // z holds L·M·R·(H W), not yet the rest
    Rows h;           // [rows of its input, in]
    Rows anchor;      // [rows of its output, width of the anchor] where it reads that
    Rows danchor;     // backward: the gradient of the anchor so far, to which it adds
    Rows a;           // [rows of its input, in] L·M·R·H, or H; only if not transformed
    Rows g;           // backward: [rows of its output, out] the gradient of Z
    Rows da;          // [rows of its output, in] the gradient of A, if the input has a gradient;
                      // where A = H it is dh
    Rows dy;          // [rows of its input, out] the gradient of H W; NULL until it is made
    Rows dh;          // [rows of its input, in] the gradient of H
} LayerRun;

// A kind of layer: how Z is computed from the aggregate A = L·M·R·H (or A = H) and from H, and the
// gradients. No member may be NULL but one of the normalisations.
struct LayerKind {
    const char *name;
    MemberKeys keys; // of this kind; their values are in ModelShape.options
    // Z is linear in A through W, so L·M·R·(H W) may be computed instead of (L·M·R·H) W.
    bool may_transform_first;
    // And H enters Z in no other way, so the layers without weights before it may aggregate H W,
    // too.
    bool may_transform_run;
    // Layers that aggregate read the input of the first of them again (ModelShape.anchor).
    bool returns;
    bool may_jump; // all its convolutions may be hidden (model.jk)
    bool may_mix;  // all its aggregates are leading (model.mix)
    int stages;    // 1: for graphs; 2: for hypergraphs, layers lead to hyperedges and back in turn
    const char *normalisation;                          // of the Block (halo.h); or
    const char *(*normalised)(const ModelShape *shape); // the one that the options of the kind say
    int (*layers)(const ModelShape *shape, const Config *config);
    bool (*weights)(const ModelShape *shape, int l);    // false: the layer is L·M·R·H alone
    bool (*aggregates)(const ModelShape *shape, int l); // false: A = H
    // Adds the parameters of a layer with weights, W first.
    void (*parameters)(ModelShape *shape, int l);
    void (*initial)(const ModelShape *shape, const Parameter *p, uint64_t seed, float *w);
    bool (*keeps_input)(const ModelShape *shape, int l);          // backward needs H
    void (*buffers)(Model *m, const Allocator *allocator, int l); // a, own and bits of a layer
    int64_t (*scratch)(const Model *m, int l); // floats that parameter_gradient wants
    // Z of rows whose aggregate is complete.
    void (*forward)(const LayerRun *run, Range rows, const Poll *poll);
    // dA of all rows from G; not called for a layer that was transformed first.
    void (*aggregate_gradient)(const LayerRun *run, const Poll *poll);
    // Adds to dH the gradient that does not pass through the aggregate (self weights), in rows that
    // have a G.
    void (*input_gradient)(const LayerRun *run, Range rows, const Poll *poll);
    // The gradient of one parameter, written into its span. Called for the layer's spans from
    // the last to the first, after aggregate_gradient; for W of a layer that was transformed first,
    // after dy is made.
    void (*parameter_gradient)(const LayerRun *run, const Parameter *p, const Poll *poll);
};

enum {
    GRADIENT_SLOTS = 3,
    STRIP_FLOATS = 1 << 15, // of a weight gradient that one call makes
};

struct Model {
    ModelShape shape;
    ModelParts parts;
    const Schedule *blocking; // for evaluation
    char panels[CONFIG_WORD];
    int64_t rows;                        // own rows of the largest set
    struct {                             // [stage] the normalised operators
        Block block;                     // its diagonals are owned here
        const DeviceFloat *left, *right; // mirrors of them
    } forward[SHARD_SETS];
    struct { // mirrors of what the shard says of its rows
        const DeviceInt64 *gid[SHARD_SETS];
        Labels labels;
        const DeviceInt64 *halo_id; // [H] node ids of kept halo features
    } on;
    Rows x; // [nodes, F] features; without memory where they are sparse
    SparseFeatures sparse;
    Rows features; // [rows of its level, F] aggregate of the last feature layer, if precomputed
    Rows aggregate_input; // [rows of its level, F] input of that aggregate, if it is not x
    Rows halo_features;   // [H, F] cached features of the halo; H of that layer's Pattern
    Rows halo_dropped;    // [H, F] after dropout
    Layer layer[MODEL_LAYERS];
    LabelInput label;
    ExchangeBuffers *buffers; // of all channels whose exchanges run one at a time
    GradSync *sync;           // sums the gradient as it is made; NULL: after backward
    Poll gradient_poll;       // progresses that sum, and messages of training in flight
    Operators operators;
    // Gradients of rows: three buffers for each distinct width and type, used in turn (G, dH, dA or
    // dY). Widths never share memory, so padding stays zero.
    int widths;
    Rows gradient_slot[MODEL_LAYERS][GRADIENT_SLOTS];
    Rows gradient_late[MODEL_LAYERS][SHARD_SETS]; // of widths that a skip has: see `late`
    Rows g;                                       // G of the layer that runs
    int slot;                                     // where it lies
    Rows late[SHARD_SETS]; // dH of the last level of that set that a skip leads to
    Rows anchor;           // [rows of its level, width] the anchor where dropout follows it
    Rows anchor_gradient;  // [rows of its level, width]
    Rows mixed;            // [nodes, F] of model.mix: the sum so far, unless it is made once
    Rows jump_gradient;    // [rows of nodes, classes or width] of what the jumping layer reads
    int made;              // parameters [made, parameter_spans) have their gradients
    DeviceFloat *scratch;
    DeviceDouble *column_scratch;
    Taken *taken;               // owned: all blocks of this and of its layers
    DeviceInt64 *device_counts; // [SPLITS, split_counts] of metrics
    DeviceDouble *device_loss;  // [SPLITS] sums of losses
    int64_t *counts;            // the same on the host
    double *loss;
    DeviceEvent *results;            // counts and loss are downloaded
    bool measures_all;               // scores
    float *host_logits;              // [own nodes, K] where labels are numbers
    struct ErrorSums *errors;        // [SPLITS, K] likewise
    struct {                         // of the training loss (weights.c)
        DeviceFloat *classes, *rows; // [K], [own nodes]
        LossForm form;
        bool has_rows;          // `rows` are in use
        double *factor;         // [K] of classes; NULL: 1
        double unweighted, sum; // what it is divided by without row weights, and now
    } weigh;
    // arguments of the current call
    const DeviceFloat *parameters;
    DeviceFloat *gradient;
    uint64_t seed;
    uint32_t epoch;
    bool training;
    bool renews; // running statistics, of the rows of an inference
};

// What a score is made of: one split of evaluated rows. A function that wants more, such as all
// logits, is called by all ranks alike and may exchange what it needs.
struct Evaluated {
    const Model *model;
    Rows logits; // of the own rows, of all splits
    int split;
    int64_t rows, classes;       // rows with a label, over all ranks
    int64_t right;               // of them
    const int64_t *tp, *fp, *fn; // [classes]
    double loss;                 // sum
};

// ---- shape.c
// model_shape for a kind that need not be in the table (tests); sparse: of sparse features.
bool model_shape_of(ModelShape *shape, const LayerKind *kind, const Config *config,
                    int64_t features, int64_t classes, LabelKind labels, bool sparse, Error *err);
// True if a layer below uses weights, so that the gradient of this layer's input is needed.
bool wants_input_gradient(const ModelShape *shape, int l);
// The layer multiplies its input by W before the aggregates of its convolution.
static inline bool multiplies_first(const ModelShape *shape, int l) {
    assert(l >= 0);
    bool in_run = l > 0 && shape->transform_first[l - 1] && !shape->weights[l - 1];
    return shape->transform_first[l] && !in_run;
}
// The layer has parameters: it ends a convolution, or multiplies first.
static inline bool uses_weights(const ModelShape *shape, int l) {
    return shape->weights[l] || multiplies_first(shape, l);
}
// What the rows of a level are, those of its gradient, and what is made of them before they are
// multiplied. Logits, and what is only aggregated on the way to them, are fp32.
RowsType level_type(const ModelShape *shape, int level);
static inline bool reads_anchor(const ModelShape *shape, int l) {
    return shape->anchor > 0 && shape->aggregates[l];
}
static inline bool is_jump(const ModelShape *shape, int l) {
    return shape->jump != JUMP_NONE && l == shape->layers - 1;
}
// The jumping layer reads that level, though it is not its input alone.
static inline bool jumps_from(const ModelShape *shape, int level) {
    return shape->jump > JUMP_LAST && level > 0 && level < shape->layers &&
           level_set(shape, level) == NODES;
}
// A skip reads that level.
static inline bool skips_from(const ModelShape *shape, int level) {
    int l = level + shape->stages - 1;
    return l < shape->layers && shape->skips[l];
}
// Somebody but the next layer reads that level.
static inline bool is_read_again(const ModelShape *shape, int level) {
    return (shape->anchor > 0 && level == shape->anchor) || jumps_from(shape, level) ||
           skips_from(shape, level);
}
static inline bool posts(const ModelShape *shape, PostStep step) {
    bool has = false;
    for (int i = 0; i < shape->post_count; i++)
        has |= shape->post[i] == step;
    return has;
}
extern const LayerKind layer_jump;
static inline const LayerKind *rule_of(const ModelShape *shape, int l) {
    return is_jump(shape, l) ? &layer_jump : shape->kind;
}

// ---- shape_levels.c
// Which levels are read again. False with EXIT_CONFIG where that cannot be.
bool read_levels(ModelShape *shape, const Config *config, Error *err);

// ---- parameters.c
// Layers with weights in [begin, end).
int weighted_layers(const ModelShape *shape, int begin, int end);
// The convolution of a layer, which one with weights ends; for l = layers their number.
int convolution_of(const ModelShape *shape, int l);
// Adds a parameter to the spans of a layer: [in, out], or [width]. In its name `#` stands for the
// number of the layer's convolution: "convs.#.bias".
void parameter_matrix(ModelShape *shape, int l, int role, const char *name, int64_t in,
                      int64_t out);
void parameter_vector(ModelShape *shape, int l, int role, const char *name, int64_t width);
// W and b, NAME.weight and NAME.bias.
void parameter_linear(ModelShape *shape, int l, const char *name, int64_t in, int64_t out);
// Those of the norm behind a layer come last in it: the backward pass meets it first.
void norm_parameters(ModelShape *shape, int l);
void norm_statistics(ModelShape *shape);
// Xavier-uniform; each matrix of a model has a random stream of its own.
void initial_xavier(const ModelShape *shape, const Parameter *p, uint64_t seed, float *w);

// ---- buffers.c
// Plans or allocates everything that an epoch writes, and the mirrors of what it reads.
void alloc_buffers(Model *m, const Allocator *allocator);
void free_buffers(Model *m);
// [count, the level's width] of its type.
Rows alloc_level(const Model *m, const Allocator *a, int level, int64_t count, const char *what);
void alloc_aggregate(Model *m, const Allocator *allocator, int l); // Layer.a, unless made once
size_t counts_bytes(const Model *m);                               // of device_counts
// The buffer for gradients of that level, `turn` slots after the slot of G; and which that is,
// m->widths where there is none.
Rows gradient_rows(const Model *m, int level, int turn);
int gradient_slot(const Model *m, int level);
enum { LOSS_BYTES = SPLITS * sizeof(double) };

// ---- model.c
// Columns of the logits.
static inline int64_t classes_of(const Model *m) { return m->shape.width[m->shape.layers]; }
// Own rows of a level.
static inline int64_t own_rows(const Model *m, int level) {
    return m->parts.shard->set[level_set(&m->shape, level)].own;
}
// The first layer that an epoch computes.
static inline int first_layer(const ModelShape *shape) {
    return shape->layer0 == LAYER0_ONCE ? shape->feature_layers - 1 : 0;
}
// True if the aggregate of that layer is precomputed at set-up.
static inline bool is_made_once(const ModelShape *shape, int l) {
    return shape->layer0 == LAYER0_ONCE && l == shape->feature_layers - 1;
}

// The layer's parameter with that role in the current call; NULL if it has none.
static inline const DeviceFloat *weights_of(const LayerRun *run, int role) {
    const Parameter *p = run->layer->parameter[role];
    return p != NULL ? flat_at(run->m->parameters, p->begin) : NULL;
}

// Downloads counts and losses behind the work so far; m->results says when they are there.
void download_results(Model *m);

// ---- scores.c
// metrics_init, or all: also those that are measured only where they are asked for.
void metrics_list(Metrics *metrics, const Loss *loss, const Score *named, bool all);
bool score_is_of(const Score *score, const Loss *loss);

// ---- ranking.c: members of the table of scores
double score_roc_auc(const Evaluated *e);
double score_average_precision(const Evaluated *e);

// ---- weights.c
void alloc_loss_weights(Model *m, const Allocator *allocator);
// Reads them from the config, and counts classes over all ranks. Collective.
void make_loss_weights(Model *m, const Config *config);
// The loss of the training rows, weighed, and its gradient; row: factors of rows, or NULL (1).
void training_loss(const Model *m, DeviceDouble *loss, Rows g, Rows logits, float weight,
                   const DeviceFloat *row);

// ---- baseline.c: of one class, of several classes of a row, and of numbers
void baseline_of_class(const Shard *shard, const Comm *comm, double baseline[4]);
void baseline_of_classes(const Shard *shard, const Comm *comm, double baseline[4]);
void baseline_of_mean(const Shard *shard, const Comm *comm, double baseline[4]);

// ---- exchanges.c
// What long work moves along beside the exchange that runs; without a function: nothing.
Poll background_poll(Model *m);
// The same as an argument; NULL: nothing.
static inline const Poll *gradient_poll(const Model *m) {
    return m->gradient_poll.function != NULL ? &m->gradient_poll : NULL;
}

// ---- patterns.c
// Columns of the rows that the layer aggregates in that direction; 0: it aggregates none.
int64_t aggregated(const ModelShape *shape, int l, int direction);

// ---- propagations.c
void propagations_make(Model *m); // operators and channels of all layers. Collective.
// Precomputed aggregates and cached halo features. Collective.
void propagations_features(Model *m);
void propagations_forecast(MemoryForecast *forecast, Model *m); // m has the operators then, unmade
void propagations_clear(Model *m);
// sum = before (l = 0: its share of it) + the share of what layer l has made, of model.mix.
void add_mixed(const Model *m, int l, Rows sum, Range rows, Rows before, Rows made,
               const Poll *poll);
// Runs the aggregate: training uses the schedule; evaluation exchanges fp32 rows and blocks.
// Collective.
void propagate(Model *m, OperatorCall call);

// ---- column_norm.c
void alloc_column_norm(Model *m, const Allocator *allocator, int l);
// out = the normed rows of u. In training its statistics are those of the rows of all ranks, which
// enter the running ones; else these. All rows of the level. Collective in training.
void column_norm_forward(const LayerRun *run, Rows out, Rows u, const Poll *poll);
// d, the gradient of these rows, becomes that of u. Collective.
void column_norm_back(const LayerRun *run, Rows d, Rows u, const Poll *poll);

// ---- post.c
// model.post runs step by step, for the backend's fused operation has not all of its steps.
bool post_in_steps(const ModelShape *shape);
// The steps of post whose input backward needs, but for the first.
int post_mids(const ModelShape *shape);
// The random numbers of dropout before a layer.
RandomKey layer_dropout(const Model *m, int l);
// Rows of the next level from rows of Z.
void post_rows(const LayerRun *run, Rows out, Range rows, const Poll *poll);
// dh, the gradient of these, becomes that of Z; gamma's and beta's are written, too.
void post_back(const LayerRun *run, Rows dh, const Poll *poll);
// Halo rows as their owner's own are: out = post(received), in range. run: of the layer below.
void post_received(const LayerRun *run, Rows out, Rows received, Range rows,
                   const DeviceInt64 *halo_id, const Poll *poll);

// ---- levels.c
// True if this layer begins with an aggregate of the features that is precomputed.
bool features_ready(const Model *m, int l);
// The rows of a level that the current call needs.
Rows level_at(const Model *m, int level);
Rows anchor_rows(const Model *m);
// Adds to dH of a level what its other readers say, and keeps what a skip needs of it. After it
// dH is that of what model.post of the layer below has made.
void level_gradient(Model *m, int level, Rows dh);
// Of the jumping layer and a level: its rows of W, how many are before them, the level's number
// among those that it reads, and what it adds to the level's dH.
const DeviceFloat *jump_weights(const Model *m, int level);
int64_t jump_rows_before(const ModelShape *shape, int level);
uint8_t jump_place(const ModelShape *shape, int level);
void jump_gradient(const Model *m, int level, Rows dh);

// ---- layers.c
// Rows of layer l's input (l = layers: the logits) that the current call needs: [0, level_rows).
static inline int64_t level_rows(const Model *m, int l) {
    return m->training ? m->parts.patterns->rows[l] : own_rows(m, l);
}
void model_forward(Model *m);
void model_backward(Model *m); // from m->g = dLoss / d logits
// dw = aᵀ g over the rows of g, into the span of p; or into its rows from `first` on, one for each
// column of a.
void matrix_gradient(const Model *m, const Parameter *p, Rows a, Rows g, const Poll *poll);
void matrix_gradient_from(const Model *m, const Parameter *p, int64_t first, Rows a, Rows g,
                          const Poll *poll);
int64_t matrix_gradient_scratch(const Model *m, int64_t in, int64_t out); // floats

// For tests: training makes this loss smaller, and computes all rows
// (lossless.receptive_field=all). Nothing is measured of a split. Before Patterns are made or
// planned (losses.c).
void model_shape_for_callback(ModelShape *shape, LossCallback by);
