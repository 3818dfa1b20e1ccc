// sgc: simple graph convolution (Wu et al.: Simplifying Graph Convolutional Networks, ICML 2019),
// PyG's SGConv with K = model.layers: one linear layer on features that went through K aggregates,
// Z = (L·M·R)^K X W + b, or with model.mix Z = (c_0 X + c_1 L·M·R X + ...) W + b (Zhu and Koniusz:
// Simple Spectral Graph Convolution, ICLR 2021). All steps but the last have no weights. Without
// input dropout the aggregates are precomputed, and an epoch exchanges nothing.
#include "layer_linear.h"

static bool sgc_weights(const ModelShape *shape, int l) { return l == shape->layers - 1; }

static void sgc_parameters(ModelShape *shape, int l) {
    parameter_linear(shape, l, "convs.#.lin", shape->width[l], shape->width[l + 1]);
}

const LayerKind layer_sgc = {.name = "sgc",
                             .stages = 1,
                             .may_mix = true,
                             .layers = linear_layers,
                             .aggregates = every_layer,
                             LINEAR_RULE,
                             .normalisation = "gcn-in", // PyG's
                             .weights = sgc_weights,
                             .parameters = sgc_parameters,
                             .keeps_input = linear_keeps_input};
