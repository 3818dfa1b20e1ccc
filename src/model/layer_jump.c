// The linear layer of model.jk (Xu et al.: Representation Learning on Graphs with Jumping Knowledge
// Networks, ICML 2018): it reads all hidden levels of nodes, side by side or their maximum, as
// PyG's JumpingKnowledge and the `lin` behind it, or the last level alone. No config names it: it
// is the last layer of other kinds.
//
//   last   as cat, of one level
//   cat    Z = sum of H_i W_i + b, where W_i are the rows of W for level i    dH_i = G W_iᵀ
//   max    Z = max(H_1, H_2, ...) W + b; a value's gradient goes to the first level that has it
#include "layer_linear.h"

// The levels that it reads, from the lowest: the first one and the distance to the next.
static int top_level(const ModelShape *shape) { return shape->layers - 1; }
static int first_level(const ModelShape *shape) {
    return shape->jump == JUMP_LAST ? top_level(shape) : shape->stages;
}

static void jump_parameters(ModelShape *shape, int l) {
    int64_t in = jump_rows_before(shape, top_level(shape)) + shape->width[l];
    parameter_linear(shape, l, "lin", in, shape->width[l + 1]);
}

static void jump_buffers(Model *m, const Allocator *allocator, int l) {
    const ModelShape *shape = &m->shape;
    Layer *layer = &m->layer[l];
    int64_t n = own_rows(m, l + 1), in = shape->width[l];
    bool max = shape->jump == JUMP_MAX;
    if (max) {
        layer->own[0] = alloc_rows(allocator, n, in, "aggregated rows");
        layer->bits = alloc_device(allocator, (size_t)(n * rows_stride(in)), "levels of maxima");
    }
    if (!shape->inference)
        m->jump_gradient = alloc_level(m, allocator, max ? l : l + 1, n, "gradients of rows");
}

static void larger_rows(const LayerRun *run, Range rows, const Poll *poll) {
    const Model *m = run->m;
    const Backend *b = m->parts.backend;
    Rows most = run->layer->own[0];
    for (int k = first_level(&m->shape); k <= top_level(&m->shape); k += m->shape.stages)
        b->take_larger(most, run->layer->bits, rows, level_at(m, k), jump_place(&m->shape, k),
                       poll);
    b->dense(run->layer->z, rows, most, weights_of(run, ROLE_WEIGHT), weights_of(run, ROLE_BIAS),
             false, poll);
}

static void jump_forward(const LayerRun *run, Range rows, const Poll *poll) {
    const Model *m = run->m;
    const ModelShape *shape = &m->shape;
    int first = first_level(shape);
    if (shape->jump == JUMP_MAX) {
        larger_rows(run, rows, poll);
        return;
    }
    for (int k = first; k <= top_level(shape); k += shape->stages)
        m->parts.backend->dense(run->layer->z, rows, level_at(m, k), jump_weights(m, k),
                                k == first ? weights_of(run, ROLE_BIAS) : NULL, k > first, poll);
}

// Of the top level, whose gradient comes first.
static void jump_aggregate_gradient(const LayerRun *run, const Poll *poll) {
    const Model *m = run->m;
    const Backend *b = m->parts.backend;
    if (m->shape.jump == JUMP_MAX) {
        b->dense_transposed(m->jump_gradient, (Range){0, run->g.count}, run->g,
                            weights_of(run, ROLE_WEIGHT), false, poll);
        rows_zero(b, rows_first(run->da, run->g.count)); // the others are 0
        jump_gradient(m, top_level(&m->shape), run->da);
        return;
    }
    rows_copy(b, m->jump_gradient, run->g);
    b->dense_transposed(run->da, (Range){0, run->g.count}, run->g,
                        jump_weights(m, top_level(&m->shape)), false, poll);
}

static void jump_parameter_gradient(const LayerRun *run, const Parameter *p, const Poll *poll) {
    Model *m = run->m;
    const ModelShape *shape = &m->shape;
    if (p->role == ROLE_BIAS) {
        linear_parameter_gradient(run, p, poll);
        return;
    }
    if (shape->jump == JUMP_MAX)
        matrix_gradient(m, p, run->layer->own[0], run->g, poll);
    for (int k = top_level(shape); k >= first_level(shape) && shape->jump != JUMP_MAX;
         k -= shape->stages)
        matrix_gradient_from(m, p, jump_rows_before(shape, k), level_at(m, k), run->g, poll);
}

const LayerKind layer_jump = {.name = "jk",
                              .stages = 1,
                              .aggregates = no_layer,
                              .weights = every_layer,
                              .parameters = jump_parameters,
                              .initial = linear_initial,
                              .keeps_input = every_layer,
                              .buffers = jump_buffers,
                              .scratch = linear_scratch,
                              .forward = jump_forward,
                              .aggregate_gradient = jump_aggregate_gradient,
                              .input_gradient = linear_input_gradient,
                              .parameter_gradient = jump_parameter_gradient};
