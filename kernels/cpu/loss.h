// What loss.c hands to the loop of loss_lanes.c.
#pragma once

#include "sums.h"

typedef struct LossCall {
    CpuRows g, logits; // g.at NULL: only the loss
    Labels on;
    LossForm form;
    uint8_t which; // split
    float weight;
    const float *row; // [N]; NULL: 1
} LossCall;

SumPart loss_rows_plain, loss_rows_avx2, loss_rows_avx512; // of a LossCall
