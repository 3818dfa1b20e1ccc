// The options of channels under the schedule skip, as a config with that rule gives them.
#pragma once

#include "fringe/exchange.h"
#include "support.h"

static inline void skip_by(CodecOptions *options, const char *rule) {
    config_learn_keys((const Family *const[]){&schedule_family}, 1);
    Config config = CONFIGURED(test_text("comm.skip=%s", rule), "model.dropout=0",
                               "lossless.cover=sources", "quantization.assign=uniform");
    const Schedule *skip = assert_ok(schedule_find("skip", &err));
    assert_ok(schedule_configure(skip, &config, options, &err));
    config_learn_keys(NULL, 0);
}
