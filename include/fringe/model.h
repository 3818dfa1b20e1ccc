// model: layers on Blocks, one flat parameter array, loss.
//
// Z^l = A^l W^l (+ H^l Ws^l for sage) + b with A^l = L·A·R·H^l, or A^l = H^l in a layer without
// edges; H^{l+1} = post(Z^l) (ALGORITHMS A.3). Parameters, gradients and optimizer moments are flat
// arrays with named spans; no other module knows layers. Kinds of layers are a table
// (src/model/shape.c). Names and layout outside are PyG's (convs.0.lin.weight is [out, in]).
//
// A convolution is a run of layers. One on a graph has one layer (SGC: as many as it has steps),
// one on a hypergraph two: the first leads from nodes to hyperedges, the second back. Level l is
// the input of layer l; its rows are nodes, or hyperedges where a convolution is half done.
#pragma once

#include "fringe/backend.h"
#include "fringe/base.h"
#include "fringe/config.h"
#include "fringe/exchange.h"
#include "fringe/gradsync.h"
#include "fringe/halo.h"
#include "fringe/operator.h"

// The role of a parameter in its layer, which has at most one parameter of each role.
typedef enum ParameterRole {
    ROLE_WEIGHT,      // W
    ROLE_SELF_WEIGHT, // Ws
    ROLE_BIAS,        // b
    ROLE_GAMMA,       // of the norm that follows the layer, as ROLE_BETA
    ROLE_BETA,
    ROLE_OWN,        // from here on roles of the layer kind
    ROLE_LABEL = 11, // of train.label_input
    ROLE_COUNT
} ParameterRole;

enum {
    MODEL_LAYERS = EXCHANGE_LAYERS,
    MODEL_PARAMETERS = MODEL_LAYERS * ROLE_COUNT,
    MODEL_TENSORS = MODEL_PARAMETERS + 3 * MODEL_LAYERS + 1 // of a file: statistics, and a name
};

typedef struct Parameter { // a span of the flat array
    char name[40]; // PyG's name, e.g. "convs.0.lin.weight", "convs.0.bias", "norms.0.weight"
    int layer;     // that multiplies by it or adds it
    int conv;      // the convolution, the N of its name
    int role;      // ParameterRole, or a role of the kind
    int64_t begin; // offset in the flat array
    int64_t rows,
        columns; // [in, out] row-major inside; matrices are transposed to PyG's [out, in] in files
    bool matrix; // false: a vector of `columns` (rows = 1)
    bool in_out; // [in, out] in files, too
} Parameter;

// A loss whose gradient the caller computes. make: *loss = this rank's loss of its logits (all own
// rows), and every row of g gets its gradient, by operations on STREAM_COMPUTE or by the host,
// which waits; g.at NULL: the loss alone. Padding of g stays zero.
typedef struct LossCallback {
    void (*make)(void *context, DeviceDouble *loss, Rows g, Rows logits);
    void *context; // borrowed
} LossCallback;

// Scores are a table, too (src/model/scores.c): how good the logits of a split are.
typedef struct Evaluated Evaluated; // one split of them
typedef struct Score {
    const char *name;                      // a word of train.metric: "micro-f1"
    const char *key;                       // its name in files: "micro_f1"
    const char *title;                     // and for people: "micro-F1"
    const char *tasks;                     // words of train.loss: the losses whose rows it measures
    double (*measure)(const Evaluated *e); // collective; NaN: it has no value here
    bool percent;                          // a share from 0 to 1, which people get in percent
    bool lower;                            // the lower, the better; else the higher
    bool brief;                            // what is short about a run has it, too
    bool asked; // it costs more, and is measured only where train.metric names it, or
                // model_measure_all was called
} Score;
extern const Family label_input_family;
extern const Family score_family;           // without the loss, which chooses no epoch
const Score *score_find(const char *named); // by its key or title; NULL: there is none
const Score *score_row(int64_t row);        // of their table
int64_t score_row_of(const Score *score);
bool score_better(const Score *score, double value, double than); // NaN is worse than any number
// "93.00 %" or "0.4183"; "none" for NaN.
const char *score_text(char out[QUANTITY], const Score *score, double value);
#define SHOWN_SCORE(score, value) score_text((char[QUANTITY]){0}, (score), (value))
// What people get a value times, and what follows it.
static inline double score_scale(const Score *score) { return score->percent ? 100 : 1; }
static inline const char *score_unit(const Score *score) { return score->percent ? " %" : ""; }

// Losses are a table (src/model/losses.c): softmax, bce, hinge and mse, whose values and gradients
// are sums over the rows of a split, and one of a callback, which no config names.
typedef struct Loss {
    const char *name; // a word of train.loss
    unsigned labels;  // the kinds of labels that it is for: 1 << LabelKind, added; 0: the caller
                      // computes it, and gives its mean
    LossKind kind;
} Loss;
extern const Family loss_family;
const Loss *loss_of_labels(LabelKind kind); // the first one that is for them
// The loss that the word of train.loss names, auto: the first one of these labels. NULL with
// EXIT_CONFIG if it is not for such labels.
const Loss *loss_find(const char *word, LabelKind kind, Error *err);
// False with EXIT_CONFIG if train.class_weights, positive_weight or label_smoothing do not fit loss
// and labels: another number of classes, or a key of another loss.
bool loss_weights_fit(const Config *config, int64_t classes, LabelKind kind, Error *err);
// The score that a word of train.metric names, auto: that of the labels; NULL with EXIT_CONFIG if
// the loss has no such score.
const Score *loss_score(const Loss *loss, const char *word, LabelKind kind, Error *err);
// False with EXIT_CONFIG if it has no value on the validation nodes, because they have all of a
// class or none of it; *left_out: classes that it leaves out of its mean because they are such.
// Collective.
bool score_is_defined(const Score *score, const Shard *shard, const Comm *comm, int64_t *left_out,
                      Error *err);
// The score that people are shown of trainings with such labels.
const Score *score_of_labels(LabelKind kind);
// The same where train.metric has that word: the score that it names, if their loss has it.
const Score *score_shown(const char *metric, LabelKind kind);

typedef struct LayerKind LayerKind; // gcn, ...: the rule of a layer (src/model/internal.h)

// The model without data: shapes and parameter spans. Needs the config and the dataset's widths
// only.
typedef struct ModelShape {
    const LayerKind *kind;
    _Alignas(max_align_t) unsigned char options[512]; // values of the kind's own keys
    int layers, stages;              // stages: layers of a convolution on a hypergraph, 2; else 1
    int64_t width[MODEL_LAYERS + 1]; // F, hidden..., K
    bool weights[MODEL_LAYERS];      // false: the layer is the aggregate alone
    bool aggregates[MODEL_LAYERS];   // false: A = H, and nothing is exchanged
    bool posted[MODEL_LAYERS];       // model.post follows: a layer with weights comes later
    // Levels that are read again (levels.c).
    int anchor; // the level that all layers that aggregate read beside their input, as it is before
                // its dropout; 0: none
    float alpha, theta;       // how they mix it with their input (model.alpha, model.theta)
    int steps;                // the last layers, of appnp (model.steps)
    bool skips[MODEL_LAYERS]; // H^{l+1} = post(Z^l) + H^{l+1-stages} (model.skip)
    enum {                    // model.jk: the last layer is linear over
        JUMP_NONE,            // its input
        JUMP_LAST,            // its input, but it has no edges
        JUMP_CAT,             // and from here on all hidden levels: side by side
        JUMP_MAX              // their maximum, value by value
    } jump;
    int mixes;                    // model.mix: the leading aggregates are added, times these:
    double mix[MODEL_LAYERS + 1]; // [mixes] c_0 X + c_1 M X + ...; mixes = 0: the last one alone
    bool transform_first[MODEL_LAYERS]; // Y = H W is exchanged and aggregated instead of H
                                        // (lossless.order). Layers without weights before it have
                                        // this, too: the first of them multiplies
    bool before_post[MODEL_LAYERS];     // training sends the rows of its input as they are before
                                        // model.post, which readers apply (quantization.before)
    enum {
        LAYER0_EXCHANGED, // like other layers
        LAYER0_ONCE,      // aggregates of the constant features are made at set-up, nothing is sent
        LAYER0_KEPT       // features are dropped out: halo rows are kept and masked at both ends
    } layer0;             // lossless.input_features
    bool sparse;          // features are multiplied as CSR (sparse.c)
    const char *dense_why; // why sparse features are made dense here; NULL: they are not
    int feature_layers; // layers whose aggregates are functions of the features alone, where these
                        // are not dropped out: up to the first one with weights; 0 if layer 0 is
                        // exchanged
    bool train_rows;    // receptive-field pruning (lossless.receptive_field)
    Cover cover[SHARD_SETS]; // lossless.cover, by the set that is written
    bool sampled;            // comm.sample < 1
    char normalisation[32];  // of the Block (halo.h)
    int post_count;
    PostStep post[3];
    float keep, input_keep;
    RowsType rows;         // of all levels that somebody multiplies (level_type)
    RandomKind random;     // of dropout and of rounding in messages
    Activation activation; // of POST_ACTIVATION
    float slope;           // of leaky-relu
    bool norm, bias;
    const Loss *loss;
    const Score *named;    // by train.metric; NULL: none that the loss has
    LossCallback callback; // of a loss that code gives
    double label_rate;     // train.label_input: share of the training nodes whose labels an epoch
                           // gives layer 0; 0: it reads none
    bool weighs_rows;      // in training: model_set_row_weights may be called
    double gain;
    int parameter_spans;
    Parameter parameter[MODEL_PARAMETERS];
    int64_t parameter_count;
    bool columns; // the norm is one of columns, over the rows of all ranks (BatchNorm); then each
                  // layer that it follows has running statistics behind the parameters in the flat
                  // array: mean [out], variance [out] and the epochs so far [2]. No gradient, no
                  // decay.
    int64_t statistics[MODEL_LAYERS]; // where they begin
    int64_t state_count;              // floats of the flat array with them
    bool inference;                   // evaluation only: nothing for training is allocated
} ModelShape;
extern const Family layer_family;
bool model_shape(ModelShape *shape, const Config *config, int64_t features, int64_t classes,
                 LabelKind labels, Error *err);
// The same of a shard's data, whose features may be sparse.
bool model_shape_of_shard(ModelShape *shape, const Config *config, const Shard *shard, Error *err);
void model_shape_for_inference(ModelShape *shape);
// Fills in what the sum of its gradient is told of the parameters; the form borrows `span`.
void model_spans(GradForm *form, const ModelShape *shape, GradSpan span[MODEL_PARAMETERS]);
// Xavier-uniform from the counter RNG (bound gain * sqrt(6/(in+out))), zero biases, unit gamma,
// zero beta, statistics of no epoch: [state_count].
void model_initial(const ModelShape *shape, uint64_t seed, float *parameters);
// Reads weights in PyG's names and layout from a safetensors file, and checks every shape.
bool model_read(const ModelShape *shape, float *parameters, const char *path, Error *err);
// Fills in the tensors of such a file and returns their number: parameter_spans, and for
// hypergraphs one that names the operator; `turned` [state_count] receives the data that they
// point to, and the shape is lent. Both are [state_count].
int model_tensors(const ModelShape *shape, const float *parameters, float *turned, Tensor *tensor);
bool model_restore_tensors(const ModelShape *shape, float *parameters, const Tensors *file,
                           Error *err);

// The set of rows at a level.
static inline int level_set(const ModelShape *shape, int level) {
    return level % shape->stages == 0 || level == shape->layers ? NODES : HYPEREDGES;
}
// Whether any layer aggregates; without one, nothing is read of the edges.
static inline bool model_reads_edges(const ModelShape *shape) {
    bool any = false;
    for (int l = 0; l < shape->layers; l++)
        any |= shape->aggregates[l];
    return any;
}
// False with EXIT_CONFIG if the layers are for graphs and the shard is of a hypergraph, or the
// other way round. Layers that read no edges are for both.
bool model_fits(const ModelShape *shape, const Shard *shard, Error *err);

// Columns of the rows that layer `layer` exchanges in a training epoch; 0: it exchanges none.
int64_t model_exchanged(const ModelShape *shape, int layer, int direction);
// What these are in training: bf16 where they may go as they lie (wire.h).
RowsType model_exchanged_rows(const ModelShape *shape, int layer, int direction);

// The Patterns of the layers, the same object where they are equal. A layer needs the rows that its
// outputs read, and training the outputs that reach a training node (ALGORITHMS A.3, ii and iii).
typedef struct ModelPatterns {
    int count;
    Pattern *made[2 * MODEL_LAYERS + SHARD_SETS]; // owned
    const Pattern *of[MODEL_LAYERS][2]; // [layer][direction] of training; NULL: aggregates nothing
    const Pattern *full[SHARD_SETS];    // [stage] forward, all rows: of evaluation; NULL: no layer
                                        // aggregates
    const Pattern *labels;              // all rows, by sources: of train.label_input; or NULL
    int64_t rows[MODEL_LAYERS + 1];     // own rows of every level that training needs
    double seconds;                     // that they took to make
} ModelPatterns;
// Collective.
void model_patterns_init(ModelPatterns *patterns, const ModelShape *shape, const Shard *shard,
                         const Comm *comm);
void model_patterns_clear(ModelPatterns *patterns);
// Bytes of fp32 rows that all ranks receive in a training epoch: with the shape's norm of columns,
// which needs all rows of the levels below it, and as if it were one of rows. Makes the Patterns of
// the second. Collective.
void model_norm_bytes(double bytes[2], const ModelShape *shape, const ModelPatterns *patterns,
                      const Shard *shard, const Comm *comm);
// An upper bound of the memory for making them. Collective.
void model_patterns_bound(MemoryForecast *forecast, const ModelShape *shape, const Shard *shard,
                          const Comm *comm);
void model_patterns_forecast(MemoryForecast *forecast,
                             const ModelPatterns *patterns); // the memory of Patterns that are made

// ---- the same without ranks, for planning

// Every kind of Pattern once, the full Patterns' first (none if no layer aggregates), and which of
// them each exchange needs.
typedef struct ModelKinds {
    int count;
    PatternKind kind[2 * MODEL_LAYERS + SHARD_SETS];
    int whole[2 * MODEL_LAYERS + SHARD_SETS]; // the kind before it whose own edges it may share; -1
    int of[MODEL_LAYERS][2];                  // [layer][direction]; -1: none
    int labels;                               // of train.label_input; -1: none
    int hops[MODEL_LAYERS + 1]; // of the rows of every level that training needs; HOPS_ALL
} ModelKinds;
// The kinds that model_patterns_init would make, from the shards of all parts: shard[parts]. Local.
void model_kinds(ModelKinds *kinds, const ModelShape *shape, const Shard *shard, int parts);
// The Patterns of one rank in outline (halo.h): counts[kinds->count] are its sizes. `shard` needs
// its sets, and of its relations the offsets that outlines borrow. model_patterns_clear frees them.
// Local.
void model_patterns_outline(ModelPatterns *patterns, const ModelShape *shape,
                            const ModelKinds *kinds, const PatternCounts *const *counts,
                            const Shard *shard, const Comm *comm);

typedef struct Model Model; // with data: channels, activations

// model_new allocates everything that an epoch needs. Collective.
typedef struct ModelParts {
    const Shard *shard;
    const ModelPatterns *patterns;
    const Comm *comm;
    const Backend *backend;
    CodecOptions options;
    const Schedule *schedule;
    GradSync *sync; // borrowed; sums the gradient as it is made, if the schedule hides messages;
                    // then gradsync_finish must follow every model_loss_and_gradient. May be NULL.
} ModelParts;
Model *model_new(const ModelShape *shape, const ModelParts *parts, const Config *config,
                 Error *err);
void model_free(Model *model);
CLEARED_POINTER(model_drop, Model, model_free)
void model_forecast(MemoryForecast *forecast, const ModelShape *shape, const ModelParts *parts,
                    const Config *config);
// Receives and finishes what messages of training are in flight; then the bytes and seconds that
// follow are those of other exchanges. Collective.
void model_drain(Model *model);
// What a resumed run needs of past exchanges: rows that a schedule has left for the next epoch, and
// what residuals hold. NULL name: nothing.
StateSection model_exchanges(Model *model);
// What tuning chose: "layer 0 forward (602 wide): panels of 64; ...".
void model_describe(const Model *model, char *out, size_t size);
ChannelCount model_count(const Model *model); // of all channels since the start
// Whether messages may be left out; then those that were are worth a figure.
bool model_skips(const Model *model);
// The channel of an exchange of training, and the Block that reads its rows; NULL: there is none.
Channel *model_channel(const Model *model, ExchangeId id);
const Block *model_block(const Model *model, ExchangeId id);

// From now on the loss and the gradient of training row r are times row[r], and the training loss
// is divided by `sum`, over all ranks: 0, by what it is divided by without row weights. A row of
// weight 0 does not count. row [own nodes] is uploaded, and must stay until the next wait; NULL, as
// at first: 1. Metrics never use it.
void model_set_row_weights(Model *model, const float *row, double sum);
// Of the last model_loss_and_gradient: norm[own nodes], the 2-norm of the gradient of a training
// row's loss by its logits, as if row weights and N_train were 1; 0 of other rows. gradient [own
// nodes, K] gets the gradients themselves. Local; waits.
void model_loss_norms(Model *model, float *norm, float *gradient);
// Loss (sum over this rank's training rows / global N_train or the sum of their weights, or what
// the callback says of this rank; add over ranks) and gradients [parameter_count] of this rank (add
// over ranks: gradsync_finish). Collective.
// Running statistics behind the parameters are brought up to date.
double model_loss_and_gradient(Model *model, const DeviceFloat *parameters, DeviceFloat *gradient,
                               uint64_t seed, uint32_t epoch);
// Logits of all own rows with full Patterns, fp32, blocking, without dropout. Valid until the next
// call. Drains the channels of training first. Collective.
Rows model_infer(Model *model, const DeviceFloat *parameters);
// The running statistics behind the parameters become those of the rows that model_infer norms: one
// batch, of which nothing is dropped out. Only where shape.columns. Collective.
void model_renew_statistics(Model *model, DeviceFloat *parameters);
// The rows of a level (1..layers-1) of the last model_infer (embeddings); level == layers: the
// logits. Layers below shape.feature_layers - 1 ran at set-up only, and their rows are not kept.
Rows model_embedding(const Model *model, int level);

// The scores of one split, in the order of their table. With several labels a row is accurate where
// all of its classes are right.
enum { SCORES_MOST = 8 };
typedef struct Metrics {
    int64_t rows; // 0: the values say nothing
    int64_t count;
    struct {
        int64_t of; // score_row: no address, for ranks send each other metrics
        double value;
    } score[SCORES_MOST]; // [count]
} Metrics;
// The loss's scores, all 0, of 0 rows: of those that are measured only where they are asked for
// `named` alone (NULL: none).
void metrics_init(Metrics *metrics, const Loss *loss, const Score *named);
double metrics_value(const Metrics *metrics, const Score *score); // NaN: nothing was measured
// From now on model_metrics measures all scores of the loss.
void model_measure_all(Model *model);
// All splits at once: out[SPLIT_TRAIN..SPLIT_TEST]. Collective.
void model_metrics(Model *model, Rows logits, Metrics out[4]);

// The score of a guess that uses the training labels alone: baseline[SPLIT_TRAIN..SPLIT_TEST] is
// the accuracy of the most frequent training class, the micro-F1 of the classes that at least half
// of the training nodes have, or the RMSE of the mean of the training nodes; NaN where the split is
// empty. Collective.
void model_baseline(const Shard *shard, const Comm *comm, double baseline[4]);
