// What loss.c hands to the loop of loss_lanes.c.
#pragma once

#include "sums.h"

typedef struct LossCall {
    LossKind kind;
    CpuRows g, logits;     // g.at NULL: only the loss
    const int32_t *label;  // softmax: [N]; hinge: [N] or NULL
    const uint8_t *labels; // bce: [N, K]; hinge: where label is NULL
    const float *numbers;  // mse: [N, K]
    const uint8_t *split;  // [N]
    uint8_t which;
    float weight;
    const float *row;     // [N]; NULL: 1
    const float *classes; // softmax: [K]; NULL: 1
    float smoothing, positive;
} LossCall;

SumPart loss_rows_plain, loss_rows_avx2, loss_rows_avx512; // of a LossCall
