// The rule of layers that are linear in their aggregate, for kinds that differ only in their shape.
// layer_linear.c has the formulas.
#pragma once

#include "internal.h"

int linear_layers(const ModelShape *shape, const Config *config);
bool every_layer(const ModelShape *shape, int l); // true
bool no_layer(const ModelShape *shape, int l);    // false
void linear_initial(const ModelShape *shape, const Parameter *p, uint64_t seed, float *w);
void linear_buffers(Model *m, const Allocator *allocator, int l);
bool linear_keeps_input(const ModelShape *shape, int l);
int64_t linear_scratch(const Model *m, int l);
void linear_forward(const LayerRun *run, Range rows, const Poll *poll);
void linear_aggregate_gradient(const LayerRun *run, const Poll *poll);
void linear_input_gradient(const LayerRun *run, Range rows, const Poll *poll);
void linear_parameter_gradient(const LayerRun *run, const Parameter *p, const Poll *poll);

#define ON_GRAPHS .stages = 1, .may_jump = true, .layers = linear_layers, .aggregates = every_layer
#define LINEAR_RULE                                                                                \
    .may_transform_first = true, .initial = linear_initial, .buffers = linear_buffers,             \
    .scratch = linear_scratch, .forward = linear_forward,                                          \
    .aggregate_gradient = linear_aggregate_gradient, .input_gradient = linear_input_gradient,      \
    .parameter_gradient = linear_parameter_gradient
