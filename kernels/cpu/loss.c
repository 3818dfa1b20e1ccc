// Losses over the rows of a split: softmax cross-entropy, binary cross-entropy with logits, hinge
// and squared error.
//
// The one idea: a loss is a double, summed row by row in blocks of rows (both.h).
#include "loss.h"

void cpu_loss(DeviceDouble *loss, Rows g, Rows logits, Labels on, uint8_t which, float weight,
              const DeviceFloat *row, LossForm form) {
    LossCall call = {cpu_rows(g), cpu_rows(logits), on, form, which, weight, floats_of(row)};
    *doubles_of(loss) = sum_of_parts(LANES_PICK(loss_rows), &call, logits.count, LEAST_ROWS);
}
