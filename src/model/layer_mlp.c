// mlp: layers without edges, Z = H W + b: PyG's MLP (its default norm is batch). It is for graphs
// and hypergraphs, of which it reads the nodes alone: there is no Pattern, and nothing is
// exchanged.
#include "layer_linear.h"

static void mlp_parameters(ModelShape *shape, int l) {
    parameter_linear(shape, l, "lins.#", shape->width[l], shape->width[l + 1]);
}

const LayerKind layer_mlp = {.name = "mlp",
                             .stages = 1,
                             .may_jump = true,
                             .layers = linear_layers,
                             .aggregates = no_layer,
                             .weights = every_layer,
                             .normalisation = "sum", // no Block asks for it
                             .parameters = mlp_parameters,
                             .keeps_input = every_layer,
                             LINEAR_RULE};
