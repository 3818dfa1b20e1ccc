// The options of channels under the schedule skip, as a config with that rule gives them.
#pragma once

#include "fringe/exchange.h"
#include "support.h"

static inline void skip_by(CodecOptions *options, const char *rule) {
    const FamilyKeys keys = schedule_keys();
    config_learn_keys(&keys, 1);
    Config config = CONFIGURED(test_text("comm.skip=%s", rule), "model.dropout=0",
                               "lossless.cover=sources", "quantization.assign=uniform");
    const Schedule *skip = assert_ok(schedule_find("skip", &err));
    assert_ok(schedule_configure(skip, &config, options, &err));
    config_learn_keys(NULL, 0);
}
