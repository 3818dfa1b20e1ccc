// Losses over the rows of a split: softmax cross-entropy, binary cross-entropy with logits, hinge
// and squared error.
//
// The one idea: a loss is a double, summed row by row in blocks of rows (both.h).
#include "loss.h"

void cpu_loss(DeviceDouble *loss, Rows g, Rows logits, Labels on, uint8_t which, float weight,
              const DeviceFloat *row, LossForm form) {
    LossCall call = {.kind = form.kind,
                     .g = cpu_rows(g),
                     .logits = cpu_rows(logits),
                     .label = int32s_of(on.label),
                     .labels = bytes_of(on.labels),
                     .numbers = floats_of(on.numbers),
                     .split = bytes_of(on.split),
                     .which = which,
                     .weight = weight,
                     .row = floats_of(row),
                     .classes = floats_of(form.classes),
                     .smoothing = form.smoothing,
                     .positive = form.positive};
    *doubles_of(loss) = sum_of_parts(LANES_PICK(loss_rows), &call, logits.count, 64);
}
