// hgnn and hnhn: convolutions on hypergraphs as two layers, of which the first leads from nodes to
// hyperedges (V→E) and the second back (E→V). The operators are those of the normalisations
// "hyper-..." (halo/block.c).
//
//   hgnn   sym: Y = D_v^-½ H W D_e⁻¹ Hᵀ D_v^-½ X Θ + b (Feng et al.: Hypergraph Neural Networks,
//          AAAI 2019, equation 11); row: Y = D_v⁻¹ H W D_e⁻¹ Hᵀ X Θ + b (Bai et al.: Hypergraph
//          Convolution and Hypergraph Attention, 2021; PyG's HypergraphConv). The first layer has
//          no weights; Θ, the bias and what follows belong to the second, but the first one
//          multiplies by Θ where that makes rows narrower (lossless.order).
//   hnhn   X_E = σ(D_e⁻¹ Hᵀ X W₁ + b₁), X_V = σ(D_v⁻¹ H W X_E W₂ + b₂) (Dong et al.:
//          HNHN: Hypergraph Networks with Hyperedge Neurons, 2020, without its exponents): both
//          layers have weights, and model.post follows both but the last. Nodes take the mean over
//          their hyperedges, weighted by w.
#include "layer_linear.h"

enum { STAGES = 2 };

static int hyper_layers(UNUSED const ModelShape *shape, const Config *config) {
    return STAGES * (int)config->model.layers;
}

// ---- hgnn

typedef struct HgnnOptions {
    char norm[CONFIG_WORD]; // sym | row
} HgnnOptions;
static const Key hgnn_keys[] = {
    {"model.norm_hyper", KEY_WORD, offsetof(HgnnOptions, norm), "\"sym\"", NULL, "sym row", NULL,
     "Scaling of hgnn. sym (HGNN): a node's row is divided by the root of its degree before "
     "hyperedges read it, and its result again. row (PyG's HypergraphConv): only its result is "
     "divided, by the degree."},
};

static const char *hgnn_normalisation(const ModelShape *shape) {
    const HgnnOptions *options = (const void *)shape->options;
    return strcmp(options->norm, "row") == 0 ? "hyper-row" : "hyper-sym";
}

static bool hgnn_weights(UNUSED const ModelShape *shape, int l) { return l % STAGES == 1; }

static void hgnn_parameters(ModelShape *shape, int l) {
    // width[l] is that of Y already where the layer before multiplies
    parameter_matrix(shape, l, ROLE_WEIGHT, "convs.#.lin.weight", shape->width[l - 1],
                     shape->width[l + 1]);
    if (shape->bias)
        parameter_vector(shape, l, ROLE_BIAS, "convs.#.bias", shape->width[l + 1]);
}

// ---- hnhn

static void hnhn_parameters(ModelShape *shape, int l) {
    bool to_hyperedges = l % STAGES == 0;
    parameter_linear(shape, l, to_hyperedges ? "convs.#.lin_e" : "convs.#.lin_v", shape->width[l],
                     shape->width[l + 1]);
}

// ---- the rows of the table

const LayerKind layer_hgnn = {.name = "hgnn",
                              .stages = STAGES,
                              .may_transform_run = true,
                              LINEAR_RULE,
                              .keys = {hgnn_keys, 1, sizeof(HgnnOptions)},
                              .may_jump = true,
                              .layers = hyper_layers,
                              .aggregates = every_layer,
                              .normalised = hgnn_normalisation,
                              .weights = hgnn_weights,
                              .parameters = hgnn_parameters,
                              .keeps_input = linear_keeps_input};

const LayerKind layer_hnhn = {.name = "hnhn",
                              .stages = STAGES,
                              LINEAR_RULE,
                              .may_jump = true,
                              .layers = hyper_layers,
                              .aggregates = every_layer,
                              .normalisation = "hyper-mean",
                              .weights = every_layer,
                              .parameters = hnhn_parameters,
                              .keeps_input = linear_keeps_input};
