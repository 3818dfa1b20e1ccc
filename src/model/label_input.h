// Labels of training nodes as input of layer 0 (train.label_input; label_input.c).
#pragma once

#include "fringe/model.h"

typedef struct LabelInput {
    Propagation over;               // on ModelPatterns.labels; nothing is sent
    Rows own, halo;                 // [N, K], [H, K] labels of training nodes, 0 of others; those
                                    // of the halo times the Block's right of their owners
    Rows own_drawn, halo_drawn;     // the same of the nodes that an epoch draws
    Rows a;                         // [N, K] A_Y, their aggregate
    DeviceFloat *drawn, *drawn_too; // [N], [H] 1: the node is an input of the epoch
    float *host, *host_too;         // the host's mirrors of these
    float *row;                     // [N] weights of rows: 1 of a training node that is none
} LabelInput;

// Reads train.label_input. False with EXIT_CONFIG where layers or labels cannot have it.
bool read_label_input(ModelShape *shape, const Config *config, LabelKind labels, Error *err);
void label_parameter(ModelShape *shape); // adds label.weight [K, D] to layer 0
void alloc_label_input(Model *m, const Allocator *allocator);
// Sends the labels of the halo, once. Collective.
void make_label_input(Model *m);
// Before the layers: in training draws, and weighs the rows of the loss; makes A_Y. Collective in
// training.
void draw_label_input(Model *m);
// Adds A_Y W_Y to rows of layer 0's Z.
void add_label_input(const Model *m, Range rows, const Poll *poll);
