// Losses over the rows of a split: softmax cross-entropy, binary cross-entropy with logits, hinge
// and squared error.
//
// The one idea: a loss is a double, summed row by row in at most 256 blocks of rows, whose size is
// a function of the number of rows alone; the blocks are added in order.
#include "loss.h"

enum { BLOCKS = 256, BLOCK_ROWS = 64 };

static double sum_of_rows(double (*rows)(const LossCall *, int64_t, int64_t),
                          const LossCall *call) {
    int64_t count = call->logits.count, block = (count + BLOCKS - 1) / BLOCKS;
    if (block < BLOCK_ROWS)
        block = BLOCK_ROWS;
    int64_t blocks = (count + block - 1) / block;
    double part[BLOCKS], sum = 0;
#pragma omp parallel for schedule(dynamic)
    for (int64_t b = 0; b < blocks; b++) {
        int64_t end = (b + 1) * block;
        part[b] = rows(call, b * block, end < count ? end : count);
    }
    for (int64_t b = 0; b < blocks; b++)
        sum += part[b];
    return sum;
}

void cpu_loss(DeviceDouble *loss, Rows g, Rows logits, Labels on, uint8_t which, float weight,
              const DeviceFloat *row, LossForm form) {
    LossCall call = {.kind = form.kind,
                     .g = cpu_rows(g),
                     .logits = cpu_rows(logits),
                     .label = cpu_int32s(on.label),
                     .labels = cpu_bytes(on.labels),
                     .numbers = cpu_floats(on.numbers),
                     .split = cpu_bytes(on.split),
                     .which = which,
                     .weight = weight,
                     .row = cpu_floats(row),
                     .classes = cpu_floats(form.classes),
                     .smoothing = form.smoothing,
                     .positive = form.positive};
    *cpu_doubles(loss) = sum_of_rows(LANES_PICK(loss_rows), &call);
}
